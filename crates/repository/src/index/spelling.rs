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

use std::ops::Range;

use tantivy::TantivyError;

use super::dictionary::{Dictionary, READ, WordCounts};
use super::plan::{ALL_PARTS, Variants};
use super::query::{Clause, ParsedQuery};
use super::search::SearchQuery;
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
/// Maximum number of completions of a prefix.
pub(super) const ENDINGS: usize = 16;
/// Weight of an occurrence of a completed word. An occurrence of the typed word itself has the
/// weight 1.
const GOES_ON: f32 = 0.8;

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
        self.read(|searcher| meant(text, Dictionary::Index(searcher, &self.fields)))
    }
}

/// Returns the query with words that are probably misspelled corrected, if there are any.
pub(super) fn meant(
    text: &str,
    dictionary: Dictionary<'_>,
) -> Result<Option<String>, TantivyError> {
    let mut better = Vec::new();
    for (word, place) in typed(text) {
        if let Some(other) = correction(&word, dictionary, TIMES)? {
            better.push((place, other));
        }
    }
    Ok(replaced(text, &better))
}

/// Returns alternatives to the words of a query: corrections of words that no page has, and
/// completions of the last word if the user is still typing.
pub(super) fn expansions(
    parsed: &ParsedQuery,
    query: &SearchQuery<'_>,
    dictionary: Dictionary<'_>,
) -> Result<Expansions, TantivyError> {
    let mut expansions = Expansions::default();
    for checked in checked_words(parsed, query) {
        let (word, place) = (checked.word, checked.place);
        let mut known = false;
        if checked.typing {
            let endings = endings(word, dictionary)?;
            known = !endings.is_empty();
            let endings = endings.into_iter().map(|word| (word, GOES_ON));
            expansions.words.insert(place.clone(), endings.collect());
        }
        if !known
            && dictionary.pages(word, ALL_PARTS)? == 0
            && is_correctable(word)
            && let Some(other) = correction(word, dictionary, 0)?
        {
            let words = vec![(other.clone(), 1.0)];
            expansions.words.insert(place.clone(), words);
            expansions.corrections.push((place.clone(), other));
        }
    }
    Ok(expansions)
}

/// A word of a query that may be corrected or completed.
pub(super) struct CheckedWord<'a> {
    pub(super) word: &'a str,
    /// Its byte range in the query.
    place: &'a Range<usize>,
    /// Whether the user may still be typing it.
    pub(super) typing: bool,
}

/// Returns the words of a query that may be corrected or completed.
pub(super) fn checked_words<'a>(
    parsed: &'a ParsedQuery,
    query: &SearchQuery<'_>,
) -> impl Iterator<Item = CheckedWord<'a>> {
    let (prefix, end, count) = (query.prefix, query.text.len(), parsed.wanted.len());
    let clauses = parsed.wanted.iter().take(WORDS).enumerate();
    clauses.filter_map(move |(number, clause)| {
        Some(CheckedWord {
            word: single_word(clause)?,
            place: &clause.place,
            typing: prefix && number + 1 == count && clause.place.end == end,
        })
    })
}

/// Returns the completions of a prefix that are on the largest numbers of pages, among the
/// dictionary words that are read.
fn endings(start: &str, dictionary: Dictionary<'_>) -> Result<Vec<String>, TantivyError> {
    let mut found = WordCounts::new();
    for place in 0..READ.len() {
        dictionary.endings(start, place, &mut found)?;
        // The next part is read only if there are not enough completions yet.
        if found.len() > ENDINGS {
            break;
        }
    }
    let mut found: Vec<(String, u64)> = found.into_iter().collect();
    found.sort_by(|one, other| other.1.cmp(&one.1).then(one.0.cmp(&other.0)));
    let words = found.into_iter().map(|(word, _)| word);
    Ok(words.take(ENDINGS).collect())
}

/// Returns the most likely correction of a word. The correction must be on more than `times`
/// times as many pages; its pages are summed over the parts that are read.
fn correction(
    word: &str,
    dictionary: Dictionary<'_>,
    times: u64,
) -> Result<Option<String>, TantivyError> {
    let pages = dictionary.pages(word, ALL_PARTS)?;
    for distance in 1..=max_distance(word) {
        let best = most_likely(word, dictionary.near(word, distance)?, pages * times);
        if best.is_some() {
            return Ok(best);
        }
    }
    Ok(None)
}

/// Returns the most likely correction of a word among the words near it, if one is on more than
/// `pages` pages.
pub(super) fn most_likely(word: &str, near: WordCounts, pages: u64) -> Option<String> {
    let first = word.chars().next();
    let weight = |(other, pages): &(String, u64)| {
        let same = other.chars().next() == first;
        pages * if same { SAME_START } else { 1 }
    };
    let best = near
        .into_iter()
        .filter(|(other, count)| other != word && *count > pages && !words::is_compound(other))
        .max_by(|one, other| weight(one).cmp(&weight(other)).then(other.0.cmp(&one.0)));
    best.map(|(best, _)| best)
}

/// Returns the largest edit distance at which a correction of a word is looked for.
pub(super) fn max_distance(word: &str) -> u8 {
    if word.chars().count() >= TWO_WRONG {
        2
    } else {
        1
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

/// Returns whether a word is a candidate for correction.
pub(super) fn is_correctable(word: &str) -> bool {
    word.chars().all(char::is_alphabetic) && (SHORTEST..=LONGEST).contains(&word.chars().count())
}

/// Returns the words of a query that are candidates for correction, with their byte ranges; also
/// those in quotes.
pub(super) fn typed(text: &str) -> Vec<(String, Range<usize>)> {
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
}
