//! Selection of the orderings to compare.
//!
//! `ideal` and `random` are closed forms of this experiment. The ideal crawler knows the importance
//! of every page, the random one knows nothing. Every other name is an expression of the catalog.
//!
//! **Invariant:** each name means one thing. The catalog's random order, which has a seed and
//! visits only discovered pages, is `random(SEED)`.

use policy::catalog::{Catalog, Wish, Wishes};

use crate::LabError;
use crate::experiment::ExperimentSetup;

/// The crawler that knows the importance of every page.
pub(super) const IDEAL: &str = "ideal";
/// The expectation over all orders of the pages.
pub(super) const RANDOM: &str = "random";

/// Names of the orderings, without duplicates.
pub(super) struct OrderingContestants {
    pub names: Vec<String>,
    /// Those that cannot be built without a query: they look for its words.
    pub about_query: Vec<String>,
    /// Orderings that were left out, and why; also orderings that run without the texts they need.
    pub notes: Vec<String>,
}

impl OrderingContestants {
    /// Returns the orderings that the user named, or else all that fit; also the one that the
    /// others are compared with.
    pub fn of(
        setting: &ExperimentSetup,
        wishes: &Wishes,
        has_texts: bool,
    ) -> Result<Self, LabError> {
        let mut contestants = Self {
            names: Vec::new(),
            about_query: Vec::new(),
            notes: Vec::new(),
        };
        let named = setting.policies.iter().chain(&setting.against);
        for name in named.map(|name| name.trim()) {
            if !is_closed(name) && needs_text(name, wishes)? && !has_texts {
                contestants.note(&format!("{name} reads texts, and this world has none"));
            }
            contestants.push(name);
        }
        if setting.policies.is_empty() {
            contestants.all(setting, wishes, has_texts)?;
        }
        let without = Wishes {
            query: None,
            ..wishes.clone()
        };
        let builds = |name: &str| Catalog::standard().order(name, &without).is_ok();
        let names = contestants.names.iter();
        let about_query = names.filter(|name| !is_closed(name) && !builds(name));
        contestants.about_query = about_query.cloned().collect();
        Ok(contestants)
    }

    fn all(
        &mut self,
        setting: &ExperimentSetup,
        wishes: &Wishes,
        texts: bool,
    ) -> Result<(), LabError> {
        self.push(IDEAL);
        self.push(RANDOM);
        for order in Catalog::standard().orders() {
            let missing = match order.wish {
                Some(Wish::Query) if wishes.query.is_none() => Some("a query"),
                Some(Wish::Location) if wishes.location.is_empty() => Some("rules"),
                Some(Wish::Scores) if wishes.scores.is_none() => Some("scores"),
                // The focus experiment compares these, with a topic that was trained on other
                // pages.
                Some(Wish::Topic) => continue,
                _ => None,
            };
            if let Some(missing) = missing {
                self.note(&format!("{} is left out: it needs {missing}", order.name));
                continue;
            }
            let name = match order.name {
                "depth-limited" => {
                    self.note("depth-limited is left out: it does not fetch a whole web");
                    continue;
                }
                RANDOM => format!("random({})", setting.seed),
                name => name.to_owned(),
            };
            if needs_text(&name, wishes)? && !texts {
                self.note(&format!("{name} is left out: this world has no texts"));
                continue;
            }
            self.push(&name);
        }
        if wishes.query.is_some() && texts {
            for hot in HOT_QUEUES {
                PLAIN
                    .iter()
                    .for_each(|plain| self.push(&with_hot_queue(hot, plain)));
            }
        }
        Ok(())
    }

    fn push(&mut self, name: &str) {
        if !self.names.iter().any(|known| known == name) {
            self.names.push(name.to_owned());
        }
    }

    fn note(&mut self, note: &str) {
        self.notes.push(note.to_owned());
    }
}

/// The orderings with a hot queue: Algorithms 5.2 and 5.3 of the paper.
pub(super) const HOT_QUEUES: [&str; 2] = ["hot-anchor", "hot-page"];

/// The orderings of the paper that a hot queue is combined with.
pub(super) const PLAIN: [&str; 3] = ["breadth-first", "backlink", "pagerank"];

/// Returns the ordering that serves a hot queue first and orders both queues like `plain`.
pub(super) fn with_hot_queue(hot: &str, plain: &str) -> String {
    match plain {
        // Within its queues, the hot ordering alone is first in, first out.
        "breadth-first" => hot.to_owned(),
        // A weight above all values of `plain` in the worlds at hand.
        plain => format!("{hot}*1000 + {plain}"),
    }
}

/// Returns whether a policy is a closed form, so that no crawl is needed.
pub(super) fn is_closed(name: &str) -> bool {
    name == IDEAL || name == RANDOM
}

/// Returns whether a policy ranks pages by information, not at random.
pub(super) fn is_informed(name: &str) -> bool {
    !is_closed(name) && !name.starts_with("random(")
}

fn needs_text(name: &str, wishes: &Wishes) -> Result<bool, LabError> {
    let order = Catalog::standard().order(name, wishes);
    let wrong = |error| LabError::Wish(format!("{error}; or `{IDEAL}` or `{RANDOM}`"));
    Ok(order.map_err(wrong)?.needs().text)
}
