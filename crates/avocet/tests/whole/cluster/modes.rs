//! The ways in which crawlers can work together (Cho & Garcia-Molina 2002), by their measures:
//! those that `avocet cluster status` prints equal those of the web's own log.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::Value;
use testweb::tracked::{TrackedPage, TrackedPlan, TrackedWeb};

use super::processes::TestCluster;

/// A crawl that has fetched no new page for this long has fetched all that it can.
const QUIET: Duration = Duration::from_secs(5);

/// What a mode must lead to.
struct Expected {
    flags: &'static [&'static str],
    overlaps: bool,
    complete: bool,
}

/// Returns the pages that each crawler has fetched.
fn fetched(web: &TrackedWeb) -> BTreeSet<(usize, TrackedPage)> {
    let requests = web.requests().into_iter();
    requests
        .map(|request| (request.crawler, request.page))
        .collect()
}

async fn until_quiet(web: &TrackedWeb) -> BTreeSet<(usize, TrackedPage)> {
    let (mut last, mut since) = (BTreeSet::new(), Instant::now());
    while since.elapsed() < QUIET || last.is_empty() {
        tokio::time::sleep(Duration::from_millis(200)).await;
        let now = fetched(web);
        if now != last {
            (last, since) = (now, Instant::now());
        }
    }
    last
}

async fn judge(expected: Expected) {
    let web = TrackedWeb::new(TrackedPlan {
        hosts: 24,
        pages_per_host: 5,
        words: 60,
        latency: Duration::from_millis(10),
    });
    let Some(mut cluster) = TestCluster::start(web, "10m").await else {
        return;
    };
    let flags = expected.flags.iter().map(|flag| (*flag).to_owned());
    cluster.flags.extend(flags);
    for _ in 0..2 {
        cluster.join(None).await;
    }
    let fetches = until_quiet(&cluster.web).await;
    let status = cluster.steer(&["status", "--json"]);
    let status: Value = serde_json::from_str(&status).unwrap();
    let printed = |measure: &str| status["measures"][measure].as_f64().unwrap();

    let different: BTreeSet<TrackedPage> = fetches.iter().map(|(_, page)| *page).collect();
    let overlap = (fetches.len() - different.len()) as f64 / fetches.len() as f64;
    let about = format!("{:?}: {status}", expected.flags);
    assert_eq!(overlap > 0.0, expected.overlaps, "{about}");
    assert!(
        (printed("overlap") - overlap).abs() < 1e-9,
        "{overlap}, {about}"
    );
    let complete = different.len() == cluster.web.pages();
    assert_eq!(
        complete,
        expected.complete,
        "{} pages, {about}",
        different.len()
    );
    assert_eq!(printed("coverage") == 1.0, expected.complete, "{about}");
    let quality = printed("quality");
    assert!(quality > 0.0 && quality <= 1.0 + 1e-6, "{about}");
}

#[tokio::test(flavor = "multi_thread")]
async fn exchange_fetches_every_page_once() {
    judge(Expected {
        flags: &["--exchange", "exchange"],
        overlaps: false,
        complete: true,
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_firewall_leaves_pages_out() {
    judge(Expected {
        flags: &["--exchange", "firewall"],
        overlaps: false,
        complete: false,
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn crossover_fetches_all_pages_and_some_of_them_twice() {
    judge(Expected {
        flags: &["--exchange", "crossover"],
        overlaps: true,
        complete: true,
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn independent_nodes_fetch_the_same_pages() {
    judge(Expected {
        flags: &["--coordination", "independent"],
        overlaps: true,
        complete: true,
    })
    .await;
}
