//! Which characters have no place in text that people and indexes read?
//!
//! **Invariant:** no bidirectional control, no zero-width character inside a Latin word, and no
//! tower of combining marks gets past here (hostile list, rows 39 and 40), while the joiners and
//! marks that scripts need stay.

/// What is to be done with a character that is not ASCII.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Class {
    /// Kept.
    Letter,
    /// White space.
    Space,
    /// Left out.
    Invisible,
    /// Kept after a character that is not ASCII: Persian, Hindi and emoji need the two joiners;
    /// in a Latin word they only hide it from search.
    Joiner,
    /// Put on the character before; kept up to [`MARKS`] in a row.
    Mark,
}

/// Combining marks kept on one character: a choice, above what written languages stack and far below
/// the towers of hundreds that break layouts.
pub(super) const MARKS: u32 = 8;

/// What is to be done with the character.
#[inline]
pub(super) fn class(c: char) -> Class {
    match c {
        // Common scripts first: they need no table.
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
        // The blocks that towers are built of. Indic vowel signs are parts of letters and not here.
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
