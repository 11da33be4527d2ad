//! Tests of pages whose worth depends on what the crawl learns about other pages.

use std::time::Duration;

use policy::{Outcome, Visit};

use super::*;
use crate::record::Visited;

const HOUR: Duration = Duration::from_secs(3_600);
/// The round of a crawl of one page: 1 / [`BUDGET`].
const ROUND: Duration = Duration::from_secs(1_000_000);
const BUDGET: f64 = 1e-6;

/// A page is worth nothing until the crawl learns otherwise.
struct Source {
    known: bool,
    unsettled: Option<Duration>,
}

impl Policy for Source {
    fn worth(&self, _page: Page<'_>, _now: Moment) -> Worth {
        match self.known {
            true => Worth::new(1.0),
            false => Worth::NONE,
        }
    }

    fn due(&self, page: Page<'_>, _price: Price) -> Option<Moment> {
        page.history.asked.filter(|_| self.known)
    }

    fn unsettled(&self, _page: Page<'_>) -> Option<Duration> {
        self.unsettled
    }
}

/// Waits for a visit to a page that was last visited at the beginning. The crawl learns its worth
/// after `known`. Returns when the visit starts, and the number of waits before.
fn first_visit(unsettled: Option<Duration>, known: Duration) -> (Duration, usize) {
    let begin = Moment::START + Duration::from_secs(100_000);
    let mut ledger = MemoryLedger::default();
    let key = PageKey::of(&url(0));
    let discovery = Discovery {
        url: url(0).as_str().to_owned(),
        order: 0,
        at: begin,
        depth: 0,
        hops: 0,
        source: None,
        absent: None,
    };
    let visit = Visit::new(begin, Outcome::Changed);
    let history = History::discovered(begin, 0).after(visit);
    let visited = Box::new(Visited {
        history,
        ..Visited::default()
    });
    ledger.commit(&[
        Entry::Admitted(key, discovery),
        Entry::Visited(key, visited),
    ]);
    let policy = Source {
        known: false,
        unsettled,
    };
    let frontier = Frontier::new(
        policy,
        Box::new(Quality),
        Price::LEAST,
        Manners::default(),
        7,
    );
    let mut frontier = frontier.with_budget(BUDGET);
    let texts = |_, _: &mut dyn FnMut(Said<'_>)| ();
    frontier.recall(&ledger, |_| true, texts, begin).unwrap();
    let mut now = begin;
    for waits in 0..1_000 {
        frontier.policy.known = now.since(begin) > known;
        match choose(&mut frontier, now, |_| Some(history)) {
            Next::Visit(_) => return (now.since(begin), waits),
            Next::WaitUntil(until) => now = until,
            next => panic!("{next:?}"),
        }
    }
    panic!("the page is never visited");
}

#[test]
fn a_source_is_examined_when_its_age_has_doubled_and_not_after_a_whole_round() {
    let least = HOUR / 2;
    // Examined after 30 minutes, 1, 2, 4 and 8 hours.
    let (visited, waits) = first_visit(Some(least), 3 * HOUR);
    assert_eq!((visited, waits), (4 * HOUR, 4));
    let (visited, waits) = first_visit(Some(least), 5 * HOUR);
    assert_eq!((visited, waits), (8 * HOUR, 5));
    let (visited, _) = first_visit(None, 3 * HOUR);
    assert!(visited >= ROUND, "{visited:?}");
}

#[test]
fn a_page_that_stays_worthless_is_seldom_examined() {
    let (_, waits) = first_visit(Some(HOUR / 2), 3 * ROUND);
    assert!(waits <= 16, "{waits}");
}
