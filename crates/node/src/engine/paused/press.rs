//! Compares source schedulers on the whole engine, under a paused clock.
//!
//! Sources publish articles, and the clicks on an article become fewer with its age. The crawler
//! has a small budget. A fetched article counts as found, because the index commits every 15
//! seconds of real time, which does not jump. `cargo xtask bench sources --live` measures the delay
//! until search finds an article, in real time.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use fetch::Pipes;
use lab::loopback::{Had, Trial};
use repository::log::{Click, EventLog};

use super::{CONNECT, PIPE, plan, run, run_policies};
use crate::live::Live;
use crate::settings::Time;
use crate::store::{self, Store};
use crawl::Again;

/// A day of this world, in seconds of the paused clock: one hour, so that the engine wakes up less
/// often.
const DAY: f64 = 86_400.0 / SPEED;
/// Seconds of this world per second of the paused clock.
const SPEED: f64 = 24.0;
/// How often clicks are written to the log, and how often the scheduler plans.
const PUSH: Duration = Duration::from_secs(75);

/// The results of a crawl.
#[derive(Debug)]
struct TrialResult {
    /// The share of the clicks in the second half of the crawl that are on pages fetched before the
    /// click.
    share: f64,
    /// The mean delay from publication to fetch, in hours.
    delay: f64,
    /// Documents in the index.
    documents: u64,
    fetched: usize,
    polls: u64,
}

/// At the same budget, a scheduler that estimates the worth of its sources serves more clicks than
/// one that polls all sources in turn.
#[tokio::test(start_paused = true)]
async fn a_scheduler_that_prices_its_sources_serves_more_clicks_than_polling_in_turn() {
    let bfs = crawl("bfs").await;
    let priced = crawl("priced").await;
    assert!(priced.share > bfs.share * 1.05, "{priced:?}, {bfs:?}");
    for crawl in [&bfs, &priced] {
        assert!(crawl.documents as usize >= crawl.fetched, "{crawl:?}");
        assert!(crawl.polls > 30 && crawl.delay > 0.0, "{crawl:?}");
    }
}

async fn crawl(sources: &str) -> TrialResult {
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
    plan.fetch.proxy = fetch::ProxySettings::parse("http://127.0.0.1:9").ok();
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
    run(&store, plan, choice, &Live::of(store.root())).await;
    clicking.abort();
    let trial = trial.lock().unwrap();
    let (delays, _) = press.delays(trial.end());
    let index = repository::index::Index::open(&store.index()).unwrap();
    TrialResult {
        share: trial.served(),
        delay: delays.iter().sum::<f64>() / delays.len() as f64 / 3600.0,
        documents: index.count(),
        fetched: delays.len(),
        polls: press.polls(),
    }
}

/// Writes new clicks into the log of a store, every 75 s.
async fn click(trial: Arc<Mutex<Trial>>, log: std::path::PathBuf) {
    let log = EventLog::open(&log);
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
