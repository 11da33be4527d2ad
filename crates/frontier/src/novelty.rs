//! Does a URL pattern still give pages that we have not seen?
//!
//! A calendar, a session id in the path, a text generator: endless URLs of one shape whose pages
//! repeat each other. Every page of a pattern that we have seen before is waste; a page that is new
//! makes good for some. A pattern whose waste reaches a limit starves; an honest one never does.
//!
//! A page that only resembles another wastes little: on real documentation thousands of short pages
//! share one long menu. (A limit of 64 near-duplicates kept 281 of them from us on one site.)

use std::collections::HashMap;

use page::{Digest, Fingerprint, Simhash};

/// What a page with the very text of another one wastes.
const IDENTICAL: u32 = 16;
/// What a page wastes that nearly has the text of another one.
const SIMILAR: u32 = 1;
/// What a page makes good that has a text of its own: eight identical ones.
const DISTINCT: u32 = 128;
/// A pattern that wasted this much is left alone: 64 identical pages, or 1,024 similar ones.
const STARVED: u32 = 1024;
/// How many texts of a pattern a new one is compared with.
const REMEMBERED: usize = 32;
/// Patterns kept in memory; when there are more, those that wasted little are forgotten.
const PATTERNS: usize = 200_000;

/// What every pattern has wasted.
#[derive(Default)]
pub struct Novelty {
    patterns: HashMap<u64, Yield>,
}

#[derive(Default)]
struct Yield {
    waste: u32,
    distinct: usize,
    texts: Vec<(Fingerprint, Simhash)>,
}

impl Novelty {
    /// Whether pages of this pattern are still worth fetching.
    pub fn allows(&self, pattern: u64) -> bool {
        self.patterns
            .get(&pattern)
            .is_none_or(|known| known.waste < STARVED)
    }

    /// Takes note of the text of a page of this pattern.
    pub fn observe(&mut self, pattern: u64, text: &Digest) {
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

    /// Pages fetched of a pattern whose n-th page has this text, of 20,000.
    fn crawl(text: impl Fn(u64) -> (u64, u64)) -> usize {
        let mut novelty = Novelty::default();
        let blank = Digest::of("");
        let page = |n| {
            let (fingerprint, simhash) = text(n);
            let (fingerprint, simhash) = (Fingerprint(fingerprint), Simhash(simhash));
            Digest {
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
