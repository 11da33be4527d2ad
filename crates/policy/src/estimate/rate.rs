//! How often does a page change, as far as visits to it, to its host and to all others tell?
//!
//! **Invariant:** every rate is above zero and finite, in changes a second. What is summed up over pages
//! grows by what a visit adds, so that visits told one by one or all at once make the same rates.

mod bias_corrected;
mod buckets;
mod likelihood;
mod naive;
mod pool;
mod prior;
mod seen;

use std::sync::Arc;

use super::{Column, Hosts};
use crate::scores::Scores;
use crate::{Fact, History, Needs, Number, Page};
use pool::Pool;
use prior::Prior;
use seen::Seen;

pub use seen::Threshold;

/// Seconds of a day.
const DAY: f64 = 86_400.0;

/// A change in a thousand years: what a page changes by of which an estimator says that it never does.
/// With a rate of zero nobody would look again.
const SLOWEST: f64 = 1.0 / (365_250.0 * DAY);

/// A change in a microsecond: visits are not nearer to each other.
const FASTEST: f64 = 1e6;

/// How rates are estimated.
#[derive(Debug, Clone, Default)]
pub enum Estimator {
    /// Changes seen over time watched.
    Naive,
    /// Cho & Garcia-Molina's estimate for regular gaps.
    BiasCorrected,
    /// The rate that makes what was seen most likely, whatever the gaps. A page that had changed at every
    /// visit has none: it is bias-corrected.
    Mle,
    /// The most likely rate, given also how often the pages of its host change.
    #[default]
    Gamma,
    /// That of the host, for all its pages (Cho & Ntoulas, "Effective change detection using sampling", VLDB 2002).
    Site,
    /// One of a few rates (Edwards, McCurley & Tomlin, "An adaptive model for optimizing performance of an
    /// incremental web crawler", WWW 2001: WebFountain).
    Buckets,
    /// By URL, in changes a day; pages without one change as their host does.
    Given(Arc<Scores>),
}

/// Returns how often a page changes by its own revisits alone, in changes a second.
///
/// This is [`Estimator::Gamma`], the crawler's default, without its prior, for callers that know one page
/// and not its host: with many revisits the two agree. Returns `None` before the first revisit, since one
/// copy says nothing about change, and 0 if no revisit saw a change.
pub fn change_rate(history: &History) -> Option<f64> {
    let seen = Seen::of(history, Threshold::ANY);
    (!seen.is_empty()).then(|| own(&seen))
}

/// The likeliest rate; it has no maximum where every revisit saw a change, and is then bias-corrected.
fn own(seen: &Seen) -> f64 {
    let likely = likelihood::most_likely(seen);
    likely.unwrap_or_else(|| bias_corrected::rate(seen))
}

/// The change rates of all pages.
#[derive(Debug, Clone)]
pub struct Rates {
    estimator: Estimator,
    /// What counts as a change.
    threshold: Threshold,
    hosts: Hosts,
    /// What was seen on each host.
    pools: Vec<Pool>,
    all: Pool,
    /// What is thought of a host that nobody has seen.
    web: Prior,
    given: Column<f32>,
}

impl Rates {
    /// Rates of changes of more than `threshold`. What is [`Given`](Estimator::Given) is given for any.
    pub fn new(estimator: Estimator, threshold: Threshold) -> Self {
        Self {
            estimator,
            threshold,
            hosts: Hosts::default(),
            pools: Vec::new(),
            all: Pool::default(),
            web: Prior::WEB,
            given: Column::default(),
        }
    }

    /// What [`observe`](Self::observe) wants to be told.
    pub fn needs(&self) -> Needs {
        Needs {
            visits: true,
            words: matches!(self.estimator, Estimator::Given(_)),
            ..Needs::default()
        }
    }

    /// Takes in a fact.
    pub fn observe(&mut self, fact: &Fact<'_>) {
        match fact {
            Fact::Discovered(discovered) => {
                self.hosts.add(discovered);
                if let Estimator::Given(scores) = &self.estimator
                    && let Some(rate) = scores.get(discovered.url)
                {
                    self.given.add(discovered.page, rate);
                }
            }
            Fact::Visited(visited) => {
                let of = |history| Pool::of(&Seen::of(history, self.threshold));
                let (before, after) = (of(visited.before), of(visited.after));
                self.all.replace(&before, &after);
                self.web = Prior::WEB.informed(&self.all);
                if let Some(pool) = self.hosts.of_mut(visited.page, &mut self.pools) {
                    pool.replace(&before, &after);
                }
            }
            Fact::Read(_) | Fact::Shown(_) => {}
        }
    }

    /// How often a page changes.
    pub fn rate(&self, page: Page<'_>) -> f64 {
        let seen = Seen::of(page.history, self.threshold);
        if matches!(self.estimator, Estimator::Given(_)) || seen.is_empty() {
            return self.prior(page.number);
        }
        let rate = match self.estimator {
            Estimator::Naive => naive::rate(&seen),
            Estimator::BiasCorrected => bias_corrected::rate(&seen),
            Estimator::Mle => own(&seen),
            Estimator::Gamma => self.host(page.number).most_likely(&seen),
            Estimator::Buckets => buckets::rounded(self.host(page.number).most_likely(&seen)),
            Estimator::Site | Estimator::Given(_) => self.host(page.number).mean(),
        };
        rate.clamp(SLOWEST, FASTEST)
    }

    /// How often a page changes that was never visited: as its host's pages do.
    pub fn prior(&self, page: Number) -> f64 {
        let rate = match (self.given.get(page), &self.estimator) {
            (Some(changes_a_day), _) => f64::from(changes_a_day) / DAY,
            (None, Estimator::Buckets) => buckets::rounded(self.host(page).mean()),
            (None, _) => self.host(page).mean(),
        };
        rate.clamp(SLOWEST, FASTEST)
    }

    /// What is thought of a page of this one's host.
    fn host(&self, page: Number) -> Prior {
        match self.hosts.of(page, &self.pools) {
            Some(pool) => self.web.of_host(pool),
            None => self.web,
        }
    }
}

#[cfg(test)]
mod tests;
