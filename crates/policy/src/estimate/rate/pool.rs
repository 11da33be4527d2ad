//! Observations of changes, summed over many pages.
//!
//! **Invariant:** a page counts as at most [`WINDOW`] revisits. Pages that are visited often
//! are those that change often, and would dominate the sums.

use super::observed::ObservedChanges;
use crate::history::WINDOW;

/// Number of bins for gaps. The first ends at one minute, and the end of each next bin is four
/// times that of the bin before. The last bin holds all gaps above eight years. All gaps of a bin
/// are replaced by their mean.
const BINS: usize = 13;
/// The upper end of the first bin, in seconds.
const SHORTEST: f64 = 60.0;

/// Sums over pages.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct RatePool {
    /// Number of revisits.
    pub revisits: f64,
    /// Number of revisits that detected a change.
    pub changes: f64,
    /// Sum of the gaps after which nothing had changed, in seconds.
    pub quiet: f64,
    /// Number of ordered pairs of revisits to the same page.
    pub pairs: f64,
    /// Number of these pairs in which both revisits detected a change.
    pub both: f64,
    /// Gaps after which the page had changed, by length: their number and their sum in seconds.
    gaps: [(f64, f64); BINS],
}

impl RatePool {
    /// Returns the contribution of one page.
    pub fn of(observed: &ObservedChanges) -> Self {
        if observed.is_empty() {
            return Self::default();
        }
        let counted = observed.revisits.min(WINDOW as f64);
        let share = counted / observed.revisits;
        let (pairs, all_pairs) = (
            counted * (counted - 1.0),
            observed.revisits * (observed.revisits - 1.0),
        );
        let of_pairs = if all_pairs > 0.0 {
            pairs / all_pairs
        } else {
            0.0
        };
        let mut gaps = [(0.0, 0.0); BINS];
        for (gap, times) in observed.gaps() {
            let bin = &mut gaps[bin(gap)];
            (bin.0, bin.1) = (bin.0 + times * share, bin.1 + gap * times * share);
        }
        Self {
            revisits: counted,
            changes: observed.changes * share,
            quiet: observed.quiet * share,
            pairs,
            both: observed.changes * (observed.changes - 1.0) * of_pairs,
            gaps,
        }
    }

    /// Replaces the earlier contribution of a page by the current one.
    pub fn replace(&mut self, before: &Self, after: &Self) {
        self.revisits += after.revisits - before.revisits;
        self.changes += after.changes - before.changes;
        self.quiet += after.quiet - before.quiet;
        self.pairs += after.pairs - before.pairs;
        self.both += after.both - before.both;
        for (sum, (before, after)) in self
            .gaps
            .iter_mut()
            .zip(before.gaps.iter().zip(&after.gaps))
        {
            sum.0 += after.0 - before.0;
            sum.1 += after.1 - before.1;
        }
    }

    /// Returns the mean gap of each bin, in seconds, with the number of its gaps.
    pub fn gaps(&self) -> impl Iterator<Item = (f64, f64)> + Clone {
        // Adding and subtracting may leave rounding errors.
        let some = self
            .gaps
            .iter()
            .filter(|(count, sum)| *count > 1e-6 && *sum >= 0.0);
        some.map(|&(count, sum)| (sum / count, count))
    }
}

fn bin(gap: f64) -> usize {
    let factors = (gap / SHORTEST).max(1.0).log2() / 2.0;
    (factors.ceil() as usize).min(BINS - 1)
}
