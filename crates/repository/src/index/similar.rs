//! Pages that are about the same as another.

use std::collections::HashMap;

use page::PageId;
use tantivy::TantivyError;

use super::plan::{ALL_PARTS, pages};
use super::score::Scoring;
use super::search::{Hit, Query};
use super::shown::prefix;
use super::stored::{Stored, place};
use super::weights::{Part, Weights};
use super::{Index, IndexError, words};

/// Words that a page is looked up by.
const WORDS: usize = 12;

/// Bytes of the body that they are chosen from: its beginning says what it is about.
const READ: usize = 16 * 1024;

/// What an occurrence in title and headings counts.
const SUMMARY: f32 = 5.0;

/// Letters of a word: shorter ones say little.
const SHORTEST: usize = 3;

impl Index {
    /// The pages that have most of what is particular to a page, best first. Returns none if the index does not
    /// have the page.
    pub fn similar(&self, id: PageId, limit: usize) -> Result<Vec<Hit>, IndexError> {
        let words = self
            .particular(id)
            .map_err(|error| self.fail("read", error))?;
        let found = self.search(&Query {
            text: &words.join(" "),
            limit: limit + 1,
            ..Query::default()
        })?;
        let others = found.hits.into_iter().filter(|hit| hit.id != id);
        Ok(others.take(limit).collect())
    }

    /// The words of a page that are frequent in it and rare elsewhere (tf·idf).
    fn particular(&self, id: PageId) -> Result<Vec<String>, TantivyError> {
        let searcher = self.reader.searcher();
        let Some(address) = place(&searcher, &self.fields, id)? else {
            return Ok(Vec::new());
        };
        let stored = Stored::read(&searcher, &self.fields, address)?;
        let texts = stored.texts();
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
        let scoring = Scoring::new(&searcher, &self.fields, &Weights::default())?;
        let mut ranked = Vec::with_capacity(counts.len());
        for (word, count) in counts {
            let having = pages(&searcher, &self.fields, &word, ALL_PARTS)?;
            // A word that no other page has finds none.
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
