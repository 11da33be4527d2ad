//! An ordering by scores that the user gives for URLs.
//!
//! Scores may come from another crawl's PageRank, a click log, or the oracle of an experiment.
//! URLs without a score are fetched last.

use std::sync::Arc;

use crate::estimate::Column;
use crate::scores::Scores;
use crate::{Fact, Moment, Moves, Needs, Page, Policy, Term, Worth};

/// Worth is the score, at least [`Worth::LEAST`].
#[derive(Debug, Clone)]
pub struct Given {
    scores: Arc<Scores>,
    pages: Column<f32>,
}

impl Given {
    /// Creates an ordering by these scores.
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
    fn worth_is_the_last_score_and_never_below_the_least_worth() {
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
