//! The initial visits to all sources, and the refresh policy that polls each of them once.

use ::crawl::verdict::Asked;
use frontier::{Discovery, Entry, MemoryLedger, PageKey};
use policy::{Curve, History, Number, Page, Refresh};
use rand::seq::SliceRandom;
use testweb::chance::{For, stream};

use super::NewsTimeline;
use crate::run::driver::answer_of;

/// Worth of a first poll: more than any worth that a scheduler gives to a poll or a page.
const FIRST_POLL: f64 = 1e14;

/// Cost of a missing page, in clicks per second, until clicks are known: P = .01 as in Lefortier
/// et al. (2013), spread over a day.
const STAKE: f64 = 0.01 / 86_400.0;

/// A refresh policy that polls every source once after the initial visits.
///
/// The policy recognizes sources by depth 0. It gives copies no other worth: an article is fetched
/// once, and the scheduler says what further polls are worth.
pub(super) struct FirstPolls;

impl Refresh for FirstPolls {
    fn curve<'a>(&'a self, page: Page<'_>, _importance: f64) -> Box<dyn Curve + 'a> {
        let first = page.history.depth == 0 && page.history.revisits == 0;
        Box::new(ConstantWorth(if first { FIRST_POLL } else { 0.0 }))
    }

    fn stake(&self, _page: Number, _importance: f64) -> f64 {
        STAKE
    }
}

/// Worth that does not depend on age.
struct ConstantWorth(f64);

impl Curve for ConstantWorth {
    fn at(&self, _age: f64) -> f64 {
        self.0
    }
}

/// Returns a ledger with a visit to every source at the first moment.
///
/// Sources are numbered in random order, because the crawl polls sources of equal worth in the
/// order of their numbers.
pub(super) fn initial_visits(timeline: &NewsTimeline<'_>, seed: u64) -> MemoryLedger {
    let at = timeline.from;
    let mut sources: Vec<_> = timeline.news().sources().iter().collect();
    sources.shuffle(&mut stream(seed, For::FirstVisits, 0, 0));
    let mut ledger = MemoryLedger::default();
    for (order, url) in (0..).zip(sources) {
        let key = PageKey::of(url);
        let discovery = Discovery {
            url: url.as_str().to_owned(),
            order,
            at,
            depth: 0,
            hops: 0,
            source: None,
            absent: None,
        };
        let asked = Asked {
            history: History::discovered(at, 0),
            at,
            ..Asked::again(url)
        };
        let answer = answer_of(Some(at.micros()));
        let visited = asked.judge(&answer, 0, &|_| true).visited;
        ledger.commit(&[
            Entry::Admitted(key, discovery),
            Entry::Visited(key, Box::new(visited)),
        ]);
    }
    ledger
}
