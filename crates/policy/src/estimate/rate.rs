//! Estimates how often a page changes, from visits to it, to its host and to all other pages.
//!
//! **Invariant:** every rate that [`Rates`] returns is above zero and finite, in changes per
//! second. A visit changes the sums over pages only by the difference that it makes to its page.
//! Visits reported one by one or all at once therefore give the same rates.

mod bias_corrected;
mod buckets;
mod likelihood;
mod naive;
mod observed;
mod pool;
mod prior;

use std::sync::Arc;

use super::{Column, PageHosts};
use crate::moment::DAY;
use crate::scores::Scores;
use crate::{Fact, History, Needs, Number, Page};
use likelihood::LikelyRate;
use observed::ObservedChanges;
use pool::RatePool;
use prior::RatePrior;

pub use observed::Threshold;

/// The lowest rate: a change in a thousand years. It replaces a rate of zero, with which a page
/// would never be visited again.
const SLOWEST: f64 = 1.0 / (365_250.0 * DAY);

/// The highest rate: a change per microsecond, the resolution of time.
const FASTEST: f64 = 1e6;

/// The estimator of change rates.
#[derive(Debug, Clone, Default)]
pub enum Estimator {
    /// Observed changes per observed time.
    Naive,
    /// Cho & Garcia-Molina's estimate for regular gaps.
    BiasCorrected,
    /// Maximum likelihood, for gaps of any length. If every revisit detected a change there is
    /// no maximum, and the bias-corrected estimate is used.
    Mle,
    /// Maximum a posteriori, with a prior from the pages of the host.
    #[default]
    Gamma,
    /// The mean rate of the host, for all its pages (Cho & Ntoulas, "Effective change detection
    /// using sampling", VLDB 2002).
    Site,
    /// One of twelve rates (Edwards, McCurley & Tomlin, "An adaptive model for optimizing
    /// performance of an incremental web crawler", WWW 2001: WebFountain).
    Buckets,
    /// Given by URL, in changes per day. Pages without a given rate have the mean rate of their
    /// host.
    Given(Arc<Scores>),
}

/// Returns the change rate of a page by its own revisits alone, in changes per second.
///
/// This is [`Estimator::Gamma`], the default, without its prior, for callers that know one page
/// and not its host. With many revisits the two agree. Returns `None` if no time has passed
/// between visits, since one copy says nothing about change, and 0 if no revisit detected a
/// change.
pub fn change_rate(history: &History) -> Option<f64> {
    let observed = ObservedChanges::of(history, Threshold::ANY);
    (!observed.is_empty()).then(|| own(&observed))
}

/// Returns the maximum-likelihood rate, or the bias-corrected one if every revisit detected a
/// change.
fn own(observed: &ObservedChanges) -> f64 {
    let likely = likelihood::most_likely(observed);
    likely.unwrap_or_else(|| bias_corrected::rate(observed))
}

/// The change rates of all pages.
#[derive(Debug, Clone)]
pub struct Rates {
    estimator: Estimator,
    /// The least change that counts.
    threshold: Threshold,
    hosts: PageHosts,
    /// The observations on each host.
    pools: Vec<RatePool>,
    all: RatePool,
    /// The prior for a host without observations. With observations, it is the base of the
    /// host's prior.
    web: RatePrior,
    given: Column<f32>,
}

impl Rates {
    /// Creates rates of changes of more than `threshold`. [Given](Estimator::Given) rates
    /// ignore it.
    pub fn new(estimator: Estimator, threshold: Threshold) -> Self {
        Self {
            estimator,
            threshold,
            hosts: PageHosts::default(),
            pools: Vec::new(),
            all: RatePool::default(),
            web: RatePrior::WEB,
            given: Column::default(),
        }
    }

    /// Returns the facts that [`observe`](Self::observe) needs.
    pub fn needs(&self) -> Needs {
        Needs {
            visits: true,
            words: matches!(self.estimator, Estimator::Given(_)),
            ..Needs::default()
        }
    }

    /// Processes a fact.
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
                let of = |history| RatePool::of(&ObservedChanges::of(history, self.threshold));
                let (before, after) = (of(visited.before), of(visited.after));
                self.all.replace(&before, &after);
                self.web = RatePrior::WEB.informed(&self.all);
                if let Some(pool) = self.hosts.of_mut(visited.page, &mut self.pools) {
                    pool.replace(&before, &after);
                }
            }
            Fact::Read(_) | Fact::Shown(_) => {}
        }
    }

    /// Returns the change rate of a page, in changes per second.
    pub fn rate(&self, page: Page<'_>) -> f64 {
        self.rate_and_certainty(page).0
    }

    /// Returns the change rate of a page in changes per second, and its certainty: the shape of
    /// the Gamma distribution that is near to its posterior.
    ///
    /// For [`Estimator::Gamma`] it is the curvature of the posterior of `ln λ`. It is infinite for
    /// [`Estimator::Given`]. For the others it is the shape of the prior plus the number of
    /// observed changes.
    pub fn rate_and_certainty(&self, page: Page<'_>) -> (f64, f64) {
        let observed = ObservedChanges::of(page.history, self.threshold);
        let likely = self.estimated(page, &observed);
        (likely.rate.clamp(SLOWEST, FASTEST), likely.certainty)
    }

    fn estimated(&self, page: Page<'_>, observed: &ObservedChanges) -> LikelyRate {
        let host = || self.host(page.number);
        let counted = |rate| LikelyRate {
            rate,
            certainty: self.web.shape() + observed.changes,
        };
        match self.estimator {
            Estimator::Given(_) => LikelyRate {
                rate: self.prior(page.number),
                certainty: f64::INFINITY,
            },
            Estimator::Gamma if observed.is_empty() => host().typical(),
            _ if observed.is_empty() => counted(self.prior(page.number)),
            Estimator::Naive => counted(naive::rate(observed)),
            Estimator::BiasCorrected => counted(bias_corrected::rate(observed)),
            Estimator::Mle => counted(own(observed)),
            Estimator::Gamma => host().most_likely(observed),
            Estimator::Buckets => counted(buckets::rounded(host().most_likely(observed).rate)),
            Estimator::Site => counted(host().mean()),
        }
    }

    /// Returns the change rate of a page that was never visited, in changes per second: the given
    /// rate, or the mean rate of its host.
    pub fn prior(&self, page: Number) -> f64 {
        let rate = match (self.given.get(page), &self.estimator) {
            (Some(changes_a_day), _) => f64::from(changes_a_day) / DAY,
            (None, Estimator::Buckets) => buckets::rounded(self.host(page).mean()),
            (None, _) => self.host(page).mean(),
        };
        rate.clamp(SLOWEST, FASTEST)
    }

    /// Returns the prior for pages of this page's host.
    fn host(&self, page: Number) -> RatePrior {
        match self.hosts.of(page, &self.pools) {
            Some(pool) => self.web.of_host(pool),
            None => self.web,
        }
    }
}

#[cfg(test)]
mod tests;
