//! `avocet import clicks`: imports clicks on pages from other systems.
//!
//! Lines are `url<tab>time<tab>count`; without a count they mean one click. A time is in seconds
//! since 1970 or in RFC 3339. A table may have ids instead of URLs, as in the worlds of the
//! laboratory. Then `articles.tsv` or `articles.tsv.gz` in the same directory maps ids to URLs.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use jiff::Timestamp;
use page::PageUrl;
use repository::log::Click;

use super::lines::{self, open};

/// Accepted headers of a table of clicks.
const HEADERS: [&str; 3] = ["url\ttime\tcount", "url\tt\tclicks", "article\tt\tclicks"];

/// Appends the clicks in these files to the log. Returns the numbers of imported and skipped lines.
pub fn import(log: &Path, files: &[PathBuf]) -> Result<(u64, u64)> {
    let mut names = HashMap::new();
    for file in files {
        let directory = file.parent().unwrap_or(Path::new(""));
        if !names.contains_key(directory) {
            names.insert(directory.to_owned(), articles(directory)?);
        }
    }
    let none = HashMap::new();
    let now = Timestamp::now();
    let is_header = |line: &str| HEADERS.contains(&line);
    lines::import(log, files, is_header, |file, line| {
        let names = file.parent().and_then(|directory| names.get(directory));
        read(line, names.unwrap_or(&none), now)
    })
}

/// Returns the URLs of the articles in a directory by id, or an empty map if it has no table.
fn articles(directory: &Path) -> Result<HashMap<String, String>> {
    let mut urls = HashMap::new();
    let found = ["articles.tsv", "articles.tsv.gz"].map(|name| directory.join(name));
    let Some(path) = found.iter().find(|path| path.exists()) else {
        return Ok(urls);
    };
    let cannot = || format!("cannot read {}", path.display());
    for line in open(path).with_context(cannot)?.lines() {
        let line = line.with_context(cannot)?;
        if let Some((id, url)) = line.split_once('\t') {
            urls.insert(id.to_owned(), url.to_owned());
        }
    }
    Ok(urls)
}

fn read(line: &str, names: &HashMap<String, String>, now: Timestamp) -> Result<Click, String> {
    let mut columns = line.split('\t');
    let (Some(page), Some(time)) = (columns.next(), columns.next()) else {
        return Err("there is no tab between URL and time".to_owned());
    };
    let count = columns.next().map_or(Ok(1), |count| count.trim().parse());
    let count = count.map_err(|_| "the count is not a whole number".to_owned())?;
    if count == 0 {
        return Err("the count is 0: it must be at least 1".to_owned());
    }
    let url = names.get(page).map_or(page, String::as_str);
    let url = PageUrl::parse(url)
        .map_err(|_| format!("{page:?} is neither a URL nor an id in articles.tsv"))?;
    let time = at(time.trim())?;
    if time > now {
        return Err(format!("{time} is in the future"));
    }
    Ok(Click {
        time,
        url: url.as_str().to_owned(),
        count,
        query: None,
        rank: None,
    })
}

fn at(text: &str) -> Result<Timestamp, String> {
    let wrong = || format!("{text:?} is not a time: write 1646092800 or 2022-03-01T00:00:00Z");
    match text.parse::<i64>() {
        Ok(seconds) => Timestamp::from_second(seconds).map_err(|_| wrong()),
        Err(_) => text.parse().map_err(|_| wrong()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_urls_and_ids_are_read_and_wrong_lines_are_refused_with_the_reason() {
        let names = HashMap::from([("7".to_owned(), "http://e.org/seven".to_owned())]);
        let now = Timestamp::from_second(1_700_000_000).unwrap();
        let take = |line: &str| read(line, &names, now);
        let click = |url: &str, count| Click {
            time: Timestamp::from_second(1_646_092_800).unwrap(),
            url: url.into(),
            count,
            query: None,
            rank: None,
        };
        let plain = take("HTTP://E.org/a\t1646092800\t12");
        assert_eq!(plain.unwrap(), click("http://e.org/a", 12));
        let written = take("http://e.org/a\t2022-03-01T00:00:00Z");
        assert_eq!(written.unwrap(), click("http://e.org/a", 1));
        assert_eq!(
            take("7\t1646092800\t3").unwrap(),
            click("http://e.org/seven", 3)
        );
        for (line, word) in [
            ("http://e.org/a", "tab"),
            ("http://e.org/a\tyesterday\t1", "not a time"),
            ("http://e.org/a\t1646092800000\t1", "not a time"),
            ("http://e.org/a\t1800000000\t1", "in the future"),
            ("http://e.org/a\t1646092800\t-3", "whole number"),
            ("http://e.org/a\t1646092800\tmany", "whole number"),
            ("http://e.org/a\t1646092800\t0", "at least 1"),
            ("8\t1646092800\t1", "articles.tsv"),
        ] {
            let why = take(line).unwrap_err();
            assert!(why.contains(word), "{line}: {why}");
        }
    }
}
