//! Finds given words in a text, fast.
//!
//! **Invariant:** words are found exactly as the index splits them. A property test compares the
//! two.
//!
//! The index splits each text again, in its own thread. This code runs in the thread of the
//! caller, so it must be cheap.
//! Words of ASCII letters and digits, of which only the first may be a capital, are found and
//! hashed eight bytes at a time. Any other run of characters up to the next separator goes
//! through the analyzer, whose result is cached if the run is short.
//! Words are compared by 48 bits of their hash, and cached runs by 64 bits; a collision is
//! improbable enough to be ignored.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::ops::Range;

use tantivy::tokenizer::TextAnalyzer;

use super::words;

/// Limits of the cache: number of runs, and length of a run in bytes.
const REMEMBERED: usize = 1 << 15;
const LONGEST_REMEMBERED: usize = 64;

/// Finds given words.
pub(super) struct WordFinder {
    analyzer: TextAnalyzer,
    /// An open-addressing hash table. A slot has 48 bits of the hash and, in 16 bits, the word's
    /// number plus one; 0 is a free slot.
    slots: Box<[u64]>,
    /// Results of the analyzer, by the hash of the run.
    remembered: HashMap<u64, CachedRun, BuildHasherDefault<RunKeyHasher>>,
}

/// A hasher for keys that are hashes themselves.
#[derive(Default)]
struct RunKeyHasher(u64);

impl Hasher for RunKeyHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are 64-bit numbers");
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

/// The result of the analyzer for a run of characters.
#[derive(Default)]
struct CachedRun {
    /// Number of all words in the run.
    length: u32,
    /// The given words in it: number, start and end in bytes.
    words: Box<[(u16, u32, u32)]>,
}

impl WordFinder {
    /// Finds these words, which must be in the form that the analyzer produces. There must be
    /// fewer than 65,535.
    pub(super) fn new<'a>(words: impl ExactSizeIterator<Item = &'a str>) -> Self {
        let size = (words.len() * 2 + 1).next_power_of_two();
        let mut slots = vec![0; size].into_boxed_slice();
        for (word, number) in words.zip(1u16..) {
            let hash = hash(word.as_bytes());
            let mut at = hash as usize & (size - 1);
            while slots[at] != 0 {
                at = (at + 1) & (size - 1);
            }
            slots[at] = hash & TAG | u64::from(number);
        }
        Self {
            analyzer: words::analyzer(),
            slots,
            remembered: HashMap::default(),
        }
    }

    /// Visits the given words in a text, with the number and the byte range of each. Returns the
    /// number of all words in the text.
    #[inline]
    pub(super) fn read(&mut self, text: &str, mut visit: impl FnMut(u16, Range<usize>)) -> u32 {
        let bytes = text.as_bytes();
        let (mut at, mut length) = (0, 0);
        while at < bytes.len() {
            let gap = separator(&bytes[at..]);
            if gap > 0 {
                at += gap;
                continue;
            }
            let start = at;
            let word = small_word(bytes, start);
            let end = word.end;
            if end > start && end - start < words::LONGEST && is_end(&bytes[end..]) {
                at = end;
                length += 1;
                let hash = match bytes[end - 1] {
                    b's' => singular_hash(&bytes[start..end]),
                    _ => word.hash,
                };
                if let Some(number) = look_up(&self.slots, hash) {
                    visit(number, start..end);
                }
                continue;
            }
            at = end.max(start + 1);
            while at < bytes.len() && separator(&bytes[at..]) == 0 {
                at += 1;
            }
            length += self.run(&text[start..at], |number, range| {
                visit(number, start + range.start..start + range.end);
            });
        }
        length
    }

    /// Finds the words of a run between two separators.
    fn run(&mut self, run: &str, mut visit: impl FnMut(u16, Range<usize>)) -> u32 {
        let key = hash(run.as_bytes());
        if let Some(known) = self.remembered.get(&key) {
            for &(number, from, to) in &known.words {
                visit(number, from as usize..to as usize);
            }
            return known.length;
        }
        let mut length = 0;
        let mut found = Vec::new();
        let slots = &self.slots;
        self.analyzer.token_stream(run).process(&mut |token| {
            length += 1;
            if let Some(number) = look_up(slots, hash(token.text.as_bytes())) {
                found.push((number, token.offset_from as u32, token.offset_to as u32));
            }
        });
        for &(number, from, to) in &found {
            visit(number, from as usize..to as usize);
        }
        if run.len() <= LONGEST_REMEMBERED {
            if self.remembered.len() >= REMEMBERED {
                self.remembered.clear();
            }
            let words = found.into();
            self.remembered.insert(key, CachedRun { length, words });
        }
        length
    }
}

/// Returns the length in bytes of the separator at the start, or 0 if there is none.
///
/// Separators end words and compounds. They are ASCII whitespace, ASCII punctuation that joins
/// nothing, the characters U+2000 to U+203F (typographic spaces, dashes and quotes), and the
/// no-break space, ©, ®, ·, « and ».
#[inline(always)]
fn separator(bytes: &[u8]) -> usize {
    match KINDS[usize::from(bytes[0])] {
        SEPARATOR => 1,
        FOREIGN => foreign_separator(bytes),
        _ => 0,
    }
}

fn foreign_separator(bytes: &[u8]) -> usize {
    match bytes {
        [0xe2, 0x80, 0x80..=0xbf, ..] => 3,
        [0xc2, 0xa0 | 0xa9 | 0xab | 0xae | 0xb7 | 0xbb, ..] => 2,
        _ => 0,
    }
}

/// Kinds of bytes: part of a word or compound, separator, part of a character outside ASCII.
const INSIDE: u8 = 0;
const SEPARATOR: u8 = 1;
const FOREIGN: u8 = 2;

const KINDS: [u8; 256] = {
    let mut kinds = [INSIDE; 256];
    let mut byte = 0;
    while byte < 256 {
        let letter = byte as u8;
        if !letter.is_ascii() {
            kinds[byte] = FOREIGN;
        } else if !letter.is_ascii_alphanumeric() && !words::is_joiner(letter as char) {
            kinds[byte] = SEPARATOR;
        }
        byte += 1;
    }
    kinds
};

/// Returns whether a word ends here and no compound continues: at a separator, at the end of the
/// text, or at a full stop or colon before one of these.
#[inline(always)]
fn is_end(rest: &[u8]) -> bool {
    match rest {
        [] | [b'.' | b':'] => true,
        [b'.' | b':', ..] => separator(&rest[1..]) > 0,
        _ => separator(rest) > 0,
    }
}

/// Returns the hash of the singular of a word of ASCII letters and digits, in lower case.
fn singular_hash(word: &[u8]) -> u64 {
    let mut letters = [0; words::LONGEST + 1];
    let letters = &mut letters[..word.len()];
    letters.copy_from_slice(word);
    letters.make_ascii_lowercase();
    let (kept, end) = words::singular(letters);
    letters[kept..kept + end.len()].copy_from_slice(end.as_bytes());
    hash(&letters[..kept + end.len()])
}

/// The bits of a slot that belong to the hash.
const TAG: u64 = !0xffff;

fn look_up(slots: &[u64], hash: u64) -> Option<u16> {
    let mask = slots.len() - 1;
    let mut at = hash as usize & mask;
    loop {
        let slot = slots[at];
        if slot == 0 {
            return None;
        }
        if (slot ^ hash) & TAG == 0 {
            return Some((slot as u16).wrapping_sub(1));
        }
        at = (at + 1) & mask;
    }
}

struct HashedWord {
    hash: u64,
    end: usize,
}

/// Reads the lower-case ASCII letters and digits from `start` on, of which the first may be a
/// capital. Returns their hash in lower case and where they end. Reads eight bytes at a time.
#[inline(always)]
fn small_word(bytes: &[u8], start: usize) -> HashedWord {
    let (mut state, mut at) = (0, start);
    loop {
        let eight = match bytes[at..].first_chunk::<8>() {
            Some(eight) => *eight,
            None => padded(&bytes[at..]),
        };
        let mut eight = u64::from_le_bytes(eight);
        if at == start && bytes[at].is_ascii_uppercase() {
            eight |= 0x20;
        }
        let others = !are_small(eight) & HIGH;
        if others != 0 {
            let count = others.trailing_zeros() / 8;
            let kept = eight & !(u64::MAX << (8 * count));
            return HashedWord {
                hash: finish(state, kept, count),
                end: at + count as usize,
            };
        }
        state = mix(state ^ eight);
        at += 8;
    }
}

/// The lowest bit and the highest bit of each of eight bytes.
const EACH: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x80 * EACH;

/// Returns the high bit of every byte that is a lower-case ASCII letter or a digit.
#[inline]
fn are_small(eight: u64) -> u64 {
    let plain = eight & !HIGH;
    // Neither sum carries: each byte is below 128, and at most 80 is added.
    let between = |first: u8, last: u8| {
        let from = plain + u64::from(0x80 - first) * EACH;
        let beyond = plain + u64::from(0x7f - last) * EACH;
        from & !beyond
    };
    (between(b'a', b'z') | between(b'0', b'9')) & !eight & HIGH
}

fn padded(bytes: &[u8]) -> [u8; 8] {
    let mut eight = [0; 8];
    eight[..bytes.len()].copy_from_slice(bytes);
    eight
}

/// Returns the hash of any bytes. For a word in lower-case ASCII, it equals the hash that
/// [`small_word`] returns.
fn hash(word: &[u8]) -> u64 {
    let mut state = 0;
    let (eights, rest) = word.as_chunks::<8>();
    for eight in eights {
        state = mix(state ^ u64::from_le_bytes(*eight));
    }
    finish(state, u64::from_le_bytes(padded(rest)), rest.len() as u32)
}

/// Adds the last letters, fewer than eight.
#[inline]
fn finish(state: u64, letters: u64, count: u32) -> u64 {
    mix(state ^ letters ^ u64::from(count + 1) << 56)
}

/// Mixes the bits: the multiplication by 2^64/φ carries low bits up, and the shift brings them
/// down again.
#[inline]
fn mix(bits: u64) -> u64 {
    let product = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (product ^ product >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Returns what the analyzer finds of these words, and the number of all words.
    fn plain(text: &str, wanted: &[&str]) -> (Vec<(u16, Range<usize>)>, u32) {
        let (mut found, mut length) = (Vec::new(), 0);
        words::analyzer().token_stream(text).process(&mut |token| {
            length += 1;
            if let Some(at) = wanted.iter().position(|word| *word == token.text) {
                found.push((at as u16, token.offset_from..token.offset_to));
            }
        });
        (found, length)
    }

    #[track_caller]
    fn check(text: &str, wanted: &[&str]) {
        let mut finder = WordFinder::new(wanted.iter().copied());
        // The second pass uses the cache.
        for _ in 0..2 {
            let mut found = Vec::new();
            let length = finder.read(text, |number, range| found.push((number, range)));
            assert_eq!((found, length), plain(text, wanted), "{text:?}");
        }
    }

    #[test]
    fn words_are_found_as_the_index_splits_them() {
        let wanted = [
            "hello",
            "cafe",
            "東京",
            "京都",
            "don",
            "t",
            "ss",
            "москва",
            "2",
            "x",
            "2.2",
            "--hello",
            "c++",
            "hello.x",
            "rule",
        ];
        for text in [
            "",
            "Hello, HELLO-hello 2.2 hell",
            "café cafe\u{301} CAFE\u{301}, Café",
            "東京都 hello東京 東",
            "don’t “hello”—hello\u{a0}hello«x»",
            "’hello’ ’",
            "Москва МОСКВА\u{301} ß",
            "hello\u{200d}x \u{301}hello",
            "hellos hello.x, --hello C++. helloRule rules",
            "a",
        ] {
            check(text, &wanted);
        }
        for length in [99, 100, 101] {
            let word = "x".repeat(length);
            check(&word, &["x", &word]);
            check(&format!("{word}é"), &["x", &format!("{word}e")]);
        }
        // Words of eight letters and more take several steps of the hash.
        check(
            "abcdefgh abcdefghi Abcdefg",
            &["abcdefgh", "abcdefghi", "abcdefg"],
        );
    }

    proptest! {
        #[test]
        fn any_text_is_split_as_the_index_splits_it(text in "(\\PC|[a-c]|[A-C]|s |[ .’]|[-_:]|é|e\u{301}|東|京|ſ|İ){0,80}") {
            let mut known: Vec<String> = Vec::new();
            words::analyzer().token_stream(&text).process(&mut |token| {
                if !known.contains(&token.text) && known.len() % 3 != 1 {
                    known.push(token.text.clone());
                }
            });
            known.extend(["a", "b", "ab"].map(str::to_owned).into_iter().filter(|word| !known.contains(word)).collect::<Vec<_>>());
            let wanted: Vec<&str> = known.iter().map(String::as_str).collect();
            check(&text, &wanted);
        }
    }
}
