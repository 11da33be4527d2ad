//! `avocet pause` and `avocet resume`: a running crawl rests and goes on, whoever runs it.
//!
//! When `pause` has returned nothing is under way and all is committed: the directory can be copied.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use node::clock::Clock;
use node::live::meter::written;
use node::live::pause;
use node::store::{self, Store};

/// How often it is looked whether the crawl rests.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// What a crawl says is believed if it says so this long after it was asked: twice the time in which what is settled is committed.
const SETTLES: Duration = Duration::from_secs(1);

/// Has the crawl of a store pause, and waits until it does.
pub fn pause(root: &Path, json: bool) -> Result<()> {
    store::must_exist(root)?;
    let asked = written(Clock::start().now() + SETTLES);
    pause::pause(root).with_context(|| format!("cannot write into {}", root.display()))?;
    let mut running = false;
    // Whoever holds the lock crawls, or does something short.
    while Store::open(root).is_err() {
        running = true;
        if rests(root, &asked) {
            break;
        }
        std::thread::sleep(LOOK_EVERY);
    }
    let what = match running {
        true => "paused: nothing is under way, and all is committed",
        false => "nothing runs; the next crawl begins paused",
    };
    say(json, json!({ "paused": true, "running": running }), what);
    Ok(())
}

/// Has the crawl of a store go on.
pub fn resume(root: &Path, json: bool) -> Result<()> {
    store::must_exist(root)?;
    let was =
        pause::resume(root).with_context(|| format!("cannot write into {}", root.display()))?;
    let what = match was {
        true => "the crawl goes on",
        false => "it was not paused",
    };
    say(json, json!({ "paused": false, "was_paused": was }), what);
    Ok(())
}

/// Whether the crawl has said, since then, that it rests.
fn rests(root: &Path, since: &str) -> bool {
    let state = std::fs::read(store::state(root)).ok();
    let state: Option<Value> = state.and_then(|bytes| serde_json::from_slice(&bytes).ok());
    state.is_some_and(|state| {
        let later = |at: &str| at.parse::<jiff::Timestamp>().ok() > since.parse().ok();
        state["mode"] == "paused" && state["at"].as_str().is_some_and(later)
    })
}

fn say(json: bool, answer: Value, what: &str) {
    if json {
        outln!("{answer}");
    } else {
        outln!("{what}");
    }
}
