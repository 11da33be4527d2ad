//! The prior of change rates, for pages with few observations.
//!
//! It is an empirical prior: its mean and shape come from all pages, and its mean for a host
//! also from the pages of the host. Above the mean it falls like a power of the rate and not
//! exponentially, as the Gamma distribution does. A site has a few pages that change a thousand
//! times as often as the others, such as the home page of a newspaper. With a Gamma prior, 70
//! articles that never change outweigh the changes of such a page for days.
//!
//! **Invariant:** shape and time are positive and finite.

use super::likelihood::{self, LikelyRate, PriorTerm};
use super::observed::ObservedChanges;
use super::pool::RatePool;
use crate::moment::DAY;

/// Weight of the default mean rate against observations of all pages, as a pseudo-count of
/// changes.
const WEB_STRENGTH: f64 = 1.0;
/// Weight of the global mean rate against observations of a host, as a pseudo-count of changes.
const HOST_STRENGTH: f64 = 1.0;
/// Weight of the default shape, as a pseudo-count of pairs of revisits. A shape needs many
/// pages to estimate.
const SHAPE_STRENGTH: f64 = 100.0;
/// The range of shapes. Below it, one visit without a change would make the rate almost 0.
/// Above it, the changes of a page itself would hardly count.
const SHAPES: (f64, f64) = (0.3, 10.0);
/// The exponent c of the upper tail: the share of pages whose rate is above x falls like `x^−c`.
/// Our choice: with 2, a page whose three revisits all found a change after a gap τ has a rate of
/// about 0.7/τ, whatever the other pages are like. On two recorded histories exponents of 1, 2, 4
/// and 8 gave the same quality within 0.0008.
const TAIL: f64 = 2.0;

/// A distribution of change rates: Gamma, with a scale that is Gamma distributed itself (compound
/// Gamma). For rates far below the mean it acts like `shape` observed changes in `time` seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RatePrior {
    shape: f64,
    time: f64,
}

impl RatePrior {
    /// The default: a change in 138.7 days, the mean lifetime of Brewington & Cybenko (2000).
    /// The shape is ours: at 1 the standard deviation equals the mean.
    pub const WEB: Self = Self {
        shape: 1.0,
        time: 138.7 * DAY,
    };

    /// Returns the shape: the number of observed changes that the prior counts as.
    pub fn shape(&self) -> f64 {
        self.shape
    }

    /// Returns the mean rate over pages, in changes per second.
    pub fn mean(&self) -> f64 {
        self.shape / self.time
    }

    /// Returns the rate of a page without observations: the mode of the prior of `ln λ`.
    pub fn typical(&self) -> LikelyRate {
        LikelyRate {
            rate: self.mean(),
            certainty: (self.shape * TAIL / (self.shape + TAIL)).max(SHAPES.0),
        }
    }

    /// Returns the maximum a posteriori rate of a page with these observations.
    ///
    /// It is the mode of the posterior of `ln λ`. So a page without observations has the mean
    /// rate, and the rate is never 0. The slack keeps that mode at the mean rate for any tail.
    pub fn most_likely(&self, observed: &ObservedChanges) -> LikelyRate {
        let slack = self.time / TAIL;
        let prior = PriorTerm {
            changes: self.shape,
            time: self.time + self.shape * slack,
            slack,
        };
        let likely = likelihood::root(observed.gaps(), observed.quiet, prior);
        LikelyRate {
            certainty: likely.certainty.max(SHAPES.0),
            ..likely
        }
    }

    /// Returns the prior after these observations of all pages, which change its mean and
    /// shape.
    pub fn informed(self, pool: &RatePool) -> Self {
        let mean = self.pooled(pool, WEB_STRENGTH);
        let shape = self.shape_after(pool);
        let time = shape / mean;
        Self { shape, time }
    }

    /// Returns the prior of a host after these observations of its pages, which change its
    /// mean.
    ///
    /// The shape stays that of all pages, because few hosts have enough pages and revisits to
    /// estimate one.
    pub fn of_host(self, pool: &RatePool) -> Self {
        let time = self.shape / self.pooled(pool, HOST_STRENGTH);
        Self { time, ..self }
    }

    /// Returns the maximum-likelihood rate of many pages, as if all had the same rate, with
    /// `strength` more changes at the mean rate.
    ///
    /// It is too low if gaps are long and pages differ: a gap shows at most one change, and
    /// fast pages have more.
    fn pooled(&self, pool: &RatePool, strength: f64) -> f64 {
        let prior = PriorTerm {
            changes: strength,
            time: strength / self.mean(),
            slack: 0.0,
        };
        likelihood::root(pool.gaps(), pool.quiet.max(0.0), prior).rate
    }

    /// Returns the shape by the method of moments: the more similar the revisits to one page,
    /// the more different the pages.
    ///
    /// With `L(I) = E[e^{−λI}] = (1 + I/b)^{−a}`, a revisit after `I` detects a change with
    /// probability `p₁ = 1 − L(I)`. Two revisits to one page both do with probability
    /// `p₂ = 1 − 2L(I) + L(2I)`. So `ln L(2I)/ln L(I)` can be estimated for any `I`. It is 2 if
    /// all pages have the same rate, and tends to 1 as they differ more.
    fn shape_after(&self, pool: &RatePool) -> f64 {
        if pool.pairs < 0.5 || pool.revisits < 0.5 {
            return self.shape;
        }
        let changed = (pool.changes / pool.revisits).clamp(1e-6, 1.0 - 1e-6);
        let unchanged = (-changed).ln_1p();
        // The probability that two revisits both detect nothing, under the default shape.
        let expected = self.both_unchanged(unchanged);
        let both = (1.0 - 2.0 * changed) + pool.both / pool.pairs;
        let observed =
            (pool.pairs * both + SHAPE_STRENGTH * expected) / (pool.pairs + SHAPE_STRENGTH);
        let alike = observed.max(1e-18).ln() / unchanged;
        shape_of(alike, unchanged).clamp(SHAPES.0, SHAPES.1)
    }

    /// Returns `L(2I)`, given `ln L(I)`.
    fn both_unchanged(&self, unchanged: f64) -> f64 {
        let z = (-unchanged / self.shape).exp_m1();
        (-self.shape * (2.0 * z).ln_1p()).exp()
    }
}

/// Returns the shape `a` for which `ln L(2I)/ln L(I)` is `alike`.
///
/// With `z = I/b` the ratio is `ln(1 + 2z)/ln(1 + z)`, which falls from 2 to 1, and
/// `a = −ln L/ln(1 + z)`. Found by bisection.
fn shape_of(alike: f64, unchanged: f64) -> f64 {
    let (mut low, mut high) = (1e-6_f64.ln(), 1e6_f64.ln());
    for _ in 0..40 {
        let middle = f64::midpoint(low, high);
        let z = middle.exp();
        if (2.0 * z).ln_1p() > alike * z.ln_1p() {
            low = middle;
        } else {
            high = middle;
        }
    }
    -unchanged / low.exp().ln_1p()
}
