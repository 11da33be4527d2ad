//! Parses the text of a query.
//!
//! **Invariant:** every text is a valid query, and no text can make a search expensive: its
//! length and the number of its words are limited (hostile-web.md, row 82).
//!
//! The syntax:
//! - Words, all of which should be in the page; `a OR b`; `"a phrase"`; `-excluded`.
//! - Operators: `site:example.org`, `title:word`, `url:word`, `author:lovelace` or `author:"Ada
//!   Lovelace"`, `date:2024-05` or `date:2019..2021`, `filetype:html` or `type:html`. A `-` before
//!   `site:`, `title:` or `url:` excludes pages. Before another operator, it excludes nothing and
//!   is reported as unknown.
//! - A single ASCII letter after `-` is a command line option (`tar -x`), and so is a word after
//!   `--`.
//!
//! There are no wildcards and no ranges of words, because these make queries expensive in other
//! search engines.

use std::ops::Range;

use page::PageUrl;
use tantivy::tokenizer::TextAnalyzer;

use super::weights::Part;
use super::words::is_compound;

/// Characters of a query that are read. The rest is ignored.
const TEXT_LIMIT: usize = 1000;

/// Maximum number of clauses, authors and excluded sites of a query, counted together. Also the
/// maximum number of words in a phrase.
const CLAUSE_LIMIT: usize = 32;

/// A parsed query.
#[derive(Debug, Default, PartialEq)]
pub(super) struct ParsedQuery {
    /// What pages should contain.
    pub(super) wanted: Vec<Clause>,
    /// What pages must not contain.
    pub(super) unwanted: Vec<Clause>,
    /// The domain that pages must be in.
    pub(super) site: Option<String>,
    /// Domains that pages must not be in.
    pub(super) other_sites: Vec<String>,
    /// Names of authors that pages must have.
    pub(super) authors: Vec<Vec<String>>,
    /// The range, in Unix seconds, of the date that pages must state.
    pub(super) date: Option<Range<i64>>,
    /// The kind of document that pages must be.
    pub(super) kind: Option<String>,
    /// Operators that were not understood. An unknown operator is parsed as words. An invalid date
    /// is ignored, and so is an author, date or file type that is to be excluded.
    pub(super) unknown: Vec<String>,
}

/// Something that a page should contain, in one of several forms.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Clause {
    /// The alternatives that were joined by `OR`.
    pub(super) forms: Vec<ClauseForm>,
    /// The only part of a page that is searched; `None` means all parts.
    pub(super) part: Option<Part>,
    /// Whether it was quoted, so that it must match exactly.
    pub(super) quoted: bool,
    /// Its byte range in the query.
    pub(super) place: Range<usize>,
}

/// One alternative of a clause.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct ClauseForm {
    /// Its words, which follow each other.
    pub(super) words: Vec<String>,
    /// The compound that the words form.
    pub(super) compound: Option<String>,
    /// The parts of a word in camel case.
    pub(super) parts: Vec<String>,
}

impl ParsedQuery {
    /// Returns whether the query finds no pages, because it has only exclusions or is empty.
    pub(super) fn is_empty(&self) -> bool {
        self.wanted.is_empty()
            && self.site.is_none()
            && self.authors.is_empty()
            && self.date.is_none()
            && self.kind.is_none()
    }

    fn is_full(&self) -> bool {
        let filters = self.authors.len() + self.other_sites.len();
        self.wanted.len() + self.unwanted.len() + filters >= CLAUSE_LIMIT
    }
}

/// The meaning of a piece of a query.
enum QueryOperator {
    Words(Option<Part>),
    Site,
    Author,
    Date,
    Kind,
}

/// The operators with their prefixes.
const OPERATORS: [(&str, QueryOperator); 7] = [
    ("site:", QueryOperator::Site),
    ("title:", QueryOperator::Words(Some(Part::Title))),
    ("url:", QueryOperator::Words(Some(Part::Url))),
    ("author:", QueryOperator::Author),
    ("date:", QueryOperator::Date),
    ("filetype:", QueryOperator::Kind),
    ("type:", QueryOperator::Kind),
];

pub(super) fn parse(text: &str, analyzer: &mut TextAnalyzer) -> ParsedQuery {
    let mut parsed = ParsedQuery::default();
    let end = text
        .char_indices()
        .nth(TEXT_LIMIT)
        .map_or(text.len(), |(at, _)| at);
    let text = &text[..end];
    let mut or = false;
    let mut rest = text.trim_start();
    while !rest.is_empty() && !parsed.is_full() {
        let after = rest.strip_prefix('-').filter(|after| excludes(after));
        let negative = after.is_some();
        rest = after.unwrap_or(rest);
        let operator = OPERATORS
            .iter()
            .find(|(name, _)| rest.starts_with(name))
            .filter(|(name, _)| rest[name.len()..].starts_with(|c: char| !c.is_whitespace()));
        let value = operator.map_or(rest, |(name, _)| &rest[name.len()..]);
        let quoted = value.starts_with('"');
        let place = text.len() - value.len();
        let piece;
        (piece, rest) = split(value);
        let place = place..text.len() - rest.len();
        rest = rest.trim_start();
        if piece == "OR" && !quoted && operator.is_none() {
            or = !parsed.wanted.is_empty() && !rest.is_empty();
            continue;
        }
        let or = std::mem::take(&mut or) && !negative;
        match operator.map_or(&QueryOperator::Words(None), |(_, operator)| operator) {
            QueryOperator::Words(part) => {
                let forms = forms(piece, quoted, analyzer);
                if part.is_none()
                    && !quoted
                    && let Some(name) = unknown_operator(piece)
                {
                    parsed.unknown.push(name.to_owned());
                }
                if forms.words.is_empty() {
                    continue;
                }
                let clause = Clause {
                    forms: vec![forms],
                    part: *part,
                    quoted,
                    place,
                };
                match (negative, parsed.wanted.last_mut()) {
                    (true, _) => parsed.unwanted.push(clause),
                    (false, Some(last)) if or && last.part == *part => {
                        last.forms.extend(clause.forms)
                    }
                    _ => parsed.wanted.push(clause),
                }
            }
            QueryOperator::Site => match (negative, site(piece)) {
                (true, site) => parsed.other_sites.extend(site),
                // An invalid site matches no page; without a site, all pages match.
                (false, site) => parsed.site = Some(site.unwrap_or_default()),
            },
            QueryOperator::Author | QueryOperator::Date | QueryOperator::Kind if negative => {
                parsed.unknown.push(format!("-{piece}"));
            }
            QueryOperator::Author => parsed
                .authors
                .extend(Some(words(piece, analyzer)).filter(|name| !name.is_empty())),
            QueryOperator::Date => match page::span(piece) {
                Some(date) => parsed.date = Some(date),
                None => parsed.unknown.push(format!("date:{piece}")),
            },
            QueryOperator::Kind => parsed.kind = Some(kind(piece)),
        }
    }
    parsed
}

/// Returns whether `-` excludes the text after it: a quote, a word of more than one letter (also
/// an operator), or a word whose first letter is not ASCII.
fn excludes(after: &str) -> bool {
    let mut letters = after.chars();
    match letters.next() {
        Some('"') => true,
        Some(first) if first.is_alphabetic() => {
            letters
                .next()
                .is_some_and(|second| second.is_alphanumeric() || !second.is_ascii())
                || !first.is_ascii()
        }
        _ => false,
    }
}

/// Returns the `name:` of `name:value` if it looks like an operator. The caller has removed the
/// known operators.
fn unknown_operator(piece: &str) -> Option<&str> {
    let (name, value) = piece.split_once(':')?;
    let is_name = name.len() > 2 && name.bytes().all(|byte| byte.is_ascii_lowercase());
    (is_name && value.starts_with(|c: char| c.is_alphanumeric())).then(|| &piece[..=name.len()])
}

/// Returns the kind of a document for a common name or file extension.
pub(super) fn kind(name: &str) -> String {
    let name = name.trim_start_matches('.').to_lowercase();
    match name.as_str() {
        "htm" | "xhtml" => "html".to_owned(),
        "txt" => "text".to_owned(),
        _ => name,
    }
}

/// Returns the domain in `Example.org`, `https://example.org/x` or `.example.org`, in the form
/// of a host in a URL. Returns `None` if it is invalid.
pub(super) fn site(name: &str) -> Option<String> {
    let name = name.split_once("://").map_or(name, |(_, rest)| rest);
    let name = name.split('/').next()?.trim_matches('.');
    let url = PageUrl::parse(&format!("http://{name}/")).ok()?;
    Some(url.host_name().to_owned())
}

/// Splits off a quoted phrase, which may lack its closing quote, or the text before the next
/// whitespace or quote.
fn split(text: &str) -> (&str, &str) {
    if let Some(phrase) = text.strip_prefix('"') {
        return phrase.split_once('"').unwrap_or((phrase, ""));
    }
    let end = text
        .find(|c: char| c.is_whitespace() || c == '"')
        .unwrap_or(text.len());
    text.split_at(end)
}

/// Splits a piece into its words, its compound and the parts of its camel-case word.
fn forms(piece: &str, quoted: bool, analyzer: &mut TextAnalyzer) -> ClauseForm {
    let mut form = ClauseForm::default();
    let mut whole = 0;
    let mut last = None;
    let mut stream = analyzer.token_stream(piece);
    while let Some(token) = stream.next() {
        let text = token.text.clone();
        if is_compound(&text) {
            whole = token.position_length;
            form.compound = Some(text);
        } else if last == Some(token.position) {
            form.parts.push(text);
        } else if form.words.len() < CLAUSE_LIMIT {
            last = Some(token.position);
            form.words.push(text);
        } else {
            break;
        }
    }
    if quoted || whole != form.words.len() {
        form.compound = None;
    }
    if quoted || form.words.len() > 1 {
        form.parts.clear();
    }
    form
}

/// Returns the words of a text, split as pages are, without compounds and without parts of
/// words.
pub(super) fn words(text: &str, analyzer: &mut TextAnalyzer) -> Vec<String> {
    forms(text, true, analyzer).words
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::words::analyzer;
    use super::*;

    /// Formats clauses: alternatives are separated by `|`, compounds are in brackets.
    fn described(clauses: &[Clause]) -> Vec<String> {
        let form = |form: &ClauseForm| {
            let compound = form
                .compound
                .as_ref()
                .map(|compound| format!(" [{compound}]"));
            form.words.join(" ") + &compound.unwrap_or_default()
        };
        let clause = |clause: &Clause| {
            let forms: Vec<String> = clause.forms.iter().map(form).collect();
            let part = clause
                .part
                .map_or(String::new(), |part| format!("{}:", part.name()));
            part + &forms.join("|")
        };
        clauses.iter().map(clause).collect()
    }

    /// Checks a query without exclusions and without a site.
    #[track_caller]
    fn check(text: &str, wanted: &[&str]) {
        check_all(text, wanted, &[], None);
    }

    #[track_caller]
    fn check_all(text: &str, wanted: &[&str], unwanted: &[&str], site: Option<&str>) {
        let parsed = parse(text, &mut analyzer());
        assert_eq!(described(&parsed.wanted), wanted, "{text}");
        assert_eq!(described(&parsed.unwanted), unwanted, "{text}");
        assert_eq!(parsed.site.as_deref(), site, "{text}");
    }

    #[test]
    fn words_phrases_exclusions_and_sites_are_parsed() {
        check("", &[]);
        check("  Rust   async ", &["rust", "async"]);
        check("\"memory safety\" rust", &["memory safety", "rust"]);
        check("a\"b c\"d", &["a", "b c", "d"]);
        check("\"never closed", &["never closed"]);
        check_all(
            "rust -game -\"the game\"",
            &["rust"],
            &["game", "the game"],
            None,
        );
        check("state-of-the-art", &["state of the art [state-of-the-art]"]);
        check_all(
            "site:Docs.Example.org x",
            &["x"],
            &[],
            Some("docs.example.org"),
        );
        check_all(
            "site:https://bücher.example/a x",
            &["x"],
            &[],
            Some("xn--bcher-kva.example"),
        );
        check("site: x", &["site", "x"]);
        check(
            "x AND (y z*) [a TO b] ~^\\/",
            &["x", "and", "y", "z", "a", "to", "b"],
        );
        check("\"\" -\"\" !", &[]);
        check("東京都", &["東京 京都"]);
    }

    #[test]
    fn options_and_identifiers_are_parsed_with_their_compounds() {
        check("git commit --amend", &["git", "commit", "amend [--amend]"]);
        check("tar -x -v", &["tar", "x [-x]", "v [-v]"]);
        check("- x --y -", &["x", "y [--y]"]);
        check("C++ c#", &["c [c++]", "c [c#]"]);
        check("os.path.join", &["os path join [os.path.join]"]);
        check("std::vector<int>", &["std vector int"]);
        check_all("-über", &[], &["uber"], None);
        let parsed = parse("RewriteRule", &mut analyzer());
        assert_eq!(parsed.wanted[0].forms[0].parts, ["rewrite", "rule"]);
    }

    #[test]
    fn alternatives_and_operators_for_parts_are_parsed() {
        check("cat OR dog food", &["cat|dog", "food"]);
        check("cat OR \"big dog\" OR bird", &["cat|big dog|bird"]);
        check("OR cat OR", &["cat"]);
        check("cat or dog", &["cat", "or", "dog"]);
        check(
            "title:avocet url:birds x",
            &["title:avocet", "url:bird", "x"],
        );
        check_all("x -title:stilt", &["x"], &["title:stilt"], None);
        let parsed = parse(
            "x -site:a.example -site:b.example filetype:.HTM",
            &mut analyzer(),
        );
        assert_eq!(parsed.other_sites, ["a.example", "b.example"]);
        assert_eq!((parsed.site, parsed.kind.as_deref()), (None, Some("html")));
    }

    #[test]
    fn unknown_operators_are_reported() {
        let unknown = |text| parse(text, &mut analyzer()).unknown;
        assert_eq!(unknown("inurl:x intitle:y"), ["inurl:", "intitle:"]);
        assert_eq!(unknown("date:soon"), ["date:soon"]);
        assert_eq!(unknown("x -author:ada"), ["-ada"]);
        let none: [&str; 0] = [];
        assert_eq!(
            unknown("std::vector http://a.example C:x note: x site:a.b \"a:b\""),
            none
        );
        check("inurl:x", &["inurl x [inurl:x]"]);
    }

    #[test]
    fn authors_and_dates_become_filters() {
        let parsed = parse(
            "engine author:Lovelace author:\"Charles Babbage\"notes date:1843",
            &mut analyzer(),
        );
        assert_eq!(described(&parsed.wanted), ["engine", "note"]);
        let names: [&[&str]; 2] = [&["lovelace"], &["charle", "babbage"]];
        assert_eq!(parsed.authors, names);
        assert_eq!(parsed.date, page::span("1843"));
        assert!(parse("author:\"\" -xy", &mut analyzer()).is_empty());
    }

    #[test]
    fn long_queries_are_cut() {
        let parsed = parse(&"ab ".repeat(10_000_000), &mut analyzer());
        assert_eq!(parsed.wanted.len(), CLAUSE_LIMIT);
        let parsed = parse(&format!("\"{}\"", "ab ".repeat(500)), &mut analyzer());
        assert_eq!(parsed.wanted[0].forms[0].words.len(), CLAUSE_LIMIT);
        let parsed = parse(&format!("{}late", " ".repeat(TEXT_LIMIT)), &mut analyzer());
        assert_eq!(parsed, ParsedQuery::default());
    }

    proptest! {
        #[test]
        fn any_text_is_parsed_within_the_limits(text in "(\\PC|site:|author:|date:|title:|OR|-|\"|\\s){0,80}") {
            let parsed = parse(&text, &mut analyzer());
            prop_assert!(parsed.wanted.len() + parsed.unwanted.len() <= CLAUSE_LIMIT);
            for clause in parsed.wanted {
                prop_assert!(text.get(clause.place).is_some());
            }
        }
    }
}
