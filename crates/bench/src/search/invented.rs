//! Generates random pages whose words follow Zipf's law.

use anyhow::Result;
use page::PageUrl;
use repository::index::{Document, PageIndexWriter};

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

    /// Returns a query of one to three words.
    pub fn query(&mut self) -> String {
        let count = 1 + self.below(3);
        let words: Vec<String> = (0..count).map(|_| self.word()).collect();
        words.join("+")
    }

    /// Returns a random number below `end`.
    pub fn below(&mut self, end: u32) -> u32 {
        (self.draw() * f64::from(end)) as u32
    }

    /// Returns a random word. The n-th most frequent one is drawn 1/n as often as the first.
    fn word(&mut self) -> String {
        let rank = (f64::from(VOCABULARY).powf(self.draw()) - 1.0) as u32;
        spelled(rank)
    }

    /// Returns a random number from 0 to 1 (SplitMix64).
    fn draw(&mut self) -> f64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^= mixed >> 31;
        (mixed >> 11) as f64 / (1u64 << 53) as f64
    }

    /// Creates the generator of a searcher, with its own seed.
    pub fn searcher(number: u64) -> Self {
        Self {
            state: number.wrapping_mul(0xd134_2543_de82_ef95),
            words: 0,
        }
    }

    /// Returns a random time of this mean, exponentially distributed.
    pub fn pause(&mut self, mean: f64) -> f64 {
        -(1.0 - self.draw()).ln() * mean
    }
}

/// Returns the word of a rank. Frequent words are short.
fn spelled(mut rank: u32) -> String {
    const SYLLABLES: [&str; 16] = [
        "ka", "lo", "mi", "ten", "ra", "su", "vel", "or", "pa", "ni", "dor", "es", "tu", "gan",
        "bi", "lum",
    ];
    let mut word = String::new();
    loop {
        word += SYLLABLES[(rank % 16) as usize];
        rank /= 16;
        if rank == 0 {
            return word;
        }
        rank -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_rank_has_its_word_and_low_ones_are_drawn_more() {
        let words: HashSet<String> = (0..20_000).map(spelled).collect();
        assert!(words.len() > 19_000, "{}", words.len());
        let mut pages = InventedPages::new(100);
        let drawn: Vec<String> = (0..20_000).map(|_| pages.word()).collect();
        let count = |rank| drawn.iter().filter(|word| **word == spelled(rank)).count();
        assert!(count(0) > 5 * count(20), "{} {}", count(0), count(20));
    }
}
