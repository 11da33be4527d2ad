//! How often do pages change of which little is known?
//!
//! Rates of pages are taken to be Gamma distributed. **Invariant:** shape and time are positive and finite.

use super::DAY;
use super::likelihood;
use super::pool::Pool;
use super::seen::Seen;

/// What is thought of all hosts before anything is seen counts as much as so many changes.
const WEB_STRENGTH: f64 = 1.0;
/// What is thought of a host before it is seen, likewise.
const HOST_STRENGTH: f64 = 1.0;
/// Pairs of revisits that the shape of the web counts as much as: a shape takes many pages to tell.
const SHAPE_STRENGTH: f64 = 100.0;
/// Shapes beyond are taken for these. Below, one quiet visit would make a page dead; above, a page's own changes
/// would tell next to nothing.
const SHAPES: (f64, f64) = (0.3, 10.0);

/// Gamma's distribution of change rates: as if `shape` changes had been seen in `time` seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prior {
    shape: f64,
    time: f64,
}

impl Prior {
    /// A change in 138.7 days, the mean lifetime of Brewington & Cybenko (2000). The shape is ours: at 1 the
    /// standard deviation is as large as the mean.
    pub const WEB: Self = Self {
        shape: 1.0,
        time: 138.7 * DAY,
    };

    /// Changes a second, on average over pages.
    pub fn mean(&self) -> f64 {
        self.shape / self.time
    }

    /// The most likely rate of a page of which this was seen besides.
    ///
    /// The mode of the posterior of `ln λ`, where `(a − 1)/λ` becomes `a/λ`: so a page that was not seen has the
    /// mean and not the mode, which is 0 for shapes up to 1, and nothing that was seen makes a rate 0.
    pub fn most_likely(&self, seen: &Seen) -> f64 {
        likelihood::root(seen.gaps(), self.time + seen.quiet, self.shape)
    }

    /// What is thought after so much was seen of all pages: mean and shape.
    pub fn informed(self, pool: &Pool) -> Self {
        let mean = self.pooled(pool, WEB_STRENGTH);
        let shape = self.shape_after(pool);
        let time = shape / mean;
        Self { shape, time }
    }

    /// What is thought of a host's pages after so much was seen of them: its mean. The shape is that of
    /// all hosts: few have so many pages with so many revisits that they could tell.
    pub fn of_host(self, pool: &Pool) -> Self {
        let time = self.shape / self.pooled(pool, HOST_STRENGTH);
        Self { time, ..self }
    }

    /// The rate that makes what was seen of many pages most likely, as if all were alike, and if so many changes
    /// had been seen before at the mean rate. Where gaps are long and pages are not alike it is too low: a gap
    /// shows one change, and fast pages have more.
    fn pooled(&self, pool: &Pool, strength: f64) -> f64 {
        let quiet = pool.quiet.max(0.0) + strength / self.mean();
        likelihood::root(pool.gaps(), quiet, strength)
    }

    /// The shape, by moments: the more alike the revisits to one page, the less alike the pages.
    ///
    /// With `L(I) = E[e^{−λI}] = (1 + I/b)^{−a}`, a revisit after `I` sees a change with probability `p₁ = 1 − L(I)`, and
    /// two of one page both do with `p₂ = 1 − 2L(I) + L(2I)`. So `ln L(2I)/ln L(I)` is known, for any `I`: 2 if all pages
    /// are alike, 1 if none is.
    fn shape_after(&self, pool: &Pool) -> f64 {
        if pool.pairs < 0.5 || pool.revisits < 0.5 {
            return self.shape;
        }
        let changed = (pool.changes / pool.revisits).clamp(1e-6, 1.0 - 1e-6);
        let unchanged = (-changed).ln_1p();
        // Where two are quiet as often as a prior of our shape has it.
        let expected = self.both_unchanged(unchanged);
        let both = (1.0 - 2.0 * changed) + pool.both / pool.pairs;
        let seen = (pool.pairs * both + SHAPE_STRENGTH * expected) / (pool.pairs + SHAPE_STRENGTH);
        let alike = seen.max(1e-18).ln() / unchanged;
        shape_of(alike, unchanged).clamp(SHAPES.0, SHAPES.1)
    }

    /// `L(2I)`, of `ln L(I)`.
    fn both_unchanged(&self, unchanged: f64) -> f64 {
        let z = (-unchanged / self.shape).exp_m1();
        (-self.shape * (2.0 * z).ln_1p()).exp()
    }
}

/// The shape `a` for which `ln L(2I)/ln L(I)` is `alike`: with `z = I/b` it is `ln(1 + 2z)/ln(1 + z)`, which falls from 2
/// to 1, and `a = −ln L/ln(1 + z)`.
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
