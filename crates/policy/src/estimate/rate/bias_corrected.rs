//! Cho & Garcia-Molina's estimate for regular gaps.

use super::observed::ObservedChanges;

/// Returns the bias-reduced estimate `−ln((n − X + ½)/(n + ½))/I`, in changes per second, after
/// `n` revisits of which `X` detected a change.
///
/// Cho & Garcia-Molina, "Estimating frequency of change" (TOIT 2003). The halves keep it finite
/// when every revisit detected a change, where the plain likelihood has no maximum. `I` is the
/// mean gap; irregular gaps bias the estimate. It is 0 for a page without a detected change.
pub fn rate(observed: &ObservedChanges) -> f64 {
    let gap = observed.watched / observed.revisits;
    let quiet = observed.revisits - observed.changes;
    -((quiet + 0.5) / (observed.revisits + 0.5)).ln() / gap
}
