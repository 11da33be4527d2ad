//! The naive estimate: observed changes per observed time.

use super::observed::ObservedChanges;

/// Returns `X/(n·I)`, in changes per second: `X` detected changes, divided by the observed time,
/// which is `n` revisits times the mean gap `I`.
///
/// It is too low, because a revisit detects at most one change per gap (Cho & Garcia-Molina,
/// "Estimating frequency of change", TOIT 2003). It is 0 for a page without a detected change.
pub fn rate(observed: &ObservedChanges) -> f64 {
    observed.changes / observed.watched
}
