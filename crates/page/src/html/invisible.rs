//! Classifies characters that must not reach the visible text or the index.
//!
//! **Invariant:** these never pass: bidirectional controls, zero-width spaces, zero-width joiners
//! after an ASCII character, and more than [`MARKS`] combining marks in a row (hostile-web.md, rows
//! 39 and 40). Joiners and marks that scripts need are kept.

/// How a non-ASCII character is handled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    /// Kept.
    Letter,
    /// White space.
    Space,
    /// Removed.
    Invisible,
    /// Kept only after a non-ASCII character. Persian, Hindi and emoji need the two joiners; in an
    /// ASCII word they only hide the word from search.
    Joiner,
    /// Combined with the character before; kept up to [`MARKS`] in a row.
    Mark,
}

/// Maximum number of combining marks on one character. This is more than written languages use, and
/// far fewer than the hundreds that break layouts.
pub(super) const MARKS: u32 = 8;

/// Returns how a character is handled.
#[inline]
pub(super) fn class(c: char) -> Class {
    match c {
        // Common scripts first, for speed.
        '\u{c0}'..='\u{2ff}' | '\u{370}'..='\u{482}' | '\u{48a}'..='\u{590}' => Class::Letter,
        '\u{3040}'..='\u{d7ff}' => Class::Letter,
        '\u{200c}' | '\u{200d}' => Class::Joiner,
        '\u{80}'..='\u{84}' | '\u{86}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' => {
            Class::Invisible
        }
        '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' => {
            Class::Invisible
        }
        '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' => Class::Invisible,
        '\u{e0000}'..='\u{e0fff}' => Class::Invisible,
        // The blocks that long stacks are built of. Indic vowel signs are parts of letters and
        // not listed.
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{591}'..='\u{5bd}' => Class::Mark,
        '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{e31}' | '\u{e34}'..='\u{e3a}' => {
            Class::Mark
        }
        '\u{e47}'..='\u{e4e}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}' => Class::Mark,
        '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{fe20}'..='\u{fe2f}' => Class::Mark,
        c if c.is_whitespace() => Class::Space,
        _ => Class::Letter,
    }
}
