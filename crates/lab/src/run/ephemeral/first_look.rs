//! What a crawl knows of its sources when it begins, and why it polls each of them once.

use ::crawl::verdict::Asked;
use frontier::{Discovery, Entry, MemoryLedger, PageKey};
use policy::{Curve, History, Number, Page, Refresh};
use rand::seq::SliceRandom;
use testweb::chance::{For, stream};

use super::Stage;
use crate::run::driver::answer_of;

/// What a first poll is worth: more than anything that a scheduler says of a poll or a page.
const FIRST_POLL: f64 = 1e14;

/// What a missing page costs a second: the paper's P = .01 over a day, for as long as no click is known.
const STAKE: f64 = 0.01 / 86_400.0;

/// Polls every source once after the first look. Sources have depth 0. Copies are worth nothing: an article is fetched once, and
/// what further polls are worth the scheduler says.
pub(super) struct FirstPolls;

impl Refresh for FirstPolls {
    fn curve<'a>(&'a self, page: Page<'_>, _importance: f64) -> Box<dyn Curve + 'a> {
        let first = page.history.depth == 0 && page.history.revisits == 0;
        Box::new(Level(if first { FIRST_POLL } else { 0.0 }))
    }

    fn stake(&self, _page: Number, _importance: f64) -> f64 {
        STAKE
    }
}

/// Worth the same at any age.
struct Level(f64);

impl Curve for Level {
    fn at(&self, _age: f64) -> f64 {
        self.0
    }
}

/// The facts of a visit to every source in the first moment. Sources are numbered in an order drawn by lot, in which the core
/// polls pages that are worth the same.
pub(super) fn first_look(stage: &Stage<'_>, seed: u64) -> MemoryLedger {
    let at = stage.from;
    let mut sources: Vec<_> = stage.news().sources().iter().collect();
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
