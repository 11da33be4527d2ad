//! A log entry for a search.
//!
//! **Invariant:** an entry is read back exactly as it was written, and contains no line break.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::LogEntry;

/// A query, the results that were shown, and those that were clicked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Search {
    /// Time of the search.
    #[serde(with = "super::line::time")]
    pub time: Timestamp,
    /// The text of the query.
    pub query: String,
    /// The URLs of the results, best first.
    #[serde(default)]
    pub shown: Vec<String>,
    /// Number of results before the first that was shown: 10 on the second page.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub offset: u32,
    /// The rank of each result, from 1, if the results are not consecutive: in a cluster, a node
    /// logs only the results that are pages of its own. Empty: they follow `offset`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<u32>,
    /// The URLs that were clicked.
    #[serde(default)]
    pub clicked: Vec<String>,
    /// Number of searches. It is 1, except for imported counts.
    #[serde(default = "once", skip_serializing_if = "is_once")]
    pub count: u64,
}

/// A page that a search showed, or that was clicked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchedPage<'a> {
    /// Its URL.
    pub url: &'a str,
    /// Its rank in the results, from 1. `None` if it was clicked and is not in the list.
    pub rank: Option<u64>,
    /// Number of clicks.
    pub clicks: u64,
}

impl Search {
    /// Returns a single search without results and clicks.
    pub fn new(time: Timestamp, query: &str) -> Self {
        Self {
            time,
            query: query.into(),
            shown: Vec::new(),
            offset: 0,
            ranks: Vec::new(),
            clicked: Vec::new(),
            count: 1,
        }
    }

    /// Returns the rank of a shown result, from 1, by its place in the list, from 0.
    pub fn rank(&self, place: usize) -> u64 {
        let consecutive = place as u64 + u64::from(self.offset) + 1;
        self.ranks
            .get(place)
            .map_or(consecutive, |rank| u64::from(*rank))
    }

    /// Returns the search with those results alone for which the condition holds. They keep their
    /// ranks.
    pub fn only(&self, keep: impl Fn(&str) -> bool) -> Self {
        let places = 0..self.shown.len();
        let kept: Vec<usize> = places.filter(|place| keep(&self.shown[*place])).collect();
        let ranks = kept.iter();
        Self {
            shown: kept
                .iter()
                .map(|place| self.shown[*place].clone())
                .collect(),
            ranks: ranks
                .map(|place| u32::try_from(self.rank(*place)).unwrap_or(u32::MAX))
                .collect(),
            clicked: (self.clicked.iter())
                .filter(|url| keep(url))
                .cloned()
                .collect(),
            ..self.clone()
        }
    }

    /// Returns the pages of the result list, best first, then clicked pages that are not in it.
    pub fn pages(&self) -> impl Iterator<Item = SearchedPage<'_>> {
        let clicks = |url: &str| {
            let times = self.clicked.iter().filter(|clicked| *clicked == url);
            (times.count() as u64).saturating_mul(self.count)
        };
        let shown = self
            .shown
            .iter()
            .enumerate()
            .map(move |(before, url)| SearchedPage {
                url,
                rank: Some(self.rank(before)),
                clicks: clicks(url),
            });
        let elsewhere =
            self.clicked.iter().enumerate().filter(|(at, url)| {
                !self.shown.contains(url) && !self.clicked[..*at].contains(url)
            });
        shown.chain(elsewhere.map(move |(_, url)| SearchedPage {
            url,
            rank: None,
            clicks: clicks(url),
        }))
    }
}

impl LogEntry for Search {
    const KIND: &str = "queries";

    fn time(&self) -> Timestamp {
        self.time
    }
}

fn once() -> u64 {
    1
}

fn is_once(count: &u64) -> bool {
    *count == 1
}

fn is_zero(offset: &u32) -> bool {
    *offset == 0
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_line_has_no_default_count_or_offset_and_no_unknown_fields() {
        let mut search = Search::new("2026-11-16T11:10:00Z".parse().unwrap(), "pied \"avocet\"");
        search.shown = vec!["http://a.example/".into()];
        let line = r#"{"time":"2026-11-16T11:10:00Z","query":"pied \"avocet\"","shown":["http://a.example/"],"clicked":[]}"#;
        assert_eq!(search.written(), line);
        search.count = 7;
        assert!(search.written().ends_with(r#","clicked":[],"count":7}"#));
        let short = br#"{"time":"2026-11-16T12:10:00+01:00","query":"x","user":"dropped"}"#;
        let read = Search::read(short).unwrap();
        assert_eq!(
            read,
            Search::new("2026-11-16T11:10:00Z".parse().unwrap(), "x")
        );
        assert!(!read.written().contains("dropped"));
    }

    #[test]
    fn pages_have_ranks() {
        let mut search = Search::new(Timestamp::UNIX_EPOCH, "x");
        search.shown = ["a", "b"].map(String::from).into();
        search.clicked = ["b", "c", "b", "c"].map(String::from).into();
        search.offset = 2;
        search.count = 10;
        let page = |url, rank, clicks| SearchedPage { url, rank, clicks };
        let expected = [
            page("a", Some(3), 0),
            page("b", Some(4), 20),
            page("c", None, 20),
        ];
        assert_eq!(search.pages().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn a_part_of_a_search_keeps_the_ranks_of_its_results() {
        let mut search = Search::new(Timestamp::UNIX_EPOCH, "x");
        search.shown = ["a", "b", "c"].map(String::from).into();
        search.clicked = ["c", "b"].map(String::from).into();
        search.offset = 10;
        let part = search.only(|url| url != "b");
        let read = Search::read(part.written().as_bytes()).unwrap();
        let pages: Vec<_> = (read.pages())
            .map(|page| (page.url, page.rank, page.clicks))
            .collect();
        assert_eq!(pages, [("a", Some(11), 0), ("c", Some(13), 1)]);
        assert_eq!(part.only(|url| url == "c").ranks, [13], "a part of a part");
    }

    proptest! {
        #[test]
        fn lines_are_read_back(query in any::<String>(), shown in prop::collection::vec(any::<String>(), 0..3), count in any::<u64>(), offset in any::<u32>(), ranks in prop::collection::vec(any::<u32>(), 0..3)) {
            let time = Timestamp::from_second(1_800_000_000).unwrap();
            let search = Search { time, query, clicked: shown.clone(), shown, count, offset, ranks };
            let line = search.written();
            prop_assert!(!line.contains('\n'));
            prop_assert_eq!(Search::read(line.as_bytes()), Some(search));
        }
    }
}
