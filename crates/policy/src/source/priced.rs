//! Polls and pages at one price.
//!
//! Ours. At the price ω a page is fetched while `P·e^{−μ·age} ≥ ω`, that is until the age `a* = ln(P/ω)/μ`. A source that is polled every I seconds so gives, net of these
//! fetches, `R(I) = ∫₀^min(I,a*) λ(P·e^{−μa} − ω) da` for each poll, and is polled best where `R(I) − I·R'(I) = ω`. Up to a* the cost of pages cancels in the left
//! side, `(λP/μ)(1 − e^{−μI}) − λωI − λI(P·e^{−μI} − ω) = (λP/μ)·g(μI)`; beyond a* nothing more is gained, so it stays what it was.
//!
//! So a poll is worth `(λP/μ)·g(μτ)`, but not more than ω̄, the largest price at which waiting longer pays for itself: `(λP/μ)·g(μa*) = ω̄` with `a* = ln(P/ω̄)/μ`. With
//! `x = μa*` that is `e^x − 1 − x = μ/λ`, and `ω̄ = P·e^{−x}`. No poll is worth more than the best page that it can find, and a source that is too large for the budget is served in part.

use super::{Eye, NewPage, Outlook, Scheduler};
use crate::plan::gain::{age_of_gain, gain};

/// A poll is worth `min((λP/μ)·g(μτ), ω̄)`, a page `P·e^{−μ·age}`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Priced;

impl Scheduler for Priced {
    fn eye(&self) -> Eye {
        Eye::Keen
    }

    fn worth(&self, _source: usize, outlook: &Outlook, waited: f64) -> f64 {
        if !lives(outlook) {
            return 0.0;
        }
        let height = outlook.rate * outlook.profit / outlook.decay;
        let uncapped = height * gain(outlook.decay * waited);
        // Most waits are far from the cap, and the bound costs less than the root.
        let bound = outlook.profit * (-above_cutoff(outlook.decay / outlook.rate)).exp();
        match uncapped <= bound {
            true => uncapped,
            false => uncapped.min(dearest(outlook)),
        }
    }

    fn due(&self, _source: usize, outlook: &Outlook, price: f64) -> Option<f64> {
        if !lives(outlook) || price > dearest(outlook) {
            return None;
        }
        let height = outlook.rate * outlook.profit / outlook.decay;
        let wait = age_of_gain(price / height) / outlook.decay;
        wait.is_finite().then_some(wait)
    }

    fn page(&self, page: &NewPage) -> f64 {
        page.appeal * page.outlook.profit * (-page.outlook.decay * page.age).exp()
    }
}

/// ω̄: the largest price at which a source is polled at all. 0 for λ = 0, and near P if much is new all the time.
pub fn dearest(outlook: &Outlook) -> f64 {
    outlook.profit * (-cutoff(outlook.decay / outlook.rate)).exp()
}

fn lives(outlook: &Outlook) -> bool {
    let positive = |value: f64| value > 0.0 && value.is_finite();
    positive(outlook.rate) && positive(outlook.profit) && positive(outlook.decay)
}

/// Not below [`cutoff`]: `x²/2 ≤ k` and `x ≤ ln(1 + k + x)`.
fn above_cutoff(k: f64) -> f64 {
    let root = (2.0 * k).sqrt();
    root.min((1.0 + k + root.min(800.0)).ln())
}

/// The x at which `e^x − 1 − x = k`, for k ≥ 0. Newton's method on a convex function, from above.
fn cutoff(k: f64) -> f64 {
    let mut x = above_cutoff(k);
    for _ in 0..30 {
        // Near 0, where the difference loses its digits, the series.
        let value = match x < 1e-3 {
            true => x * x * (0.5 + x / 6.0 + x * x / 24.0),
            false => x.exp_m1() - x,
        };
        let slope = x.exp_m1();
        if slope <= 0.0 {
            break;
        }
        let next = x - (value - k) / slope;
        if (next - x).abs() <= 1e-15 * x {
            return next.max(0.0);
        }
        x = next;
    }
    x
}
