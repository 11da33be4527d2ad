//! `avocet pause` and `avocet resume`, which control the crawl of a store from another process.
//!
//! When `pause` returns, no request is under way and everything is committed. The directory can
//! then be copied as a backup.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use node::clock::{Clock, written};
use node::live::pause;
use node::store::{self, InUse, Store};

/// Time between two checks whether the crawl has paused.
const CHECK_EVERY: Duration = Duration::from_millis(200);

/// A report of the crawl counts only if it is written this long after the request to pause.
///
/// The time is twice 500 ms, the maximum wait of a settled page before it goes to the committer.
const SETTLES: Duration = Duration::from_secs(1);

/// Pauses the crawl of a store, and waits until it has paused. If none runs, the next one starts
/// paused.
pub fn pause(root: &Path, json: bool) -> Result<()> {
    store::must_exist(root)?;
    let requested = written(Clock::start().now() + SETTLES);
    pause::pause(root).with_context(|| format!("cannot write into {}", root.display()))?;
    let mut running = false;
    // A process that holds the lock crawls, or runs another command that ends soon.
    while let Err(error) = Store::open(root) {
        if !error.is::<InUse>() {
            return Err(error);
        }
        running = true;
        if has_paused(root, &requested) {
            break;
        }
        std::thread::sleep(CHECK_EVERY);
    }
    let what = match running {
        true => "paused: no request is under way, and everything is committed",
        false => "no crawl is running; the next one will start paused",
    };
    say(json, json!({ "paused": true, "running": running }), what);
    Ok(())
}

/// Resumes the crawl of a store.
pub fn resume(root: &Path, json: bool) -> Result<()> {
    store::must_exist(root)?;
    let was =
        pause::resume(root).with_context(|| format!("cannot write into {}", root.display()))?;
    let what = match was {
        true => "the crawl resumes",
        false => "the crawl was not paused",
    };
    say(json, json!({ "paused": false, "was_paused": was }), what);
    Ok(())
}

/// Returns whether the crawl has reported, after `since`, that it is paused.
fn has_paused(root: &Path, since: &str) -> bool {
    let state: Option<Value> = store::read_json(&store::state(root));
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
