//! Tests of wrong usage: the error message, the exit code, and an unchanged store.

use std::process::Command;

use crate::program::{TestProgram, has, words};

#[test]
fn wrong_usage_is_explained() {
    let program = TestProgram::new();
    for (line, code, word) in [
        ("crawl http://a/ --time soon", 2, "10m"),
        ("crawl http://a/ --scope galaxy", 2, "domain"),
        ("crawl ftp://a/", 2, "https://example.org"),
        ("crawl http://a/ --include (", 1, "--include"),
        ("crawl --seeds /nowhere", 1, "/nowhere"),
        ("crawl http://a/ --config /nowhere", 1, "/nowhere"),
        ("crawl http://a/ --proxy gopher://x", 1, "--proxy"),
        ("crawl http://a/ --order pagernk", 2, "did you mean"),
        ("crawl http://a/ --order pagerank+", 2, "pagerank*0.7"),
        ("crawl http://a/ --order similarity", 2, "--query"),
        (
            "crawl http://a/ --order similarity --query ?!",
            2,
            "no word",
        ),
        ("crawl http://a/ --servers fast", 2, "best-prefix"),
        (
            "crawl http://a/ --order opic --stop-coverage 0.9",
            2,
            "rankmass",
        ),
        ("crawl http://a/ --stop-coverage 1.5", 2, "0.95"),
        ("crawl http://a/ --http 3", 2, "pipelined"),
        ("crawl http://a/ --pipeline-depth 4", 1, "pipelined"),
        ("crawl", 2, "no seeds"),
        ("run", 2, "no seeds"),
        ("run http://a/ --budget 2", 2, "2/s"),
        ("run http://a/ --refresh fresh", 2, "freshness"),
        ("run http://a/ --refresh-after 1d", 2, "--refresh"),
        ("run http://a/ --sources prised", 2, "`priced`"),
        ("plan --freshness 90% --current 95%", 2, "one goal"),
        ("export pages --format md", 2, "--out DIR"),
        ("export pages --chunks 0", 2, "100..=1000000"),
        ("export urls --query x", 2, "--query is for"),
        ("export links --format md --out x", 2, "--format is for"),
        ("export warc", 2, "--out DIR"),
        ("explain http://a/", 1, "avocet crawl"),
        ("search x", 1, "avocet crawl"),
        ("export warc --out x", 1, "avocet crawl"),
        ("import urls /nowhere", 1, "/nowhere"),
        ("fly", 2, "fly"),
        ("lab ordering --policies pagernk", 2, "did you mean"),
        ("lab ordering --world invented:galaxy", 2, "graph"),
        ("lab ordering --set pags=3", 2, "pages"),
        ("lab ordering --set pages", 2, "NAME=VALUE"),
        ("lab ordering --world /nowhere", 1, "/nowhere"),
        ("lab servers --policies fast", 2, "best-prefix"),
        ("lab servers --world invented:sources", 2, "web graph"),
        ("lab partition --policies none", 2, "static-exchange"),
        ("lab currency --world invented:graph", 2, "history"),
        ("lab report", 2, "--out"),
        ("lab partition --against x", 2, "static-firewall"),
        ("lab servers --slowness 1e18", 2, "slowness"),
        ("lab currency --alpha 2", 2, "alpha"),
        ("lab currency --interval 0", 2, "interval"),
        ("lab refresh --policies sbs", 2, "sbr"),
        ("lab refresh --budget 2", 2, "budget"),
        ("lab refresh --step 1000d", 2, "steps"),
        ("lab ephemeral --policies bsf", 2, "bfs"),
        ("lab ephemeral --rate 0", 2, "rate"),
        ("lab joint --policies quota", 2, "one-price"),
        ("lab joint --rate 0", 2, "rate"),
        ("lab ephemeral --history 11", 2, "history"),
        ("lab refresh --world invented:graph", 2, "history"),
        ("lab partition --crawlers 0", 2, "crawlers"),
        ("lab ordering --buffer=-1", 2, "buffer"),
    ] {
        let (found, said) = program.fail(&words(line));
        assert_eq!(found, Some(code), "{line}: {said}");
        assert!(said.contains(word), "{line} should name {word}: {said}");
    }
}

#[test]
fn wrong_settings_are_refused() {
    for (set, code, word) in [
        ("connections = 0", 2, "crawl.connections"),
        ("pages_per_host = 0", 2, "crawl.pages_per_host"),
        ("buffer = 0", 2, "crawl.buffer"),
        ("order = \"pagernk\"", 2, "did you mean"),
        ("ordr = \"pagerank\"", 1, "ordr"),
    ] {
        let program = TestProgram::new();
        let config = program.store().join("avocet.toml");
        std::fs::write(config, format!("[crawl]\n{set}\n")).unwrap();
        let (found, said) = program.fail(&["crawl", "http://127.0.0.1:9/"]);
        assert!(found == Some(code) && said.contains(word), "{set}: {said}");
    }
}

#[test]
fn the_help_of_the_main_commands_shows_an_example() {
    for command in [
        "crawl", "explain", "search", "status", "export", "import", "rebuild", "verify",
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_avocet"))
            .args([command, "--help"])
            .output()
            .unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        has(&text, &format!("Example:\n  avocet {command}"));
    }
}

#[test]
fn a_store_of_another_version_is_refused() {
    let program = TestProgram::new();
    std::fs::write(program.store().join("FORMAT"), "avocet store, format 99\n").unwrap();
    for arguments in [
        &["crawl", "http://127.0.0.1:9/"][..],
        &["status"],
        &["search", "x"],
        &["rebuild"],
    ] {
        let (code, said) = program.fail(arguments);
        assert_eq!(code, Some(1));
        assert!(said.contains("format 99"), "{said}");
    }
    assert!(!program.store().join("ledger").exists());
}

#[test]
fn a_store_has_one_user_at_a_time() {
    let program = TestProgram::new();
    program.fail(&["crawl", "http://127.0.0.1:9/", "--time", "1s"]);
    let lock = std::fs::File::open(program.store().join("LOCK")).unwrap();
    rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).unwrap();
    let (code, said) = program.fail(&["crawl", "http://127.0.0.1:9/"]);
    assert_eq!(code, Some(1));
    assert!(said.contains("in use by process"), "{said}");
    drop(lock);
    let (_, said) = program.fail(&["crawl", "http://127.0.0.1:9/", "--time", "1s"]);
    assert!(
        !said.contains("in use"),
        "a lock dies with its process: {said}"
    );
}

#[test]
fn a_file_where_the_store_should_be_is_named() {
    let program = TestProgram::new();
    let file = program.path("file");
    std::fs::write(&file, "x").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_avocet"))
        .args(["crawl", "http://127.0.0.1:9/", "--store"])
        .arg(&file)
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot create the store"));
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "x");
}
