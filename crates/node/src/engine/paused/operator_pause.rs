//! Tests that a paused crawl makes no requests until it is resumed, and that its counts are right.

use std::sync::Arc;
use std::time::Duration;

use super::{DAY, living_web, run, run_policies};
use crate::live::snapshot::CrawlMode;
use crate::live::{Live, pause};
use crate::store::Store;
use crawl::Again;

const PAUSE_AT: Duration = Duration::from_secs(1800);
const RESUME_AT: Duration = Duration::from_secs(3600);

#[tokio::test(start_paused = true)]
async fn a_paused_crawl_makes_no_request_and_the_snapshot_counts_every_request() {
    let (serving, mut plan) = living_web();
    let budget = 0.1;
    plan.rules.again = Again::Always { budget };
    plan.time = Some(Duration::from_secs_f64(2.0 * DAY));
    let directory = tempfile::tempdir().unwrap();
    let store = Store::create(directory.path()).unwrap();
    let policies = run_policies("refresh.policy = \"freshness\"", budget);
    let live = Live::of(directory.path());
    live.decides_by(&policies);
    let choice = policies.choose().unwrap();
    let (root, watched) = (directory.path().to_owned(), Arc::clone(&live));
    let operator = tokio::spawn(async move {
        tokio::time::sleep(PAUSE_AT).await;
        let mode = || {
            let watched = Arc::clone(&watched);
            tokio::task::spawn_blocking(move || watched.snapshot().state.mode)
        };
        assert_eq!(mode().await.unwrap(), CrawlMode::Running);
        assert!(pause::pause(&root).unwrap() && !pause::pause(&root).unwrap());
        tokio::time::sleep((RESUME_AT - PAUSE_AT) / 2).await;
        let paused = mode().await.unwrap();
        tokio::time::sleep((RESUME_AT - PAUSE_AT) / 2).await;
        assert!(pause::resume(&root).unwrap() && !pause::resume(&root).unwrap());
        paused
    });
    run(&store, plan, choice, &live).await;
    assert_eq!(operator.await.unwrap(), CrawlMode::Paused);

    let web = serving.web();
    let log = serving.log();
    let arrived: Vec<Duration> = (web.servers())
        .flat_map(|(server, _)| log.visits(server))
        .map(|visit| visit.arrived)
        .collect();
    let between = |from: Duration, until: Duration| {
        let within = arrived.iter().filter(|at| (from..until).contains(*at));
        within.count()
    };
    assert!(between(Duration::ZERO, PAUSE_AT) > 100);
    let grace = Duration::from_secs(2);
    assert_eq!(between(PAUSE_AT + grace, RESUME_AT), 0);
    assert!(between(RESUME_AT, RESUME_AT + PAUSE_AT) > 100);

    let snapshot = live.snapshot();
    let fetches = snapshot.state.fetches;
    let seen = log.requests() as u64;
    // The servers may have logged up to two requests that the last snapshot lacks.
    assert!(seen - fetches.all() <= 2, "{seen} requests, {fetches:?}");
    assert!(fetches.new >= web.pages().count() as u64 / 2, "{fetches:?}");
    assert!(fetches.refresh > 0 && fetches.source > 0, "{fetches:?}");
    // Each server got one request for robots.txt, and one for a page that cannot exist.
    assert_eq!(fetches.overhead, 2 * web.servers().count() as u64);
    let series: u64 = (snapshot.series.iter())
        .map(|point| point.fetches.all())
        .sum();
    assert_eq!(fetches.all(), series);
    assert!(snapshot.gains.refresh > 0.0 && snapshot.gains.new > 0.0);
    let outlook = snapshot.outlook.unwrap();
    assert!(
        outlook.freshness > 0.0 && outlook.freshness <= 1.0,
        "{outlook:?}"
    );
    assert!(!snapshot.recent.is_empty() && !snapshot.servers.is_empty());
    assert!(
        snapshot
            .servers
            .iter()
            .all(|server| server.origin.starts_with("http"))
    );
}
