//! What a searcher asks for.
//!
//! **Invariant:** every text is a query; nothing in it is an error, and nothing in it can make a
//! search expensive: its length and the number of its words are limited (hostile-web.md, row 82).
//!
//! Words, all of which should be there; `"a phrase"`; `-not this`; `site:example.org`, `author:lovelace` or
//! `author:"Ada Lovelace"`, `date:2024-05` or `date:2019..2021`. No wildcards, no ranges of words: those are where
//! other engines' queries blow up.

use std::ops::Range;

use page::PageUrl;
use tantivy::tokenizer::TextAnalyzer;

/// Characters read; the rest is ignored.
const TEXT_LIMIT: usize = 1000;

/// Words and phrases read, and words of a phrase.
const CLAUSE_LIMIT: usize = 32;

/// A query, taken apart.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Parsed {
    /// What pages should hold.
    pub(super) wanted: Vec<Clause>,
    /// What they must not.
    pub(super) unwanted: Vec<Clause>,
    /// The domain they must be in.
    pub(super) site: Option<String>,
    /// Those who must have written them.
    pub(super) authors: Vec<Clause>,
    /// The time that they must be of, in Unix seconds.
    pub(super) date: Option<Range<i64>>,
}

impl Parsed {
    fn add_author(&mut self, name: Clause) {
        if !name.is_empty() && self.authors.len() < CLAUSE_LIMIT {
            self.authors.push(name);
        }
    }

    /// Whether nothing is asked for.
    pub(super) fn is_empty(&self) -> bool {
        self.wanted.is_empty()
            && self.site.is_none()
            && self.authors.is_empty()
            && self.date.is_none()
    }
}

/// One word, or several that must follow each other.
pub(super) type Clause = Vec<String>;

pub(super) fn parse(text: &str, analyzer: &mut TextAnalyzer) -> Parsed {
    let mut parsed = Parsed::default();
    let end = text
        .char_indices()
        .nth(TEXT_LIMIT)
        .map_or(text.len(), |(at, _)| at);
    let mut rest = text[..end].trim_start();
    while !rest.is_empty() && parsed.wanted.len() + parsed.unwanted.len() < CLAUSE_LIMIT {
        let negative = rest
            .strip_prefix('-')
            .filter(|after| !after.starts_with(char::is_whitespace));
        let piece;
        (piece, rest) = split(negative.unwrap_or(rest));
        if piece == "author:" && negative.is_none() && rest.starts_with('"') {
            let name;
            (name, rest) = split(rest);
            parsed.add_author(words(name, analyzer));
            rest = rest.trim_start();
            continue;
        }
        rest = rest.trim_start();
        if let Some(name) = piece.strip_prefix("author:")
            && negative.is_none()
        {
            parsed.add_author(words(name, analyzer));
            continue;
        }
        if let Some(date) = piece.strip_prefix("date:").and_then(page::span)
            && negative.is_none()
        {
            parsed.date = Some(date);
            continue;
        }
        if let Some(name) = piece.strip_prefix("site:")
            && negative.is_none()
        {
            parsed.site = site(name).or(parsed.site);
            continue;
        }
        let clause = words(piece, analyzer);
        if !clause.is_empty() {
            let list = if negative.is_some() {
                &mut parsed.unwanted
            } else {
                &mut parsed.wanted
            };
            list.push(clause);
        }
    }
    parsed
}

/// The domain that a person means by `Example.org`, `https://example.org/x` or `.example.org`,
/// as hosts are written in URLs. Returns `None` if it is none.
pub(super) fn site(name: &str) -> Option<String> {
    let name = name.split_once("://").map_or(name, |(_, rest)| rest);
    let name = name.split('/').next()?.trim_matches('.');
    let url = PageUrl::parse(&format!("http://{name}/")).ok()?;
    Some(url.host_name().to_owned())
}

/// Takes a quoted phrase, open-ended if its end is missing, or what is before the next blank or
/// quote.
fn split(text: &str) -> (&str, &str) {
    if let Some(phrase) = text.strip_prefix('"') {
        return phrase.split_once('"').unwrap_or((phrase, ""));
    }
    let end = text
        .find(|c: char| c.is_whitespace() || c == '"')
        .unwrap_or(text.len());
    text.split_at(end)
}

/// The words of a text, as pages are split.
pub(super) fn words(text: &str, analyzer: &mut TextAnalyzer) -> Clause {
    let mut words = Vec::new();
    let mut stream = analyzer.token_stream(text);
    while words.len() < CLAUSE_LIMIT && stream.advance() {
        words.push(stream.token().text.clone());
    }
    words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::words::analyzer;
    use super::*;

    #[test]
    fn queries() {
        let check = |text: &str, wanted: &[&str], unwanted: &[&str], site: Option<&str>| {
            let join = |clauses: &[Clause]| -> Vec<String> {
                clauses.iter().map(|clause| clause.join(" ")).collect()
            };
            let parsed = parse(text, &mut analyzer());
            assert_eq!(join(&parsed.wanted), wanted, "{text}");
            assert_eq!(join(&parsed.unwanted), unwanted, "{text}");
            assert_eq!(parsed.site.as_deref(), site, "{text}");
        };
        check("", &[], &[], None);
        check("  Rust   async ", &["rust", "async"], &[], None);
        check(
            "\"memory safety\" rust",
            &["memory safety", "rust"],
            &[],
            None,
        );
        check("a\"b c\"d", &["a", "b c", "d"], &[], None);
        check("\"never closed", &["never closed"], &[], None);
        check(
            "rust -game -\"the game\"",
            &["rust"],
            &["game", "the game"],
            None,
        );
        check("state-of-the-art", &["state of the art"], &[], None);
        check("- x --y -", &["x"], &["y"], None);
        check(
            "site:Docs.Example.org x",
            &["x"],
            &[],
            Some("docs.example.org"),
        );
        check(
            "site:https://bücher.example/a x",
            &["x"],
            &[],
            Some("xn--bcher-kva.example"),
        );
        check("site: x", &["x"], &[], None);
        check(
            "title:x AND (y OR z*) [a TO b] ~^\\/",
            &["title x", "and", "y", "or", "z", "a", "to", "b"],
            &[],
            None,
        );
        check("C++ \"\" -\"\" !", &["c"], &[], None);
        check("東京都", &["東京 京都"], &[], None);
    }

    #[test]
    fn authors_and_dates_are_taken_out() {
        let parsed = parse(
            "engine author:Lovelace author:\"Charles Babbage\"notes date:1843",
            &mut analyzer(),
        );
        assert_eq!(parsed.wanted, [["engine"], ["notes"]]);
        let names: [&[&str]; 2] = [&["lovelace"], &["charles", "babbage"]];
        assert_eq!(parsed.authors, names);
        assert_eq!(parsed.date, page::span("1843"));
        let odd = parse("author: x date:soon -author:y", &mut analyzer());
        assert_eq!(odd.wanted, [vec!["x"], vec!["date", "soon"]]);
        assert_eq!(odd.unwanted, [["author", "y"]]);
        assert!(odd.authors.is_empty() && odd.date.is_none());
        assert!(parse("author:\"\" -x", &mut analyzer()).is_empty());
    }

    #[test]
    fn long_queries_are_cut() {
        let parsed = parse(&"ab ".repeat(10_000_000), &mut analyzer());
        assert_eq!(parsed.wanted.len(), CLAUSE_LIMIT);
        let parsed = parse(&format!("\"{}\"", "ab ".repeat(500)), &mut analyzer());
        assert_eq!(parsed.wanted[0].len(), CLAUSE_LIMIT);
        let parsed = parse(&format!("{}late", " ".repeat(TEXT_LIMIT)), &mut analyzer());
        assert_eq!(parsed, Parsed::default());
    }

    proptest! {
        #[test]
        fn any_text_is_a_query(text in "(\\PC|site:|author:|date:|-|\"|\\s){0,80}") {
            let parsed = parse(&text, &mut analyzer());
            prop_assert!(parsed.wanted.len() + parsed.unwanted.len() <= CLAUSE_LIMIT);
        }
    }
}
