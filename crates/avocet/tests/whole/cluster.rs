//! Tests of `avocet run --cluster` with real processes. The log of the web is the oracle.

mod brokers_away;
mod copies;
mod cut;
mod demo;
mod face;
mod modes;
mod processes;
mod snapshots;

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use testweb::tracked::{TrackedPage, TrackedPlan, TrackedRequest, TrackedWeb};

use crate::program::has;
use cut::CuttableWay;
use processes::{LoggedFacts, TestCluster};

const HOSTS: u32 = 40;

async fn cluster(pages_per_host: u32, silence: &'static str) -> Option<TestCluster> {
    let web = TrackedWeb::new(TrackedPlan {
        hosts: HOSTS,
        pages_per_host,
        words: 60,
        latency: Duration::from_millis(10),
    });
    TestCluster::start(web, silence).await
}

/// Checks that no page whose visit was published was fetched like a new one later.
fn no_published_page_repeated(cluster: &TestCluster, published: &LoggedFacts) {
    let read = published.read;
    let published: BTreeSet<TrackedPage> = published.visited.iter().copied().collect();
    let repeated = cluster.web.repeated().into_iter();
    let mut wrong = repeated.filter(|again| again.at > read && published.contains(&again.page));
    assert_eq!(wrong.next().map(|again| again.page), None);
}

/// The silence is ten minutes, so a slot changes its owner only because that released it.
#[tokio::test(flavor = "multi_thread")]
async fn nodes_divide_a_crawl_and_a_node_that_stops_hands_its_slots_over() {
    let Some(mut cluster) = cluster(25, "10m").await else {
        return;
    };
    for _ in 0..3 {
        cluster.join(None).await;
    }
    let facts = cluster.until_complete().await;
    assert_eq!(facts.refused, 0);
    assert_eq!(cluster.web.repeated().len(), 0, "overlap");
    let first = cluster.web.first_copies();
    for node in 0..3 {
        assert!(
            first.values().any(|request| request.crawler == node),
            "n{node} has no share"
        );
    }

    // A second process with the name of a node.
    let store = tempfile::tempdir().unwrap();
    let second = cluster.command(1, store.path()).output().unwrap();
    assert!(!second.status.success());
    let said = String::from_utf8(second.stderr).unwrap();
    has(&said, "another process runs with the name of this node");
    let now = Instant::now();
    let is = |request: &TrackedRequest| request.crawler == 1;
    cluster
        .until_request("the first one goes on", now, is)
        .await;

    // A clean stop.
    let hosts = cluster.hosts_of(2, HOSTS).await;
    assert!(!hosts.is_empty());
    assert!(cluster.end(2, Signal::INT).success(), "{}", cluster.log(2));
    let stopped = Instant::now();
    for host in &hosts {
        cluster
            .until_request("another node goes on", stopped, |request| {
                request.page.host == *host
            })
            .await;
    }
    cluster.restart(2);
    let restarted = Instant::now();
    cluster
        .until_request("the restarted node", restarted, |request| {
            request.crawler == 2
        })
        .await;
    assert_eq!(cluster.web.repeated().len(), 0, "overlap");
    assert_eq!(cluster.facts().await.refused, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_others_replace_a_killed_node_and_no_published_page_is_fetched_twice() {
    let Some(mut cluster) = cluster(30, "3s").await else {
        return;
    };
    for _ in 0..4 {
        cluster.join(None).await;
    }
    let pages = cluster.web.pages();
    cluster.until_seen(pages / 4).await;
    let hosts = cluster.hosts_of(0, HOSTS).await;
    assert!(!hosts.is_empty());
    cluster.end(0, Signal::KILL);
    let killed = Instant::now();
    let published = cluster.facts().await;
    let taken = cluster
        .until_request("takeover", killed, |request| {
            hosts.contains(&request.page.host)
        })
        .await;
    eprintln!(
        "takeover: first request {:.1} s after the kill",
        (taken.at - killed).as_secs_f64()
    );

    cluster.until_seen(pages / 2).await;
    let leader = cluster.leader("avocet-test-facts").expect("a leader");
    cluster.brokers.kill(leader);

    // A node loses its store.
    cluster.until_seen(pages * 5 / 8).await;
    cluster.end(1, Signal::KILL);
    let lost = Instant::now();
    let published_later = cluster.facts().await;
    std::fs::remove_dir_all(cluster.store(1)).unwrap();
    cluster.restart(1);
    cluster.brokers.restart(leader).unwrap();
    cluster
        .until_request("the node without its store", lost, |request| {
            request.crawler == 1
        })
        .await;
    let facts = cluster.until_complete().await;
    assert_eq!(facts.refused, 0);
    no_published_page_repeated(&cluster, &published);
    no_published_page_repeated(&cluster, &published_later);
    let repeated = cluster.web.repeated().len();
    eprintln!("{repeated} of {pages} pages fetched twice, by two kills");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_was_away_too_long_is_fenced_and_joins_again() {
    let Some(mut cluster) = cluster(36, "3s").await else {
        return;
    };
    let port = cluster.brokers.ports().next().unwrap();
    let way = CuttableWay::to(port).await;
    cluster.join(Some(way.url())).await;
    cluster.join(None).await;
    cluster.join(None).await;
    let pages = cluster.web.pages();

    // Stopped by SIGSTOP.
    cluster.until_seen(pages / 8).await;
    let hosts = cluster.hosts_of(1, HOSTS).await;
    cluster.signal(1, Signal::STOP);
    let stopped = Instant::now();
    let published = cluster.facts().await;
    let others =
        |request: &TrackedRequest| request.crawler != 1 && hosts.contains(&request.page.host);
    cluster
        .until_request("takeover of the stopped node", stopped, others)
        .await;
    let taken = async || {
        for host in &hosts {
            if cluster.owner(*host).await == Some(1) {
                return false;
            }
        }
        true
    };
    cluster.until("all slots taken over", taken).await;
    cluster.signal(1, Signal::CONT);
    let woken = Instant::now();
    cluster
        .until("the node notices", || async {
            let log = cluster.log(1);
            log.contains("another node has claimed a slot") || log.contains("this node was cut off")
        })
        .await;
    cluster
        .until_request("the woken node", woken, |request| request.crawler == 1)
        .await;
    no_published_page_repeated(&cluster, &published);

    // Cut off from the NATS servers.
    cluster.until_seen(pages / 3).await;
    let hosts = cluster.hosts_of(0, HOSTS).await;
    assert!(!hosts.is_empty());
    way.cut(true);
    let cut = Instant::now();
    let published = cluster.facts().await;
    for host in &hosts {
        let taken = cluster
            .until_request("takeover of the node that is cut off", cut, |request| {
                request.crawler != 0 && request.page.host == *host
            })
            .await;
        let requests = cluster.web.requests();
        let stale = requests.iter().filter(|request| {
            request.crawler == 0 && request.page.host == *host && request.at > taken.at
        });
        assert_eq!(stale.count(), 0, "two nodes at once at host {host}");
    }
    way.cut(false);
    let healed = Instant::now();
    cluster
        .until_request("the healed node", healed, |request| request.crawler == 0)
        .await;
    no_published_page_repeated(&cluster, &published);

    // All NATS servers away.
    for number in 0..3 {
        cluster.brokers.kill(number);
    }
    let down = Instant::now();
    let quiet = || async {
        let last = cluster.web.requests().last().map(|request| request.at);
        last.is_some_and(|last| last.max(down).elapsed() > Duration::from_secs(2))
    };
    cluster.until("the crawl pauses", quiet).await;
    for number in 0..3 {
        cluster.brokers.restart(number).unwrap();
    }
    let back = Instant::now();
    for node in 0..3 {
        cluster
            .until_request("the crawl goes on", back, |request| request.crawler == node)
            .await;
    }
    let facts = cluster.until_complete().await;
    assert_eq!(facts.refused, 0);
    eprintln!(
        "{} of {pages} pages fetched twice",
        cluster.web.repeated().len()
    );
}
