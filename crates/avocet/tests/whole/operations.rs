//! Tests of logs, configuration, backups, and of a demo that leaves no files behind.

use std::collections::HashSet;
use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use testweb::site::ServedWeb;

use crate::program::{TestProgram, has, holds, words};
use crate::running::CrawlProcess;
use crate::webs;

#[tokio::test(flavor = "multi_thread")]
async fn logs_for_machines_are_json_and_nothing_else() {
    let serving = webs::serve(webs::plain(1, 2, 20)).await;
    let program = TestProgram::new();
    let homes = serving.homes();
    let arguments = webs::crawl(&homes, &["--log-format", "json", "--log-level", "debug"]);
    let output = program.run(&arguments);
    let said = String::from_utf8(output.stderr).unwrap();
    let mut lines = said
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect(line));
    let first = lines.next().expect("something is said");
    assert!(
        first["message"].as_str().unwrap().starts_with("crawling "),
        "{first}"
    );
    assert!(lines.all(|line| line["level"].is_string() && line["timestamp"].is_string()));
    let (code, why) = program.fail(&["status", "--log-level", "avocet=loud"]);
    assert_eq!(code, Some(2), "{why}");
}

#[test]
fn config_check_names_line_and_key_of_each_error() {
    let program = TestProgram::new();
    let right = program.json(&["config", "check"]);
    assert_eq!(
        right["wrong"],
        Value::Array(Vec::new()),
        "the store's own is right"
    );
    let file = program.path("wrong.toml");
    std::fs::write(
        &file,
        "[crawl]\n\norder = \"pagerang\"\nordr = 1\ndpth = 2\n",
    )
    .unwrap();
    let output = program
        .command(&["config", "check", file.to_str().unwrap()])
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    has(&String::from_utf8_lossy(&output.stderr), "has 3 errors");
    let said = String::from_utf8(output.stdout).unwrap();
    has(&said, "wrong.toml:4: crawl.ordr:");
    has(&said, "wrong.toml:5: crawl.dpth:");
    assert!(
        said.contains("wrong.toml:3: crawl.order:") && said.contains("pagerank"),
        "{said}"
    );
    std::fs::write(&file, "[crawl]\ndepth = 3\n").unwrap();
    let shown = program.json(&["config", "show", file.to_str().unwrap()]);
    let all = shown["settings"].as_array().unwrap();
    let depth = all.iter().find(|one| one["setting"] == "crawl.depth");
    let depth = depth.unwrap();
    holds(depth, &json!({ "value": 3, "origin": "file" }));
    let reference = program.run(&["config", "reference"]).stdout;
    std::fs::write(&file, reference).unwrap();
    program.run(&["config", "check", file.to_str().unwrap()]);
}

/// Returns the number of distinct pages that the servers answered with 200.
fn pages_answered(serving: &ServedWeb) -> usize {
    let of = |server| {
        let visits = serving.log().visits(server);
        let answered = visits
            .iter()
            .filter(|visit| visit.status == 200 && &*visit.path != "/robots.txt")
            .map(|visit| visit.path.clone());
        answered.collect::<HashSet<_>>().len()
    };
    let servers = serving.web().servers();
    servers.map(|(server, _)| of(server)).sum()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_is_backed_up_by_copying_it_while_its_crawl_is_paused() {
    let serving = webs::serve(webs::plain(5, 4, 300)).await;
    let running = CrawlProcess::start(&serving, &["--budget", "400/s"]).await;
    let program = &running.program;
    while serving.log().requests() < 100 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    program.run(&["pause"]);
    let asked = serving.log().requests();
    let answered = pages_answered(&serving);
    let copy = program.path("copy");
    let copied = Command::new("cp")
        .arg("-a")
        .arg(program.store())
        .arg(&copy)
        .status()
        .unwrap();
    assert!(copied.success());
    assert_eq!(
        serving.log().requests(),
        asked,
        "the crawl rests while it is copied"
    );
    program.run(&["resume"]);
    while serving.log().requests() == asked {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    // The copy is a complete store with every page fetched before the pause.
    let avocet = |arguments: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_avocet"))
            .args(arguments)
            .arg("--store")
            .arg(&copy)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    };
    avocet(&["verify"]);
    let urls = avocet(&["export", "urls"]);
    let fetched = urls
        .lines()
        .filter(|line| {
            ["\"status\":200", "\"status\":304"]
                .iter()
                .any(|status| line.contains(status))
        })
        .count();
    assert_eq!(fetched, answered, "of {asked} requests");
    avocet(&["resume"]);
}

#[test]
fn the_demo_reports_every_figure_and_leaves_no_files() {
    let temporary = tempfile::tempdir().unwrap();
    // The default port is in use.
    let _taken = TcpListener::bind("127.0.0.1:8321");
    let output = Command::new(env!("CARGO_BIN_EXE_avocet"))
        .args(words(
            "demo --json --time 25s --seed 3 --speed 2 --budget 60/s --searches 5",
        ))
        .env("TMPDIR", temporary.path())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let number = |place: &str| {
        told.pointer(place)
            .and_then(Value::as_f64)
            .unwrap_or_else(|| panic!("{place} in {told}"))
    };
    assert!(number("/known") > 100.0, "{told}");
    assert!(number("/fetches/new") >= number("/known"), "{told}");
    assert!(number("/publication/found") > 0.0, "{told}");
    assert!(number("/publication/mean_delay") > 0.0, "{told}");
    assert!(
        number("/searches") > 10.0 && number("/clicks") > 0.0,
        "{told}"
    );
    assert_eq!(number("/failed"), 0.0, "{told}");
    // The baseline has the same budget.
    assert_eq!(told["baseline"], "uniform");
    let ratio = number("/baseline_requests") / number("/requests");
    assert!((0.5..2.0).contains(&ratio), "{told}");
    for share in [
        "/freshness/copies",
        "/freshness/baseline_copies",
        "/freshness/shown",
        "/freshness/baseline_shown",
    ] {
        assert!((0.05..=1.0).contains(&number(share)), "{share}: {told}");
    }
    let left: Vec<_> = std::fs::read_dir(temporary.path()).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
}
