//! A bounded random sample of pages, for parameters that all pages share.
//!
//! **Invariant:** the sample holds the offered pages with the smallest hashes (bottom-k
//! sampling). It does not depend on the order of the offers, so a restart draws the same sample.

use std::collections::BTreeMap;

use crate::Number;
use crate::chance::split_mix;

/// Maximum number of pages in a sample. A fit over this number takes about 0.1 ms.
const MOST: usize = 1_024;

/// A sample of pages, each with a value.
#[derive(Debug, Clone)]
pub struct PageSample<T> {
    kept: BTreeMap<u64, (Number, T)>,
}

impl<T> Default for PageSample<T> {
    fn default() -> Self {
        Self {
            kept: BTreeMap::new(),
        }
    }
}

impl<T> PageSample<T> {
    /// Offers a page, or replaces the value of a page that is in the sample.
    pub fn offer(&mut self, page: Number, value: T) {
        let hash = split_mix(u64::from(page.0));
        let last = self.kept.last_key_value().map(|(hash, _)| *hash);
        if self.kept.len() < MOST || last.is_some_and(|last| hash <= last) {
            self.kept.insert(hash, (page, value));
            if self.kept.len() > MOST {
                self.kept.pop_last();
            }
        }
    }

    /// Returns the pages and their values.
    pub fn iter(&self) -> impl Iterator<Item = (Number, &T)> + Clone {
        self.kept.values().map(|(page, value)| (*page, value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_is_bounded_and_does_not_depend_on_the_order() {
        let numbers = || 0..3 * MOST as u32;
        let (mut up, mut down) = (PageSample::default(), PageSample::default());
        numbers().for_each(|page| up.offer(Number(page), page));
        numbers().rev().for_each(|page| down.offer(Number(page), 0));
        numbers()
            .rev()
            .for_each(|page| down.offer(Number(page), page));
        let all: Vec<_> = up.iter().map(|(page, value)| (page, *value)).collect();
        assert_eq!(all.len(), MOST);
        assert!(all.iter().all(|(page, value)| page.0 == *value));
        let other: Vec<_> = down.iter().map(|(page, value)| (page, *value)).collect();
        assert_eq!(all, other);
        let low = all.iter().filter(|(page, _)| page.0 < MOST as u32).count();
        assert!((MOST / 4..MOST / 2).contains(&low), "{low}");
    }
}
