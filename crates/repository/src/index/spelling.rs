//! What a searcher meant who wrote a word that pages do not have, or has not finished writing.
//!
//! The words of all pages are the dictionary: of those that differ from the word by one letter or two, the one
//! that most pages have (Kernighan, Church & Gale 1990, with pages for the prior).
//!
//! **Invariant:** what is suggested is a query that finds more; everything else in the query (quotes, exclusions,
//! sites) stays as it was typed. The work is bounded: few words are looked at, and an automaton walks the
//! dictionary. It walks all words of titles, headings and anchors, but of the body only those that begin with the
//! letter that was typed: walking all of those took 24 ms of a search of 25 ms.

use std::collections::HashMap;
use std::ops::Range;

use tantivy::query::FuzzyTermQuery;
use tantivy::schema::Term;
use tantivy::{Searcher, TantivyError};

use super::plan::{ALL_PARTS, Variants, pages};
use super::query::{Clause, Parsed};
use super::search::Query;
use super::weights::Part;
use super::{Index, IndexError, words};

/// Words of a query that are looked at.
const WORDS: usize = 6;
/// Letters of a word: shorter ones have too many neighbours to mean anything.
const SHORTEST: usize = 4;
/// Longer ones are identifiers, and their automaton is large.
const LONGEST: usize = 32;
/// Letters of a word in which two may be wrong.
const TWO_WRONG: usize = 8;
/// How many times as many pages must have the other word: pages misspell as well.
const TIMES: u64 = 100;
/// How much rather a word begins with the letter that was typed: few err there.
const SAME_START: u64 = 10;
/// Words that a beginning stands for, and words of the dictionary that are looked at for them.
const ENDINGS: usize = 16;
const LOOKED_AT: usize = 4_000;
/// What an occurrence counts of a word that goes on from what was typed.
const GOES_ON: f32 = 0.8;

/// The parts whose words are few and were chosen with care.
const SUMMARIES: [Part; 3] = [Part::Title, Part::Headings, Part::Anchors];

/// What the words of a query stand for, beside themselves.
#[derive(Debug, Default)]
pub(super) struct Expansions {
    /// By where a word was typed.
    words: HashMap<(usize, usize), Vec<(String, f32)>>,
    /// Words that no page has, where they were typed, and what is searched for in their place.
    corrections: Vec<(Range<usize>, String)>,
}

impl Variants for Expansions {
    fn of(&self, _: &str, place: &Range<usize>) -> Vec<(String, f32)> {
        self.words
            .get(&(place.start, place.end))
            .cloned()
            .unwrap_or_default()
    }
}

impl Expansions {
    /// The query with the words that no page has replaced; `None` if there were none.
    pub(super) fn corrected(&self, text: &str) -> Option<String> {
        replaced(text, &self.corrections)
    }

    fn insert(&mut self, place: &Range<usize>, words: Vec<(String, f32)>) {
        self.words.insert((place.start, place.end), words);
    }
}

/// A text with some places replaced, which are in order; `None` if there are none.
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
    /// The query with the words that were likely misspelled put right. Returns `None` if none was.
    pub fn meant(&self, text: &str) -> Result<Option<String>, IndexError> {
        self.try_meant(text)
            .map_err(|error| self.fail("read", error))
    }

    fn try_meant(&self, text: &str) -> Result<Option<String>, TantivyError> {
        let searcher = self.reader.searcher();
        let mut better = Vec::new();
        for (word, place) in typed(text) {
            if let Some(other) = self.better(&searcher, &word, TIMES)? {
                better.push((place, other));
            }
        }
        Ok(replaced(text, &better))
    }

    /// What the words of a query stand for, beside themselves: corrections of words that no page has, and the words
    /// that go on from the last one if the searcher is still typing.
    pub(super) fn expansions(
        &self,
        searcher: &Searcher,
        parsed: &Parsed,
        query: &Query<'_>,
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
                expansions.insert(&clause.place, endings.collect());
            }
            let known = expansions
                .words
                .get(&(clause.place.start, clause.place.end));
            let unknown = known.is_none_or(Vec::is_empty)
                && pages(searcher, &self.fields, word, ALL_PARTS)? == 0;
            if unknown
                && is_correctable(word)
                && let Some(other) = self.better(searcher, word, 0)?
            {
                expansions.insert(&clause.place, vec![(other.clone(), 1.0)]);
                expansions.corrections.push((clause.place.clone(), other));
            }
        }
        Ok(expansions)
    }

    /// The words that begin with this and that most pages have, of those that are looked at.
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
            // The body is asked only if nothing else knows such a word.
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

    /// Returns the most likely correction of a word: one that is on more than `times` times as many pages.
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

    /// Returns the words within an edit distance, and how many pages have each.
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

/// The one word of a clause that is nothing else.
fn single_word(clause: &Clause) -> Option<&str> {
    match &clause.forms[..] {
        [form] if !clause.quoted && form.compound.is_none() => match &form.words[..] {
            [word] => Some(word),
            _ => None,
        },
        _ => None,
    }
}

/// The first text behind all that begin with this one.
fn behind(start: &str) -> Vec<u8> {
    let mut bytes = start.as_bytes().to_vec();
    // UTF-8 has no byte 0xff.
    if let Some(last) = bytes.last_mut() {
        *last += 1;
    }
    bytes
}

/// Whether a word could be misspelled.
fn is_correctable(word: &str) -> bool {
    word.chars().all(char::is_alphabetic) && (SHORTEST..=LONGEST).contains(&word.chars().count())
}

/// The words of a query that could be misspelled, and where they are; those in quotes too.
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
        // Words of compounds, of operators and of exclusions are meant as they are.
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
    fn words_that_may_be_wrong() {
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
    fn all_that_begins_alike_is_in_between() {
        for (start, inside) in [("ab", "abz"), ("é", "éé"), ("東", "東京")] {
            assert!(inside.as_bytes() < &behind(start)[..] && start <= inside);
        }
    }
}
