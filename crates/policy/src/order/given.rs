//! Pages as the user scored them.
//!
//! Scores come from anywhere: another crawl's PageRank, a click log, an oracle of an experiment. URLs
//! without one are fetched when nothing else is left.
//!
//! **Invariant:** a score costs a fixed number of bytes, however long its URL: the URL is kept as a hash
//! of 64 bits. Among a million URLs, two share one with a probability of 3·10⁻⁸.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use crate::estimate::Column;
use crate::{Fact, Moment, Moves, Needs, Page, Policy, Term, Worth};

/// The scores of URLs.
#[derive(Debug, Clone, Default)]
pub struct Scores(HashMap<u64, f32>);

impl Scores {
    /// The score of a URL, which must be in the normal form of the crawl. The last one holds; what is
    /// negative or not a number is none.
    pub fn insert(&mut self, url: &str, score: f64) {
        // The queue keeps worths as f32 as well. The largest stays finite.
        let score = Worth::new(score).value().min(f64::from(f32::MAX));
        self.0.insert(hash(url), score as f32);
    }

    /// URLs scored.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no URL is scored.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The score of a URL, if it has one.
    pub fn get(&self, url: &str) -> Option<f32> {
        self.0.get(&hash(url)).copied()
    }
}

fn hash(url: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    url.hash(&mut hasher);
    hasher.finish()
}

/// Worth is the score.
#[derive(Debug, Clone)]
pub struct Given {
    scores: Arc<Scores>,
    pages: Column<f32>,
}

impl Given {
    /// An ordering by these scores.
    pub fn new(scores: Arc<Scores>) -> Self {
        Self {
            scores,
            pages: Column::default(),
        }
    }
}

impl Policy for Given {
    fn needs(&self) -> Needs {
        Needs {
            words: true,
            ..Needs::default()
        }
    }

    fn observe(&mut self, fact: &Fact<'_>, _moves: &mut Moves) {
        if let Fact::Discovered(discovered) = fact {
            let score = self.scores.get(discovered.url).unwrap_or(0.0);
            self.pages.add(discovered.page, score);
        }
    }

    fn worth(&self, page: Page<'_>, _now: Moment) -> Worth {
        let score = self.pages.get(page.number).unwrap_or(0.0);
        Worth::new(f64::from(score)).max(Worth::LEAST)
    }

    fn terms(&self, page: Page<'_>) -> Vec<Term> {
        let score = self.pages.get(page.number).unwrap_or(0.0);
        vec![Term::new("score", f64::from(score))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Discovered, History, Number};

    #[test]
    fn scores_are_worths() {
        let mut scores = Scores::default();
        for (url, score) in [
            ("a", 2.5),
            ("b", -1.0),
            ("c", f64::NAN),
            ("d", 1e300),
            ("a", 0.5),
        ] {
            scores.insert(url, score);
        }
        let mut given = Given::new(Arc::new(scores));
        let least = Worth::LEAST.value();
        let largest = f64::from(f32::MAX);
        for (number, (url, expected)) in (0..).zip([
            ("a", 0.5),
            ("b", least),
            ("c", least),
            ("d", largest),
            ("e", least),
        ]) {
            let page = Number(number);
            let discovered = Discovered {
                page,
                url,
                host: 0,
                depth: 0,
                seed: false,
                at: crate::Moment::START,
                appeared: None,
            };
            given.observe(&Fact::Discovered(discovered), &mut Moves::default());
            let history = History::default();
            let page = Page {
                number: page,
                history: &history,
            };
            assert_eq!(given.worth(page, Moment::START).value(), expected, "{url}");
        }
    }
}
