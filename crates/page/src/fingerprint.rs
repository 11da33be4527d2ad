//! Fingerprints of a text, for equality and for similarity.
//!
//! **Invariant:** all measures depend on the words only, not on the white space between them. The
//! text of a page has no markup, attributes, comments or scripts. A new timestamp in an attribute
//! or a nonce in a script is therefore not a changed page (hostile-web.md, row 69).

mod shingles;
mod simhash;

use serde::{Deserialize, Serialize};

pub use shingles::Shingles;
pub use simhash::Simhash;

use crate::scan::{before_space, eight};

/// A hash of the words of a text in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fingerprint(pub u64);

/// All measures of a text, computed in one pass over its words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextDigest {
    /// Hash for equality.
    pub fingerprint: Fingerprint,
    /// Eight bytes for finding near-duplicates among many texts.
    pub simhash: Simhash,
    /// Sketch for estimating the share of text that two pages, or two versions of one, have in
    /// common.
    pub shingles: Shingles,
    /// Number of words, separated by white space.
    pub words: u32,
}

impl TextDigest {
    /// Computes the measures of a text.
    pub fn of(text: &str) -> Self {
        let (mut fingerprint, mut words) = (0, 0);
        let mut simhash = simhash::BitCounters::default();
        let mut shingles = shingles::Sketch::default();
        for_each_word(text, |word| {
            fingerprint = mix(fingerprint, word);
            words += 1;
            simhash.add(word);
            shingles.add(word);
        });
        Self {
            fingerprint: Fingerprint(fingerprint),
            simhash: simhash.finish(),
            shingles: shingles.finish(),
            words,
        }
    }
}

/// Calls `see` with the hash of each word.
#[inline]
fn for_each_word(text: &str, mut see: impl FnMut(u64)) {
    let bytes = text.as_bytes();
    let (mut at, mut word) = (0, 0);
    while at < bytes.len() {
        let eight = eight(bytes, at);
        let length = before_space(eight);
        if length == 8 {
            word = mix(word, eight);
            at += 8;
            continue;
        }
        // No word contains a zero byte, so the zero padding marks its end.
        let rest = eight & ((1 << (8 * length)) - 1);
        if word != 0 || rest != 0 {
            see(mix(word, rest));
        }
        word = 0;
        at += length + 1;
    }
    if word != 0 {
        see(mix(word, 0));
    }
}

/// Appends a hash to the hash of a sequence, by the folded multiplication of wyhash.
#[inline]
fn mix(sequence: u64, next: u64) -> u64 {
    let product =
        u128::from(sequence ^ 0xa076_1d64_78bd_642f) * u128::from(next ^ 0xe703_7ed1_a0b4_28db);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn only_words_count() {
        let digest = TextDigest::of("one two three four five");
        assert_eq!(digest.words, 5);
        assert_eq!(digest, TextDigest::of(" one\ntwo  three\t four five\n"));
        for other in [
            "one two three five four",
            "one two three four fiv",
            "onetwo three four five",
        ] {
            assert_ne!(digest.fingerprint, TextDigest::of(other).fingerprint);
        }
        let (empty, short) = (TextDigest::of(""), TextDigest::of("a"));
        assert_ne!(empty.fingerprint, short.fingerprint);
    }

    #[test]
    fn fingerprints_of_many_short_texts_differ() {
        let texts = (0..300).flat_map(|a| (0..300).map(move |b| format!("page {a} of {b}")));
        let distinct: std::collections::HashSet<_> = texts
            .map(|text| TextDigest::of(&text).fingerprint)
            .collect();
        assert_eq!(distinct.len(), 90_000);
    }

    proptest! {
        #[test]
        fn white_space_never_counts(words in prop::collection::vec("[a-z]{1,6}", 0..40)) {
            prop_assert_eq!(TextDigest::of(&words.join(" ")), TextDigest::of(&words.join(" \n\n ")));
        }

        #[test]
        fn a_changed_word_changes_the_fingerprint(words in prop::collection::vec("[a-z]{1,6}", 1..40), at in any::<prop::sample::Index>()) {
            let mut changed = words.clone();
            changed[at.index(words.len())].push('x');
            prop_assert_ne!(TextDigest::of(&words.join(" ")).fingerprint, TextDigest::of(&changed.join(" ")).fingerprint);
        }
    }
}
