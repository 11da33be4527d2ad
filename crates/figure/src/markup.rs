//! Escaping, estimated width and shortening of text in markup.
//!
//! **Invariant:** escaped text contains no character that begins or ends markup, neither as text
//! nor in a quoted attribute.

/// Escapes text for SVG and HTML. Control characters other than tab and line ends, and U+FFFE and
/// U+FFFF, become U+FFFD: XML allows hardly any of them.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(character),
            '\u{fffe}' | '\u{ffff}' => out.push('\u{fffd}'),
            _ if character.is_control() => out.push('\u{fffd}'),
            _ => out.push(character),
        }
    }
    out
}

/// Estimates the width of a text in a sans-serif font of a given size, in the unit of `size`.
///
/// No font is read. The estimate is chosen too large rather than too small.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let ems: f64 = text.chars().map(width_in_ems).sum();
    ems * size
}

/// Shortens a text to the width `room`, in the unit of `size`. A text that is too long gets an
/// ellipsis in the middle. Both ends are kept, because names often differ only at one end.
pub(super) fn shortened(text: &str, size: f64, room: f64) -> String {
    if width(text, size) <= room {
        return text.to_owned();
    }
    let characters: Vec<char> = text.chars().collect();
    let with = |kept: usize| {
        let tail = kept * 2 / 5;
        let head = characters[..kept - tail].iter();
        let tail = characters[characters.len() - tail..].iter();
        head.chain(&['…']).chain(tail).collect::<String>()
    };
    let fits = |kept: &usize| width(&with(*kept), size) <= room;
    let kept = (0..characters.len()).rev().find(fits).unwrap_or(0);
    with(kept)
}

fn width_in_ems(character: char) -> f64 {
    match character {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | ' ' | '.' | ',' | '-' | '(' | ')' | '|' | '\'' => 0.38,
        'm' | 'w' | 'M' | 'W' | '@' | '%' | '−' | '+' | '=' | '<' | '>' => 0.9,
        'A'..='Z' => 0.72,
        // From Hangul on, most characters are as wide as they are high.
        '\u{1100}'.. if !('\u{2000}'..='\u{2bff}').contains(&character) => 1.0,
        _ => 0.6,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn markup_and_control_characters_are_escaped() {
        let check = |text: &str, expected: &str| assert_eq!(escaped(text), expected);
        check("<a href='x'>", "&lt;a href=&#39;x&#39;&gt;");
        check("\"&amp;\"", "&quot;&amp;amp;&quot;");
        check("α → 1.0", "α → 1.0");
        check("a\0b\u{1b}\u{ffff}\n", "a\u{fffd}b\u{fffd}\u{fffd}\n");
    }

    #[test]
    fn long_names_keep_both_ends() {
        let check = |text: &str, room: f64, expected: &str| {
            assert_eq!(shortened(text, 10.0, room), expected);
        };
        check("backlink", 60.0, "backlink");
        check("pagerank every 10", 60.0, "pagera… 10");
        check("pagerank every 20", 60.0, "pagera… 20");
        check("ΑΒΓΔΕΖΗΘ", 30.0, "ΑΒΓ…Θ");
        check("网络爬虫策略", 35.0, "网络…");
        check("backlink", 1.0, "…");
    }

    proptest! {
        #[test]
        fn a_shortened_text_fits_into_its_room(text in "\\PC{0,60}", room in 20.0..300.0_f64) {
            let short = shortened(&text, 13.0, room);
            prop_assert!(width(&short, 13.0) <= room, "{short}");
            prop_assert!(short == text || short.contains('…'));
        }
    }
}
