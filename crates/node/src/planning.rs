//! Computes how many fetches per day a freshness goal needs, from the visits recorded in a store.
//!
//! Each page has an estimated change rate. At a given price, a refresh policy visits the page at
//! a fixed interval. From the interval follow the fetches per day of the page, and by a closed
//! formula the freshness of its copy. The sums over all pages, for a series of prices, form a
//! curve. The curve gives the freshness that a budget reaches, and the budget that a freshness
//! needs.
//!
//! Politeness is left out: the plan may need more requests than the delays of the servers allow.

pub mod chart;
mod freshness;
pub mod goal;

use std::collections::HashMap;
use std::time::Duration;

use anyhow::Result;
use frontier::Known;
use ledger::{LedgerError, LedgerReader};
use page::HostId;
use policy::catalog::{Catalog, Upkeep};
use policy::{Discovered, Fact, History, Moment, Number, Outcome, Page, Price, Refresh, VisitFact};

use crate::live::snapshot::FreshnessOutlook;
pub(crate) use freshness::FreshnessModel;
pub use goal::Goal;

/// The maximum number of pages that a curve is computed from.
const SAMPLE: usize = 20_000;
/// The number of prices that a curve is computed at.
const PRICES: u32 = 160;
/// An age at which a copy is certainly out of date: about 3000 years.
const FOR_EVER: Duration = Duration::from_secs(100_000_000_000);

const DAY: f64 = 86_400.0;

/// Estimates for the pages of a store.
pub struct Estimates {
    pages: Vec<PageEstimate>,
    /// The number of pages that have a copy and are not gone. `pages` is a sample of them.
    pub copies: usize,
    /// Whether a recent visit to any page had a measured gain for searchers (ΔQ) other than 0.
    pub measured: bool,
    refresh: Box<dyn Refresh>,
}

/// Estimates for one page.
struct PageEstimate {
    number: Number,
    host: u32,
    history: History,
    /// The history without the hints since the last visit. A page with such a hint is due at once,
    /// and a plan must not assume that short interval for all later visits.
    settled: History,
    /// Changes per day.
    rate: f64,
    /// What searchers lose per second while the copy is out of date: the worth of a fetch when the
    /// copy is very old, times the changes per second.
    stake: f64,
}

/// A point of a curve: the share of the goal that a number of fetches per day reaches.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct CurvePoint {
    /// Fetches per day.
    pub fetches_per_day: f64,
    /// The share that is reached, from 0 to 1.
    pub reached: f64,
}

impl Estimates {
    /// Reads the pages of a ledger and estimates their change rates and stakes. `policy` names the
    /// refresh policy; `rate` names the estimator of change rates, or is `None` for the default.
    pub fn read(ledger: &LedgerReader, policy: &str, rate: Option<&str>) -> Result<Self> {
        Self::of(ledger.scan(), policy, rate)
    }

    /// Estimates change rates and stakes of these pages; `policy` and `rate` as in [`Self::read`].
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
            let fact = VisitFact {
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
            let mut settled = history;
            settled.signals.since = 0;
            let page = Page {
                number,
                history: &settled,
            };
            let old = history.asked.unwrap_or_default() + FOR_EVER;
            let rate = rates.rate(page) * DAY;
            let stake = refresh.worth(page, 1.0, old).value() * rate / DAY;
            PageEstimate {
                number,
                host,
                history,
                settled,
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

    /// Returns the curve of the refresh policy, by rising fetches per day.
    pub fn curve(&self, goal: &Goal) -> Vec<CurvePoint> {
        let scale = self.scale();
        let dearest = (self.pages.iter())
            .map(|page| self.dearest(page))
            .fold(0.0, f64::max);
        let at = |step: u32| {
            // From the highest worth of any page down by nine powers of ten.
            let share = 10f64.powf(-9.0 * f64::from(step) / f64::from(PRICES));
            let price = Price::new(dearest * share)?;
            let mut fetches = 0.0;
            let reached = goal.mean(self.pages.iter().map(|page| {
                let interval = self.interval(page, price);
                fetches += interval.recip();
                page.reaches(goal, interval)
            }));
            Some(CurvePoint {
                fetches_per_day: fetches * scale,
                reached,
            })
        };
        let mut points: Vec<CurvePoint> = (0..=PRICES).filter_map(at).collect();
        points.retain(|point| point.fetches_per_day.is_finite());
        points
    }

    /// Returns the curve of a policy that visits all pages equally often.
    pub fn uniform_curve(&self, goal: &Goal) -> Vec<CurvePoint> {
        let at = |step: u32| {
            let interval = 10f64.powf(5.0 - 9.0 * f64::from(step) / f64::from(PRICES));
            let each = self.pages.iter();
            CurvePoint {
                fetches_per_day: self.copies as f64 / interval,
                reached: goal.mean(each.map(|page| page.reaches(goal, interval))),
            }
        };
        (0..=PRICES).map(at).collect()
    }

    /// Estimates the current freshness of the copies; `None` if there are too few revisits (see
    /// `FreshnessModel::learned`).
    pub fn now(&self, now: Moment) -> Option<FreshnessOutlook> {
        let (mut fresh, mut kept, mut stakes, mut revisited) = (0.0, 0.0, 0.0, 0);
        // Sitemaps and feeds are not search results.
        let shown: Vec<&PageEstimate> = (self.pages.iter())
            .filter(|page| !page.history.listing)
            .collect();
        let facts = shown.iter().map(|page| (page.host, &page.history));
        let freshness = FreshnessModel::learned(facts, now)?;
        for page in &shown {
            let likely = freshness.of(page.host, &page.history, now);
            fresh += likely;
            kept += page.stake * likely;
            stakes += page.stake;
            revisited += usize::from(page.history.revisits > 0);
        }
        let sampled = shown.len();
        let quality = (self.measured && stakes > 0.0).then(|| kept / stakes);
        (sampled > 0).then(|| FreshnessOutlook {
            freshness: fresh / sampled as f64,
            quality,
            sampled,
            revisited,
        })
    }

    fn scale(&self) -> f64 {
        self.copies as f64 / self.pages.len().max(1) as f64
    }

    /// Returns the days between two visits at a price; infinite if the page is never visited.
    fn interval(&self, page: &PageEstimate, price: Price) -> f64 {
        let asked = page.history.asked.unwrap_or_default();
        let due = self.refresh.due(page.facts(), 1.0, price);
        due.map_or(f64::INFINITY, |due| {
            (due.since(asked).as_secs_f64() / DAY).max(1e-9)
        })
    }

    fn dearest(&self, page: &PageEstimate) -> f64 {
        let old = page.history.asked.unwrap_or_default() + FOR_EVER;
        self.refresh.worth(page.facts(), 1.0, old).value()
    }
}

impl PageEstimate {
    fn facts(&self) -> Page<'_> {
        Page {
            number: self.number,
            history: &self.settled,
        }
    }

    /// Returns the share that visits at this interval (in days) reach, and its weight.
    fn reaches(&self, goal: &Goal, interval: f64) -> (f64, f64) {
        (goal.of_page(self.rate, interval), goal.weight(self.stake))
    }
}

/// Returns the fewest fetches per day that reach a share, by linear interpolation; `None` if the
/// curve stays below the share.
pub fn needed(curve: &[CurvePoint], share: f64) -> Option<f64> {
    let after = curve.iter().position(|point| point.reached >= share)?;
    let high = curve[after];
    let Some(low) = after.checked_sub(1).map(|before| curve[before]) else {
        return Some(high.fetches_per_day);
    };
    let part = (share - low.reached) / (high.reached - low.reached);
    Some(low.fetches_per_day + part * (high.fetches_per_day - low.fetches_per_day))
}

/// Returns the share that this number of fetches per day reaches, by linear interpolation. Outside
/// of the curve, the share is that of its nearest end. `None` if the curve is empty.
pub fn reached(curve: &[CurvePoint], fetches_per_day: f64) -> Option<f64> {
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
