//! A waiting page as queues compare it: the better first, equals in the order of their discovery.
//!
//! Eight bytes: the bits of a worth that is not negative sort like the worth itself, and below them the
//! number, turned round.

use policy::{Number, Worth};

/// A page and what it is worth. The greatest leaves first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Entry(u64);

impl Entry {
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
            assert!(Entry::new(Number(9), high) > Entry::new(Number(0), low));
        }
        let (old, new) = (Number(3), Number(u32::MAX));
        let entry = Entry::new(old, Worth::new(0.25));
        assert!(entry > Entry::new(new, Worth::new(0.25)));
        assert_eq!((entry.number(), entry.worth()), (old, 0.25));
    }
}
