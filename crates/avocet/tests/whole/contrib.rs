//! Tests of `contrib/`: the program knows every command in it, and every path is installed.
//!
//! No image is built and no unit is started, because a test machine may lack Docker and systemd.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::program::TestProgram;
use crate::webs;

const PROGRAM: &str = env!("CARGO_BIN_EXE_avocet");

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn text(name: &str) -> String {
    std::fs::read_to_string(workspace().join("contrib").join(name)).unwrap()
}

/// Checks that the program knows the flags of a command line.
fn check_flags(arguments: &[&str]) {
    let help = Command::new(PROGRAM)
        .args(arguments)
        .arg("--help")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&help.stderr);
    assert!(help.status.success(), "{arguments:?}: {said}");
}

/// Returns the command lines of a unit under a key, without the name of the program.
fn commands(unit: &str, key: &str) -> Vec<Vec<String>> {
    let lines = unit.lines().filter_map(|line| line.strip_prefix(key));
    lines
        .map(|line| line.strip_prefix("/usr/local/bin/avocet ").expect(line))
        .map(|line| line.split(' ').map(str::to_owned).collect())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_program_accepts_every_command_of_the_systemd_unit() {
    let serving = webs::serve(webs::plain(13, 1, 8)).await;
    let program = TestProgram::new();
    let unit = text("avocet.service");
    let config = program.path("avocet.toml");
    let home = serving.homes().remove(0);
    let said = format!(
        "[crawl]\nseeds = [{home:?}]\nscope = \"any\"\n[fetch]\nallow_private = true\n[budget]\nfetches_per_second = 20\n"
    );
    std::fs::write(&config, said).unwrap();
    let (store, config) = (program.path("state"), config.to_str().unwrap().to_owned());
    // System paths are replaced by paths of the test; other words stay as they are.
    let placed = |word: &String| match word.as_str() {
        "/etc/avocet/avocet.toml" => config.clone(),
        "/var/lib/avocet" => store.to_str().unwrap().to_owned(),
        other if other.starts_with('/') => panic!("{other} is not known to the test"),
        other => other.to_owned(),
    };
    let run = |words: &[String], more: &[&str]| {
        let words: Vec<String> = words.iter().map(placed).collect();
        let done = Command::new(PROGRAM).args(&words).args(more).output();
        let done = done.unwrap();
        let said = String::from_utf8_lossy(&done.stderr).into_owned();
        assert!(done.status.success(), "{words:?}: {said}");
        said
    };
    let before = commands(&unit, "ExecStartPre=");
    let start = commands(&unit, "ExecStart=");
    assert_eq!((before.len(), start.len()), (1, 1));
    run(&before[0], &[]);
    let said = run(&start[0], &["--time", "2s", "--listen", "127.0.0.1:0"]);
    assert!(
        said.lines().all(|line| line.starts_with('{')),
        "logs for machines: {said}"
    );
    assert!(store.join("ledger").is_dir(), "{said}");
    assert!(
        unit.contains("StateDirectory=avocet\n"),
        "/var/lib/avocet is made by systemd"
    );

    // The commands in the comment at the top of the unit install every file that the unit names.
    let installed = |path: &str| {
        unit.lines()
            .any(|line| line.starts_with('#') && line.contains(path))
    };
    let documented = "/usr/local/share/doc/avocet/operations.md";
    assert!(
        unit.contains(&format!("Documentation=file://{documented}\n")) && installed(documented)
    );
    assert!(installed("install -D -m 644 docs/guide/operations.md"));
    assert!(installed("cp contrib/avocet.service /etc/systemd/system/"));
    assert!(installed("cp target/release/avocet /usr/local/bin/"));
    assert!(workspace().join("docs/guide/operations.md").is_file());

    // systemd accepts the unit, with the program under test in place of the installed one.
    let ours = program.path("avocet.service");
    std::fs::write(&ours, unit.replace("/usr/local/bin/avocet", PROGRAM)).unwrap();
    match Command::new("systemd-analyze")
        .arg("verify")
        .arg(&ours)
        .output()
    {
        Ok(verified) => {
            let said = String::from_utf8_lossy(&verified.stderr).into_owned();
            let ours: Vec<&str> = said
                .lines()
                .filter(|line| line.contains("avocet"))
                .collect();
            assert!(verified.status.success() && ours.is_empty(), "{said}");
        }
        Err(error) => {
            eprintln!("skipped: systemd-analyze cannot be run ({error}): apt-get install systemd");
        }
    }
}

#[test]
fn the_program_accepts_every_command_of_the_docker_image() {
    let file = text("Dockerfile");
    let words = |name: &str| -> Vec<String> {
        let line = file.lines().find_map(|line| line.strip_prefix(name));
        serde_json::from_str(line.expect(name)).unwrap()
    };
    let (entry, command) = (words("ENTRYPOINT "), words("CMD "));
    assert_eq!(entry[0], "avocet");
    let entry: Vec<&str> = entry[1..].iter().map(String::as_str).collect();
    let with = |more: &[&str]| check_flags(&[&entry, more].concat());
    let command: Vec<&str> = command.iter().map(String::as_str).collect();
    with(&command);
    // The examples in the comment at the top, from the name of the image on.
    let mut examples = 0;
    for line in file.lines().filter(|line| line.starts_with('#')) {
        if let Some((_, rest)) = line.split_once("docker run ") {
            let more: Vec<&str> = rest
                .split(' ')
                .skip_while(|word| *word != "avocet")
                .collect();
            with(&more[1..]);
            examples += 1;
        }
    }
    assert_eq!(examples, 2);
    // The image copies the binary that was built, and the volume is the store.
    assert!(file.contains("cp target/release/avocet /usr/local/bin/avocet\n"));
    assert!(file.contains("COPY --from=build /usr/local/bin/avocet /usr/local/bin/avocet\n"));
    assert!(file.contains("cargo build --release --locked -p avocet "));
    assert!(file.contains("VOLUME /store\n") && entry[..2] == ["--store", "/store"]);
    let port = avocet_port();
    assert!(file.contains(&format!("EXPOSE {port}\n")));
    let listen = command.last().unwrap();
    assert!(listen.ends_with(&format!(":{port}")), "{listen}");
}

/// Returns the default port, as the help of `avocet serve` gives it.
fn avocet_port() -> String {
    let help = Command::new(PROGRAM).args(["serve", "--help"]).output();
    let help = String::from_utf8(help.unwrap().stdout).unwrap();
    let rest = help.split_once("[default: 127.0.0.1:").unwrap().1;
    rest.split(']').next().unwrap().to_owned()
}

/// Returns the metrics that a text names, without the suffixes of counters and histograms.
fn metrics_in(text: &str) -> Vec<String> {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let words = text.split(|letter: char| !is_word(letter));
    let named = words.filter(|word| word.starts_with("avocet_") || word.starts_with("process_"));
    let names = named.map(|name| {
        let name = name.strip_suffix("_total").unwrap_or(name);
        name.strip_suffix("_bucket").unwrap_or(name).to_owned()
    });
    names.collect()
}

#[test]
fn dashboard_and_alerts_use_metrics_that_exist() {
    let page = workspace().join("docs/reference/metrics.md");
    let page = std::fs::read_to_string(page).unwrap();
    for file in ["grafana.json", "alerts.yml"] {
        let names = metrics_in(&text(file));
        assert!(names.len() > 8, "{file}: {names:?}");
        for name in names {
            assert!(page.contains(&format!("| `{name}` |")), "{file}: {name}");
        }
    }
    let dashboard: serde_json::Value = serde_json::from_str(&text("grafana.json")).unwrap();
    assert!(dashboard["panels"].as_array().unwrap().len() > 10);
    let rules = workspace().join("contrib/alerts.yml");
    match Command::new("promtool")
        .args(["check", "rules"])
        .arg(rules)
        .output()
    {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(_) => eprintln!("skipped: promtool is not installed"),
    }
}
