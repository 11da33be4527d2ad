//! What did a refresh give to searchers, as a crawler measures it?
//!
//! ΔQ_A of Pandey & Olston (2005), §5: from single words, and from score-rank functions that are made anew now and then
//! from the repository's own answers. **Invariant:** nothing of it is known before the page was fetched.

use policy::quality::{ScoreRank, gain};

use crate::measure::quality::{Answers, both};
use crate::text::Scored;

/// Score-rank functions of all words.
#[derive(Debug, Clone)]
pub(crate) struct Gauge<'s> {
    scored: &'s Scored,
    ranks: Vec<ScoreRank>,
}

impl<'s> Gauge<'s> {
    pub fn new(scored: &'s Scored) -> Self {
        Self {
            scored,
            ranks: vec![ScoreRank::EMPTY; scored.word_shares().len()],
        }
    }

    /// Makes all functions anew.
    pub fn refresh(&mut self, answers: &Answers<'_>) {
        let mut scores = Vec::new();
        for (word, rank) in (0..).zip(&mut self.ranks) {
            scores.clear();
            scores.extend(answers.scores(word));
            *rank = ScoreRank::of(&mut scores);
        }
    }

    /// What it gives that a page's copy is another one.
    pub fn gain(&self, page: u32, before: Option<u32>, after: Option<u32>) -> f64 {
        let shares = self.scored.word_shares();
        let lists = both(self.scored.of(page, before), self.scored.of(page, after));
        let words = lists.take_while(|(list, _, _)| (*list as usize) < shares.len());
        let changed = words.filter(|(_, before, after)| before != after);
        changed
            .map(|(word, before, after)| {
                let word = word as usize;
                shares[word] * gain(&self.ranks[word], before.into(), after.into())
            })
            .sum()
    }
}
