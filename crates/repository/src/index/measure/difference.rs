//! Finds the parts of two texts that must be read to find the words whose number of occurrences
//! differs.
//!
//! **Invariant:** the parts left out on both sides have the same words, the same number of
//! times, and end at a word boundary. A property test checks this.
//!
//! Most changes of a page are small: a date, a number, a paragraph. So both texts have a common
//! beginning and a common end, which are found in blocks of [`STRIDE`] bytes. Of several changes,
//! most lines between the first and the last occur in both texts; these lines are left out too. A
//! text is cut only at ASCII whitespace, because words and compounds end there in all scripts.

use std::collections::HashMap;

/// Bytes compared at once.
const STRIDE: usize = 32;

/// Lines are compared only if both differing parts have at least this many bytes.
const LONG: usize = 256;

/// Returns the parts of an old and a new text between their common beginning and their common
/// end.
fn difference<'a, 'b>(old: &'a str, new: &'b str) -> (&'a str, &'b str) {
    let (a, b) = (old.as_bytes(), new.as_bytes());
    let same = same_front(a, b);
    if same == a.len() && same == b.len() {
        return ("", "");
    }
    let front = a[..same].iter().rposition(is_between);
    let front = front.map_or(0, |at| at + 1);
    let (a, b) = (&a[front..], &b[front..]);
    let same = same_end(a, b);
    let end = a[a.len() - same..].iter().position(is_between);
    let end = end.map_or(0, |at| same - at);
    (&old[front..old.len() - end], &new[front..new.len() - end])
}

/// Visits the parts in which an old and a new text differ, those of the old text first.
///
/// The position of a word does not matter. So if both differing parts are long, lines that both
/// have are left out, wherever they are.
pub(super) fn parts<'a>(old: &'a str, new: &'a str, mut visit: impl FnMut(WhichText, &'a str)) {
    let (old, new) = difference(old, new);
    if old.len().min(new.len()) < LONG {
        visit(WhichText::Old, old);
        visit(WhichText::New, new);
        return;
    }
    let mut lines: HashMap<&str, u32> = HashMap::new();
    for line in new.split('\n') {
        *lines.entry(line).or_default() += 1;
    }
    for line in old.split('\n') {
        match lines.get_mut(line) {
            Some(left @ 1..) => *left -= 1,
            _ => visit(WhichText::Old, line),
        }
    }
    for line in new.split('\n') {
        if let Some(left @ 1..) = lines.get_mut(line) {
            *left -= 1;
            visit(WhichText::New, line);
        }
    }
}

/// Which of two texts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum WhichText {
    Old,
    New,
}

/// Returns whether a byte ends every word.
fn is_between(byte: &u8) -> bool {
    byte.is_ascii_whitespace()
}

/// Returns how many bytes two texts have in common at the beginning.
fn same_front(a: &[u8], b: &[u8]) -> usize {
    let (strides, _) = a.as_chunks::<STRIDE>();
    let (others, _) = b.as_chunks::<STRIDE>();
    let alike = strides.iter().zip(others).take_while(|(a, b)| a == b);
    let from = alike.count() * STRIDE;
    let rest = a[from..].iter().zip(&b[from..]);
    from + rest.take_while(|(a, b)| a == b).count()
}

/// Returns how many bytes two texts have in common at the end.
fn same_end(a: &[u8], b: &[u8]) -> usize {
    let (_, strides) = a.as_rchunks::<STRIDE>();
    let (_, others) = b.as_rchunks::<STRIDE>();
    let both = strides.iter().rev().zip(others.iter().rev());
    let from = both.take_while(|(a, b)| a == b).count() * STRIDE;
    let rest = a[..a.len() - from].iter().rev();
    let rest = rest.zip(b[..b.len() - from].iter().rev());
    from + rest.take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::super::super::words;
    use super::*;

    #[test]
    fn common_words_at_both_ends_are_left_out() {
        let long = "the same words again and again, ".repeat(9);
        let (before, after) = (format!("{long}old{long}"), format!("{long}very new{long}"));
        for (old, new, expected) in [
            ("", "", ("", "")),
            ("one two", "one two", ("", "")),
            ("one two three", "one 2 three", ("two", "2")),
            ("one two three", "one three", ("two three", "three")),
            ("one", "one two", ("one", "one two")),
            ("one two", "two", ("one two", "two")),
            ("abc", "xabc", ("abc", "xabc")),
            ("a b", "a bc", ("b", "bc")),
            ("caf\u{e9} x", "caf\u{e8} x", ("caf\u{e9}", "caf\u{e8}")),
            ("東京都", "東京", ("東京都", "東京")),
            (&before, &after, ("oldthe", "very newthe")),
            ("x a.b y", "x a.c y", ("a.b", "a.c")),
        ] {
            assert_eq!(difference(old, new), expected, "{old:?} {new:?}");
        }
    }

    /// Returns how often each word occurs; occurrences in the second text count as negative.
    fn balance(one: &str, other: &str) -> BTreeMap<String, i64> {
        let mut counts = BTreeMap::new();
        for (text, unit) in [(one, 1), (other, -1)] {
            let mut analyzer = words::analyzer();
            let mut words = analyzer.token_stream(text);
            words.process(&mut |token| *counts.entry(token.text.clone()).or_default() += unit);
        }
        counts.retain(|_, times| *times != 0);
        counts
    }

    proptest! {
        #[test]
        fn the_parts_left_out_have_the_same_words(
            front in "(\\PC|[a-c]|[ .’-]|é|e\u{301}|東|京|ſ){0,50}",
            old in "(\\PC|[a-c]|[ .’-]|é|\u{301}|東|京){0,4}",
            new in "(\\PC|[a-c]|[ .’-]|é|\u{301}|東|京){0,4}",
            end in "(\\PC|[a-c]|[ .’-]|é|e\u{301}|東|京|ſ){0,50}",
        ) {
            let (old, new) = (format!("{front}{old}{end}"), format!("{front}{new}{end}"));
            let (before, after) = difference(&old, &new);
            prop_assert_eq!(balance(before, after), balance(&old, &new));
        }

        #[test]
        fn lines_that_both_texts_have_are_left_out(
            old in prop::collection::vec("(one two|three|four five six|a|)", 0..90),
            new in prop::collection::vec("(one two|three|four five six|b|)", 0..90),
        ) {
            let (old, new) = (format!("x {}", old.join("\n")), format!("y {}", new.join("\n")));
            let (mut before, mut after) = (String::new(), String::new());
            parts(&old, &new, |age, part| {
                let text = if age == WhichText::Old { &mut before } else { &mut after };
                text.push_str(part);
                text.push('\n');
            });
            prop_assert_eq!(balance(&before, &after), balance(&old, &new));
            if old.len().min(new.len()) > 2 * LONG {
                prop_assert!(before.len() + after.len() < old.len() + new.len());
            }
        }
    }
}
