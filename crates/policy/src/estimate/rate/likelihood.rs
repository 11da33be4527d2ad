//! Which rate makes what was seen most likely?

use super::seen::Seen;

/// Nobody visits twice within a microsecond.
const SHORTEST: f64 = 1e-6;

/// The rate that makes what was seen most likely, for gaps of any length, in changes a second.
///
/// Cho & Garcia-Molina (TOIT 2003), 5.2: `Σ_changed τ/(e^{λτ} − 1) = Σ_unchanged τ`. 0 for a page never seen to
/// change. `None` for one that had changed at every visit: the more often it changes, the likelier that is.
pub fn most_likely(seen: &Seen) -> Option<f64> {
    match (seen.changes, seen.quiet) {
        (0.0, _) => Some(0.0),
        (_, quiet) if quiet <= 0.0 => None,
        _ => Some(root(seen.gaps(), seen.quiet, 0.0)),
    }
}

/// Where `a/λ + Σ_changed τ/(e^{λτ} − 1) − quiet` is 0: the most likely rate if `a` changes were seen besides, in
/// seconds that are part of the quiet ones. Both must be above zero together. Gaps come with how many there
/// are of each.
///
/// The left side falls and is convex, and `1 − x/2 ≤ x/(e^x − 1)`: Newton's steps from `(a + X)/(quiet + changed/2)`
/// come from below and cannot run past.
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
