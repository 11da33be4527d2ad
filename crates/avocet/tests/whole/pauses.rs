//! Tests of `pause` and `resume`: a paused crawl sends no requests and has committed everything.

use std::time::Duration;

use serde_json::json;

use crate::program::{TestProgram, has, holds};
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
    holds(&paused, &json!({ "paused": true, "running": true }));
    let state = running.state();
    holds(&state, &json!({ "mode": "paused", "uncommitted": 0 }));
    let before = serving.log().requests();
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(
        serving.log().requests(),
        before,
        "a paused crawl sends no request"
    );
    let status = running.program.json(&["status"]);
    holds(&status, &json!({ "running": true, "mode": "paused" }));
    assert!(running.get("/dashboard").body.contains("paused"));

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

/// `pause` waits for the process that has the lock, and `explain` asks it. Both report any other
/// error at once.
#[test]
fn a_lock_file_that_cannot_be_opened_is_reported() {
    let program = TestProgram::new();
    let urls = program.path("urls.txt");
    std::fs::write(&urls, "http://e.org/\n").unwrap();
    program.run(&["import", "urls", urls.to_str().unwrap()]);
    let lock = program.store().join("LOCK");
    std::fs::remove_file(&lock).unwrap();
    std::fs::create_dir(&lock).unwrap();
    for command in [&["pause"][..], &["explain", "http://e.org/"]] {
        let (_, said) = program.fail(command);
        has(&said, "LOCK: is the directory writable?");
    }
}
