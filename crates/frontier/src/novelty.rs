//! Detects spider traps: URL patterns whose pages repeat texts that are known.
//!
//! Calendars, session ids in the path and text generators make endless URLs of one pattern
//! whose pages repeat each other. Each pattern has a waste score. A duplicate raises it, and a
//! new text lowers it. A pattern whose score reaches `STARVED` is not fetched any more. This
//! takes, over a run of pages, more than eight duplicates for each new text.
//!
//! A near-duplicate counts little: in real documentation thousands of short pages share one
//! long menu. (A limit of 64 near-duplicates lost 281 pages of one such site.)

use std::collections::HashMap;

use page::{Fingerprint, Simhash, TextDigest};

/// Added to the waste score for a page with exactly the text of another one.
const IDENTICAL: u32 = 16;
/// Added to the waste score for a near-duplicate.
const SIMILAR: u32 = 1;
/// Subtracted from the waste score for a new text: as much as eight duplicates add.
const DISTINCT: u32 = 128;
/// Waste score at which a pattern is not fetched any more: 64 duplicates or 1,024
/// near-duplicates.
const STARVED: u32 = 1024;
/// Number of texts of a pattern that a text is compared with.
const REMEMBERED: usize = 32;
/// Most patterns in memory. When it is reached, patterns below half of `STARVED` are forgotten.
const PATTERNS: usize = 200_000;

/// The waste scores of all URL patterns.
#[derive(Default)]
pub struct Novelty {
    patterns: HashMap<u64, Yield>,
}

#[derive(Default)]
struct Yield {
    waste: u32,
    /// Number of new texts so far.
    distinct: usize,
    /// The last `REMEMBERED` new texts.
    texts: Vec<(Fingerprint, Simhash)>,
}

impl Novelty {
    /// Returns whether pages of this pattern may be fetched.
    pub fn allows(&self, pattern: u64) -> bool {
        self.patterns
            .get(&pattern)
            .is_none_or(|known| known.waste < STARVED)
    }

    /// Updates the score of a pattern with the text of one of its pages.
    pub fn observe(&mut self, pattern: u64, text: &TextDigest) {
        if self.patterns.len() >= PATTERNS {
            self.patterns.retain(|_, known| known.waste >= STARVED / 2);
        }
        let known = self.patterns.entry(pattern).or_default();
        let mut texts = known.texts.iter();
        if texts.any(|(fingerprint, _)| *fingerprint == text.fingerprint) {
            known.waste = known.waste.saturating_add(IDENTICAL);
        } else if (known.texts.iter()).any(|(_, simhash)| simhash.is_near(text.simhash)) {
            known.waste = known.waste.saturating_add(SIMILAR);
        } else {
            known.waste = known.waste.saturating_sub(DISTINCT);
            let text = (text.fingerprint, text.simhash);
            match known.texts.get_mut(known.distinct % REMEMBERED) {
                Some(oldest) => *oldest = text,
                None => known.texts.push(text),
            }
            known.distinct += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how many of 20,000 pages of a pattern are fetched; `text` gives the text of the
    /// n-th.
    fn crawl(text: impl Fn(u64) -> (u64, u64)) -> usize {
        let mut novelty = Novelty::default();
        let blank = TextDigest::of("");
        let page = |n| {
            let (fingerprint, simhash) = text(n);
            let (fingerprint, simhash) = (Fingerprint(fingerprint), Simhash(simhash));
            TextDigest {
                fingerprint,
                simhash,
                shingles: blank.shingles.clone(),
                words: 0,
            }
        };
        let fetched = (0..20_000).take_while(|&n| {
            let allowed = novelty.allows(1);
            novelty.observe(1, &page(n));
            allowed
        });
        fetched.count()
    }

    #[test]
    fn a_trap_starves_and_an_honest_pattern_does_not() {
        let spread = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        assert_eq!(crawl(|_| (5, 5)), 65, "the same text again and again");
        assert_eq!(crawl(|n| (n, n % 4)), 1025, "the same text but for a date");
        assert_eq!(crawl(|n| (n, spread(n))), 20_000, "distinct texts");
        assert_eq!(
            crawl(|n| (n / 8, spread(n / 8))),
            20_000,
            "each page in eight variants"
        );
        assert_eq!(
            crawl(|n| (n, spread(n / 100))),
            20_000,
            "a hundred stubs to one new text"
        );
    }
}
