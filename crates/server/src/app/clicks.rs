//! The clicks on results that were counted of late.
//!
//! **Invariant:** a link counts once, and only on the day it was handed out.

use std::collections::{HashSet, VecDeque};
use std::sync::Mutex;

use jiff::{SignedDuration, Timestamp};
use repository::log::{Click, Log};

use super::signed_link::ShownResult;
use node::panics::POISONED;

/// How long an address counts.
const COUNTS: SignedDuration = SignedDuration::from_hours(24);
/// Addresses that are remembered.
const REMEMBERED: usize = 100_000;
/// Searches whose words are remembered, so that a click can be told what it is an answer to.
const SEARCHES: usize = 10_000;

/// The clicks of a store.
pub struct Clicks {
    log: Log<Click>,
    seen: Mutex<Seen>,
    searches: Mutex<VecDeque<(Timestamp, String)>>,
}

/// Results that were clicked of late.
#[derive(Default)]
struct Seen {
    known: HashSet<(u128, i64)>,
    order: VecDeque<(u128, i64)>,
}

impl Clicks {
    /// Counts into this log.
    pub fn new(log: Log<Click>) -> Self {
        Self {
            log,
            seen: Mutex::default(),
            searches: Mutex::default(),
        }
    }

    /// Remembers what was searched for at a time, which its results carry.
    pub fn searched(&self, at: Timestamp, query: &str) {
        let mut searches = self.searches.lock().expect(POISONED);
        searches.push_back((at, query.to_owned()));
        if searches.len() > SEARCHES {
            searches.pop_front();
        }
    }

    /// What a result was shown for, if that is still known. Results that were not logged are of no search.
    fn query(&self, shown: &ShownResult) -> Option<String> {
        let searches = self.searches.lock().expect(POISONED);
        let found = searches
            .iter()
            .rev()
            .find(|(at, _)| at.as_microsecond() == shown.at.as_microsecond());
        found.map(|(_, query)| query.clone())
    }

    /// What is clicked.
    pub fn log(&self) -> &Log<Click> {
        &self.log
    }

    /// Counts a click, if it is one. Returns whether it was.
    pub fn count(&self, shown: &ShownResult, url: &str, now: Timestamp) -> bool {
        let age = now.duration_since(shown.at);
        if age > COUNTS || age.is_negative() || !self.is_first(shown) {
            return false;
        }
        let line = Click {
            time: now,
            url: url.to_owned(),
            count: 1,
            query: self.query(shown),
            rank: Some(shown.rank),
        };
        if let Err(error) = self.log.append(&line) {
            tracing::warn!(%error, "a click is not in the log");
        }
        true
    }

    fn is_first(&self, shown: &ShownResult) -> bool {
        let mut seen = self.seen.lock().expect(POISONED);
        let result = (shown.page.0, shown.at.as_microsecond());
        if !seen.known.insert(result) {
            return false;
        }
        seen.order.push_back(result);
        if seen.order.len() > REMEMBERED
            && let Some(oldest) = seen.order.pop_front()
        {
            seen.known.remove(&oldest);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use page::PageId;

    use super::*;

    #[test]
    fn an_address_counts_once_and_on_its_day() {
        let dir = tempfile::tempdir().unwrap();
        let clicks = Clicks::new(Log::open(&dir.path().join("log")));
        let at: Timestamp = "2026-11-16T11:10:00Z".parse().unwrap();
        let shown = |page| ShownResult {
            page: PageId(page),
            at,
            rank: 1,
        };
        let later = |hours| at + SignedDuration::from_hours(hours);
        assert!(clicks.count(&shown(1), "http://e.org/", later(0)));
        assert!(!clicks.count(&shown(1), "http://e.org/", later(1)), "again");
        assert!(clicks.count(&shown(2), "http://e.org/b", later(23)));
        assert!(
            !clicks.count(&shown(3), "http://e.org/c", later(25)),
            "late"
        );
        assert!(!clicks.count(&shown(4), "http://e.org/d", later(-1)));
        let log = std::fs::read_to_string(dir.path().join("log/clicks-2026-11.jsonl")).unwrap();
        assert_eq!(log.lines().count(), 2, "{log}");
        clicks.searched(at, "pied avocet");
        assert!(clicks.count(&shown(5), "http://e.org/e", later(2)));
        let log = std::fs::read_to_string(dir.path().join("log/clicks-2026-11.jsonl")).unwrap();
        assert!(
            log.ends_with("\"query\":\"pied avocet\",\"rank\":1}\n"),
            "{log}"
        );
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let clicks = Clicks::new(Log::open(Path::new("/proc/nowhere")));
        let shown = |page| ShownResult {
            page: PageId(page),
            at: Timestamp::UNIX_EPOCH,
            rank: 1,
        };
        for page in 0..=REMEMBERED as u128 {
            assert!(clicks.is_first(&shown(page)));
        }
        assert!(!clicks.is_first(&shown(5)));
        assert!(clicks.is_first(&shown(0)), "the oldest was forgotten");
        let seen = clicks.seen.lock().unwrap();
        assert_eq!(
            (seen.known.len(), seen.order.len()),
            (REMEMBERED, REMEMBERED)
        );
    }
}
