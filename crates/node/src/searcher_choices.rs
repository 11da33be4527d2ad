//! Clicks of earlier searchers, as a signal for the ranking of later searches.
//!
//! **Invariant:** a log that cannot be read fails no search; the clicks read before still count.

use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use page::PageId;
use repository::log::{Choices, Click, EventLog, Search};

use crate::panics::POISONED;
use crate::store;

/// The time between two reads of the logs.
const EVERY: Duration = Duration::from_secs(60);

/// The clicks of a store's searchers, read from its logs.
pub struct SearcherChoices {
    searches: EventLog<Search>,
    clicks: EventLog<Click>,
    cache: Mutex<ChoiceCache>,
}

#[derive(Default)]
struct ChoiceCache {
    choices: Choices,
    read_at: Option<Instant>,
}

impl SearcherChoices {
    /// Creates an empty cache for a store; the first search reads the logs.
    pub fn of(root: &Path) -> Self {
        let directory = store::log(root);
        Self {
            searches: EventLog::open(&directory),
            clicks: EventLog::open(&directory),
            cache: Mutex::default(),
        }
    }

    /// Returns the pages clicked for a query, each with the factor that multiplies its score.
    pub fn factors(&self, query: &str) -> Vec<(PageId, f32)> {
        let mut cache = self.cache.lock().expect(POISONED);
        if cache.read_at.is_none_or(|at| at.elapsed() >= EVERY) {
            if let Err(error) = cache.choices.read(&self.searches, &self.clicks) {
                tracing::warn!(%error, "cannot read the click log: new clicks do not count for the ranking now");
            }
            cache.read_at = Some(Instant::now());
        }
        cache.choices.factors(query)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clicks_in_the_log_of_the_store_count() {
        let root = tempfile::tempdir().unwrap();
        let click = Click {
            time: jiff::Timestamp::UNIX_EPOCH,
            url: "http://e.org/".into(),
            count: 5,
            query: Some("avocet".into()),
            rank: Some(2),
        };
        EventLog::open(&store::log(root.path()))
            .append(&click)
            .unwrap();
        let chosen = SearcherChoices::of(root.path());
        assert_eq!(chosen.factors("avocet").len(), 1);
        assert!(chosen.factors("stilt").is_empty());
    }
}
