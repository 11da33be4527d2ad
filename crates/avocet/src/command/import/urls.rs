//! `avocet import urls`: adds URLs to the crawl, with scores if the list has them.
//!
//! A list is one of these: plain lines (a URL, or URL<tab>score), the JSON Lines of `avocet export
//! urls` (of which `url` and `score` are read), or CSV with a column `url` and perhaps `score`.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use ledger::{Batch, Ledger};
use node::clock::Clock;
use node::forget::ForgetLog;
use node::replay::memory;
use node::settings::policies::imported_scores;
use node::store::Store;
use page::PageUrl;
use serde_json::Value;

use super::ImportCounts;
use crate::logs::say;

/// A line of a list.
#[derive(Debug, PartialEq)]
struct ListedUrl {
    url: PageUrl,
    score: Option<f64>,
}

/// The columns of a CSV file: of the URL, and of the score.
type CsvColumns = (usize, Option<usize>);

/// Imports URLs. Their scores are added to the scores of the store.
pub(super) fn import(store: &Store, ledger: &Ledger, files: &[PathBuf]) -> Result<ImportCounts> {
    let mut frontier = memory(ledger)?;
    let now = Clock::start().now();
    let mut batch = Batch::default();
    let (mut passed, mut known) = (0, 0);
    let mut scores = String::new();
    let forgotten = ForgetLog::read(store.root())?.pages();
    for file in files {
        let text =
            fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let mut csv = None;
        for (number, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if number == 0 {
                csv = columns(line);
                if csv.is_some() {
                    continue;
                }
            }
            match read(line, csv) {
                Ok(ListedUrl { url, .. }) if forgotten.iter().any(|pages| pages.has(&url)) => {
                    say(&format!(
                        "{url} was forgotten; `avocet forget --allow` lets it in"
                    ));
                    passed += 1;
                }
                Ok(ListedUrl { url, score }) => {
                    if let Some(score) = score {
                        scores += &format!("{url}\t{score}\n");
                    }
                    let new = frontier.hear_seed(&url, now);
                    known += u64::from(new.is_none());
                    batch.entries.extend(new);
                }
                Err(why) => {
                    let place = format!("{}:{}", file.display(), number + 1);
                    say(&format!("{place}: {line:?}: {why}"));
                    passed += 1;
                }
            }
        }
    }
    if !scores.is_empty() {
        append(&imported_scores(store.root()), &scores)?;
    }
    ledger.commit(&batch)?;
    let taken = batch.entries.len() as u64;
    Ok(ImportCounts {
        taken,
        passed,
        known: Some(known),
    })
}

/// Appends lines durably.
fn append(path: &Path, lines: &str) -> Result<()> {
    let written = || -> std::io::Result<()> {
        let mut file = File::options().create(true).append(true).open(path)?;
        file.write_all(lines.as_bytes())?;
        file.sync_all()
    };
    written().with_context(|| format!("cannot write {}", path.display()))
}

/// Returns the columns if a line is the head of a CSV file with URLs.
fn columns(line: &str) -> Option<CsvColumns> {
    let names = cells(line);
    let place = |name: &str| {
        names
            .iter()
            .position(|one| one.trim().eq_ignore_ascii_case(name))
    };
    Some((place("url")?, place("score")))
}

fn read(line: &str, csv: Option<CsvColumns>) -> Result<ListedUrl, String> {
    let (url, score) = match csv {
        Some((url, score)) => {
            let cells = cells(line);
            let cell = |place: usize| cells.get(place).cloned().unwrap_or_default();
            (cell(url), score.map(cell))
        }
        None if line.starts_with('{') => {
            let found: Value = serde_json::from_str(line).map_err(|why| why.to_string())?;
            let url = found["url"].as_str().ok_or("it has no \"url\"")?;
            let score = Some(&found["score"]).filter(|score| !score.is_null());
            (url.to_owned(), score.map(Value::to_string))
        }
        None => match line.split_once('\t') {
            Some((url, score)) => (url.to_owned(), Some(score.to_owned())),
            None => (line.to_owned(), None),
        },
    };
    let score = score.filter(|score| !score.trim().is_empty());
    let score = score.map(|text| match text.trim().parse::<f64>() {
        Ok(score) if score >= 0.0 && score.is_finite() => Ok(score),
        _ => Err(format!("the score {text:?} is no number from 0 up")),
    });
    Ok(ListedUrl {
        url: PageUrl::parse(url.trim()).map_err(|refusal| refusal.to_string())?,
        score: score.transpose()?,
    })
}

/// Splits a line of CSV. A quoted cell may have commas and doubled quotes.
fn cells(line: &str) -> Vec<String> {
    let (mut cells, mut cell, mut quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if quoted && letters.next_if_eq(&'"').is_some() => cell.push('"'),
            '"' => quoted = !quoted,
            ',' if !quoted => cells.push(std::mem::take(&mut cell)),
            letter => cell.push(letter),
        }
    }
    cells.push(cell);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_kinds_of_lists_are_read() {
        let listed = |line: &str, csv: Option<CsvColumns>| {
            let found = read(line, csv)?;
            Ok::<_, String>((found.url.as_str().to_owned(), found.score))
        };
        let url = |path: &str| format!("http://a.example/{path}");
        assert_eq!(listed("http://a.example/x", None), Ok((url("x"), None)));
        let scored = listed("http://a.example/x\t.5", None);
        assert_eq!(scored, Ok((url("x"), Some(0.5))));
        let exported = r#"{"url":"http://a.example/y","status":200,"error":null}"#;
        assert_eq!(listed(exported, None), Ok((url("y"), None)));
        let exported = r#"{"url":"http://a.example/y","score":3}"#;
        assert_eq!(listed(exported, None), Ok((url("y"), Some(3.0))));
        let csv = columns("status,URL,score");
        assert_eq!(csv, Some((1, Some(2))));
        let found = listed("200,\"http://a.example/a,b\",7", csv);
        assert_eq!(found, Ok((url("a,b"), Some(7.0))));
        assert_eq!(listed("200,http://a.example/z,", csv), Ok((url("z"), None)));
        assert_eq!(columns("http://a.example/url,score"), None);
        for wrong in [
            "{\"a\":1}",
            "{",
            "nothing",
            "http://a.example/\tx",
            "http://a.example/\t-1",
        ] {
            assert!(listed(wrong, None).is_err(), "{wrong}");
        }
        assert_eq!(cells(r#"a,"b ""c"", d",e"#), ["a", "b \"c\", d", "e"]);
    }
}
