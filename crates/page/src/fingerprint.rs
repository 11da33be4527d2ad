//! Is this the same text as before, or nearly?
//!
//! **Invariant:** all three measures see words only. Markup, attributes, comments, scripts and the
//! width of white space change none of them, so that a new timestamp in an attribute or a nonce in a
//! script is not a changed page (hostile list, row 69).

mod shingles;
mod simhash;

use serde::{Deserialize, Serialize};

pub use shingles::Shingles;
pub use simhash::Simhash;

use crate::scan::{before_space, eight};

/// The identity of a text: two texts with the same words in the same order have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Fingerprint(pub u64);

/// Everything this module can say about a text, from one pass over its words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// Is it the same?
    pub fingerprint: Fingerprint,
    /// Is it nearly the same? Eight bytes: for near-duplicates among many.
    pub simhash: Simhash,
    /// How much of it is the same? For two pages, or two versions of one.
    pub shingles: Shingles,
    /// How long is it? In words, as white space parts them.
    pub words: u32,
}

impl Digest {
    /// Measures a text.
    pub fn of(text: &str) -> Self {
        let (mut fingerprint, mut words) = (0, 0);
        let mut simhash = simhash::Tally::default();
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
        // No word holds a zero byte, so the padding says where it ends.
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

/// Appends a hash to the hash of a sequence (the folded multiplication of wyhash).
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
        let digest = Digest::of("one two three four five");
        assert_eq!(digest.words, 5);
        assert_eq!(digest, Digest::of(" one\ntwo  three\t four five\n"));
        assert_ne!(
            digest.fingerprint,
            Digest::of("one two three five four").fingerprint
        );
        assert_ne!(
            digest.fingerprint,
            Digest::of("one two three four fiv").fingerprint
        );
        assert_ne!(
            digest.fingerprint,
            Digest::of("onetwo three four five").fingerprint
        );
        assert_ne!(Digest::of("").fingerprint, Digest::of("a").fingerprint);
    }

    #[test]
    fn fingerprints_of_many_short_texts_differ() {
        let texts = (0..300).flat_map(|a| (0..300).map(move |b| format!("page {a} of {b}")));
        let distinct: std::collections::HashSet<_> =
            texts.map(|text| Digest::of(&text).fingerprint).collect();
        assert_eq!(distinct.len(), 90_000);
    }

    proptest! {
        #[test]
        fn white_space_never_counts(words in prop::collection::vec("[a-z]{1,6}", 0..40)) {
            prop_assert_eq!(Digest::of(&words.join(" ")), Digest::of(&words.join(" \n\n ")));
        }

        #[test]
        fn a_changed_word_changes_the_fingerprint(words in prop::collection::vec("[a-z]{1,6}", 1..40), at in any::<prop::sample::Index>()) {
            let mut changed = words.clone();
            changed[at.index(words.len())].push('x');
            prop_assert_ne!(Digest::of(&words.join(" ")).fingerprint, Digest::of(&changed.join(" ")).fingerprint);
        }
    }
}
