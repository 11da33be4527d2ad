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
        _ => Some(root(observed.gaps(), observed.quiet, PriorTerm::NONE).rate),
    }
}

/// A prior of a change rate λ: the compound Gamma distribution, a Gamma distribution of λ whose
/// scale is Gamma distributed.
///
/// Its density in `ln λ` is proportional to `λ^changes / (1 + slack·λ)^(time/slack)`. It acts like
/// `changes` observed changes in `time/(1 + slack·λ)` seconds. With a slack of 0 it is the Gamma
/// distribution.
#[derive(Debug, Clone, Copy)]
pub struct PriorTerm {
    /// Pseudo-changes.
    pub changes: f64,
    /// Time of the pseudo-changes at a rate of 0, in seconds.
    pub time: f64,
    /// How fast this time shrinks with the rate, in seconds.
    pub slack: f64,
}

impl PriorTerm {
    /// No prior: the root is the maximum-likelihood rate.
    pub const NONE: Self = Self {
        changes: 0.0,
        time: 0.0,
        slack: 0.0,
    };
}

/// The mode of a posterior of `ln λ`.
#[derive(Debug, Clone, Copy)]
pub struct LikelyRate {
    /// λ at the mode, in changes per second.
    pub rate: f64,
    /// The curvature of the log-density at the mode: the inverse of the variance of `ln λ` in a
    /// normal approximation. For a Gamma distribution it is the shape. An observed change adds 1 if
    /// its gap is much shorter than 1/λ, and nothing if the gap is so long that a change was
    /// certain.
    pub certainty: f64,
}

/// Returns the most likely rate λ with this prior: the mode of the posterior of `ln λ`.
///
/// It is the root of `(1 + slack·λ)·(changes/λ + Σ_changed τ/(e^{λτ} − 1) − quiet) − time`. `gaps`
/// are the gaps τ that ended with a change, each with its count; `quiet` is the sum of the other
/// gaps. `quiet` plus the gaps must be above 0, and so must the pseudo-changes plus the number of
/// gaps. With a slack of 0, `quiet` plus the time must be above 0.
///
/// The function is decreasing and convex, since `1/(e^x − 1)` and `x/(e^x − 1)` are. A simpler
/// function lies below it, since `1 − x/2 ≤ x/(e^x − 1)`, and has its root at the solution of a
/// quadratic equation (`first_rate`). Newton's method starts there, converges from below and never
/// overshoots.
pub fn root(
    gaps: impl Iterator<Item = (f64, f64)> + Clone,
    quiet: f64,
    prior: PriorTerm,
) -> LikelyRate {
    let (mut count, mut whole) = (prior.changes, quiet);
    for (gap, times) in gaps.clone() {
        (count, whole) = (count + times, whole + times * gap / 2.0);
    }
    let mut rate = first_rate(count, whole, prior);
    let mut curvature = 0.0;
    for _ in 0..200 {
        let (mut inner, mut fall) = (prior.changes / rate - quiet, prior.changes / (rate * rate));
        for (gap, times) in gaps.clone() {
            let gap = gap.max(SHORTEST);
            let term = gap / (rate * gap).exp_m1();
            if term > 0.0 {
                inner += times * term;
                // τ²e^x/(e^x − 1)².
                fall += times * term * (gap + term);
            }
        }
        let less = 1.0 + prior.slack * rate;
        curvature = fall - prior.time * prior.slack / (less * less);
        let step = (less * inner - prior.time) / (less * fall - prior.slack * inner);
        if step.is_nan() || step <= 1e-14 * rate {
            break;
        }
        rate += step;
    }
    LikelyRate {
        rate,
        certainty: curvature * rate * rate,
    }
}

/// Returns the root λ of `(1 + slack·λ)·(count − whole·λ) − time·λ`, a lower bound of the rate.
fn first_rate(count: f64, whole: f64, prior: PriorTerm) -> f64 {
    let linear = whole + prior.time - count * prior.slack;
    let square = whole * prior.slack;
    let spread = (linear * linear + 4.0 * square * count).sqrt();
    // Of two equal forms, the one without cancellation.
    match linear >= 0.0 {
        true => 2.0 * count / (linear + spread),
        false => (spread - linear) / (2.0 * square),
    }
}
