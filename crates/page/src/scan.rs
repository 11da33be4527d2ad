//! Searches for the ends of words, names and characters.
//!
//! The frequent searches test eight bytes at a time within one `u64`. Words have about five
//! letters: too short for the vector searches of `memchr` to pay off, and too frequent to scan byte
//! by byte.
//!
//! **Invariant:** the results are those of a plain loop over the bytes; only [`plain_end`] may
//! stop earlier, at a space.

const ONES: u64 = 0x0101_0101_0101_0101;
const HIGHS: u64 = 0x8080_8080_8080_8080;

/// Returns the eight bytes at `at`, the first one lowest; bytes beyond the end are zero.
#[inline]
pub(crate) fn eight(bytes: &[u8], at: usize) -> u64 {
    if let Some(chunk) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        return u64::from_le_bytes(*chunk);
    }
    let mut padded = [0; 8];
    let rest = bytes.get(at..).unwrap_or_default();
    padded[..rest.len()].copy_from_slice(rest);
    u64::from_le_bytes(padded)
}

/// Returns how many of the eight bytes precede the first that is a space or a control character.
#[inline]
pub(crate) fn before_space(eight: u64) -> usize {
    first(below(eight, 0x21))
}

/// Returns the offset, at or after `at`, of the first byte that is neither a visible ASCII
/// character nor a space directly before one. Returns the end if there is none.
///
/// A space in the eighth byte of a step is reported too, whatever follows it.
#[inline]
pub(crate) fn plain_end(bytes: &[u8], mut at: usize) -> usize {
    loop {
        let eight = eight(bytes, at);
        let visible = !below(eight, 0x21) & below(eight, 0x7f);
        let spaces = equal(eight, b' ') & visible >> 8;
        let special = !(visible | spaces) & HIGHS;
        if special != 0 {
            return at + first(special);
        }
        at += 8;
    }
}

/// Returns how many of the eight bytes precede the first that ends a name: a space, a control
/// character, `/`, `>` or `=`.
///
/// `=` ends the name of an attribute; real element names do not contain it.
#[inline]
pub(crate) fn before_name_end(eight: u64) -> usize {
    first(below(eight, 0x21) | equal(eight, b'/') | equal(eight, b'>') | equal(eight, b'='))
}

/// Returns how many of the eight bytes precede the first that is `a` or `b`.
#[inline]
pub(crate) fn before_either(eight: u64, a: u8, b: u8) -> usize {
    first(equal(eight, a) | equal(eight, b))
}

/// Returns whether a text begins with `prefix`, in any case.
pub(crate) fn starts_with(text: impl AsRef<[u8]>, prefix: &str) -> bool {
    let start = text.as_ref().get(..prefix.len());
    start.is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
}

/// Returns whether a text ends with `suffix`, in any case.
pub(crate) fn ends_with(text: impl AsRef<[u8]>, suffix: &str) -> bool {
    let text = text.as_ref();
    let start = text.len().checked_sub(suffix.len());
    start.is_some_and(|start| text[start..].eq_ignore_ascii_case(suffix.as_bytes()))
}

/// Returns the last character boundary at or before `at`, at most the end of the text.
pub fn char_floor(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    // A character has at most four bytes.
    (at.saturating_sub(3)..=at)
        .rev()
        .find(|&at| text.is_char_boundary(at))
        .unwrap_or(0)
}

/// Returns the high bit of each byte that is below `limit`, which must be at most 0x80.
#[inline]
fn below(eight: u64, limit: u64) -> u64 {
    !((eight & !HIGHS) + ONES * (0x80 - limit)) & !eight & HIGHS
}

/// Returns the high bit of each byte that equals `byte`.
#[inline]
fn equal(eight: u64, byte: u8) -> u64 {
    let difference = eight ^ (ONES * u64::from(byte));
    !(((difference & !HIGHS) + !HIGHS) | difference) & HIGHS
}

/// Returns the index of the first byte whose high bit is set; eight if there is none.
#[inline]
fn first(highs: u64) -> usize {
    (highs.trailing_zeros() / 8) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn byte() -> impl Strategy<Value = u8> {
        prop_oneof![
            any::<u8>(),
            0x1fu8..0x23,
            0x7du8..0x82,
            0x2eu8..0x31,
            0x3cu8..0x40
        ]
    }

    /// The plain loop.
    fn before(bytes: &[u8], ends: impl Fn(u8) -> bool) -> usize {
        bytes
            .iter()
            .take(8)
            .position(|&byte| ends(byte))
            .unwrap_or(8)
    }

    proptest! {
        #[test]
        fn searches_agree_with_a_loop_over_the_bytes(bytes in prop::collection::vec(byte(), 8)) {
            let word = eight(&bytes, 0);
            prop_assert_eq!(before_space(word), before(&bytes, |b| b <= b' '));
            prop_assert_eq!(before_name_end(word), before(&bytes, |b| b <= b' ' || b"/>=".contains(&b)));
            prop_assert_eq!(before_either(word, b'<', b'&'), before(&bytes, |b| b"<&".contains(&b)));
        }

        #[test]
        fn beyond_the_end_there_are_zeros(bytes in prop::collection::vec(byte(), 0..20), at in 0usize..24) {
            let expected: Vec<u8> = bytes.iter().copied().skip(at).chain([0; 8]).take(8).collect();
            prop_assert_eq!(eight(&bytes, at).to_le_bytes().to_vec(), expected);
        }

        #[test]
        fn characters_are_not_cut(text in ".{0,12}", at in 0usize..60) {
            let floor = char_floor(&text, at);
            prop_assert!(text.is_char_boundary(floor) && floor <= at);
            prop_assert!((floor + 1..=at.min(text.len())).all(|at| !text.is_char_boundary(at)));
        }

        #[test]
        fn plain_end_finds_the_end_of_plain_text(bytes in prop::collection::vec(prop_oneof![byte(), Just(b' '), Just(b'a'), Just(b'b')], 0..60)) {
            let visible = |at: usize| bytes.get(at).is_some_and(|b| (0x21..0x7f).contains(b));
            let plain = |at: usize| visible(at) || bytes.get(at) == Some(&b' ') && visible(at + 1);
            let end = plain_end(&bytes, 0);
            prop_assert!((0..end).all(plain));
            prop_assert!(!plain(end) || bytes[end] == b' ' && end % 8 == 7);
        }
    }
}
