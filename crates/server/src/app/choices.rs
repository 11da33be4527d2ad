//! What searchers chose of the results, for the ranking of the next search.
//!
//! **Invariant:** a log that cannot be read changes no ranking and fails no search.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use page::PageId;
use repository::log::{Choices, Click, Log, Search};

use node::panics::POISONED;

/// How old what is known may be.
const EVERY: Duration = Duration::from_secs(60);

/// The choices of a store, read from its logs.
pub struct SearcherChoices {
    /// Whether they count at all.
    enabled: bool,
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    choices: Choices,
    read_at: Option<Instant>,
}

impl SearcherChoices {
    /// Nothing is read before the first search.
    pub fn new(enabled: bool) -> Self {
        Self {
            enabled,
            known: Mutex::default(),
        }
    }

    /// What the scores of pages are multiplied by for a query.
    pub fn factors(
        &self,
        query: &str,
        searches: &Log<Search>,
        clicks: &Log<Click>,
    ) -> Vec<(PageId, f32)> {
        if !self.enabled {
            return Vec::new();
        }
        let mut known = self.known.lock().expect(POISONED);
        if known.read_at.is_none_or(|at| at.elapsed() >= EVERY) {
            if let Err(error) = known.choices.read(searches, clicks) {
                tracing::warn!(%error, "clicks do not count for the ranking: the log cannot be read");
            }
            known.read_at = Some(Instant::now());
        }
        known.choices.factors(query)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_counts_if_it_is_wanted() {
        let dir = tempfile::tempdir().unwrap();
        let (searches, clicks) = (Log::open(dir.path()), Log::open(dir.path()));
        let click = Click {
            time: jiff::Timestamp::UNIX_EPOCH,
            url: "http://e.org/".into(),
            count: 5,
            query: Some("avocet".into()),
            rank: Some(2),
        };
        clicks.append(&click).unwrap();
        for (enabled, pages) in [(true, 1), (false, 0)] {
            let chosen = SearcherChoices::new(enabled);
            assert_eq!(chosen.factors("avocet", &searches, &clicks).len(), pages);
        }
    }
}
