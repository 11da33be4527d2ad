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
        ("crawl http://a/ --include (", 2, "--include"),
        ("crawl --seeds /nowhere", 1, "/nowhere"),
        ("crawl http://a/ --config /nowhere", 1, "/nowhere"),
        ("crawl http://a/ --proxy gopher://x", 2, "--proxy"),
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
        ("crawl http://a/ --pipeline-depth 4", 2, "pipelined"),
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
        ("export links --format md --out x", 2, "--format md is for"),
        ("export warc", 2, "--out DIR"),
        ("export world", 2, "--out DIR"),
        ("export pages --since soon", 2, "2026-11"),
        ("check", 2, "URL"),
        ("check ftp://a/", 2, "https://example.org"),
        ("init --out /nowhere.toml", 2, "give a URL"),
        ("init http://a/ --scope galaxy", 2, "domain"),
        ("links", 2, "--broken"),
        ("report birds", 2, "duplicates"),
        ("forget", 2, "PATTERN"),
        ("forget not/a/host", 2, "https://example.org/page"),
        ("topic train x --positive y", 2, "negative"),
        ("lab report --out", 2, "--out"),
        ("import pages x", 2, "warc"),
        ("explain nonsense", 2, "https://"),
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
        ("ordr = \"pagerank\"", 2, "ordr"),
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

/// Returns the commands that a help text lists.
fn listed(help: &str) -> Vec<String> {
    let lines = help.lines().take_while(|line| *line != "Options:");
    let named = lines.filter_map(|line| {
        let name = line.strip_prefix("  ")?.split_whitespace().next()?;
        let is_name = !line.starts_with("   ") && name != "help" && !name.starts_with(['-', '<']);
        is_name.then(|| name.to_owned())
    });
    named.collect()
}

/// Checks the help of a command and of all its subcommands.
fn check_help(command: &[String], seen: &mut Vec<String>) {
    let output = Command::new(env!("CARGO_BIN_EXE_avocet"))
        .args(command)
        .arg("--help")
        .output()
        .unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let name = command.join(" ");
    assert!(output.status.success(), "{name}");
    assert!(!help.contains(['\\', '\x1b']), "{name}: {help}");
    seen.push(name);
    let is_group = command.is_empty() || help.contains("\nCommands:\n");
    for below in listed(&help).iter().filter(|_| is_group) {
        check_help(&[command, std::slice::from_ref(below)].concat(), seen);
    }
}

#[test]
fn help_has_groups_and_headings_and_no_backslash() {
    let mut seen = Vec::new();
    check_help(&[], &mut seen);
    for command in [
        "init",
        "run",
        "lab report",
        "topic train",
        "cluster move",
        "forget",
    ] {
        assert!(
            seen.iter().any(|name| name == command),
            "{command} is not in {seen:?}"
        );
    }
    let program = TestProgram::new();
    let help = program.text(&["--help"]);
    for heading in [
        "Begin:",
        "Crawl:",
        "Search and serve:",
        "Look after a store:",
        "Options:",
    ] {
        has(&help, &format!("\n{heading}\n"));
    }
    let help = program.text(&["run", "--help"]);
    for heading in [
        "Limits:",
        "Requests:",
        "Budget and freshness:",
        "Options of every command:",
    ] {
        has(&help, &format!("\n{heading}\n"));
    }
}

/// Commands with `--json` on a store with a few pages. Each prints a document or JSON Lines.
const JSON: [&str; 31] = [
    "crawl HOME",
    "check HOME",
    "init HOME --out NEW/avocet.toml",
    "status",
    "search everywhere --no-log",
    "search nowhere --no-log",
    "sources",
    "explain HOME",
    "pause",
    "resume",
    "plan --budget 1/s",
    "topic list",
    "config show",
    "config reference",
    "config check",
    "export urls",
    "export links",
    "export pages",
    "export urls --out NEW/urls",
    "export warc --out NEW/warcs",
    "export world --out NEW/world",
    "import urls LIST",
    "import queries QUERIES",
    "import clicks CLICKS",
    "verify",
    "rebuild",
    "links --broken",
    "report duplicates",
    "report top-searches",
    "forget --list",
    "forget HOME --dry-run",
];
/// Commands that run until they are stopped, need more than a store, or print a file for another
/// program.
const OTHERS: [&str; 8] = [
    "run",
    "serve",
    "demo",
    "mcp",
    "cluster",
    "lab",
    "completions",
    "man",
];

#[tokio::test(flavor = "multi_thread")]
async fn every_command_prints_json_if_asked_and_no_colours_without_a_terminal() {
    let address = crate::files::Files::site(3, 100).serve().await;
    let program = TestProgram::new();
    let home = format!("http://{address}/");
    let list = program.path("list");
    std::fs::write(&list, format!("{home}1\n")).unwrap();
    let queries = program.path("queries");
    std::fs::write(&queries, "waders\t3\n").unwrap();
    let clicks = program.path("clicks");
    std::fs::write(&clicks, format!("{home}\t1700000000\t1\n")).unwrap();
    std::fs::create_dir(program.path("NEW")).unwrap();
    let words = |line: &str| -> Vec<String> {
        let new = program.path("NEW").display().to_string();
        let line = line.replace("HOME", &home).replace("NEW", &new);
        let line = line.replace("QUERIES", &queries.display().to_string());
        let line = line.replace("CLICKS", &clicks.display().to_string());
        let line = line.replace("LIST", &list.display().to_string());
        line.split(' ').map(str::to_owned).collect()
    };
    for line in JSON {
        let words = words(line);
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let output = program
            .command(&[&words[..], &["--json"]].concat())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{line}: {said}");
        assert!(!said.contains('\x1b'), "{line}: {said}");
        let text = String::from_utf8(output.stdout).unwrap();
        for part in text.lines() {
            let value: Result<serde_json::Value, _> = serde_json::from_str(part);
            assert!(value.is_ok_and(|value| value.is_object()), "{line}: {part}");
        }
        assert!(!text.is_empty(), "{line}");
    }
    let help = program.text(&["--help"]);
    for command in listed(&help) {
        let tested = JSON
            .iter()
            .any(|line| line.split(' ').next() == Some(&command));
        assert!(
            tested || OTHERS.contains(&command.as_str()),
            "{command} is not tested"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn exit_codes_tell_failures_from_leftovers() {
    let files = crate::files::Files::site(2, 100);
    let address = files.serve().await;
    let home = format!("http://{address}/");
    let program = TestProgram::new();
    files.put(
        "/",
        "text/html",
        "<title>home</title> <a href=/0>0</a> <a href=/missing>x</a>",
    );
    program.run(&["crawl", &home]);
    // What is left over is one missing page: the crawl itself is complete.
    program.run(&["crawl", &home]);
    for missing in ["/nothing", "/secret"] {
        let (code, said) = program.fail(&["crawl", &format!("http://{address}{missing}")]);
        assert_eq!(code, Some(1), "{said}");
    }
    let empty = program.path("empty");
    std::fs::write(&empty, "\n# nothing\n").unwrap();
    let empty = empty.to_str().unwrap();
    for kind in ["urls", "queries", "clicks", "warc"] {
        let (code, said) = program.fail(&["import", kind, empty]);
        assert_eq!(code, Some(1), "{kind}: {said}");
        has(&said, "nothing was imported");
    }
}

#[test]
fn a_store_is_not_made_among_other_files() {
    let program = TestProgram::new();
    std::fs::write(program.store().join("thesis.tex"), "x").unwrap();
    let list = program.path("list");
    std::fs::write(&list, "http://127.0.0.1:9/\n").unwrap();
    let import = ["import", "urls", list.to_str().unwrap()];
    for line in [
        &import[..],
        &["crawl", "http://127.0.0.1:9/"],
        &["run", "http://127.0.0.1:9/"],
    ] {
        let (code, said) = program.fail(line);
        assert_eq!(code, Some(2), "{said}");
        has(&said, "thesis.tex");
        assert!(!program.store().join("FORMAT").exists());
    }
    program.run(&[&import[..], &["--force"]].concat());
    // Once there is a store, other files do not matter.
    program.run(&["status"]);
}
