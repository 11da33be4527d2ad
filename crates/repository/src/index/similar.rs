//! Finds pages that are similar to a given page, by its characteristic words.

use std::collections::HashMap;

use page::PageId;
use tantivy::{Searcher, TantivyError};

use super::dictionary::Dictionary;
use super::plan::ALL_PARTS;
use super::safe_text::prefix;
use super::score::Scoring;
use super::search::{Hit, SearchQuery};
use super::stored::CommittedPage;
use super::weights::{Part, Weights};
use super::{Index, IndexError, words};

/// Maximum number of words that are searched.
const WORDS: usize = 12;

/// Bytes at the beginning of the body that the words are taken from. The beginning usually states
/// the topic.
const READ: usize = 16 * 1024;

/// Weight of an occurrence in title and headings; in the body it is 1.
const SUMMARY: f32 = 5.0;

/// Minimum letters of a word. Shorter words are rarely characteristic.
const SHORTEST: usize = 3;

impl Index {
    /// Searches for the characteristic words of a page, and returns the other pages that match
    /// best, best first. Returns none if the page is not in the index.
    pub fn similar(&self, id: PageId, limit: usize) -> Result<Vec<Hit>, IndexError> {
        let words = self.read(|searcher| self.particular(searcher, id))?;
        let found = self.search(&SearchQuery {
            text: &words.join(" "),
            limit: limit + 1,
            ..SearchQuery::default()
        })?;
        let others = found.hits.into_iter().filter(|hit| hit.id != id);
        Ok(others.take(limit).collect())
    }

    /// Returns the words that are frequent in a page and rare elsewhere (tf·idf).
    fn particular(&self, searcher: &Searcher, id: PageId) -> Result<Vec<String>, TantivyError> {
        let Some(stored) = CommittedPage::read(searcher, &self.fields, id)? else {
            return Ok(Vec::new());
        };
        let texts = stored.page.texts();
        let mut counts: HashMap<String, f32> = HashMap::new();
        let mut analyzer = words::analyzer();
        for (text, weight) in [
            (texts.of(Part::Title), SUMMARY),
            (texts.of(Part::Headings), SUMMARY),
            (prefix(texts.of(Part::Body), READ), 1.0),
        ] {
            analyzer.token_stream(text).process(&mut |token| {
                let letters = token.text.chars().all(char::is_alphabetic);
                if letters && token.text.chars().count() >= SHORTEST {
                    *counts.entry(token.text.clone()).or_default() += weight;
                }
            });
        }
        let dictionary = Dictionary::Index(searcher, &self.fields);
        let scoring = Scoring::new(&dictionary.size()?, &Weights::default());
        let mut ranked = Vec::with_capacity(counts.len());
        for (word, count) in counts {
            let having = dictionary.pages(&word, ALL_PARTS)?;
            // A word that no other page has finds no other page.
            if having > 1 {
                ranked.push((scoring.saturated(scoring.idf(having), count), word));
            }
        }
        ranked.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        Ok(ranked
            .into_iter()
            .take(WORDS)
            .map(|(_, word)| word)
            .collect())
    }
}
