//! Torture by wrong clocks: each start sees a wall clock that is up to 30 days slow or fast.
//!
//! Each crawl must still end. Archive, ledger and index must agree, and the newest copy must be the
//! one that was fetched last in real time. libfaketime sets the clock; the test is skipped if it is
//! not installed.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use rand::RngExt;
use serde_json::Value;

use crate::kills::{crawl, instant, plan, reported};
use crate::oracle;
use crate::rounds::{Round, rounds};
use crate::subject::TortureSubject;
use crate::webs::serve;

/// Maximum error of the clock: 30 days, in seconds.
const MOST: i64 = 30 * 86_400;

/// Finds libfaketime, which gives programs another time (Debian: `apt-get install faketime`).
fn library() -> Option<PathBuf> {
    let directories = fs::read_dir("/usr/lib").ok()?.flatten();
    let mut found = directories.map(|entry| entry.path().join("faketime/libfaketime.so.1"));
    found.find(|path| path.exists())
}

fn texts(subject: &mut TortureSubject) -> BTreeMap<String, String> {
    let exported = subject.run(&["export", "pages"]).output;
    let lines = exported.lines().map(|line| {
        let page: Value = serde_json::from_str(line).unwrap();
        let text = |field: &str| page[field].as_str().unwrap_or_default().to_owned();
        (text("url"), text("text"))
    });
    lines.collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_clocks_leave_a_consistent_store_with_the_newest_copies() {
    rounds("clocks", clocks).await;
}

async fn clocks(mut round: Round) {
    let Some(library) = library() else {
        eprintln!("skipped: libfaketime is not installed (apt-get install faketime)");
        return;
    };
    let serving = serve(plan(round.seed, round.size(40, 150))).await;
    let homes = serving.homes();
    let crawl = crawl(&homes);
    let again = [&crawl[..], &["--refresh-after", "1s"]].concat();
    let mut subject = TortureSubject::new();
    let mut ahead = 0;
    for _ in 0..round.size(2, 20) {
        let offset = round.chance.random_range(-MOST..=MOST);
        eprintln!("torture clocks: {offset} s");
        ahead = ahead.max(offset);
        set(&mut subject, &library, offset);
        serving.advance(round.chance.random_range(60.0..3_600.0));
        let command = match round.chance.random_bool(0.5) {
            true => &crawl,
            false => &again,
        };
        if round.chance.random_bool(0.5) {
            let time = instant(&mut round.chance);
            subject.start(command).kill_after(time);
        }
        subject.run(command);
        subject.verified();
    }
    // A minute after the latest visit: all pages are fetched again.
    set(&mut subject, &library, ahead + 60);
    serving.advance(10_000.0);
    subject.run(&again);
    subject.verified();
    let mut straight = TortureSubject::new();
    straight.run(&crawl);
    assert_eq!(
        texts(&mut subject),
        texts(&mut straight),
        "the newest copies"
    );
    assert_eq!(reported(&mut subject), reported(&mut straight));
    oracle::check_archive(&subject.warcs());
}

fn set(subject: &mut TortureSubject, library: &std::path::Path, offset: i64) {
    let library = library.to_str().unwrap();
    subject.environment = [
        ("LD_PRELOAD", library.to_owned()),
        ("FAKETIME", format!("{offset:+}s")),
        // The monotonic clock of a real machine does not jump.
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
    ]
    .map(|(name, value)| (name.to_owned(), value))
    .to_vec();
}
