//! How text is split into the words that are indexed and searched.
//!
//! **Invariant:** a page and a query are split the same way, so that what is written alike is
//! found. Case, accents and combining marks do not count.
//!
//! Scripts that put no blanks between words (Chinese, Japanese, Thai, …) are indexed by pairs of
//! neighbouring characters, as Lucene does; a query of several characters is then a phrase of
//! pairs. A single character finds only where it stands alone.

use std::iter::Peekable;
use std::str::CharIndices;

use tantivy::tokenizer::{
    AsciiFoldingFilter, LowerCaser, RemoveLongFilter, TextAnalyzer, Token, TokenStream, Tokenizer,
};

/// The name of the analyzer in the schema. It changes when the splitting does: an index knows how
/// it was split by this name only.
pub(super) const NAME: &str = "words-1";

/// Longer words, in bytes, are noise: base64, minified code. The longest word in German print has
/// 80 letters.
pub(super) const LONGEST: usize = 100;

pub(super) fn analyzer() -> TextAnalyzer {
    TextAnalyzer::builder(Words::default())
        .filter(RemoveLongFilter::limit(LONGEST))
        .filter(LowerCaser)
        .filter(AsciiFoldingFilter)
        .build()
}

#[derive(Clone, Default)]
struct Words {
    token: Token,
}

struct WordStream<'a> {
    text: &'a str,
    chars: Peekable<CharIndices<'a>>,
    token: &'a mut Token,
    /// Whether the next character was already the second of a pair.
    paired: bool,
}

impl Tokenizer for Words {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        let chars = text.char_indices().peekable();
        WordStream {
            text,
            chars,
            token: &mut self.token,
            paired: false,
        }
    }
}

impl WordStream<'_> {
    /// Takes the word that starts here.
    fn word(&mut self, start: usize) {
        let mut marked = false;
        while let Some((_, c)) = self.chars.next_if(|&(_, c)| is_word(c) || is_mark(c)) {
            marked |= is_mark(c);
        }
        let end = self.chars.peek().map_or(self.text.len(), |&(at, _)| at);
        let word = &self.text[start..end];
        if marked {
            self.token
                .text
                .extend(word.chars().filter(|&c| !is_mark(c)));
        } else {
            self.token.text.push_str(word);
        }
        self.token.offset_from = start;
        self.token.offset_to = end;
    }

    /// Takes this character and the next, which stays to start a pair itself. Returns whether
    /// there is anything new in it.
    fn pair(&mut self, start: usize, first: char) -> bool {
        let second = self.chars.peek().copied().filter(|&(_, c)| is_unspaced(c));
        let was_paired = std::mem::replace(&mut self.paired, second.is_some());
        if second.is_none() && was_paired {
            return false;
        }
        self.token.text.push(first);
        let mut end = start + first.len_utf8();
        if let Some((at, c)) = second {
            self.token.text.push(c);
            end = at + c.len_utf8();
        }
        self.token.offset_from = start;
        self.token.offset_to = end;
        true
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        self.token.text.clear();
        self.token.position = self.token.position.wrapping_add(1);
        while let Some((start, c)) = self.chars.next() {
            if is_unspaced(c) {
                if self.pair(start, c) {
                    return true;
                }
            } else if is_word(c) {
                self.word(start);
                return true;
            }
        }
        false
    }

    fn token(&self) -> &Token {
        self.token
    }

    fn token_mut(&mut self) -> &mut Token {
        self.token
    }
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || !c.is_ascii() && c.is_alphanumeric() && !is_unspaced(c)
}

/// Combining diacritical marks: accents that follow their letter.
fn is_mark(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

/// Characters of scripts without blanks between words (Unicode 16, Blocks.txt).
fn is_unspaced(c: char) -> bool {
    if c < '\u{e00}' {
        return false;
    }
    c.is_alphanumeric()
        && matches!(c,
            '\u{e00}'..='\u{eff}'        // Thai, Lao
            | '\u{1000}'..='\u{109f}'    // Myanmar
            | '\u{1780}'..='\u{17ff}'    // Khmer
            | '\u{2e80}'..='\u{31ff}'    // radicals, kana, Bopomofo
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(text: &str) -> Vec<String> {
        let mut words = Vec::new();
        analyzer()
            .token_stream(text)
            .process(&mut |token| words.push(token.text.clone()));
        words
    }

    #[test]
    fn words_of_many_scripts() {
        let check = |text: &str, expected: &[&str]| assert_eq!(split(text), expected, "{text}");
        check("", &[]);
        check(
            "Hello, world-wide WEB 2.0!",
            &["hello", "world", "wide", "web", "2", "0"],
        );
        check("Ärger café STRASSE", &["arger", "cafe", "strasse"]);
        check("cafe\u{301} e\u{301}\u{302}\u{301}x", &["cafe", "ex"]);
        check("Москва Ελλάδα", &["москва", "ελλάδα"]);
        check("東京都", &["東京", "京都"]);
        check("東", &["東"]);
        check("Rust は、速い 言語", &["rust", "は", "速い", "言語"]);
        check("iPhone手机", &["iphone", "手机"]);
        check("한국어 검색", &["한국어", "검색"]);
        check(&format!("a {} b", "x".repeat(LONGEST + 1)), &["a", "b"]);
    }

    proptest! {
        #[test]
        fn words_are_where_they_say(text in "\\PC{0,60}") {
            let mut analyzer = analyzer();
            let mut stream = analyzer.token_stream(&text);
            let mut last = None;
            while let Some(token) = stream.next() {
                prop_assert!(!token.text.is_empty());
                prop_assert!(text.get(token.offset_from..token.offset_to).is_some());
                prop_assert!(last < Some((token.position, token.offset_from)));
                last = Some((token.position, token.offset_from));
            }
        }
    }
}
