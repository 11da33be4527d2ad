//! How often does a text have each word that people search for?
//!
//! **Invariant:** words are counted exactly as the index splits them; a test compares the two.
//!
//! A text is split once more by the index itself, in another thread, so this must be cheap. Words of ASCII
//! letters are found and hashed eight bytes at a time; a word with any other letter goes through the analyzer, and what came
//! out of it is remembered. A word is known by 64 bits of hash: that two meet is less likely than a broken disk.

use std::collections::HashMap;

use tantivy::tokenizer::TextAnalyzer;

use super::super::words;

/// What a word counts in each field, in one number: the text is at most a megabyte, the others are short.
pub(super) const IN_BODY: u64 = 1;
pub(super) const IN_TITLE: u64 = 1 << 32;
pub(super) const IN_URL: u64 = 1 << 48;

/// Words with other letters than ASCII that are remembered, and the longest, in bytes.
const REMEMBERED: usize = 1 << 15;
const LONGEST_REMEMBERED: usize = 64;

/// Counts words.
pub(super) struct Counter {
    analyzer: TextAnalyzer,
    /// An open hash table: 48 bits of the hash, 16 bits of the word's number and one; zero is free.
    slots: Box<[u64]>,
    /// By word, how often it was seen.
    tally: Box<[u64]>,
    /// The words whose tally is not zero, in the order in which they were first seen.
    seen: Vec<u16>,
    remembered: HashMap<u64, Remembered>,
}

/// What the analyzer made of a run of letters.
#[derive(Default)]
struct Remembered {
    length: u32,
    words: Box<[u16]>,
}

impl Counter {
    /// Counts these words, which are as the analyzer leaves them. There must be fewer than 65,535.
    pub(super) fn new<'a>(words: impl ExactSizeIterator<Item = &'a str>) -> Self {
        let count = words.len();
        let size = (count * 2 + 1).next_power_of_two();
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
            tally: vec![0; count].into_boxed_slice(),
            seen: Vec::new(),
            remembered: HashMap::new(),
        }
    }

    /// Counts the words of a text, each as `unit`. Returns how many there are, of all kinds.
    pub(super) fn read(&mut self, text: &str, unit: u64) -> u32 {
        let bytes = text.as_bytes();
        let (mut at, mut length) = (0, 0);
        while let Some(&first) = bytes.get(at) {
            if KINDS[usize::from(first)] == SEPARATOR {
                at += 1;
                continue;
            }
            let start = at;
            let (hash, end) = ascii_word(bytes, start);
            at = end;
            if bytes.get(at).is_some_and(|byte| !byte.is_ascii()) {
                let blank = blank(&bytes[at..]);
                if blank == 0 {
                    at = end_of_run(bytes, at);
                    length += self.read_any(&text[start..at], unit);
                    continue;
                }
                if at == start {
                    at += blank;
                    continue;
                }
            }
            if at - start < words::LONGEST {
                length += 1;
                self.found(hash, unit);
            }
        }
        length
    }

    /// Takes out how often a word was seen.
    pub(super) fn take(&mut self, word: u16) -> u64 {
        std::mem::take(&mut self.tally[usize::from(word)])
    }

    /// Takes out what is left.
    pub(super) fn take_rest(&mut self, mut visit: impl FnMut(u16, u64)) {
        for word in self.seen.drain(..) {
            let times = std::mem::take(&mut self.tally[usize::from(word)]);
            if times > 0 {
                visit(word, times);
            }
        }
    }

    #[inline]
    fn found(&mut self, hash: u64, unit: u64) {
        if let Some(word) = look_up(&self.slots, hash) {
            add(&mut self.tally, &mut self.seen, word, unit);
        }
    }

    /// Counts the words of a run of letters, not all of them ASCII.
    fn read_any(&mut self, run: &str, unit: u64) -> u32 {
        let key = hash(run.as_bytes());
        if let Some(known) = self.remembered.get(&key) {
            for &word in &known.words {
                add(&mut self.tally, &mut self.seen, word, unit);
            }
            return known.length;
        }
        let mut made = Remembered::default();
        let mut found = Vec::new();
        let slots = &self.slots;
        self.analyzer.token_stream(run).process(&mut |token| {
            made.length += 1;
            found.extend(look_up(slots, hash(token.text.as_bytes())));
        });
        for &word in &found {
            add(&mut self.tally, &mut self.seen, word, unit);
        }
        let length = made.length;
        if run.len() <= LONGEST_REMEMBERED {
            if self.remembered.len() >= REMEMBERED {
                self.remembered.clear();
            }
            made.words = found.into();
            self.remembered.insert(key, made);
        }
        length
    }
}

#[inline]
fn add(tally: &mut [u64], seen: &mut Vec<u16>, word: u16, unit: u64) {
    let tally = &mut tally[usize::from(word)];
    if *tally == 0 {
        seen.push(word);
    }
    *tally = tally.wrapping_add(unit);
}

/// The bits of a slot that are of the hash.
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

/// What stands for a byte that is in no word, and for one of a character outside of ASCII.
const SEPARATOR: u8 = 0;
const FOREIGN: u8 = 1;

/// What a byte is; any other value is a letter or digit of ASCII.
const KINDS: [u8; 256] = {
    let mut table = [SEPARATOR; 256];
    let mut byte = 0;
    while byte < 256 {
        let letter = byte as u8;
        if letter.is_ascii_alphanumeric() {
            table[byte] = letter;
        } else if !letter.is_ascii() {
            table[byte] = FOREIGN;
        }
        byte += 1;
    }
    table
};

/// The length of a character that parts words and is common in English text: typographic quotes, dashes and
/// spaces (U+2000 to U+203F), the no-break space, « and ». Zero: some other.
fn blank(bytes: &[u8]) -> usize {
    match bytes {
        [0xe2, 0x80, 0x80..=0xbf, ..] => 3,
        [0xc2, 0xa0 | 0xa9 | 0xab | 0xae | 0xb7 | 0xbb, ..] => 2,
        _ => 0,
    }
}

/// Where a run of letters and characters outside of ASCII ends.
fn end_of_run(bytes: &[u8], mut at: usize) -> usize {
    while let Some(&byte) = bytes.get(at) {
        match KINDS[usize::from(byte)] {
            SEPARATOR => break,
            FOREIGN if blank(&bytes[at..]) > 0 => break,
            _ => at += 1,
        }
    }
    at
}

/// The letters and digits of ASCII from here on: their hash in lower case, and where they end. Eight bytes at a time.
#[inline]
fn ascii_word(bytes: &[u8], start: usize) -> (u64, usize) {
    let (mut state, mut at) = (0, start);
    loop {
        let eight = match bytes[at..].first_chunk::<8>() {
            Some(eight) => *eight,
            None => padded(&bytes[at..]),
        };
        let eight = u64::from_le_bytes(eight);
        let others = !are_letters(eight) & HIGH;
        // A digit has the bit that makes a letter small.
        let small = eight | SMALL;
        if others != 0 {
            let count = others.trailing_zeros() / 8;
            let kept = small & !(u64::MAX << (8 * count));
            return (finish(state, kept, count), at + count as usize);
        }
        state = mix(state ^ small);
        at += 8;
    }
}

/// The lowest and the highest bits of eight bytes.
const EACH: u64 = 0x0101_0101_0101_0101;
const HIGH: u64 = 0x80 * EACH;
/// The bits that make letters small.
const SMALL: u64 = 0x20 * EACH;

/// The high bit of every byte that is a letter or a digit of ASCII.
#[inline]
fn are_letters(eight: u64) -> u64 {
    let plain = eight & !HIGH;
    let small = plain | SMALL;
    // Neither sum carries: a byte is below 128, and what is added at most 80.
    let between = |bytes: u64, first: u8, last: u8| {
        let from = bytes + u64::from(0x80 - first) * EACH;
        let beyond = bytes + u64::from(0x7f - last) * EACH;
        from & !beyond
    };
    (between(small, b'a', b'z') | between(plain, b'0', b'9')) & !eight & HIGH
}

fn padded(bytes: &[u8]) -> [u8; 8] {
    let mut eight = [0; 8];
    eight[..bytes.len()].copy_from_slice(bytes);
    eight
}

/// The hash of any bytes; that of a word in small ASCII letters is that of [`ascii_word`].
fn hash(word: &[u8]) -> u64 {
    let mut state = 0;
    let mut chunks = word.chunks_exact(8);
    for eight in &mut chunks {
        let mut bytes = [0; 8];
        bytes.copy_from_slice(eight);
        state = mix(state ^ u64::from_le_bytes(bytes));
    }
    let rest = chunks.remainder();
    finish(state, u64::from_le_bytes(padded(rest)), rest.len() as u32)
}

/// Adds the last letters, fewer than eight.
#[inline]
fn finish(state: u64, letters: u64, count: u32) -> u64 {
    mix(state ^ letters ^ u64::from(count + 1) << 56)
}

/// Spreads the bits: multiplication by 2^64/φ carries low bits up, the shift brings them down again.
#[inline]
fn mix(bits: u64) -> u64 {
    let product = bits.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (product ^ product >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    /// What the analyzer finds of these words, and how many words there are.
    fn plain(text: &str, wanted: &[&str]) -> (BTreeMap<u16, u64>, u32) {
        let (mut counts, mut length) = (BTreeMap::new(), 0);
        words::analyzer().token_stream(text).process(&mut |token| {
            length += 1;
            if let Some(at) = wanted.iter().position(|word| *word == token.text) {
                *counts.entry(at as u16).or_default() += 1;
            }
        });
        (counts, length)
    }

    #[track_caller]
    fn check(text: &str, wanted: &[&str]) {
        let mut counter = Counter::new(wanted.iter().copied());
        // Twice: the second time from memory.
        for _ in 0..2 {
            let length = counter.read(text, IN_BODY);
            let mut counts = BTreeMap::new();
            counter.take_rest(|word, times| {
                counts.insert(word, times);
            });
            assert_eq!((counts, length), plain(text, wanted), "{text:?}");
        }
    }

    #[test]
    fn words_are_counted_as_the_index_splits_them() {
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
            "a",
        ] {
            check(text, &wanted);
        }
        for length in [99, 100, 101] {
            let word = "x".repeat(length);
            check(&word, &["x", &word]);
            check(&format!("{word}é"), &["x", &format!("{word}e")]);
        }
        // Eight letters, and more, are several steps of the hash.
        check(
            "abcdefgh abcdefghi abcdefg",
            &["abcdefgh", "abcdefghi", "abcdefg"],
        );
    }

    #[test]
    fn fields_are_told_apart() {
        let mut counter = Counter::new(["a", "b"].into_iter());
        counter.read("a a b", IN_BODY);
        counter.read("a", IN_TITLE);
        counter.read("http://a.b/a", IN_URL);
        assert_eq!(counter.take(0), 2 + IN_TITLE + 2 * IN_URL);
        let rest = |counter: &mut Counter| {
            let mut rest = Vec::new();
            counter.take_rest(|word, times| rest.push((word, times)));
            rest
        };
        assert_eq!(rest(&mut counter), [(1, 1 + IN_URL)]);
        assert_eq!(rest(&mut counter), []);
    }

    #[test]
    fn what_is_there_less_often_wraps() {
        let mut counter = Counter::new(["a", "b", "c"].into_iter());
        counter.read("a a b c", IN_TITLE.wrapping_neg());
        counter.read("a c c", IN_TITLE);
        let mut rest = Vec::new();
        counter.take_rest(|word, times| rest.push((word, times)));
        let less = IN_TITLE.wrapping_neg();
        assert_eq!(rest, [(0, less), (1, less), (2, IN_TITLE)]);
    }

    proptest! {
        #[test]
        fn any_text_is_counted_alike(text in "(\\PC|[a-c]|[ .’]|é|e\u{301}|東|京|ſ|İ){0,80}") {
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
