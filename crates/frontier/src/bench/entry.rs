//! A waiting page as an 8-byte sort key: by worth, then by order of discovery.
//!
//! The upper half holds the bits of the worth as an `f32`; for non-negative floats they sort
//! like the value itself. The lower half holds the complement of the page number, so that among
//! equals the older page is greater.

use policy::{Number, Worth};

/// A page and its worth. The greatest entry leaves the queue first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct QueueEntry(u64);

impl QueueEntry {
    pub fn new(number: Number, worth: Worth) -> Self {
        let worth = (worth.value() as f32).min(f32::MAX);
        Self(u64::from(worth.to_bits()) << 32 | u64::from(!number.0))
    }

    pub fn number(self) -> Number {
        Number(!(self.0 as u32))
    }

    pub fn worth(self) -> f32 {
        f32::from_bits((self.0 >> 32) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_sort_by_worth_and_then_by_number() {
        let worths = [0.0, 1e-12, 0.5, 1.0, 3e38, f64::MAX];
        for pair in worths.windows(2) {
            let [low, high] = [pair[0], pair[1]].map(Worth::new);
            assert!(QueueEntry::new(Number(9), high) > QueueEntry::new(Number(0), low));
        }
        let (old, new) = (Number(3), Number(u32::MAX));
        let entry = QueueEntry::new(old, Worth::new(0.25));
        assert!(entry > QueueEntry::new(new, Worth::new(0.25)));
        assert_eq!((entry.number(), entry.worth()), (old, 0.25));
    }
}
