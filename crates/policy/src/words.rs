//! Splits a text into words: runs of letters and digits of any script, compared in lower case.
//!
//! Queries, topics, suggestions and the laboratory all use this splitter, so their words can be
//! compared. In scripts without spaces between words (Chinese, Japanese, Thai) it finds runs of
//! letters, which are mostly longer than a word. Two other splitters differ for a reason. The
//! index (`repository/src/index/words.rs`) also indexes compounds, and pairs of characters of
//! such scripts. A fingerprint (`page/src/fingerprint.rs`) splits at white space only, so that
//! a changed comma is a changed text.
//!
//! **Invariant:** [`words`], [`each_word`] and [`hash`] allocate nothing. A hash is the same on
//! every machine and in every run.

use std::borrow::Cow;

/// The offset basis of 64-bit FNV-1a.
const START: u64 = 0xcbf2_9ce4_8422_2325;
/// Maps ASCII letters and digits to lower case, and every other byte to 0.
const LOWER: [u8; 256] = {
    let mut lower = [0; 256];
    let mut byte = 0;
    while byte < 128 {
        if (byte as u8).is_ascii_alphanumeric() {
            lower[byte] = (byte as u8).to_ascii_lowercase();
        }
        byte += 1;
    }
    lower
};

/// Returns the words of a text, as they are written.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
}

/// Calls `see` with each word of a text in lower case.
pub fn each_lower(text: &str, mut see: impl FnMut(&str)) {
    let mut buffer = String::new();
    for word in words(text) {
        buffer.clear();
        buffer.extend(lower(word));
        see(&buffer);
    }
}

/// Calls `see` with the hash of each word of at least two bytes, and with the word.
///
/// ASCII text is split and hashed in one pass, because the text of every page goes through this
/// function.
pub fn each_word<'t>(text: &'t str, mut see: impl FnMut(u64, &'t str)) {
    let bytes = text.as_bytes();
    let (mut place, mut start, mut hashed, mut plain) = (0, 0, START, true);
    loop {
        while let Some(&byte) = bytes.get(place)
            && let lower @ 1.. = LOWER[usize::from(byte)]
        {
            hashed = mix(hashed, lower);
            place += 1;
        }
        let (is_letter, next) = match bytes.get(place) {
            None => (false, place),
            Some(byte) if byte.is_ascii() => (false, place + 1),
            Some(_) => {
                let letter = text[place..].chars().next().unwrap_or_default();
                let is_letter = letter.is_alphanumeric();
                plain &= !is_letter;
                (is_letter, place + letter.len_utf8())
            }
        };
        if !is_letter {
            if place - start > 1 {
                let word = &text[start..place];
                see(if plain { hashed } else { hash(word) }, word);
            }
            if next == place {
                return;
            }
            (start, hashed, plain) = (next, START, true);
        }
        place = next;
    }
}

/// Returns the 64-bit FNV-1a hash of the word in lower case.
pub fn hash(word: &str) -> u64 {
    if word.is_ascii() {
        let bytes = word.bytes().map(|byte| byte.to_ascii_lowercase());
        return bytes.fold(START, mix);
    }
    let mut buffer = [0; 4];
    lower(word).fold(START, |hash, letter| {
        letter.encode_utf8(&mut buffer).bytes().fold(hash, mix)
    })
}

/// Adds one byte to a 64-bit FNV-1a hash.
pub(crate) fn mix(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
}

/// Returns a word in lower case. The final form of the Greek sigma, ς, becomes σ.
pub fn lower(word: &str) -> impl Iterator<Item = char> {
    let letters = word.chars().flat_map(char::to_lowercase);
    letters.map(|letter| if letter == 'ς' { 'σ' } else { letter })
}

/// Replaces percent-escapes, such as `%C3%BC`, by their characters, such as `ü`. The `%` of a
/// malformed escape stays, and invalid UTF-8 becomes U+FFFD. Both separate words.
pub(crate) fn unescape(url: &str) -> Cow<'_, str> {
    if !url.contains('%') {
        return Cow::Borrowed(url);
    }
    let mut bytes = Vec::with_capacity(url.len());
    let mut rest = url.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = match rest {
            [b'%', high, low, ..] => digit(*high).zip(digit(*low)),
            _ => None,
        };
        match escaped {
            Some((high, low)) => {
                bytes.push(high << 4 | low);
                rest = &rest[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
}

fn digit(letter: u8) -> Option<u8> {
    char::from(letter)
        .to_digit(16)
        .and_then(|digit| u8::try_from(digit).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_lower_splits_at_all_but_letters_and_digits_and_writes_lower_case() {
        let split = |text: &str| {
            let mut words = Vec::new();
            each_lower(text, |word| words.push(word.to_owned()));
            words
        };
        assert_eq!(
            split("MTProto 2.0: don't, ÉCLAIR-42"),
            ["mtproto", "2", "0", "don", "t", "éclair", "42"]
        );
        assert_eq!(split("ΣΟΦΟΣ σοφος"), ["σοφοσ", "σοφοσ"]);
        assert_eq!(split(" -- "), [""; 0]);
    }

    proptest::proptest! {
        #[test]
        fn each_word_agrees_with_words_and_hash_for_words_of_two_bytes_or_more(text in "[a-cA-C0-9 ,.\u{e4}\u{c4}\u{2014}\u{3b1}\u{4e2d}]{0,40}") {
            let mut found = Vec::new();
            each_word(&text, |hash, word| found.push((hash, word)));
            let split = words(&text).filter(|word| word.len() > 1);
            let expected: Vec<_> = split.map(|word| (hash(word), word)).collect();
            proptest::prop_assert_eq!(found, expected);
        }
    }
}
