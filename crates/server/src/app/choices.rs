//! Clicks of earlier searchers, as a signal for the ranking of later searches.
//!
//! **Invariant:** a log that cannot be read fails no search; the clicks read before still count.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use page::PageId;
use repository::log::{Choices, Click, EventLog, Search};

use node::panics::POISONED;

/// The time between two reads of the logs.
const EVERY: Duration = Duration::from_secs(60);

/// The clicks of a store's searchers, read from its logs.
pub struct SearcherChoices {
    /// Whether clicks count for the ranking at all.
    enabled: bool,
    cache: Mutex<ChoiceCache>,
}

#[derive(Default)]
struct ChoiceCache {
    choices: Choices,
    read_at: Option<Instant>,
}

impl SearcherChoices {
    /// Creates an empty cache; the first search reads the logs.
    pub fn new(enabled: bool) -> Self {
        Self {
            enabled,
            cache: Mutex::default(),
        }
    }

    /// Returns the pages clicked for a query, each with the factor that multiplies its score.
    pub fn factors(
        &self,
        query: &str,
        searches: &EventLog<Search>,
        clicks: &EventLog<Click>,
    ) -> Vec<(PageId, f32)> {
        if !self.enabled {
            return Vec::new();
        }
        let mut cache = self.cache.lock().expect(POISONED);
        if cache.read_at.is_none_or(|at| at.elapsed() >= EVERY) {
            if let Err(error) = cache.choices.read(searches, clicks) {
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
    fn clicks_count_only_if_enabled() {
        let dir = tempfile::tempdir().unwrap();
        let (searches, clicks) = (EventLog::open(dir.path()), EventLog::open(dir.path()));
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
