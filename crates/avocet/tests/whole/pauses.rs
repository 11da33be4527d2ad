//! Tests of `pause` and `resume`: a paused crawl sends no requests and has committed everything.

use std::time::Duration;

use serde_json::{Value, json};

use crate::program::TestProgram;
use crate::running::CrawlProcess;
use crate::webs;

#[tokio::test(flavor = "multi_thread")]
async fn a_pause_stops_fetches_and_a_resume_goes_on() {
    let serving = webs::serve(webs::plain(8, 3, 30)).await;
    let running = CrawlProcess::start(&serving, &["--budget", "30/s"]).await;
    running
        .until("it fetches", |state| {
            state["fetches"]["new"].as_u64() > Some(5)
        })
        .await;
    let paused = running.program.json(&["pause"]);
    assert_eq!(
        (&paused["paused"], &paused["running"]),
        (&json!(true), &json!(true))
    );
    let state = running.state();
    assert_eq!(
        (&state["mode"], &state["uncommitted"]),
        (&json!("paused"), &json!(0))
    );
    let before = serving.log().requests();
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(
        serving.log().requests(),
        before,
        "a paused crawl sends no request"
    );
    let status = running.program.json(&["status"]);
    assert_eq!(
        (&status["running"], &status["mode"]),
        (&json!(true), &json!("paused"))
    );
    assert!(running.get("/dashboard").body.contains("paused"));

    // A copy of the directory is a valid store.
    let copied = running.program.path("copy");
    let copy = std::process::Command::new("cp");
    let done = { copy }
        .arg("-a")
        .arg(running.program.store())
        .arg(&copied)
        .status();
    assert!(done.unwrap().success());
    let verified = std::process::Command::new(env!("CARGO_BIN_EXE_avocet"))
        .args(["verify", "--json", "--store"])
        .arg(&copied)
        .output()
        .unwrap();
    let verified: Value = serde_json::from_slice(&verified.stdout).unwrap();
    assert_eq!(verified["problems"], json!([]), "{verified}");

    let resumed = running.program.json(&["resume"]);
    assert_eq!(resumed["was_paused"], true);
    running
        .until("it goes on", |state| state["mode"] == "running")
        .await;
    for _ in 0..100 {
        if serving.log().requests() > before + 10 {
            break;
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert!(serving.log().requests() > before + 10);
    // While paused, the counted fetches equal the requests that the servers saw.
    running.program.json(&["pause"]);
    let state = running.state();
    let fetches = state["fetches"].as_object().unwrap().values();
    let told: u64 = fetches.map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(told as usize, serving.log().requests(), "{state}");
    running.stop().await;
}

/// A pause survives a restart of the program.
#[tokio::test(flavor = "multi_thread")]
async fn a_pause_survives_a_restart_and_an_address_in_use_is_reported() {
    let serving = webs::serve(webs::plain(11, 1, 10)).await;
    let program = TestProgram::new();
    let home = serving.homes().remove(0);
    program.run(&["crawl", &home, "--pages", "3"]);
    let asked = serving.log().requests();
    let paused = program.json(&["pause"]);
    assert_eq!(paused, json!({ "paused": true, "running": false }));
    program.run(&["run", "--time", "3s", "--no-serve"]);
    assert_eq!(serving.log().requests(), asked, "it begins paused");
    program.run(&["resume"]);
    program.run(&["run", "--time", "3s", "--no-serve"]);
    assert!(serving.log().requests() > asked);
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let place = taken.local_addr().unwrap().to_string();
    let (_, said) = program.fail(&["run", "--listen", &place, "--time", "3s"]);
    assert!(said.contains("cannot listen"), "{said}");
}
