//! A cache for a value computed from the ledger, valid until the next commit.

use std::sync::Mutex;

use anyhow::Result;

use crate::panics::POISONED;

/// A value that is slow to compute, with the commit sequence of the ledger that it belongs to.
#[derive(Default)]
pub struct Memo<T>(Mutex<Option<(u64, T)>>);

impl<T: Clone> Memo<T> {
    /// Returns the value for this sequence, and computes it if needed. Concurrent callers wait.
    pub fn of(&self, sequence: u64, make: impl FnOnce() -> Result<T>) -> Result<T> {
        let mut kept = self.0.lock().expect(POISONED);
        if let Some((made_of, value)) = &*kept
            && *made_of == sequence
        {
            return Ok(value.clone());
        }
        let value = make()?;
        *kept = Some((sequence, value.clone()));
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_computed_again_only_for_another_sequence() {
        let counted = Memo::default();
        assert_eq!(counted.of(1, || Ok("a")).unwrap(), "a");
        assert_eq!(counted.of(1, || Ok("b")).unwrap(), "a");
        assert_eq!(counted.of(2, || Ok("b")).unwrap(), "b");
        assert!(counted.of(3, || anyhow::bail!("no")).is_err());
        assert_eq!(counted.of(2, || Ok("c")).unwrap(), "b");
    }
}
