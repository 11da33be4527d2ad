//! Spelling correction of query words that no page or few pages have, and completion of words that
//! are still being typed.
//!
//! The words of all pages are the dictionary. Among the words at an edit distance of one, the word
//! on the largest number of pages is chosen (Kernighan, Church & Gale 1990, with the number of
//! pages as the prior). A word with the typed first letter counts as if it were on ten times as
//! many pages. For a long word without such a neighbour, the words at a distance of two are tried.
//!
//! **Invariant:** only words are replaced. Everything else in the query (quotes, exclusions, sites)
//! stays as it was typed.
//!
//! The work is bounded: few words are checked, and an automaton walks the dictionary. It walks
//! all words of titles, headings and anchors, but only those words of the body that begin with
//! the typed first letter. Walking all words of the body took 24 ms of a search of 25 ms.

use std::collections::HashMap;
use std::ops::Range;

use tantivy::query::FuzzyTermQuery;
use tantivy::schema::Term;
use tantivy::{Searcher, TantivyError};

use super::plan::{ALL_PARTS, Variants, pages};
use super::query::{Clause, ParsedQuery};
use super::search::SearchQuery;
use super::weights::Part;
use super::{Index, IndexError, words};

/// Maximum number of query words that are checked.
const WORDS: usize = 6;
/// Minimum letters of a word that is corrected. Shorter words have too many neighbours.
const SHORTEST: usize = 4;
/// Maximum letters of a word that is corrected. Longer words are identifiers, and their
/// automaton is large.
const LONGEST: usize = 32;
/// Minimum letters of a word in which two may be wrong.
const TWO_WRONG: usize = 8;
/// A suggestion must be on more than this many times as many pages as the typed word. The factor
/// is high because pages contain misspellings too.
const TIMES: u64 = 100;
/// Factor by which a correction with the typed first letter is preferred. Few errors are at the
/// beginning.
const SAME_START: u64 = 10;
/// Maximum number of completions of a prefix, and of dictionary words that are read for them in
/// each part of each segment.
const ENDINGS: usize = 16;
const LOOKED_AT: usize = 4_000;
/// Weight of an occurrence of a completed word. An occurrence of the typed word itself has the
/// weight 1.
const GOES_ON: f32 = 0.8;

/// The parts with few, well chosen words.
const SUMMARIES: [Part; 3] = [Part::Title, Part::Headings, Part::Anchors];

/// Alternatives to the words of a query.
#[derive(Debug, Default)]
pub(super) struct Expansions {
    /// The alternatives of the typed words.
    pub(super) words: Variants,
    /// Words that no page has, as byte ranges of the query, with the words searched instead.
    corrections: Vec<(Range<usize>, String)>,
}

impl Expansions {
    /// Returns the query with unknown words replaced. Returns `None` if none was replaced.
    pub(super) fn corrected(&self, text: &str) -> Option<String> {
        replaced(text, &self.corrections)
    }
}

/// Replaces byte ranges of a text, which must be in order. Returns `None` if there are none.
fn replaced(text: &str, places: &[(Range<usize>, String)]) -> Option<String> {
    let mut result = String::new();
    let mut copied = 0;
    for (place, word) in places {
        result += text.get(copied..place.start)?;
        result += word;
        copied = place.end;
    }
    result += text.get(copied..)?;
    (!places.is_empty()).then_some(result)
}

impl Index {
    /// Corrects the words of a query that are probably misspelled, and returns the new query.
    /// Returns `None` if there are no such words.
    pub fn meant(&self, text: &str) -> Result<Option<String>, IndexError> {
        self.read(|searcher| {
            let mut better = Vec::new();
            for (word, place) in typed(text) {
                if let Some(other) = self.better(searcher, &word, TIMES)? {
                    better.push((place, other));
                }
            }
            Ok(replaced(text, &better))
        })
    }

    /// Returns alternatives to the words of a query: corrections of words that no page has, and
    /// completions of the last word if the user is still typing.
    pub(super) fn expansions(
        &self,
        searcher: &Searcher,
        parsed: &ParsedQuery,
        query: &SearchQuery<'_>,
    ) -> Result<Expansions, TantivyError> {
        let mut expansions = Expansions::default();
        let count = parsed.wanted.len();
        for (number, clause) in parsed.wanted.iter().take(WORDS).enumerate() {
            let Some(word) = single_word(clause) else {
                continue;
            };
            let typing =
                query.prefix && number + 1 == count && clause.place.end == query.text.len();
            if typing {
                let endings = self.endings(searcher, word)?;
                let endings = endings.into_iter().map(|word| (word, GOES_ON));
                let words = &mut expansions.words;
                words.insert(clause.place.clone(), endings.collect());
            }
            let known = expansions.words.get(&clause.place);
            let unknown = known.is_none_or(Vec::is_empty)
                && pages(searcher, &self.fields, word, ALL_PARTS)? == 0;
            if unknown
                && is_correctable(word)
                && let Some(other) = self.better(searcher, word, 0)?
            {
                let place = clause.place.clone();
                let words = vec![(other.clone(), 1.0)];
                expansions.words.insert(place.clone(), words);
                expansions.corrections.push((place, other));
            }
        }
        Ok(expansions)
    }

    /// Returns the completions of a prefix that are on the largest numbers of pages, among the
    /// dictionary words that are read.
    fn endings(&self, searcher: &Searcher, start: &str) -> Result<Vec<String>, TantivyError> {
        let mut found: HashMap<String, u64> = HashMap::new();
        let parts = SUMMARIES.into_iter().chain([Part::Body]);
        for part in parts {
            for segment in searcher.segment_readers() {
                let inverted = segment.inverted_index(self.fields.part(part))?;
                let range = inverted.terms().range().ge(start).lt(behind(start));
                let mut terms = range.into_stream()?;
                let mut looked_at = 0;
                while looked_at < LOOKED_AT
                    && let Some((word, info)) = terms.next()
                {
                    looked_at += 1;
                    if let Ok(word) = str::from_utf8(word) {
                        *found.entry(word.to_owned()).or_default() += u64::from(info.doc_freq);
                    }
                }
            }
            // The next part is read only if there are not enough completions yet.
            if found.len() > ENDINGS {
                break;
            }
        }
        let mut found: Vec<(String, u64)> = found.into_iter().collect();
        found.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
        Ok(found
            .into_iter()
            .take(ENDINGS)
            .map(|(word, _)| word)
            .collect())
    }

    /// Returns the most likely correction of a word. The correction must be on more than `times`
    /// times as many pages; its pages are summed over the parts that are read.
    fn better(
        &self,
        searcher: &Searcher,
        word: &str,
        times: u64,
    ) -> Result<Option<String>, TantivyError> {
        let pages = pages(searcher, &self.fields, word, ALL_PARTS)?;
        let letters = word.chars().count();
        let wrong = if letters >= TWO_WRONG { 2 } else { 1 };
        for distance in 1..=wrong {
            let near = self.near(searcher, word, distance)?;
            let first = word.chars().next();
            let weight = |(other, pages): &(String, u64)| {
                let same = other.chars().next() == first;
                pages * if same { SAME_START } else { 1 }
            };
            let best = near
                .into_iter()
                .filter(|(other, count)| {
                    other != word && *count > pages * times && !words::is_compound(other)
                })
                .max_by(|one, other| weight(one).cmp(&weight(other)).then(other.0.cmp(&one.0)));
            if let Some((best, _)) = best {
                return Ok(Some(best));
            }
        }
        Ok(None)
    }

    /// Returns the words within an edit distance, and how many pages have each, summed over the
    /// parts that are read.
    fn near(
        &self,
        searcher: &Searcher,
        word: &str,
        distance: u8,
    ) -> Result<HashMap<String, u64>, TantivyError> {
        let mut near: HashMap<String, u64> = HashMap::new();
        let asked = FuzzyTermQuery::new(
            Term::from_field_text(self.fields.body, word),
            distance,
            true,
        );
        let first: String = word.chars().take(1).collect();
        for part in SUMMARIES.into_iter().chain([Part::Body]) {
            for segment in searcher.segment_readers() {
                let inverted = segment.inverted_index(self.fields.part(part))?;
                let mut walk = inverted.terms().search(asked.automaton()?);
                if part == Part::Body {
                    walk = walk.ge(&first).lt(behind(&first));
                }
                let mut terms = walk.into_stream()?;
                while let Some((other, info)) = terms.next() {
                    if let Ok(other) = str::from_utf8(other) {
                        *near.entry(other.to_owned()).or_default() += u64::from(info.doc_freq);
                    }
                }
            }
        }
        Ok(near)
    }
}

/// Returns the word of a clause that consists of a single unquoted word.
fn single_word(clause: &Clause) -> Option<&str> {
    match &clause.forms[..] {
        [form] if !clause.quoted && form.compound.is_none() => match &form.words[..] {
            [word] => Some(word),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the smallest byte string that is greater than all texts with this prefix.
fn behind(start: &str) -> Vec<u8> {
    let mut bytes = start.as_bytes().to_vec();
    // UTF-8 has no byte 0xff.
    if let Some(last) = bytes.last_mut() {
        *last += 1;
    }
    bytes
}

/// Returns whether a word is a candidate for correction.
fn is_correctable(word: &str) -> bool {
    word.chars().all(char::is_alphabetic) && (SHORTEST..=LONGEST).contains(&word.chars().count())
}

/// Returns the words of a query that are candidates for correction, with their byte ranges; also
/// those in quotes.
fn typed(text: &str) -> Vec<(String, Range<usize>)> {
    let mut analyzer = words::analyzer();
    let mut stream = analyzer.token_stream(text);
    let mut typed = Vec::new();
    while typed.len() < WORDS
        && let Some(token) = stream.next()
    {
        let place = token.offset_from..token.offset_to;
        let is_end = |letter: char| letter.is_whitespace() || letter == '"';
        let before = text[..place.start]
            .rsplit(is_end)
            .next()
            .unwrap_or_default();
        let after = text[place.end..].split(is_end).next().unwrap_or_default();
        // Words of compounds, operators and exclusions are not corrected.
        let joined =
            |c: char| c.is_alphanumeric() || matches!(c, ':' | '-' | '_' | '.' | '/' | '@');
        if is_correctable(&token.text)
            && !before.contains(joined)
            && !after.trim_end_matches(['.', ':']).contains(joined)
        {
            typed.push((token.text.clone(), place));
        }
    }
    typed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_single_words_are_candidates_for_correction() {
        let check = |text: &str, expected: &[&str]| {
            let words: Vec<String> = typed(text).into_iter().map(|(word, _)| word).collect();
            assert_eq!(words, expected, "{text}");
        };
        check("Avocet bird of 2024", &["avocet", "bird"]);
        check(
            "\"pied avocet\" -sandpiper site:birds.example bill.",
            &["pied", "avocet", "bill"],
        );
        check("東京都 x2000 os.path --amend", &[]);
        check(&"word ".repeat(50), &["word"; WORDS]);
        check(&"x".repeat(40), &[]);
    }

    #[test]
    fn only_the_words_are_replaced() {
        let places = [(2..5, "B".to_owned()), (6..7, "C".to_owned())];
        assert_eq!(replaced("a bcd e f", &places).as_deref(), Some("a B C f"));
        assert_eq!(replaced("a", &[]), None);
    }

    #[test]
    fn every_text_with_the_prefix_is_less_than_the_bound() {
        for (start, inside) in [("ab", "abz"), ("é", "éé"), ("東", "東京")] {
            assert!(inside.as_bytes() < &behind(start)[..] && start <= inside);
        }
    }
}
