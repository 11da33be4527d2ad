//! Makes text safe to display before it is stored in the index.
//!
//! **Invariant:** no character of the result changes how the text around it is displayed
//! (hostile-web.md, rows 39 and 40). The length is bounded.

use std::borrow::Cow;

/// Maximum number of combining marks kept on one letter. Vietnamese needs two.
const MARKS: usize = 4;

/// Returns at most `limit` bytes of a text. Removes bidirectional controls, control characters
/// except line breaks and tabs, and combining marks beyond [`MARKS`] on one letter. The text of
/// nearly every page is returned unchanged.
pub(super) fn safe_text(text: &str, limit: usize) -> Cow<'_, str> {
    let text = prefix(text, limit);
    if text.as_bytes().chunks(CHUNK).all(is_plain) || is_shown(text) {
        return Cow::Borrowed(text);
    }
    let mut kept = kept();
    Cow::Owned(text.chars().filter(|&c| kept(c)).collect())
}

/// Returns a function that is called with the characters of a text in order, and returns whether
/// each may be shown.
fn kept() -> impl FnMut(char) -> bool {
    let mut marks = 0;
    move |c| {
        marks = if is_mark(c) { marks + 1 } else { 0 };
        marks <= MARKS && !is_control(c)
    }
}

/// Returns the first `limit` bytes of a text, or a few less so that no character is cut.
pub(super) fn prefix(text: &str, limit: usize) -> &str {
    &text[..page::char_floor(text, limit)]
}

/// Returns whether all characters of a text may be shown.
///
/// Chunks that are entirely ASCII are checked many bytes at a time.
fn is_shown(text: &str) -> bool {
    let mut kept = kept();
    let mut rest = text;
    while !rest.is_empty() {
        let plain = rest
            .as_bytes()
            .chunks(CHUNK)
            .take_while(|chunk| is_plain(chunk))
            .count()
            * CHUNK;
        rest = &rest[plain.min(rest.len())..];
        let end = prefix(rest, CHUNK).len();
        if !rest[..end].chars().all(&mut kept) {
            return false;
        }
        rest = &rest[end..];
    }
    true
}

/// Bytes checked at once.
const CHUNK: usize = 64;

/// Returns whether all bytes are visible ASCII characters, spaces, tabs or line breaks.
fn is_plain(bytes: &[u8]) -> bool {
    let is_plain = |byte: &u8| matches!(byte, b' '..=b'~' | b'\n' | b'\t');
    bytes.iter().fold(true, |all, byte| all & is_plain(byte))
}

fn is_control(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        // Marks, embeddings, overrides and isolates of direction (Unicode UAX #9, section 2).
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            true
        }
        c => c.is_control(),
    }
}

/// Returns whether this is a combining mark, that is, a sign drawn above or below the letter before
/// it. Only the Unicode blocks from which unreadable stacks of signs are built are known here.
fn is_mark(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}'
        | '\u{1dc0}'..='\u{1dff}' | '\u{20d0}'..='\u{20ff}' | '\u{fe20}'..='\u{fe2f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_stacked_marks_are_removed() {
        let check = |text: &str, limit, expected: &str| {
            assert_eq!(safe_text(text, limit), expected);
        };
        check("plain\ttext\n", 99, "plain\ttext\n");
        check("schön 東京 שלום", 99, "schön 東京 שלום");
        check(
            "ab\u{202e}cd\u{2066}e\u{0}\u{1b}[31m\u{85}",
            99,
            "abcde[31m",
        );
        check("o\u{302}\u{301}", 99, "o\u{302}\u{301}");
        check(
            &format!("e{}f", "\u{301}".repeat(1000)),
            9999,
            "e\u{301}\u{301}\u{301}\u{301}f",
        );
        let far = format!("{}é\u{301}{}", "x".repeat(100), "y".repeat(100));
        check(&far, 999, &far);
        check(&format!("{far}\u{202e}z"), 999, &format!("{far}z"));
        check("aé", 2, "a");
        check("aé", 3, "aé");
    }
}
