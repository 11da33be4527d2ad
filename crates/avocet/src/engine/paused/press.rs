//! Sources publish, people click for a while, and a crawler with a small budget tries to be there: the whole engine, on pipes, in days
//! that pass in seconds. What is fetched counts as found: the index shows itself every 15 seconds of the machine's clock, which does not jump. How long
//! it takes until an article is found by search is measured where time is real: `cargo xtask bench sources --live`.

use std::sync::Arc;
use std::time::Duration;

use fetch::Pipes;
use jiff::{SignedDuration, Timestamp};
use lab::site::{Had, Press};
use lab::world::World;
use policy::Moment;
use repository::log::{Click, Log};

use super::{CONNECT, PIPE, plan};
use crate::engine::plan::Again;
use crate::live::Live;
use crate::polling::Polling;
use crate::progress::Progress;
use crate::ranking::Ranking;
use crate::store::{self, Store};
use crate::upkeep::Refreshing;

/// A day of this world: an hour of ours, so that the engine wakes up less often in all.
const DAY: f64 = 86_400.0 / SPEED;
const SPEED: f64 = 24.0;
const DAYS: f64 = 4.0;
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
    let knobs = [
        ("sources", "30"),
        ("sites", "6"),
        ("days", "4"),
        ("articles", "0.004"),
        ("links", "2"),
        ("profit", "0.1"),
    ];
    let knobs = knobs.map(|(name, value)| (name.into(), value.into()));
    let World::News(news) = World::open("invented:sources", &knobs, 3).unwrap() else {
        panic!("a world of news")
    };
    let begins = news.links()[0].from;
    let press = Arc::new(Press::new(news.clone(), begins, SPEED));
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
    let budget = 0.0025 * SPEED;
    let mut plan = plan(press.sources(), pipes);
    plan.fetch.proxy = fetch::Proxy::parse("http://127.0.0.1:9").ok();
    plan.again = Again::Always { budget };
    plan.time = Some(Duration::from_secs_f64(DAYS * DAY));
    plan.index = true;
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path()).unwrap();
    let ranking = Ranking {
        refresh: Some(Refreshing {
            policy: "holistic".into(),
            rate: None,
            rates: None,
            budget,
            step: None,
            slots: None,
            listings: None,
            sources: Polling {
                replan: Some(PUSH),
                ..Polling::by(sources)
            },
        }),
        ..Ranking::default()
    };
    let clicking = tokio::spawn(click(Arc::clone(&press), store::log(store.root())));
    let choice = ranking.choose().unwrap();
    let live = Live::of(store.root());
    let never = std::future::pending();
    crate::engine::crawl(&store, plan, choice, Progress::start(), &live, never)
        .await
        .unwrap();
    clicking.abort();
    let day = |days: f64| begins + Duration::from_secs_f64(days * DAY * SPEED);
    let (half, end) = (day(DAYS / 2.0), day(DAYS));
    let got: u32 = press
        .clicks(half, end, Had::Fetched)
        .iter()
        .map(|(_, click)| click.clicks)
        .sum();
    let all = news.clicks().iter();
    let all = all.filter(|click| (half..end).contains(&click.at));
    let all: u32 = all.map(|click| click.clicks).sum();
    let (delays, _) = press.delays(end);
    let index = repository::index::Index::open(&store.index()).unwrap();
    Earned {
        share: f64::from(got) / f64::from(all),
        delay: delays.iter().sum::<f64>() / delays.len() as f64 / 3600.0,
        documents: index.count(),
        fetched: delays.len(),
        polls: press.polls(),
    }
}

/// Writes clicks into the log of a store as they happen.
async fn click(press: Arc<Press>, log: std::path::PathBuf) {
    let log = Log::open(&log);
    let (begun, first) = (Timestamp::now(), press.now());
    let mut told = first;
    loop {
        tokio::time::sleep(PUSH).await;
        let now = press.now();
        let clicks = press.clicks(told, now, Had::Fetched);
        let lines = clicks.iter().map(|(url, click)| Click {
            time: begun + since(first, click.at),
            url: url.as_str().to_owned(),
            count: u64::from(click.clicks),
        });
        log.append_all(&lines.collect::<Vec<_>>()).unwrap();
        told = now;
    }
}

/// The time of ours from one moment of the world to another.
fn since(first: Moment, at: Moment) -> SignedDuration {
    SignedDuration::from_secs_f64(at.since(first).as_secs_f64() / SPEED)
}
