//! Polls and pages at one price (our own scheduler).
//!
//! λ is the rate of new pages of a source, P the profit of a new page, and μ the decay of this
//! profit. At the price ω a page is fetched while `P·e^{−μ·age} ≥ ω`, that is, up to the age
//! `a* = ln(P/ω)/μ`. A source that is polled every I seconds then yields per poll, after the cost
//! of these fetches:
//!
//! - `R(I) = ∫₀^min(I,a*) λ(P·e^{−μa} − ω) da`.
//!
//! The optimal interval satisfies `R(I) − I·R'(I) = ω`. Up to a* the cost of pages cancels on the
//! left side:
//!
//! - `(λP/μ)(1 − e^{−μI}) − λωI − λI(P·e^{−μI} − ω) = (λP/μ)·g(μI)`.
//!
//! Beyond a* nothing more is gained, so the left side stays constant.
//!
//! A poll τ seconds after the last one is therefore worth `(λP/μ)·g(μτ)`, but at most ω̄. Here
//! ω̄ is the largest price at which the source is polled: `(λP/μ)·g(μa*) = ω̄` with
//! `a* = ln(P/ω̄)/μ`. With `x = μa*` this equation is `e^x − 1 − x = μ/λ`, and `ω̄ = P·e^{−x}`.
//! So no poll is worth more than P, the profit of a page that is fetched at once.

use super::{Estimation, NewPage, Outlook, Scheduler};
use crate::plan::gain::{age_of_gain, gain};

/// A poll is worth `min((λP/μ)·g(μτ), ω̄)`, and a page `P·e^{−μ·age}` times its appeal.
#[derive(Debug, Clone, Copy, Default)]
pub struct Priced;

impl Scheduler for Priced {
    fn estimation(&self) -> Estimation {
        Estimation::Bayesian
    }

    fn worth(&self, _source: usize, outlook: &Outlook, waited: f64) -> f64 {
        if !is_valid(outlook) {
            return 0.0;
        }
        let height = outlook.rate * outlook.profit / outlook.decay;
        let uncapped = height * gain(outlook.decay * waited);
        // Most waits are far from the cap ω̄, and this lower bound of ω̄ is cheaper than ω̄ itself.
        let bound = outlook.profit * (-above_cutoff(outlook.decay / outlook.rate)).exp();
        match uncapped <= bound {
            true => uncapped,
            false => uncapped.min(highest_price(outlook)),
        }
    }

    fn due(&self, _source: usize, outlook: &Outlook, price: f64) -> Option<f64> {
        if !is_valid(outlook) || price > highest_price(outlook) {
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

/// Returns ω̄, the largest price at which a source is polled at all.
///
/// It tends to 0 for small λ, and to P for large λ. λ and μ must be above 0.
pub fn highest_price(outlook: &Outlook) -> f64 {
    outlook.profit * (-cutoff(outlook.decay / outlook.rate)).exp()
}

fn is_valid(outlook: &Outlook) -> bool {
    let positive = |value: f64| value > 0.0 && value.is_finite();
    positive(outlook.rate) && positive(outlook.profit) && positive(outlook.decay)
}

/// Returns an upper bound of [`cutoff`], from `x²/2 ≤ k` and `x ≤ ln(1 + k + x)`.
fn above_cutoff(k: f64) -> f64 {
    let root = (2.0 * k).sqrt();
    root.min((1.0 + k + root.min(800.0)).ln())
}

/// Returns the x at which `e^x − 1 − x = k`, for k ≥ 0, by Newton's method on a convex function,
/// from above.
fn cutoff(k: f64) -> f64 {
    let mut x = above_cutoff(k);
    for _ in 0..30 {
        // Uses the series near 0, where the difference loses precision.
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
