//! How many fetches does a goal need, by what this store has seen of its own pages?
//!
//! Each page has an estimated rate of change. At a price a refresh policy visits it after a certain time, again and
//! again: that is so many fetches a day, and closed formulas say what it reaches. Going through the
//! prices gives the curve, and the curve answers both ways. Politeness is left out: a plan that a server
//! does not bear is not kept.

pub mod chart;
mod freshness;
pub mod goal;

use std::collections::HashMap;
use std::time::Duration;

use anyhow::Result;
use frontier::Known;
use ledger::{Ledger, LedgerError};
use page::HostId;
use policy::catalog::{Catalog, Upkeep};
use policy::{Discovered, Fact, History, Moment, Number, Outcome, Page, Price, Refresh, Visited};

use crate::live::snapshot::Outlook;
use freshness::Freshness;
pub use goal::Goal;

/// Pages that a curve is computed from, at most.
const SAMPLE: usize = 20_000;
/// Prices that a curve is computed at.
const PRICES: u32 = 160;
/// So old a copy has lost all that it can lose.
const FOR_EVER: Duration = Duration::from_secs(100_000_000_000);

const DAY: f64 = 86_400.0;

/// What is known of the pages of a store.
pub struct Estimates {
    pages: Vec<Estimate>,
    /// Pages with a copy, of which the others are a sample.
    pub copies: usize,
    /// Whether it was ever measured what a refresh gave to searchers.
    pub measured: bool,
    refresh: Box<dyn Refresh>,
}

/// What is known of one page.
struct Estimate {
    number: Number,
    host: u32,
    history: History,
    /// Changes a day.
    rate: f64,
    /// What searchers lose while its copy is out of date.
    stake: f64,
}

/// What so many fetches a day reach.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Point {
    /// Fetches a day.
    pub fetches_per_day: f64,
    /// The goal's share.
    pub reached: f64,
}

impl Estimates {
    /// Reads them from the ledger, for a refresh policy and an estimator of rates.
    pub fn read(ledger: &Ledger, policy: &str, rate: Option<&str>) -> Result<Self> {
        Self::of(ledger.scan(), policy, rate)
    }

    /// Those of some pages.
    pub fn of(
        pages: impl Iterator<Item = Result<Known, LedgerError>>,
        policy: &str,
        rate: Option<&str>,
    ) -> Result<Self> {
        let upkeep = Upkeep {
            rate: rate.map(str::to_owned),
            ..Upkeep::default()
        };
        let catalog = Catalog::standard();
        let mut refresh = catalog.refresh(policy, &upkeep)?;
        let mut rates = catalog.rates(&upkeep)?;
        let mut hosts: HashMap<HostId, u32> = HashMap::new();
        let mut known = Vec::new();
        for page in pages {
            let page = page?;
            let number = Number(u32::try_from(page.discovery.order).unwrap_or(u32::MAX));
            let next = hosts.len() as u32;
            let host = *hosts.entry(page.key.page.host()).or_insert(next);
            let discovered = Fact::Discovered(Discovered {
                page: number,
                url: &page.discovery.url,
                host,
                depth: page.discovery.depth,
                seed: page.discovery.source.is_none(),
                at: page.discovery.at,
                appeared: None,
            });
            refresh.observe(&discovered);
            rates.observe(&discovered);
            let before = History::discovered(page.discovery.at, page.discovery.depth);
            let Some(visited) = page.visited else {
                continue;
            };
            let fact = Visited {
                page: number,
                before: &before,
                after: &visited.history,
            };
            refresh.observe(&Fact::Visited(fact));
            refresh.weigh(&fact, 1.0);
            rates.observe(&Fact::Visited(fact));
            let gone = visited.history.outcome == Some(Outcome::Gone);
            if visited.copy.is_some() && !gone {
                known.push((number, host, visited.history));
            }
        }
        let copies = known.len();
        let every = copies.div_ceil(SAMPLE).max(1);
        let measured = known.iter().any(|(.., history)| is_measured(history));
        let estimate = |(number, host, history): (Number, u32, History)| {
            let page = Page {
                number,
                history: &history,
            };
            let old = history.asked.unwrap_or_default() + FOR_EVER;
            let rate = rates.rate(page) * DAY;
            let stake = refresh.worth(page, 1.0, old).value() * rate / DAY;
            Estimate {
                number,
                host,
                history,
                rate,
                stake,
            }
        };
        let pages = known.into_iter().step_by(every).map(estimate).collect();
        Ok(Self {
            pages,
            copies,
            measured,
            refresh,
        })
    }

    /// What the policy reaches at rising numbers of fetches.
    pub fn curve(&self, goal: &Goal) -> Vec<Point> {
        let scale = self.scale();
        let dearest = (self.pages.iter())
            .map(|page| self.dearest(page))
            .fold(0.0, f64::max);
        let at = |step: u32| {
            // From the price that nothing is worth down by nine powers of ten.
            let share = 10f64.powf(-9.0 * f64::from(step) / f64::from(PRICES));
            let price = Price::new(dearest * share)?;
            let mut fetches = 0.0;
            let reached = goal.mean(self.pages.iter().map(|page| {
                let interval = self.interval(page, price);
                fetches += interval.recip();
                page.reaches(goal, interval)
            }));
            Some(Point {
                fetches_per_day: fetches * scale,
                reached,
            })
        };
        let mut points: Vec<Point> = (0..=PRICES).filter_map(at).collect();
        points.retain(|point| point.fetches_per_day.is_finite());
        points
    }

    /// What the same number of fetches to every page reaches.
    pub fn uniform_curve(&self, goal: &Goal) -> Vec<Point> {
        let at = |step: u32| {
            let interval = 10f64.powf(5.0 - 9.0 * f64::from(step) / f64::from(PRICES));
            let each = self.pages.iter();
            Point {
                fetches_per_day: self.copies as f64 / interval,
                reached: goal.mean(each.map(|page| page.reaches(goal, interval))),
            }
        };
        (0..=PRICES).map(at).collect()
    }

    /// What the copies are expected to be like now; `None`: there are none, or no page was ever visited again, so that nobody can tell.
    pub fn now(&self, now: Moment) -> Option<Outlook> {
        let (mut fresh, mut kept, mut stakes, mut revisited) = (0.0, 0.0, 0.0, 0);
        // Nobody searches for a sitemap.
        let shown: Vec<&Estimate> = (self.pages.iter())
            .filter(|page| !page.history.listing)
            .collect();
        let facts = shown.iter().map(|page| (page.host, &page.history));
        let freshness = Freshness::learned(facts, now)?;
        for page in &shown {
            let likely = freshness.of(page.host, &page.history, now);
            fresh += likely;
            kept += page.stake * likely;
            stakes += page.stake;
            revisited += usize::from(page.history.revisits > 0);
        }
        let sampled = shown.len();
        let quality = (self.measured && stakes > 0.0).then(|| kept / stakes);
        (sampled > 0).then(|| Outlook {
            freshness: fresh / sampled as f64,
            quality,
            sampled,
            revisited,
        })
    }

    fn scale(&self) -> f64 {
        self.copies as f64 / self.pages.len().max(1) as f64
    }

    /// Days between two visits at a price; infinite: none.
    fn interval(&self, page: &Estimate, price: Price) -> f64 {
        let asked = page.history.asked.unwrap_or_default();
        let due = self.refresh.due(page.facts(), 1.0, price);
        due.map_or(f64::INFINITY, |due| {
            (due.since(asked).as_secs_f64() / DAY).max(1e-9)
        })
    }

    fn dearest(&self, page: &Estimate) -> f64 {
        let old = page.history.asked.unwrap_or_default() + FOR_EVER;
        self.refresh.worth(page.facts(), 1.0, old).value()
    }
}

impl Estimate {
    fn facts(&self) -> Page<'_> {
        Page {
            number: self.number,
            history: &self.history,
        }
    }

    /// What visits after so many days reach: a share, and what it counts.
    fn reaches(&self, goal: &Goal, interval: f64) -> (f64, f64) {
        (goal.of_page(self.rate, interval), goal.weight(self.stake))
    }
}

/// The fewest fetches a day that reach a share; `None`: the curve does not get there.
pub fn needed(curve: &[Point], share: f64) -> Option<f64> {
    let after = curve.iter().position(|point| point.reached >= share)?;
    let high = curve[after];
    let Some(low) = after.checked_sub(1).map(|before| curve[before]) else {
        return Some(high.fetches_per_day);
    };
    let part = (share - low.reached) / (high.reached - low.reached);
    Some(low.fetches_per_day + part * (high.fetches_per_day - low.fetches_per_day))
}

/// What so many fetches a day reach.
pub fn reached(curve: &[Point], fetches_per_day: f64) -> Option<f64> {
    let after = curve
        .iter()
        .position(|point| point.fetches_per_day >= fetches_per_day);
    let (Some(after), Some(last)) = (after, curve.last()) else {
        return curve.last().map(|last| last.reached);
    };
    let high = curve.get(after).unwrap_or(last);
    let Some(low) = after.checked_sub(1).map(|before| curve[before]) else {
        return Some(high.reached);
    };
    let part =
        (fetches_per_day - low.fetches_per_day) / (high.fetches_per_day - low.fetches_per_day);
    Some(low.reached + part * (high.reached - low.reached))
}

fn is_measured(history: &History) -> bool {
    let gained = |gain: Option<f32>| gain.is_some_and(|gain| gain != 0.0);
    history.recent.iter().any(|visit| gained(visit.gain))
}

#[cfg(test)]
mod tests;
