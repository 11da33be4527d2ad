//! Generates random pages whose words follow Zipf's law.

use anyhow::Result;
use page::PageUrl;
use repository::index::{Document, PageIndexWriter};

use crate::urls::{scramble, share, spell};

/// The size of the vocabulary.
const VOCABULARY: u32 = 60_000;

/// A pseudo-random generator of pages, queries and pauses.
pub struct InventedPages {
    state: u64,
    /// Mean number of words per page.
    words: u32,
}

impl InventedPages {
    pub fn new(words: u32) -> Self {
        Self { state: 1, words }
    }

    /// Indexes a new version of a page. Its URL depends on its number, its text is random.
    pub fn put(&mut self, writer: &mut PageIndexWriter, number: u32) -> Result<()> {
        let url = format!("http://h{}.example/page/{number}", number % 1000);
        let parsed = PageUrl::parse(&url)?;
        let title: Vec<String> = (0..6).map(|_| self.word()).collect();
        let length = self.words / 2 + self.below(self.words);
        let mut text = String::new();
        for place in 0..length {
            text += &self.word();
            text += if place % 12 == 11 { ". " } else { " " };
        }
        writer.put(&Document {
            title: &title.join(" "),
            text: &text,
            language: Some(["en", "de", "fr"][number as usize % 3]),
            fetched_at: 1_700_000_000 + i64::from(number),
            ..Document::new(parsed.id(), &url, parsed.host_name())
        })?;
        Ok(())
    }

    /// Returns a query of one to three words, joined by `+` for a URL.
    pub fn query(&mut self) -> String {
        let count = 1 + self.below(3);
        let words: Vec<String> = (0..count).map(|_| self.word()).collect();
        words.join("+")
    }

    /// Returns a random number below `end`.
    pub fn below(&mut self, end: u32) -> u32 {
        (self.draw() * f64::from(end)) as u32
    }

    /// Returns a random word. The n-th most frequent one is drawn about 1/n as often as the first.
    fn word(&mut self) -> String {
        let mut word = String::new();
        spell(f64::from(VOCABULARY).powf(self.draw()) as u64, &mut word);
        word
    }

    /// Returns a random number from 0 to 1.
    fn draw(&mut self) -> f64 {
        self.state += 1;
        share(scramble(self.state))
    }

    /// Creates the generator of a searcher, with its own seed.
    pub fn searcher(number: u64) -> Self {
        Self {
            state: scramble(number) / 2,
            words: 0,
        }
    }

    /// Returns a random time of this mean, exponentially distributed.
    pub fn pause(&mut self, mean: f64) -> f64 {
        -(1.0 - self.draw()).ln() * mean
    }
}
