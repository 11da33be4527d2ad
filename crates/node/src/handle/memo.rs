//! A value computed from the ledger, kept until the ledger commits something new.

use std::sync::Mutex;

use anyhow::Result;

use crate::panics::POISONED;

/// A value that takes long to make, and the sequence of the ledger that it was made of.
#[derive(Default)]
pub struct Memo<T>(Mutex<Option<(u64, T)>>);

impl<T: Clone> Memo<T> {
    /// The value of this sequence. Whoever asks while it is made waits for it.
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
    fn made_anew_only_for_another_sequence() {
        let counted = Memo::default();
        assert_eq!(counted.of(1, || Ok("a")).unwrap(), "a");
        assert_eq!(counted.of(1, || Ok("b")).unwrap(), "a");
        assert_eq!(counted.of(2, || Ok("b")).unwrap(), "b");
        assert!(counted.of(3, || anyhow::bail!("no")).is_err());
        assert_eq!(counted.of(2, || Ok("c")).unwrap(), "b");
    }
}
