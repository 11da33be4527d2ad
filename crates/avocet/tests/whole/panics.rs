//! Tests that a panic stops the program with exit code 1, names its place, and leaves the store
//! intact.

use std::io::Read;
use std::process::Stdio;

use crate::program::TestProgram;
use crate::server::{self, AvocetServer, Leaf};
use crate::webs;

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_stops_a_crawl_with_exit_code_1() {
    let serving = webs::serve(webs::plain(33, 2, 40)).await;
    let homes = serving.homes();
    let crawl = webs::crawl(&homes, &[]);
    let straight = TestProgram::new();
    straight.json(&crawl);
    for (point, place) in [
        ("visit:5", "fault.rs"),
        ("archived", "fault.rs"),
        ("committed:2", "fault.rs"),
        ("indexed:3", "fault.rs"),
        ("published", "fault.rs"),
    ] {
        let program = TestProgram::new();
        let mut command = program.command(&crawl);
        let output = command.env("AVOCET_PANIC_AT", point).output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{point}: {told}");
        assert!(told.contains("avocet: a panic at"), "{point}: {told}");
        assert!(told.contains(place), "{point}: {told}");
        program.verified();
        program.json(&crawl);
        assert_eq!(program.fetched(), straight.fetched(), "{point}");
        program.verified();
    }
}

/// The panics are in a thread that reads the index for a search, and in the thread that reloads it.
#[test]
fn a_panic_stops_a_server_with_exit_code_1() {
    let program = TestProgram::new();
    server::put(&program, &[Leaf::new("http://e.org/", "title", "words")]);
    for point in ["read", "watch:2"] {
        let mut command = program.command(&["serve", "--listen", "127.0.0.1:0", "--json"]);
        command.env("AVOCET_PANIC_AT", point);
        let (mut child, address) = AvocetServer::spawn(command.stderr(Stdio::piped()));
        if point == "read" {
            let to = address;
            let answer = crate::http::ask(to, "GET", "/api/v1/search?q=words", &[], "");
            assert_eq!(answer.status, 500);
        }
        let mut told = String::new();
        let mut errors = child.stderr.take().unwrap();
        errors.read_to_string(&mut told).unwrap();
        assert_eq!(child.wait().unwrap().code(), Some(1), "{point}: {told}");
        assert!(told.contains("avocet: a panic at"), "{point}: {told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_pipe_does_not_cause_a_panic() {
    let serving = webs::serve(webs::plain(34, 1, 5)).await;
    let program = TestProgram::new();
    let homes = serving.homes();
    program.json(&webs::crawl(&homes, &[]));
    for arguments in [
        &["status"][..],
        &["explain", &homes[0]],
        &["verify"],
        &["config", "reference"],
        &["search", "the"],
    ] {
        let mut command = program.command(arguments);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stderr);
        assert!(!told.contains("panicked"), "{arguments:?}: {told}");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {told}");
    }
}
