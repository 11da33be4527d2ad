//! What did a searcher mean who wrote a word that pages do not have?
//!
//! The words of all pages are the dictionary: of those that differ from the word by one letter or two, the one
//! that most pages have (Kernighan, Church & Gale 1990, with pages for the prior).
//!
//! **Invariant:** what is suggested is a query that finds more; everything else in the query (quotes, exclusions,
//! sites) stays as it was typed. The work is bounded: few words are looked at, and an automaton walks the
//! dictionary, which does not read all of it.

use std::collections::HashMap;
use std::ops::Range;

use tantivy::query::FuzzyTermQuery;
use tantivy::schema::Term;
use tantivy::{Searcher, TantivyError};

use super::{Index, IndexError, words};

/// Words of a query that are looked at.
const WORDS: usize = 6;
/// Letters of a word: shorter ones have too many neighbours to mean anything.
const SHORTEST: usize = 4;
/// Longer ones are nobody's word, and their automaton is large.
const LONGEST: usize = 32;
/// Letters of a word in which two may be wrong.
const TWO_WRONG: usize = 8;
/// How many times as many pages must have the other word: pages misspell as well.
const TIMES: u64 = 100;
/// How much rather a word begins with the letter that was typed: few err there.
const SAME_START: u64 = 10;

impl Index {
    /// The query with the words that were likely misspelled put right. Returns `None` if none was.
    pub fn meant(&self, text: &str) -> Result<Option<String>, IndexError> {
        self.try_meant(text)
            .map_err(|error| self.fail("read", error))
    }

    fn try_meant(&self, text: &str) -> Result<Option<String>, TantivyError> {
        let searcher = self.reader.searcher();
        let mut meant = String::new();
        let mut copied = 0;
        for (word, place) in typed(text) {
            if let Some(better) = self.better(&searcher, &word)? {
                meant += &text[copied..place.start];
                meant += &better;
                copied = place.end;
            }
        }
        let changed = copied > 0;
        meant += &text[copied..];
        Ok(changed.then_some(meant))
    }

    /// The word that was meant by another.
    fn better(&self, searcher: &Searcher, word: &str) -> Result<Option<String>, TantivyError> {
        let pages = searcher.doc_freq(&Term::from_field_text(self.fields.body, word))?
            + searcher.doc_freq(&Term::from_field_text(self.fields.title, word))?;
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
                .filter(|(other, count)| other != word && *count > pages * TIMES)
                .max_by(|one, other| weight(one).cmp(&weight(other)).then(other.0.cmp(&one.0)));
            if let Some((best, _)) = best {
                return Ok(Some(best));
            }
        }
        Ok(None)
    }

    /// The words of pages at most so many letters away, and how many pages have them.
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
        for segment in searcher.segment_readers() {
            let inverted = segment.inverted_index(self.fields.body)?;
            let mut terms = inverted.terms().search(asked.automaton()?).into_stream()?;
            while let Some((other, info)) = terms.next() {
                if let Ok(other) = str::from_utf8(other) {
                    *near.entry(other.to_owned()).or_default() += u64::from(info.doc_freq);
                }
            }
        }
        Ok(near)
    }
}

/// The words of a query that could be misspelled, and where they are.
fn typed(text: &str) -> Vec<(String, Range<usize>)> {
    let mut analyzer = words::analyzer();
    let mut stream = analyzer.token_stream(text);
    let mut typed = Vec::new();
    while typed.len() < WORDS
        && let Some(token) = stream.next()
    {
        let place = token.offset_from..token.offset_to;
        let before = text[..place.start]
            .rsplit(|letter: char| letter.is_whitespace() || letter == '"')
            .next()
            .unwrap_or_default();
        let piece = &text[place.start - before.len()..];
        let is_word = token.text.chars().all(char::is_alphabetic)
            && (SHORTEST..=LONGEST).contains(&token.text.chars().count());
        if is_word && !piece.starts_with("site:") && !piece.starts_with('-') {
            typed.push((token.text.clone(), place));
        }
    }
    typed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_may_be_wrong() {
        let check = |text: &str, expected: &[&str]| {
            let words: Vec<String> = typed(text).into_iter().map(|(word, _)| word).collect();
            assert_eq!(words, expected, "{text}");
        };
        check("Avocet bird of 2024", &["avocet", "bird"]);
        check(
            "\"pied avocet\" -sandpiper site:birds.example",
            &["pied", "avocet"],
        );
        check("東京都 x2000", &[]);
        check(&"word ".repeat(50), &["word"; WORDS]);
        check(&"x".repeat(40), &[]);
    }
}
