//! How useful are the answers of this index, if all its copies are fresh?
//!
//! Pandey & Olston (2005), the denominator of equation (5) for queries of one word: what all gains are a share of.

use policy::quality::attention;

use super::survey::{Scratch, Survey};
use crate::index::{Index, IndexError, Workload};

impl Index {
    /// What those who search for these words meet: scores, by how likely each rank is looked at.
    pub fn usefulness(&self, workload: &Workload) -> Result<f64, IndexError> {
        let fail = |error| self.fail("read", error);
        let survey = Survey::new(self.reader.searcher(), &self.fields).map_err(fail)?;
        let (mut scratch, mut sum) = (Scratch::default(), 0.0);
        for (word, frequency) in workload.words() {
            survey.word(word, &mut scratch).map_err(fail)?;
            let scores = &mut scratch.scores;
            scores.sort_unstable_by(|one, other| other.total_cmp(one));
            let ranked = (1..).zip(&*scores);
            let met = ranked.map(|(rank, score)| attention(f64::from(rank)) * f64::from(*score));
            sum += frequency * met.sum::<f64>();
        }
        Ok(sum)
    }
}
