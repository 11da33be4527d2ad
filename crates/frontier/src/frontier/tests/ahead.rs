//! Tests that facts dated in the future by a wrong clock postpone nothing, also across
//! restarts.

use std::time::Duration;

use policy::{Crawl, Outcome, Visit};

use super::*;
use crate::bench::ServerKey;
use crate::frontier::{Recalled, Said};
use crate::present::{Ahead, Present};
use crate::record::{ServerFacts, Visited};

const HOUR: Duration = Duration::from_secs(3600);

fn hour(number: u32) -> Moment {
    Moment::START + HOUR * number
}

/// Fills a ledger with the clock at hour 12: page 0 was read, page 1 did not answer, page 2 was
/// discovered.
fn written_ahead(ledger: &mut MemoryLedger) {
    let mut entries = Vec::new();
    let mut live = frontier(Price::LEAST);
    for page in 0..3 {
        let link = FrontierLink {
            url: &url(page),
            depth: 1,
            hops: 0,
            source: None,
            absent: None,
        };
        entries.push(live.hear(link, hour(12)).1);
    }
    for (page, outcome) in [(0, Outcome::Changed), (1, Outcome::Unreachable)] {
        let visited = Visited {
            history: History::discovered(hour(12), 1).after(Visit::new(hour(12), outcome)),
            ..Visited::default()
        };
        let key = live.key(url(page).id()).unwrap();
        entries.push(Entry::Visited(key, Box::new(visited)));
    }
    ledger.commit(&entries);
}

/// Starts a run that wants the pages that were not read. Returns the report, and when page 1 is
/// retried. Page 2 must be fetched at once.
fn begins(ledger: &MemoryLedger, now: Moment) -> (Recalled, Moment) {
    let strategy = Box::new(Quality);
    let manners = Manners::default();
    let mut frontier = Frontier::new(Crawl::default(), strategy, Price::LEAST, manners, 7);
    let wanted = |known: &crate::record::Known| {
        let visited = known.visited.as_ref();
        visited.is_none_or(|visited| visited.history.outcome == Some(Outcome::Unreachable))
    };
    let recalled = frontier.recall(ledger, wanted, |_, tell| tell(Said::default()), now);
    let present = Present::new(now, ledger.noticed_ahead);
    let past = |key: PageKey| {
        let visited = ledger.visited(key)?;
        Some(present.history(&visited.history))
    };
    let mut asked = Vec::new();
    let again = loop {
        match choose(&mut frontier, now, past) {
            Next::Visit(mut visit) => {
                asked.extend(visit.first());
                asked.iter().for_each(|page| visit.settled(*page));
                frontier.bench.settle(visit, now, Duration::ZERO, false);
            }
            Next::WaitUntil(moment) => break moment,
            Next::Idle | Next::Unknown => break now,
        }
    };
    assert!(asked.contains(&Number(2)), "a new page is due: {asked:?}");
    assert_eq!(asked.contains(&Number(1)), again == now, "{asked:?}");
    (recalled.unwrap(), again)
}

#[test]
fn a_clock_that_was_ahead_puts_nothing_off() {
    let mut ledger = MemoryLedger::default();
    written_ahead(&mut ledger);
    let soon = Duration::from_secs(5);
    let (recalled, again) = begins(&ledger, hour(10));
    let ahead = Ahead {
        pages: 3,
        by: HOUR * 2,
    };
    assert_eq!((recalled.ahead, again), (ahead, hour(10) + soon));

    // A later run counts from the moment at which the first run noticed the future facts.
    ledger.noticed_ahead = Some(hour(10));
    let later = hour(10) + soon;
    assert_eq!(begins(&ledger, later).1, later);
    let (recalled, again) = begins(&ledger, hour(11));
    assert_eq!((recalled.ahead.by, again), (HOUR, hour(11)));

    // The clock was set back further: the time counts from now.
    assert_eq!(begins(&ledger, hour(3)).1, hour(3) + soon);

    // The clock has caught up, or was wrong in between: the facts hold as they were written.
    let (recalled, again) = begins(&ledger, hour(12));
    assert_eq!(recalled.ahead, Ahead::default());
    assert_eq!(again, hour(12) + soon);
}

#[test]
fn facts_a_few_seconds_ahead_are_corrected_and_not_reported() {
    let mut ledger = MemoryLedger::default();
    written_ahead(&mut ledger);
    let now = Moment::from_micros(hour(12).micros() - 30_000_000);
    let (recalled, again) = begins(&ledger, now);
    assert_eq!(recalled.ahead, Ahead::default());
    assert_eq!(again, now + Duration::from_secs(5));
}

fn claim(frontier: &mut Frontier<Backlink>, now: Moment) -> crate::bench::HostVisit {
    match frontier.bench.next(now) {
        Turn::Visit(visit) => visit,
        other => panic!("expected a visit, got {other:?}"),
    }
}

#[test]
fn delays_of_servers_outlive_a_restart_and_refusals_are_forgotten_after_a_day() {
    let mut ledger = MemoryLedger::default();
    written_ahead(&mut ledger);
    let key = ServerKey::Host(url(0).host());
    let asked = |hours, wait, refusals| {
        // Each case has one record of the server.
        let mut ledger = ledger.clone();
        let facts = ServerFacts {
            asked: hour(hours),
            wait,
            refusals,
        };
        ledger.keep_server(key, facts, facts.asked);
        let mut frontier = frontier(Price::LEAST);
        let recalled = frontier
            .recall(
                &ledger,
                |_| true,
                |_, tell| tell(Said::default()),
                hour(100),
            )
            .unwrap();
        let (ready, visit) = match frontier.bench.next(hour(100)) {
            Turn::WaitUntil(ready) => (ready, claim(&mut frontier, ready)),
            Turn::Visit(visit) => (hour(100), visit),
            Turn::Idle => panic!("a page waits"),
        };
        let wait = ready.since(hour(100));
        assert_eq!(recalled.resting_for, wait);
        assert_eq!(recalled.resting, usize::from(!wait.is_zero()));
        (wait, visit.refusals())
    };
    assert_eq!(asked(99, HOUR * 3, 2), (HOUR * 2, 2));
    assert_eq!(asked(99, HOUR, 2), (Duration::ZERO, 2));
    assert_eq!(asked(77, HOUR, 2), (Duration::ZERO, 2));
    assert_eq!(asked(75, HOUR, 2), (Duration::ZERO, 0), "a day is over");
    assert_eq!(asked(300, HOUR, 1), (HOUR, 1), "a clock was ahead");
}
