//! Times the choice of the next known page, by the production frontier under a budget.
//!
//! **Invariant:** the time covers the choice of a page, and the computation of its next due time
//! after the fetch. The histories of pages come from memory. In a crawl each is a point read of the
//! ledger, which costs more; such reads are counted (`looks`). Time is CPU time of the one thread
//! that works.

use std::time::Duration;

use anyhow::{Context, Result};
use frontier::{Frontier, Next};
use policy::{Crawl, History, Moment, Number};

/// The histories of the known pages.
pub trait PageHistories {
    /// Returns the history of a page.
    fn history(&self, page: Number) -> History;

    /// Records a visit to a page, and returns its new history.
    fn visit(&mut self, page: Number, now: Moment) -> History;
}

/// The number of choices, the number of histories read for them, and their CPU time.
#[derive(Debug)]
pub struct TimedChoices {
    /// Histories read.
    pub looks: u64,
    /// Choices made.
    pub made: u32,
    time: Duration,
}

impl TimedChoices {
    /// Returns the mean time of one choice, in nanoseconds.
    pub fn nanoseconds(&self) -> f64 {
        self.time.as_nanos() as f64 / f64::from(self.made)
    }
}

/// Makes `wanted` choices, a `step` of simulated time apart, and times them by `clock`.
pub fn choose(
    frontier: &mut Frontier<Crawl>,
    pages: &mut impl PageHistories,
    (mut now, step): (Moment, Duration),
    wanted: u32,
    clock: impl Fn() -> Duration,
) -> Result<TimedChoices> {
    let (mut looks, mut made, mut time) = (0, 0, Duration::ZERO);
    while made < wanted {
        now = now + step;
        let began = clock();
        let mut next = frontier.next(now);
        while let Next::Unknown = next {
            for key in frontier.wanted() {
                looks += 1;
                let page = frontier.number(key.page);
                frontier.bring(key.page, page.map(|page| pages.history(page)));
            }
            next = frontier.next(now);
        }
        time += clock() - began;
        let Next::Visit(mut visit) = next else {
            continue;
        };
        let page = visit.first().context("a visit has a page")?;
        let earlier = pages.history(page);
        let later = pages.visit(page, now);
        let id = frontier.page(visit.host, page);
        let began = clock();
        frontier.visited(id, &earlier, &later, now);
        visit.settled(page);
        frontier.bench.settle(visit, now, Duration::ZERO, false);
        time += clock() - began;
        made += 1;
    }
    Ok(TimedChoices { looks, made, time })
}

/// Returns a pseudo-random number of 25 bits that depends only on its argument.
pub fn mixed(number: u32) -> u32 {
    number
        .wrapping_mul(0x9e37_79b1)
        .rotate_left(15)
        .wrapping_mul(0x85eb_ca6b)
        >> 7
}
