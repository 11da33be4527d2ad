//! A log entry for clicks on a page.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::LogEntry;

/// One or more clicks on a page.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Click {
    /// Time of the click, or of the count.
    #[serde(with = "super::line::time")]
    pub time: Timestamp,
    /// The URL of the page.
    pub url: String,
    /// Number of clicks. It is 1, except for imported counts.
    pub count: u64,
    /// The query, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The rank of the page among the results, from 1, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<u16>,
}

impl LogEntry for Click {
    const KIND: &str = "clicks";

    fn time(&self) -> Timestamp {
        self.time
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{EventLog, Position, Search};

    #[test]
    fn clicks_and_searches_have_files_of_their_own() {
        let dir = tempfile::tempdir().unwrap();
        let (clicks, searches) = (EventLog::open(dir.path()), EventLog::open(dir.path()));
        let click = Click {
            time: "2026-11-16T11:10:00Z".parse().unwrap(),
            url: "http://e.org/\"new\nline".into(),
            count: 3,
            query: None,
            rank: None,
        };
        clicks.append(&click).unwrap();
        searches.append(&Search::new(click.time, "avocet")).unwrap();
        let mut seen = Vec::new();
        let reading = clicks
            .read(&Position::default(), |click: Click| seen.push(click))
            .unwrap();
        assert_eq!((seen, reading.passed_over), (vec![click], 0));
        let path = dir.path().join("clicks-2026-11.jsonl");
        assert_eq!(std::fs::read_to_string(path).unwrap().lines().count(), 1);
    }
}
