//! Tests of logs that are trimmed to snapshots.

use std::collections::BTreeSet;
use std::time::Instant;

use cluster::log::SlotLog;
use rustix::process::Signal;
use testweb::tracked::TrackedPage;

use super::processes::{SLOTS, TestCluster};
use super::{HOSTS, cluster, no_published_page_repeated};
use crate::program::has;

/// Starts the NATS servers for nodes that trim logs of ten messages.
async fn trimming(pages_per_host: u32) -> Option<TestCluster> {
    let mut cluster = cluster(pages_per_host, "3s").await?;
    let place = cluster.shared();
    cluster.store_objects(&place).await;
    let flags = ["--snapshot-after", "10", "--publish-every", "300ms"];
    cluster.flags.extend(flags.map(str::to_owned));
    Some(cluster)
}

/// Returns the number of messages of the longest log, and of all logs.
async fn lengths(cluster: &TestCluster) -> (u64, u64) {
    let lengths = cluster.broker.lengths().await.unwrap();
    let longest = lengths.values().copied().max().unwrap_or(0);
    (longest, lengths.values().sum())
}

/// Returns the last sequence of all logs.
async fn written(cluster: &TestCluster) -> u64 {
    let mut last = 0;
    for slot in ::cluster::Division::new(SLOTS).unwrap().slots() {
        last = last.max(cluster.broker.head(slot).await.unwrap().sequence);
    }
    last
}

/// Returns the names of the snapshots.
fn snapshots(cluster: &TestCluster) -> Vec<String> {
    let files = std::fs::read_dir(cluster.mount().join("test/snapshots")).unwrap();
    let names = files.map(|file| file.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !name.ends_with(".part")).collect();
    names.sort();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn logs_stay_short_and_a_takeover_reads_a_snapshot_and_the_rest_of_the_log() {
    let Some(mut cluster) = trimming(12).await else {
        return;
    };
    for _ in 0..2 {
        cluster.join(None).await;
    }
    cluster.until_complete().await;
    // Each node trims a log per second at most, the longest first.
    let enough = || async { written(&cluster).await > 800 };
    cluster.until("800 messages", enough).await;
    let (longest, all) = lengths(&cluster).await;
    eprintln!("{all} messages in all logs, {longest} in the longest");
    assert!(longest <= 60 && all <= 600, "{longest} of {all}");
    let names = snapshots(&cluster);
    let slots: BTreeSet<&str> = names.iter().map(|name| &name[..3]).collect();
    assert!(
        slots.len() > 10 && names.len() <= 2 * slots.len(),
        "{names:?}"
    );
    has(&cluster.steer(&["verify"]), ": 0 differ");

    let hosts = cluster.hosts_of(0, HOSTS).await;
    cluster.end(0, Signal::KILL);
    let killed = Instant::now();
    let published = cluster.facts().await;
    assert_eq!(published.visited.len(), cluster.web.pages());
    cluster.until_all_owned_by(1, HOSTS).await;
    assert_eq!(cluster.facts().await.visited.len(), cluster.web.pages());
    for host in hosts {
        let is = |page: TrackedPage| page.host == host;
        cluster
            .until_request("takeover", killed, |request| {
                request.crawler == 1 && is(request.page)
            })
            .await;
    }
    no_published_page_repeated(&cluster, &published);
    has(&cluster.steer(&["verify"]), ": 0 differ");
    assert_eq!(cluster.facts().await.visited.len(), cluster.web.pages());

    // The last snapshot of a slot is damaged.
    cluster.end(1, Signal::KILL);
    let restarted = Instant::now();
    let names = snapshots(&cluster);
    let damaged = cluster.slot_of(0);
    let name = names
        .iter()
        .rfind(|name| name.starts_with(&format!("{:03}-", damaged.0)));
    let name = name.expect("the slot of host 0 has a snapshot");
    let path = cluster.mount().join("test/snapshots").join(name);
    let mut bytes = std::fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&path, bytes).unwrap();
    cluster.restart(0);
    let says = format!("the snapshot snapshots/{name} is damaged");
    let said = || async { cluster.log(0).contains(&says) };
    cluster
        .until("the node names the damaged snapshot", said)
        .await;
    cluster
        .until_request("the node goes on with other slots", restarted, |request| {
            request.crawler == 0
        })
        .await;
    assert_ne!(cluster.owner(0).await, Some(0));
    assert!(!cluster.log(0).contains("Error"), "{}", cluster.log(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_dies_after_it_has_trimmed_a_log_goes_on_from_the_snapshot() {
    let Some(mut cluster) = trimming(8).await else {
        return;
    };
    for _ in 0..2 {
        cluster.join(None).await;
    }
    cluster.until_complete().await;
    assert!(cluster.end(0, Signal::INT).success(), "{}", cluster.log(0));
    cluster.restart_until(0, "trimmed:3");
    cluster.until_aborted(0).await;
    assert!(!snapshots(&cluster).is_empty());
    let pages = cluster.web.pages();
    assert_eq!(cluster.facts().await.visited.len(), pages);
    cluster.restart(0);
    let restarted = Instant::now();
    cluster
        .until_request("the restarted node", restarted, |request| {
            request.crawler == 0
        })
        .await;
    has(&cluster.steer(&["verify"]), ": 0 differ");
    let facts = cluster.facts().await;
    assert_eq!((facts.visited.len(), facts.refused), (pages, 0));
}
