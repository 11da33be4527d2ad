//! Changes seen over time watched.

use super::seen::Seen;

/// `X/(n·I)`, in changes a second, where `n·I` is all the time watched.
///
/// Too low, since a visit sees one change where there were several (Cho & Garcia-Molina, "Estimating frequency
/// of change", TOIT 2003): never more than one in a gap. 0 for a page never seen to change.
pub fn rate(seen: &Seen) -> f64 {
    seen.changes / seen.watched
}
