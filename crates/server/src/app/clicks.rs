//! Counts clicks on results, each with its query and rank.
//!
//! **Invariant:** a click counts only within 24 hours after its link was shown. A second click on
//! a link does not count while the link is among the last 100,000 clicked ones since the server
//! started.

use std::collections::{HashSet, VecDeque};
use std::sync::Mutex;

use jiff::{SignedDuration, Timestamp};
use repository::log::Click;

use super::signed_link::ShownResult;
use node::panics::POISONED;

/// The time after which a click on a link no longer counts.
const COUNTS: SignedDuration = SignedDuration::from_hours(24);
/// Clicked links that are kept in memory to detect a second click.
const REMEMBERED: usize = 100_000;
/// Searches whose text is kept in memory, so that the log of a click can name its query.
const SEARCHES: usize = 10_000;

/// Counts the clicks of a store.
#[derive(Default)]
pub struct ClickCounter {
    seen: Mutex<ClickedLinks>,
    searches: Mutex<VecDeque<(Timestamp, String)>>,
}

/// The links that were clicked last, as page and time shown, with their order for eviction.
#[derive(Default)]
struct ClickedLinks {
    known: HashSet<(u128, i64)>,
    order: VecDeque<(u128, i64)>,
}

impl ClickCounter {
    /// Keeps the text of a search under its time. The links of its results carry the same time.
    pub fn searched(&self, at: Timestamp, query: &str) {
        let mut searches = self.searches.lock().expect(POISONED);
        searches.push_back((at, query.to_owned()));
        if searches.len() > SEARCHES {
            searches.pop_front();
        }
    }

    /// Returns the query that a result was shown for, if it is still in memory.
    fn query(&self, shown: &ShownResult) -> Option<String> {
        let searches = self.searches.lock().expect(POISONED);
        let found = searches
            .iter()
            .rev()
            .find(|(at, _)| at.as_microsecond() == shown.at.as_microsecond());
        found.map(|(_, query)| query.clone())
    }

    /// Counts a click. Returns its entry for the log; `None` if it does not count: too late, or a
    /// second click.
    pub fn count(&self, shown: &ShownResult, url: &str, now: Timestamp) -> Option<Click> {
        let age = now.duration_since(shown.at);
        if age > COUNTS || age.is_negative() || !self.is_first(shown) {
            return None;
        }
        Some(Click {
            time: now,
            url: url.to_owned(),
            count: 1,
            query: self.query(shown),
            rank: Some(shown.rank),
        })
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
    use page::PageId;

    use super::*;

    #[test]
    fn a_link_counts_once_and_within_24_hours() {
        let clicks = ClickCounter::default();
        let at: Timestamp = "2026-11-16T11:10:00Z".parse().unwrap();
        let shown = |page| ShownResult {
            page: PageId(page),
            at,
            rank: 1,
        };
        let later = |hours| at + SignedDuration::from_hours(hours);
        let count = |page, url: &str, hours| clicks.count(&shown(page), url, later(hours));
        assert!(count(1, "http://e.org/", 0).is_some());
        assert!(count(1, "http://e.org/", 1).is_none(), "again");
        let click = count(2, "http://e.org/b", 23).unwrap();
        assert_eq!((click.query, click.rank), (None, Some(1)));
        assert!(count(3, "http://e.org/c", 25).is_none(), "late");
        assert!(count(4, "http://e.org/d", -1).is_none());
        clicks.searched(at, "pied avocet");
        let click = count(5, "http://e.org/e", 2).unwrap();
        assert_eq!(click.query.as_deref(), Some("pied avocet"));
        assert_eq!(
            (click.url.as_str(), click.time),
            ("http://e.org/e", later(2))
        );
    }

    #[test]
    fn the_number_of_remembered_links_is_bounded() {
        let clicks = ClickCounter::default();
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
