//! What does it cost to choose which page that has an appointment is fetched next?
//!
//! **Invariant:** timed is the production frontier under a budget: the next page, and the appointment with the page that was fetched. What is known of a page is not: in a crawl that is
//! one point read of the ledger, for a look as for a fetch; looks are counted. All by CPU time of the one thread that works.

use std::time::Duration;

use anyhow::{Context, Result};
use frontier::{Frontier, Next};
use policy::{Crawl, History, Moment, Number};

/// What is known of the pages.
pub trait Pages {
    /// Of one of them.
    fn history(&self, page: Number) -> History;

    /// Takes in a visit to it; returns what is known of it then.
    fn visit(&mut self, page: Number, now: Moment) -> History;
}

/// What was asked and chosen, and how long that took.
#[derive(Debug)]
pub struct Choices {
    pub looks: u64,
    pub made: u32,
    time: Duration,
}

impl Choices {
    /// For one of them.
    pub fn nanoseconds(&self) -> f64 {
        self.time.as_nanos() as f64 / f64::from(self.made)
    }
}

/// Chooses so often, a `step` apart. `clock` is what it is timed by.
pub fn choose(
    frontier: &mut Frontier<Crawl>,
    pages: &mut impl Pages,
    (mut now, step): (Moment, Duration),
    wanted: u32,
    clock: impl Fn() -> Duration,
) -> Result<Choices> {
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
    Ok(Choices { looks, made, time })
}

/// A number that looks drawn.
pub fn mixed(number: u32) -> u32 {
    number
        .wrapping_mul(0x9e37_79b1)
        .rotate_left(15)
        .wrapping_mul(0x85eb_ca6b)
        >> 7
}
