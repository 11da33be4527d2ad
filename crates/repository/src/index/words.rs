//! The tokenizer: splits text into the words that are indexed and searched.
//!
//! **Invariant:** a page and a query are split in the same way, so that equal text is found.
//! Case, combining marks, accents of Latin letters and the English plural are ignored. Each run
//! between ASCII whitespace is split on its own, so a text can be cut there without changing its
//! words.
//!
//! A *compound* (`os.path.join`, `--option`, `C++`, `x86_64`) is indexed as it is written, in
//! addition to the words in it. It has the position of its first word, so a phrase of its words
//! still matches. The parts of `camelCase` are words at the position of the whole.
//!
//! Scripts that put no spaces between words (Chinese, Japanese, Thai, …) are indexed by pairs of
//! neighbouring characters, as Lucene does. A query of several characters is then a phrase of
//! pairs. A query of one character finds only pages where it stands alone.

use std::collections::VecDeque;
use std::mem;

use tantivy::tokenizer::{
    AsciiFoldingFilter, RawTokenizer, TextAnalyzer, Token, TokenStream, Tokenizer,
};

/// The name of the analyzer in the schema. Change it whenever the splitting changes: the schema
/// check recognizes an older index only by this name.
pub(super) const NAME: &str = "words-2";

/// Words of this many bytes or more are skipped: base64, minified code. No natural language has
/// words of this length in ordinary text.
pub(super) const LONGEST: usize = 100;

/// Limits of a compound: bytes, and words in it. Longer ones are paths and URLs, which a phrase
/// finds.
const LONGEST_COMPOUND: usize = 64;
const COMPOUND_WORDS: usize = 8;

pub(super) fn analyzer() -> TextAnalyzer {
    TextAnalyzer::builder(WordTokenizer::default()).build()
}

/// Returns whether a word from the analyzer is a compound: only compounds have ASCII
/// punctuation.
pub(super) fn is_compound(word: &str) -> bool {
    word.bytes().any(|byte| byte.is_ascii_punctuation())
}

#[derive(Clone)]
struct WordTokenizer {
    token: Token,
    waiting: VecDeque<PendingWord>,
    /// Removes accents.
    folding: TextAnalyzer,
}

impl Default for WordTokenizer {
    fn default() -> Self {
        Self {
            token: Token::default(),
            waiting: VecDeque::new(),
            folding: TextAnalyzer::builder(RawTokenizer::default())
                .filter(AsciiFoldingFilter)
                .build(),
        }
    }
}

impl WordTokenizer {
    /// Stores a word in the token, in lower case and without marks, accents and plural.
    fn fold(&mut self, word: &str) {
        let text = &mut self.token.text;
        text.clear();
        if word.is_ascii() {
            text.push_str(word);
            text.make_ascii_lowercase();
            make_singular(text);
            return;
        }
        text.extend(
            word.chars()
                .filter(|&c| !is_mark(c))
                .flat_map(char::to_lowercase),
        );
        // Accents are removed only from Latin letters, which are in these blocks.
        if text.chars().any(|c| matches!(c, '\u{80}'..='\u{24f}' | '\u{1d00}'..='\u{1eff}' | '\u{2000}'..='\u{2fff}' | '\u{a700}'..='\u{a7ff}' | '\u{fb00}'..='\u{fb4f}' | '\u{ff00}'..='\u{ffef}')) {
            let lower = std::mem::take(text);
            if let Some(folded) = self.folding.token_stream(&lower).next() {
                text.push_str(&folded.text);
            }
            make_singular(text);
        }
    }
}

/// A word that was found and not yet returned.
#[derive(Clone, Copy)]
struct PendingWord {
    from: usize,
    to: usize,
    position: usize,
    /// The number of words in it.
    words: usize,
}

/// What comes next in a text.
enum NextRun {
    /// One word of ASCII letters and digits, of which only the first may be a capital, between
    /// characters that join nothing.
    Word(PendingWord),
    /// Anything else; its words, if there are any, are waiting.
    Split,
    /// The end of the text.
    End,
}

/// Classes of bytes: the rest, white space, a lower-case letter or digit, a capital, punctuation
/// that joins nothing, and punctuation that joins nothing at the end of a run.
const REST: u8 = 0;
const SPACE: u8 = 1;
const SMALL: u8 = 2;
const CAPITAL: u8 = 3;
const SEPARATOR: u8 = 4;
const FINAL: u8 = 5;

static CLASSES: [u8; 256] = {
    let mut classes = [REST; 256];
    let mut byte = 0;
    while byte < 128 {
        let letter = byte as u8;
        classes[byte] = match letter {
            _ if letter.is_ascii_whitespace() => SPACE,
            b'a'..=b'z' | b'0'..=b'9' => SMALL,
            b'A'..=b'Z' => CAPITAL,
            _ if is_final_joiner(letter as char) => FINAL,
            _ if letter.is_ascii_punctuation() && !is_joiner(letter as char) => SEPARATOR,
            _ => REST,
        };
        byte += 1;
    }
    classes
};

struct WordStream<'a> {
    text: &'a str,
    /// The offset at which the next run is searched.
    at: usize,
    /// The position of the next word.
    position: usize,
    words: &'a mut WordTokenizer,
}

impl Tokenizer for WordTokenizer {
    type TokenStream<'a> = WordStream<'a>;

    fn token_stream<'a>(&'a mut self, text: &'a str) -> WordStream<'a> {
        self.token.reset();
        self.waiting.clear();
        WordStream {
            text,
            at: 0,
            position: 0,
            words: self,
        }
    }
}

impl WordStream<'_> {
    /// Moves past the next run between whitespace.
    #[inline]
    fn run(&mut self) -> NextRun {
        let bytes = self.text.as_bytes();
        let class = |at: usize| {
            bytes
                .get(at)
                .map_or(SPACE, |byte| CLASSES[usize::from(*byte)])
        };
        let mut at = self.at;
        while at < bytes.len() && class(at) == SPACE {
            at += 1;
        }
        let start = at;
        while class(at) == SEPARATOR {
            at += 1;
        }
        let from = at;
        at += usize::from(class(at) == CAPITAL);
        while class(at) == SMALL {
            at += 1;
        }
        let to = at;
        while matches!(class(at), SEPARATOR | FINAL) {
            at += 1;
        }
        if class(at) == SPACE && to > from {
            // Most runs are such words, which need no further splitting.
            self.at = at;
            self.position += 1;
            return NextRun::Word(PendingWord {
                from,
                to,
                position: self.position - 1,
                words: 1,
            });
        }
        while class(at) != SPACE {
            at += 1;
        }
        self.at = at;
        if at == start {
            return NextRun::End;
        }
        self.chunks(start, at);
        NextRun::Split
    }

    /// Splits a run at the characters that end compounds.
    fn chunks(&mut self, start: usize, end: usize) {
        let run = &self.text[start..end];
        let mut from = 0;
        for (at, c) in run.char_indices() {
            if !is_word(c) && !is_mark(c) && !is_unspaced(c) && !is_joiner(c) {
                self.chunk(start + from, start + at);
                from = at + c.len_utf8();
            }
        }
        self.chunk(start + from, end);
    }

    /// Adds the words between two separators, and the compound that they form.
    fn chunk(&mut self, start: usize, end: usize) {
        let chunk = &self.text[start..end];
        let chunk = chunk.trim_end_matches(is_final_joiner);
        let end = start + chunk.len();
        let chunk = chunk.trim_start_matches(['/', ':', '+', '%']);
        let start = end - chunk.len();
        if chunk.is_empty() {
            return;
        }
        let place = self.words.waiting.len();
        let position = self.position;
        let (mut pairs, mut paired) = (false, false);
        let mut chars = chunk.char_indices().peekable();
        while let Some((at, c)) = chars.next() {
            if is_unspaced(c) {
                pairs = true;
                let second = chars.peek().copied().filter(|&(_, c)| is_unspaced(c));
                let was_paired = mem::replace(&mut paired, second.is_some());
                if second.is_some() || !was_paired {
                    let to = second.map_or(at + c.len_utf8(), |(at, c)| at + c.len_utf8());
                    self.push(start + at, start + to, 1);
                    self.position += 1;
                }
            } else if is_word(c) {
                let mut to = at + c.len_utf8();
                while let Some((at, c)) = chars.next_if(|&(_, c)| is_word(c) || is_mark(c)) {
                    to = at + c.len_utf8();
                }
                self.push(start + at, start + to, 1);
                self.camel(start + at, start + to);
                self.position += 1;
            }
        }
        let words = self.position - position;
        let whole = self
            .words
            .waiting
            .get(place)
            .is_some_and(|word| (word.from, word.to) == (start, end));
        if (1..=COMPOUND_WORDS).contains(&words)
            && !whole
            && !pairs
            && chunk.len() <= LONGEST_COMPOUND
        {
            let compound = PendingWord {
                from: start,
                to: end,
                position,
                words,
            };
            self.words.waiting.insert(place, compound);
        }
    }

    /// Adds the parts of a word in `camelCase` or `HTTPServer`. A single letter is not a part.
    fn camel(&mut self, start: usize, end: usize) {
        let word = &self.text.as_bytes()[start..end];
        if !word.is_ascii() || !word[1..].iter().any(u8::is_ascii_uppercase) {
            return;
        }
        let begins = |at: usize| {
            let (before, this) = (word[at - 1], word[at]);
            let next_small = word.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            this.is_ascii_uppercase() && (!before.is_ascii_uppercase() || next_small)
        };
        let mut from = 0;
        for at in (1..=word.len()).filter(|&at| at == word.len() || begins(at)) {
            if at - from > 1 && at - from < word.len() {
                self.push(start + from, start + at, 1);
            }
            from = at;
        }
    }

    fn push(&mut self, from: usize, to: usize, words: usize) {
        self.words.waiting.push_back(PendingWord {
            from,
            to,
            position: self.position,
            words,
        });
    }
}

impl TokenStream for WordStream<'_> {
    fn advance(&mut self) -> bool {
        loop {
            let piece = match self.words.waiting.pop_front() {
                Some(piece) => piece,
                None => match self.run() {
                    NextRun::Word(piece) => piece,
                    NextRun::Split => continue,
                    NextRun::End => return false,
                },
            };
            self.words.fold(&self.text[piece.from..piece.to]);
            let token = &mut self.words.token;
            // Nothing is left of a run of combining letters without a base.
            if token.text.is_empty() || token.text.len() >= LONGEST {
                continue;
            }
            token.offset_from = piece.from;
            token.offset_to = piece.to;
            token.position = piece.position;
            token.position_length = piece.words;
            return true;
        }
    }

    fn token(&self) -> &Token {
        &self.words.token
    }

    fn token_mut(&mut self) -> &mut Token {
        &mut self.words.token
    }
}

fn make_singular(word: &mut String) {
    let (kept, end) = singular(word.as_bytes());
    word.truncate(kept);
    word.push_str(end);
}

/// Removes the English plural from a word of lower-case letters. Returns how many bytes are
/// kept, and the ending to append.
///
/// This is a weaker form of the S-stemmer of Harman, "How effective is suffixing?" (JASIS 1991).
/// Words that end in -as, -is, -os, -us and -ss are unchanged (`alias`, `axis`, `process`).
pub(super) fn singular(word: &[u8]) -> (usize, &'static str) {
    let length = word.len();
    if length < 4 || word[length - 1] != b's' || !word.iter().all(u8::is_ascii_lowercase) {
        return (length, "");
    }
    let with_es: [&[u8]; 6] = [b"sses", b"shes", b"xes", b"tches", b"nches", b"rches"];
    if word.ends_with(b"ies") && length > 4 {
        (length - 3, "y")
    } else if with_es.iter().any(|end| word.ends_with(end)) {
        (length - 2, "")
    } else if matches!(word[length - 2], b'a' | b'i' | b'o' | b's' | b'u') {
        (length, "")
    } else {
        (length - 1, "")
    }
}

/// Returns whether a compound continues over this character.
pub(super) const fn is_joiner(c: char) -> bool {
    matches!(c, '_' | '-' | '.' | ':' | '/' | '@' | '#' | '+' | '$' | '%')
}

/// Returns whether a joiner is no part of a compound that it ends.
const fn is_final_joiner(c: char) -> bool {
    is_joiner(c) && !matches!(c, '+' | '#' | '_' | '$')
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || !c.is_ascii() && c.is_alphanumeric() && !is_unspaced(c)
}

/// Returns whether this is a combining diacritical mark: an accent that follows its letter.
fn is_mark(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

/// Returns whether this is a character of a script without spaces between words (blocks of
/// Unicode 16).
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
    fn texts_of_many_scripts_are_split() {
        let check = |text: &str, expected: &[&str]| assert_eq!(split(text), expected, "{text}");
        check("", &[]);
        check(
            "Hello, world-wide WEB 2.0!",
            &[
                "hello",
                "world-wide",
                "world",
                "wide",
                "web",
                "2.0",
                "2",
                "0",
            ],
        );
        check("Ärger café STRASSE", &["arger", "cafe", "strasse"]);
        check("cafe\u{301} e\u{301}\u{302}\u{301}x", &["cafe", "ex"]);
        check("Москва Ελλάδα", &["москва", "ελλάδα"]);
        check("東京都", &["東京", "京都"]);
        check("東", &["東"]);
        check("Rust は、速い 言語", &["rust", "は", "速い", "言語"]);
        check("iPhone手机", &["iphone", "phone", "手机"]);
        check("한국어 검색", &["한국어", "검색"]);
        check(&format!("a {} b", "x".repeat(LONGEST + 1)), &["a", "b"]);
    }

    #[test]
    fn compounds_are_indexed_with_their_words() {
        let check = |text: &str, expected: &[&str]| assert_eq!(split(text), expected, "{text}");
        check(
            "os.path.join(a, b)",
            &["os.path.join", "os", "path", "join", "a", "b"],
        );
        check(
            "git commit --amend.",
            &["git", "commit", "--amend", "amend"],
        );
        check("-o", &["-o", "o"]);
        check("--opt=VALUE", &["--opt", "opt", "value"]);
        check("__init__", &["__init__", "init"]);
        check("C++, c# and C.", &["c++", "c", "c#", "c", "and", "c"]);
        check(
            ".htaccess @media",
            &[".htaccess", "htaccess", "@media", "media"],
        );
        check("std::vector<int>", &["std::vector", "std", "vector", "int"]);
        check("/etc/fstab:", &["etc/fstab", "etc", "fstab"]);
        check("E0308: x", &["e0308", "x"]);
        check("RewriteRule", &["rewriterule", "rewrite", "rule"]);
        check(
            "HTTPServer iPhone",
            &["httpserver", "http", "server", "iphone", "phone"],
        );
        check("-- - ... ::", &[]);
        check(&"a/".repeat(9), &["a"; 9]);
    }

    #[test]
    fn english_plurals_become_singular() {
        for (plural, singular) in [
            ("caches", "cache"),
            ("processes", "process"),
            ("queries", "query"),
            ("boxes", "box"),
            ("branches", "branch"),
            ("threads", "thread"),
            ("alias", "alias"),
            ("axis", "axis"),
            ("status", "status"),
            ("ls", "ls"),
            ("c++s", "c++s"),
        ] {
            let mut word = plural.to_owned();
            make_singular(&mut word);
            assert_eq!(word, singular);
        }
    }

    #[test]
    fn compounds_and_parts_share_positions() {
        let mut places = Vec::new();
        analyzer()
            .token_stream("Call os.path in RewriteRule now")
            .process(&mut |token| {
                places.push((token.text.clone(), token.position, token.position_length));
            });
        let expected = [
            ("call", 0, 1),
            ("os.path", 1, 2),
            ("os", 1, 1),
            ("path", 2, 1),
            ("in", 3, 1),
            ("rewriterule", 4, 1),
            ("rewrite", 4, 1),
            ("rule", 4, 1),
            ("now", 5, 1),
        ];
        assert_eq!(
            places,
            expected.map(|(word, at, words)| (word.to_owned(), at, words))
        );
    }

    type FoundWord = (String, usize, usize, usize, usize);

    /// Returns the words of a text, with all runs split character by character.
    fn split_by_characters(text: &str) -> Vec<FoundWord> {
        let mut words = WordTokenizer::default();
        let mut stream = words.token_stream(text);
        let mut start = 0;
        for run in text.split(|c: char| c.is_ascii_whitespace()) {
            stream.chunks(start, start + run.len());
            start += run.len() + 1;
        }
        stream.at = text.len();
        all_of(&mut stream)
    }

    fn all_of(stream: &mut WordStream<'_>) -> Vec<FoundWord> {
        let mut all = Vec::new();
        while stream.advance() {
            let token = stream.token();
            all.push((
                token.text.clone(),
                token.offset_from,
                token.offset_to,
                token.position,
                token.position_length,
            ));
        }
        all
    }

    proptest! {
        #[test]
        fn runs_of_one_word_are_split_like_all_others(text in "(\\PC|[a-cA-C0-9s]|[a-z]{1,9}|[ \n\u{b}]|[-_.:/+#@$%,;()'\"!?=<>&*]){0,40}") {
            let mut words = WordTokenizer::default();
            let found = all_of(&mut words.token_stream(&text));
            prop_assert_eq!(found, split_by_characters(&text));
        }

        #[test]
        fn a_text_can_be_cut_at_blanks(one in "(\\PC|[a-zA-Z]|[-_.:/+#@]){0,30}", other in "(\\PC|[a-zA-Z]|[-_.:/+#@]){0,30}") {
            let mut both = split(&one);
            both.extend(split(&other));
            prop_assert_eq!(split(&format!("{one} {other}")), both);
        }

        #[test]
        fn offsets_and_positions_of_words_are_valid(text in "\\PC{0,60}") {
            let mut analyzer = analyzer();
            let mut stream = analyzer.token_stream(&text);
            let mut last = 0;
            while let Some(token) = stream.next() {
                prop_assert!(!token.text.is_empty());
                prop_assert!(text.get(token.offset_from..token.offset_to).is_some());
                prop_assert!(last <= token.position);
                last = token.position;
            }
        }
    }
}
