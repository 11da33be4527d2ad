//! Cho & Garcia-Molina's estimate for regular gaps.

use super::seen::Seen;

/// The bias-reduced estimate `−ln((n − X + ½)/(n + ½))/I`, in changes a second.
///
/// Cho & Garcia-Molina, "Estimating frequency of change" (TOIT 2003). The halves keep it finite when every revisit
/// saw a change, where the plain likelihood has no maximum. `I` is the mean gap: irregular gaps bias it.
/// 0 for a page never seen to change.
pub fn rate(seen: &Seen) -> f64 {
    let gap = seen.watched / seen.revisits;
    let quiet = seen.revisits - seen.changes;
    -((quiet + 0.5) / (seen.revisits + 0.5)).ln() / gap
}
