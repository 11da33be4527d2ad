//! What was seen on many pages together.
//!
//! **Invariant:** a page counts as much as [`WINDOW`] revisits, at most: pages that are visited often are those
//! that change often, and would speak for the others.

use super::seen::Seen;
use crate::history::WINDOW;

/// Gaps are told apart by factors of four, from a minute to eight years; within a factor they count by their mean.
const BINS: usize = 13;
/// Up to here goes the first of them, in seconds.
const SHORTEST: f64 = 60.0;

/// Sums over pages.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Pool {
    /// Revisits.
    pub revisits: f64,
    /// Those that saw a change.
    pub changes: f64,
    /// The gaps after which nothing had changed, in seconds.
    pub quiet: f64,
    /// Pairs of revisits to one page.
    pub pairs: f64,
    /// Those that both saw a change.
    pub both: f64,
    /// Gaps after which something had changed, by length: how many, and how long they are together.
    gaps: [(f64, f64); BINS],
}

impl Pool {
    /// What one page adds.
    pub fn of(seen: &Seen) -> Self {
        if seen.is_empty() {
            return Self::default();
        }
        let counted = seen.revisits.min(WINDOW as f64);
        let share = counted / seen.revisits;
        let (pairs, all_pairs) = (
            counted * (counted - 1.0),
            seen.revisits * (seen.revisits - 1.0),
        );
        let of_pairs = if all_pairs > 0.0 {
            pairs / all_pairs
        } else {
            0.0
        };
        let mut gaps = [(0.0, 0.0); BINS];
        for (gap, times) in seen.gaps() {
            let bin = &mut gaps[bin(gap)];
            (bin.0, bin.1) = (bin.0 + times * share, bin.1 + gap * times * share);
        }
        Self {
            revisits: counted,
            changes: seen.changes * share,
            quiet: seen.quiet * share,
            pairs,
            both: seen.changes * (seen.changes - 1.0) * of_pairs,
            gaps,
        }
    }

    /// Takes in what one page adds now, in place of what it added before.
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

    /// The gaps that ended with a change, and how many there are of each.
    pub fn gaps(&self) -> impl Iterator<Item = (f64, f64)> + Clone {
        // What was added and taken away again may leave a trace.
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
