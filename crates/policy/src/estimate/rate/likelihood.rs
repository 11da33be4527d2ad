//! The maximum-likelihood estimate of a change rate, with or without a prior.

use super::observed::ObservedChanges;

/// The shortest gap that is assumed, in seconds: the resolution of time.
const SHORTEST: f64 = 1e-6;

/// Returns the maximum-likelihood rate for gaps of any length, in changes per second.
///
/// Cho & Garcia-Molina (TOIT 2003), 5.2: `Σ_changed τ/(e^{λτ} − 1) = Σ_unchanged τ`. It is 0
/// for a page without a detected change. Returns `None` if every revisit detected a change,
/// because then the likelihood increases with the rate and has no maximum.
pub fn most_likely(observed: &ObservedChanges) -> Option<f64> {
    match (observed.changes, observed.quiet) {
        (0.0, _) => Some(0.0),
        (_, quiet) if quiet <= 0.0 => None,
        _ => Some(root(observed.gaps(), observed.quiet, 0.0)),
    }
}

/// Returns the root λ of `a/λ + Σ_changed τ/(e^{λτ} − 1) − quiet`: the most likely rate with
/// `a` pseudo-changes, the argument `before`.
///
/// `quiet` includes the time of the pseudo-changes. `quiet` must be above 0, and so must `a`
/// plus the number of gaps. Each gap comes with its count.
///
/// The function is decreasing and convex, and `1 − x/2 ≤ x/(e^x − 1)`. Newton's method from
/// `(a + X)/(quiet + changed/2)` therefore converges from below and never overshoots.
pub fn root(gaps: impl Iterator<Item = (f64, f64)> + Clone, quiet: f64, before: f64) -> f64 {
    let (mut count, mut halves) = (before, 0.0);
    for (gap, times) in gaps.clone() {
        (count, halves) = (count + times, halves + times * gap / 2.0);
    }
    let mut rate = count / (quiet + halves);
    for _ in 0..200 {
        let (mut height, mut slope) = (before / rate - quiet, before / (rate * rate));
        for (gap, times) in gaps.clone() {
            let gap = gap.max(SHORTEST);
            let term = gap / (rate * gap).exp_m1();
            if term > 0.0 {
                height += times * term;
                // τ²e^x/(e^x − 1)².
                slope += times * term * (gap + term);
            }
        }
        let step = height / slope;
        if step.is_nan() || step <= 1e-14 * rate {
            break;
        }
        rate += step;
    }
    rate
}
