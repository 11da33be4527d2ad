//! Tests of copies that move between nodes through an object store.

use std::collections::BTreeSet;
use std::time::Instant;

use repository::archive::elsewhere;
use rustix::process::Signal;
use serde_json::Value;
use testweb::tracked::TrackedPage;

use super::processes::{LoggedFacts, TestCluster};
use super::{HOSTS, cluster, no_published_page_repeated};
use crate::program::{copy, has};

const HANDED_OVER: &str = "the copies of pages that were taken over are in the index";

/// Starts the NATS servers for nodes with an archive and an object store.
async fn archived(
    pages_per_host: u32,
    silence: &'static str,
    place: impl Fn(&TestCluster) -> String,
    upload_every: &str,
) -> Option<TestCluster> {
    let mut cluster = cluster(pages_per_host, silence).await?;
    cluster.archived = true;
    let place = place(&cluster);
    cluster.store_objects(&place).await;
    cluster
        .flags
        .extend(["--upload-every".into(), upload_every.into()]);
    Some(cluster)
}

/// Returns the numbers of the archive files in the object store.
fn stored(cluster: &TestCluster) -> BTreeSet<u32> {
    let files = std::fs::read_dir(cluster.mount().join("test/archive")).unwrap();
    let names = files.map(|file| file.unwrap().file_name());
    names
        .filter_map(|name| elsewhere::number_of(name.to_str().unwrap()))
        .collect()
}

/// Drains node 0, and waits until node 1 has asked for pages of all its hosts.
async fn drain(cluster: &TestCluster) {
    let hosts = cluster.hosts_of(0, HOSTS).await;
    assert!(!hosts.is_empty());
    let drained = Instant::now();
    let said = cluster.steer(&["drain", "n0"]);
    has(&said, "n0 gives its slots away");
    cluster.until_all_owned_by(1, HOSTS).await;
    for host in hosts {
        cluster
            .until_request("the new owner goes on", drained, |request| {
                request.crawler == 1 && request.page.host == host
            })
            .await;
    }
}

fn lines(text: &str) -> usize {
    text.lines().count()
}

/// Checks that the store of node 1 has all pages, although node 0 has fetched many of them.
fn has_all_copies(cluster: &TestCluster) {
    let pages = cluster.web.pages();
    assert_eq!(lines(&cluster.of_store(1, &["export", "pages"])), pages);
    let verified = cluster.of_store(1, &["verify", "--json"]);
    let verified: Value = serde_json::from_str(&verified).unwrap();
    assert_eq!(verified["agree"], true, "{verified}");
    assert_eq!(
        (&verified["copies"], &verified["documents"]),
        (&pages.into(), &pages.into())
    );
    assert!(verified["elsewhere"].as_u64() > Some(0), "{verified}");
    assert_eq!(verified["arriving"], 0, "{verified}");
}

async fn a_drained_node_hands_its_copies_over(place: fn(&TestCluster) -> String) {
    let Some(mut cluster) = archived(12, "10m", place, "1h").await else {
        return;
    };
    for _ in 0..2 {
        cluster.join(None).await;
    }
    let before = cluster.until_complete().await;
    let pages = cluster.web.pages();
    assert_eq!(before.files.len(), pages);
    drain(&cluster).await;
    let read = || async { cluster.log(1).contains(HANDED_OVER) };
    cluster.until("the copies are in the index", read).await;
    assert_eq!(cluster.web.repeated().len(), 0, "overlap");
    let after = cluster.facts().await;
    assert_eq!((after.visited.len(), after.files), (pages, before.files));

    assert!(cluster.end(1, Signal::INT).success(), "{}", cluster.log(1));
    has_all_copies(&cluster);
    let found = cluster.of_store(1, &["search", "Page 3 of 7", "--json"]);
    has(&found, "http://h7.example/3");
    cluster.of_store(1, &["rebuild"]);
    has_all_copies(&cluster);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drained_node_hands_its_copies_over_in_a_shared_directory() {
    a_drained_node_hands_its_copies_over(TestCluster::shared).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drained_node_hands_its_copies_over_through_nats() {
    a_drained_node_hands_its_copies_over(|_| "nats".into()).await;
}

/// Returns the pages of these hosts whose copies were published, with and without those that are in
/// the object store.
fn published(facts: &LoggedFacts, stored: &BTreeSet<u32>) -> [BTreeSet<TrackedPage>; 2] {
    let of = |within: bool| {
        let files = facts.files.iter();
        let chosen = files.filter(|(_, file)| stored.contains(file) == within);
        chosen.map(|(page, _)| *page).collect()
    };
    [of(true), of(false)]
}

#[tokio::test(flavor = "multi_thread")]
async fn after_a_kill_only_pages_without_an_uploaded_copy_are_fetched_again() {
    let Some(mut cluster) = archived(30, "3s", TestCluster::shared, "2s").await else {
        return;
    };
    for _ in 0..3 {
        cluster.join(None).await;
    }
    let pages = cluster.web.pages();
    cluster.until_seen(pages / 2).await;
    let hosts = cluster.hosts_of(0, HOSTS).await;
    cluster.end(0, Signal::KILL);
    let killed = Instant::now();
    let facts = cluster.facts().await;
    let [mut kept, mut lost] = published(&facts, &stored(&cluster));
    kept.retain(|page| hosts.contains(&page.host));
    lost.retain(|page| hosts.contains(&page.host));
    assert!(!kept.is_empty(), "nothing was uploaded before the kill");

    // Its disk is lost too. Its name comes back with an empty store.
    std::fs::remove_dir_all(cluster.store(0)).unwrap();
    cluster.restart(0);
    cluster
        .until_request("the node without its store", killed, |request| {
            request.crawler == 0
        })
        .await;
    let complete = cluster.until_complete().await;
    assert_eq!(complete.refused, 0);
    let known: BTreeSet<TrackedPage> = facts.visited.iter().copied().collect();
    let mut wrong = cluster.web.repeated().into_iter().filter(|again| {
        let page = &again.page;
        again.at > facts.read && known.contains(page) && !lost.contains(page)
    });
    assert_eq!(wrong.next().map(|again| again.page), None);
    eprintln!(
        "{} pages of the dead node kept, {} lost, {} of {pages} fetched twice",
        kept.len(),
        lost.len(),
        cluster.web.repeated().len()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_crawl_goes_on_while_the_object_store_is_away() {
    let Some(mut cluster) = archived(16, "10m", TestCluster::shared, "1s").await else {
        return;
    };
    for _ in 0..2 {
        cluster.join(None).await;
    }
    let pages = cluster.web.pages();
    cluster.until_seen(pages / 8).await;
    let (mount, aside) = (cluster.mount(), cluster.directory().join("aside"));
    std::fs::rename(&mount, &aside).unwrap();
    let away = || async { cluster.log(0).contains("the upload is tried again") };
    cluster.until("the node notices", away).await;
    let noticed = Instant::now();
    let seen = cluster.web.seen();
    cluster.until_seen((seen + 40).min(pages)).await;
    assert!(!mount.exists());
    std::fs::rename(&aside, &mount).unwrap();
    eprintln!("away for {:?}", noticed.elapsed());
    let back = || async { cluster.log(0).contains("the object store answers again") };
    cluster.until("the uploads go on", back).await;
    cluster.until_complete().await;
    drain(&cluster).await;
    assert_eq!(cluster.web.repeated().len(), 0, "overlap");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_node_that_dies_between_closing_a_file_and_its_upload_uploads_it_later() {
    let Some(mut cluster) = archived(16, "10m", TestCluster::shared, "1s").await else {
        return;
    };
    for _ in 0..2 {
        cluster.join(None).await;
    }
    cluster.until_seen(cluster.web.pages() / 8).await;
    assert!(cluster.end(0, Signal::INT).success(), "{}", cluster.log(0));
    cluster.restart_until(0, "file-complete:2");
    cluster.until_aborted(0).await;
    cluster.restart(0);
    let facts = cluster.facts().await;
    let hosts = cluster.hosts_of(0, HOSTS).await;
    cluster.until_complete().await;
    drain(&cluster).await;
    no_published_page_repeated(&cluster, &facts);
    let after = cluster.until_complete().await;
    assert_eq!(after.refused, 0);
    let stored = stored(&cluster);
    for (page, file) in &facts.files {
        let handed_over = hosts.contains(&page.host);
        assert!(
            !handed_over || stored.contains(file),
            "{page:?} in {file}: {stored:?}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_was_restored_from_a_backup_gets_a_new_archive() {
    let Some(mut cluster) = archived(16, "10m", TestCluster::shared, "1s").await else {
        return;
    };
    cluster.join(None).await;
    let pages = cluster.web.pages();
    cluster.until_seen(pages / 4).await;
    assert!(cluster.end(0, Signal::INT).success(), "{}", cluster.log(0));
    let backup = cluster.directory().join("backup");
    copy(&cluster.store(0), &backup);
    cluster.restart(0);
    cluster.until_seen(pages / 2).await;
    assert!(cluster.end(0, Signal::INT).success(), "{}", cluster.log(0));
    let facts = cluster.facts().await;
    std::fs::remove_dir_all(cluster.store(0)).unwrap();
    copy(&backup, &cluster.store(0));

    cluster.restart(0);
    let after = cluster.until_complete().await;
    has(&cluster.log(0), "the store is an older state");
    no_published_page_repeated(&cluster, &facts);
    let archives: BTreeSet<u32> = after.files.values().map(|file| file >> 20).collect();
    assert_eq!(archives.len(), 2, "{archives:?}");
    assert!(cluster.end(0, Signal::INT).success(), "{}", cluster.log(0));
    let verified = cluster.of_store(0, &["verify", "--json"]);
    let verified: Value = serde_json::from_str(&verified).unwrap();
    assert_eq!(
        (&verified["agree"], &verified["copies"]),
        (&true.into(), &pages.into())
    );
}
