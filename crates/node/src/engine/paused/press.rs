//! Sources publish, people click for a while, and a crawler with a small budget tries to be there: the whole engine, on pipes, in days
//! that pass in seconds. What is fetched counts as found: the index shows itself every 15 seconds of the machine's clock, which does not jump. How long
//! it takes until an article is found by search is measured where time is real: `cargo xtask bench sources --live`.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use fetch::Pipes;
use lab::loopback::{Had, Trial};
use repository::log::{Click, Log};

use super::{CONNECT, PIPE, plan, run_policies};
use crate::live::Live;
use crate::live::progress::Silent;
use crate::settings::Time;
use crate::store::{self, Store};
use crawl::Again;

/// A day of this world: an hour of ours, so that the engine wakes up less often in all.
const DAY: f64 = 86_400.0 / SPEED;
const SPEED: f64 = 24.0;
/// How often clicks are told, and plans are made.
const PUSH: Duration = Duration::from_secs(75);

/// What a crawl achieved in the second half of its time.
#[derive(Debug)]
struct Earned {
    /// Clicks on pages that it had by then, of all clicks.
    share: f64,
    /// The mean delay from publication to fetch, in hours.
    delay: f64,
    /// Articles that are found by search.
    documents: u64,
    fetched: usize,
    polls: u64,
}

/// At the same budget the scheduler that knows what its sources are worth gets more of what people click than one that asks all in turn.
#[tokio::test(start_paused = true)]
async fn sources_that_pay_are_polled_and_their_pages_are_found_sooner() {
    let bfs = crawl("bfs").await;
    let priced = crawl("priced").await;
    assert!(priced.share > bfs.share * 1.05, "{priced:?}, {bfs:?}");
    for crawl in [&bfs, &priced] {
        assert!(crawl.documents as usize >= crawl.fetched, "{crawl:?}");
        assert!(crawl.polls > 30 && crawl.delay > 0.0, "{crawl:?}");
    }
}

async fn crawl(sources: &str) -> Earned {
    let trial = Trial::begin(3, SPEED, Had::Fetched).unwrap();
    let press = Arc::clone(&trial.press);
    let served = Arc::clone(&press);
    let pipes: Pipes = Arc::new(move |_| {
        let (ours, theirs) = tokio::io::duplex(PIPE);
        let press = Arc::clone(&served);
        tokio::spawn(async {
            tokio::time::sleep(CONNECT).await;
            press.attend(theirs).await;
        });
        ours
    });
    let budget = Trial::BUDGET * SPEED;
    let mut plan = plan(press.sources(), pipes);
    plan.fetch.proxy = fetch::Proxy::parse("http://127.0.0.1:9").ok();
    plan.rules.again = Again::Always { budget };
    plan.time = Some(Duration::from_secs_f64(Trial::DAYS * DAY));
    plan.rules.index = true;
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path()).unwrap();
    let replan = Time(PUSH);
    let settings = format!("source.policy = \"{sources}\"\nsource.replan = \"{replan}\"");
    let policies = run_policies(&settings, budget);
    let trial = Arc::new(Mutex::new(trial));
    let clicking = tokio::spawn(click(Arc::clone(&trial), store::log(store.root())));
    let choice = policies.choose().unwrap();
    let live = Live::of(store.root());
    let never = std::future::pending();
    crate::engine::crawl(&store, plan, choice, Silent, &live, never)
        .await
        .unwrap();
    clicking.abort();
    let trial = trial.lock().unwrap();
    let (delays, _) = press.delays(trial.end());
    let index = repository::index::Index::open(&store.index()).unwrap();
    Earned {
        share: trial.served(),
        delay: delays.iter().sum::<f64>() / delays.len() as f64 / 3600.0,
        documents: index.count(),
        fetched: delays.len(),
        polls: press.polls(),
    }
}

/// Writes clicks into the log of a store as they happen.
async fn click(trial: Arc<Mutex<Trial>>, log: std::path::PathBuf) {
    let log = Log::open(&log);
    loop {
        tokio::time::sleep(PUSH).await;
        let mut trial = trial.lock().unwrap();
        let clicks = trial.clicks().into_iter();
        let lines = clicks.map(|(time, url, clicks)| Click {
            time,
            url: url.as_str().to_owned(),
            count: u64::from(clicks),
            query: None,
            rank: None,
        });
        log.append_all(&lines.collect::<Vec<_>>()).unwrap();
    }
}
