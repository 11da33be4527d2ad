//! `avocet import queries`: imports search queries from other systems.
//!
//! A line that begins with `{` is a JSON document; any other line is `query<tab>count`. A search
//! without a time gets the time of the import.

use std::path::{Path, PathBuf};

use anyhow::Result;
use jiff::Timestamp;
use repository::log::Search;
use serde::Deserialize;

use super::lines;

/// A search as a JSON document.
#[derive(Deserialize)]
struct QueryLine {
    query: String,
    time: Option<String>,
    #[serde(default)]
    shown: Vec<String>,
    #[serde(default)]
    offset: u32,
    #[serde(default)]
    ranks: Vec<u32>,
    #[serde(default)]
    clicked: Vec<String>,
    count: Option<u64>,
}

/// Appends the searches in these files to the log. Returns the numbers of imported and skipped
/// lines.
pub fn import(log: &Path, files: &[PathBuf]) -> Result<(u64, u64)> {
    let now = Timestamp::now();
    let is_header = |line: &str| line == "query\tcount";
    lines::import(log, files, is_header, |_, line| read(line, now))
}

fn read(line: &str, now: Timestamp) -> Result<Search, String> {
    let search = if line.starts_with('{') {
        let read: QueryLine = serde_json::from_str(line).map_err(|error| error.to_string())?;
        let time = read.time.map(|time| time.parse()).transpose();
        let time = time.map_err(|error: jiff::Error| format!("the time: {error}"))?;
        Search {
            time: time.unwrap_or(now),
            query: read.query,
            shown: read.shown,
            offset: read.offset,
            clicked: read.clicked,
            ranks: read.ranks,
            count: read.count.unwrap_or(1),
        }
    } else {
        let Some((query, count)) = line.rsplit_once('\t') else {
            return Err("there is no tab between query and count".to_owned());
        };
        let count = count.trim().parse();
        Search {
            count: count.map_err(|_| "the count is not a whole number".to_owned())?,
            ..Search::new(now, query)
        }
    };
    if search.query.trim().is_empty() {
        return Err("the query is empty".to_owned());
    }
    if search.count == 0 {
        return Err("the count is 0: it must be at least 1".to_owned());
    }
    Ok(search)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_and_json_lines_are_read_and_wrong_lines_are_refused_with_the_reason() {
        let now = Timestamp::UNIX_EPOCH;
        let take = |line: &str| read(line, now);
        let counted = Search {
            count: 12,
            ..Search::new(now, "pied avocet")
        };
        assert_eq!(take("pied avocet\t12").unwrap(), counted);
        assert_eq!(
            take(r#"{"query":"pied avocet","count":12}"#).unwrap(),
            counted
        );
        let full = take(
            r#"{"query":"x","time":"2026-01-02T03:04:05Z","shown":["a"],"clicked":["a"],"user":"me"}"#,
        );
        let full = full.unwrap();
        assert_eq!((full.time.as_second(), full.count), (1_767_323_045, 1));
        assert_eq!((full.shown.len(), full.clicked.len()), (1, 1));
        for (line, word) in [
            ("avocet", "tab"),
            ("avocet\tmany", "whole number"),
            ("avocet\t-1", "whole number"),
            ("avocet\t0", "at least 1"),
            ("\t3", "empty"),
            ("{\"query\":\"x\"", "EOF"),
            ("{\"time\":\"2026-01-02T03:04:05Z\"}", "query"),
            ("{\"query\":\"x\",\"time\":\"yesterday\"}", "time"),
        ] {
            let why = take(line).unwrap_err();
            assert!(why.contains(word), "{line}: {why}");
        }
    }
}
