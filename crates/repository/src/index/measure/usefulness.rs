//! Computes the usefulness of the answers of an index, as if all its copies were fresh.
//!
//! This is the denominator of equation (5) of Pandey & Olston (2005), for queries of one word. A
//! measured gain divided by it is a share of the total usefulness.

use super::survey::{Scratch, Survey};
use crate::index::{Index, IndexError, Workload};

impl Index {
    /// Returns the sum, over the words of the workload, of frequency × Σ (score × attention of the
    /// rank) over the results of the word.
    pub fn usefulness(&self, workload: &Workload) -> Result<f64, IndexError> {
        let fail = |error| self.fail("read", error);
        let survey = Survey::new(self.reader.searcher(), &self.fields).map_err(fail)?;
        let attention = workload.attention();
        let (mut scratch, mut sum) = (Scratch::default(), 0.0);
        for (word, frequency) in workload.words() {
            survey.word(word, &mut scratch).map_err(fail)?;
            let scores = &mut scratch.scores;
            scores.sort_unstable_by(|one, other| other.total_cmp(one));
            let ranked = (1..).zip(&*scores);
            let met = ranked.map(|(rank, score)| attention.at(f64::from(rank)) * f64::from(*score));
            sum += frequency * met.sum::<f64>();
        }
        Ok(sum)
    }
}
