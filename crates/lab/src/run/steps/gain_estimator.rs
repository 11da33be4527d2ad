//! The crawler's own estimate of what a refresh gains for searchers.
//!
//! ΔQ_A of Pandey & Olston (2005), §5: a sum over single words. It uses score-rank functions
//! that are recomputed at intervals from the repository's own answers.
//!
//! **Invariant:** the estimate of a refresh needs the new text, so it exists only after the page
//! was fetched.

use policy::quality::{Attention, ScoreRank, gain};

use crate::measure::quality::{Answers, both};
use crate::text::Scored;

/// Estimates quality gains from the score-rank functions of all words.
#[derive(Debug, Clone)]
pub(crate) struct GainEstimator<'s> {
    scored: &'s Scored,
    ranks: Vec<ScoreRank>,
}

impl<'s> GainEstimator<'s> {
    pub fn new(scored: &'s Scored) -> Self {
        Self {
            scored,
            ranks: vec![ScoreRank::EMPTY; scored.word_shares().len()],
        }
    }

    /// Recomputes all score-rank functions.
    pub fn refresh(&mut self, answers: &Answers<'_>) {
        let mut scores = Vec::new();
        for (word, rank) in (0..).zip(&mut self.ranks) {
            scores.clear();
            scores.extend(answers.scores(word));
            *rank = ScoreRank::of(&mut scores);
        }
    }

    /// Returns the quality gain when the copy of a page changes from `before` to `after`.
    pub fn gain(&self, page: u32, before: Option<u32>, after: Option<u32>) -> f64 {
        let shares = self.scored.word_shares();
        let lists = both(self.scored.of(page, before), self.scored.of(page, after));
        let words = lists.take_while(|(list, _, _)| (*list as usize) < shares.len());
        let changed = words.filter(|(_, before, after)| before != after);
        changed
            .map(|(word, before, after)| {
                let word = word as usize;
                shares[word]
                    * gain(
                        Attention::PUBLISHED,
                        &self.ranks[word],
                        before.into(),
                        after.into(),
                    )
            })
            .sum()
    }
}
