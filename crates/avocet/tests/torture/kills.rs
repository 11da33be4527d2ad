//! Torture by `kill -9` of commands at random instants, many in the first milliseconds.
//!
//! There are three scenarios. The clock of a *steady* web stands still, so no page changes, and
//! each repeated request is a cost of a kill. On a *living* web pages change between starts, so
//! that the index deletes documents when it catches up with the ledger. A *limited* store has a
//! maximum number of pages (`--buffer`), and drops pages above it.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

use rand::{Rng, RngExt};
use testweb::site::{Changes, Latency, Population, ServedWeb, Spread, WebPlan};

use crate::oracle;
use crate::program::{warcio_accepts, words};
use crate::rounds::{Round, rounds};
use crate::subject::TortureSubject;
use crate::webs::{self, serve};

/// Maximum number of requests that a kill may lose: 8 connections and one group commit of 20 pages.
pub const COST: u32 = 8 + 20;

/// Plans a web of which 80 % of the pages change, in the median every 15 minutes. No page appears
/// or disappears.
pub fn plan(seed: u64, pages: usize) -> WebPlan {
    let pause = Spread {
        median: 0.003,
        sigma: 0.5,
    };
    let plain = webs::plain(seed, 4, pages);
    WebPlan {
        latency: Latency::PerServer {
            connect: pause,
            response: pause,
        },
        changes: Changes {
            share: 0.8,
            interval: Spread {
                median: 900.0,
                sigma: 1.0,
            },
        },
        population: Population {
            born_later: 0.0,
            ..plain.population
        },
        ..plain
    }
}

pub fn crawl(homes: &[String]) -> Vec<&str> {
    webs::crawl(homes, &["--connections", "8"])
}

/// Returns the copies that `export urls` reports, or none if there is no store yet.
pub fn reported(subject: &mut TortureSubject) -> BTreeSet<String> {
    let ended = subject.end(&["export", "urls"]);
    if ended.code() == 1 && ended.errors.contains("there is no store in") {
        return BTreeSet::new();
    }
    assert_eq!(ended.code(), 0, "{ended}");
    oracle::copies(&ended.output)
}

/// Returns the number of requests so far that were not the first one for their page.
pub fn repeats(serving: &ServedWeb) -> u32 {
    webs::requests(serving)
        .values()
        .map(|count| count - 1)
        .sum()
}

/// Draws a time after which to kill, up to 1.5 s. More than half of the times are within 120 ms,
/// while a store is opened.
pub fn instant(chance: &mut impl Rng) -> Duration {
    let most = [20, 120, 400, 1_500][chance.random_range(0..4)];
    Duration::from_micros(chance.random_range(0..most * 1_000))
}

fn pick<'a, T>(chance: &mut impl Rng, from: &'a [T]) -> &'a T {
    &from[chance.random_range(0..from.len())]
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_on_a_steady_web_repeat_at_most_28_requests_per_kill() {
    rounds("kills on a steady web", steady).await;
}

async fn steady(mut round: Round) {
    let serving = serve(plan(round.seed, round.size(80, 400))).await;
    let homes = serving.homes();
    let crawl = crawl(&homes);
    let mut straight = TortureSubject::new();
    straight.run(&crawl);
    let expected = reported(&mut straight);
    assert_eq!(repeats(&serving), 0);

    let mut subject = TortureSubject::new();
    let (pages, warcs) = (subject.path("pages"), subject.path("warcs"));
    let (pages, warcs) = (pages.to_str().unwrap(), warcs.to_str().unwrap());
    let others: [&[&str]; 8] = [
        &["serve", "--listen", "127.0.0.1:0"],
        &["verify"],
        &["rebuild"],
        &["export", "urls"],
        &["export", "pages", "--out", pages],
        &["export", "warc", "--out", warcs],
        &["search", "a"],
        &["status"],
    ];
    let mut kills = 0;
    let mut known = BTreeSet::new();
    for step in 0..round.size(7, 60) {
        let command = match round.chance.random_bool(0.5) {
            true => crawl.as_slice(),
            false => pick(&mut round.chance, &others),
        };
        let ended = subject
            .start(command)
            .kill_after(instant(&mut round.chance));
        kills += u32::from(ended.was_killed());
        if step % 3 == 2 {
            let now = reported(&mut subject);
            assert!(known.is_subset(&now), "lost: {:?}", known.difference(&now));
            known = now;
        }
    }
    subject.run(&crawl);
    subject.verified();
    assert_eq!(reported(&mut subject), expected);
    // The uninterrupted crawl requested each page once, too.
    let repeated = repeats(&serving) - expected.len() as u32;
    assert!(repeated <= kills * COST, "{repeated} by {kills} kills");
    oracle::check_archive(&subject.warcs());
    warcio_accepts(&subject.warcs());
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_on_a_living_web_never_keep_a_store_from_starting() {
    rounds("kills on a living web", living).await;
}

async fn living(mut round: Round) {
    let serving = serve(plan(round.seed, round.size(40, 150))).await;
    let homes = serving.homes();
    let crawl = crawl(&homes);
    let run = |last: &'static [&'static str]| -> Vec<&str> {
        let mut run = words("run --allow-private --scope any --connections 8 --budget 200/s");
        run.extend(last);
        run.extend(homes.iter().map(String::as_str));
        run
    };
    let mut elsewhere = TortureSubject::new();
    elsewhere.run(&crawl);
    let expected = reported(&mut elsewhere);
    let warc = elsewhere.warcs().remove(0);
    let records = oracle::members(&fs::read(&warc).unwrap()).0;
    let answers = records.iter().filter(|one| one.answer().is_some()).count();
    let warc = warc.to_str().unwrap();

    let mut subject = TortureSubject::new();
    let commands: [Vec<&str>; 8] = [
        run(&["--no-serve"]),
        run(&["--no-serve"]),
        run(&["--listen", "127.0.0.1:0"]),
        crawl.clone(),
        vec!["import", "warc", warc],
        vec!["serve", "--listen", "127.0.0.1:0"],
        vec!["rebuild"],
        vec!["verify"],
    ];
    for step in 0..round.size(8, 80) {
        serving.advance(round.chance.random_range(60.0..3_600.0));
        let command = pick(&mut round.chance, &commands);
        let ended = subject
            .start(command)
            .kill_after(instant(&mut round.chance));
        let fine = ended.was_killed() || ended.code() == 0;
        assert!(
            fine || ended.errors.contains("there is no store in"),
            "{ended}"
        );
        if step % 8 == 7 {
            subject.run(&crawl);
            subject.verified();
            assert_eq!(reported(&mut subject), expected);
        }
    }
    let import = ["import", "warc", warc];
    subject.run(&import);
    let again = subject.json(&import);
    assert_eq!(again["already_there"], answers, "{again}");
    subject.run(&crawl);
    subject.verified();
    oracle::check_archive(&subject.warcs());
    warcio_accepts(&subject.warcs());
}

#[tokio::test(flavor = "multi_thread")]
async fn kills_of_a_limited_store_leave_no_more_pages_than_it_may_hold() {
    rounds("kills of a limited store", limited).await;
}

async fn limited(mut round: Round) {
    let serving = serve(plan(round.seed, 80)).await;
    let homes = serving.homes();
    let mut subject = TortureSubject::new();
    for step in 0..round.size(4, 60) {
        let limit = round.chance.random_range(5..30).to_string();
        let mut command = crawl(&homes);
        command.extend(["--buffer", &limit]);
        let ended = subject
            .start(&command)
            .kill_after(instant(&mut round.chance));
        assert!(ended.was_killed() || ended.code() == 0, "{ended}");
        if step % 4 == 3 {
            subject.run(&command);
            subject.verified();
            let held = subject.run(&["export", "pages"]).output.lines().count();
            assert!(held > 0 && held <= limit.parse().unwrap(), "{held} pages");
            warcio_accepts(&subject.warcs());
        }
    }
}
