//! Parses a file of questions with known answers: one per line, fields separated by tabs.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// A query with the pages that answer it.
#[derive(Debug, PartialEq, Eq)]
pub struct RelevanceQuestion {
    /// The kind of question; results are printed by kind.
    pub kind: String,
    /// The host whose pages are searched.
    pub site: String,
    /// The query.
    pub query: String,
    /// The URLs of the right pages, at least one.
    pub urls: Vec<String>,
}

/// Reads a file of questions. Empty lines and lines that start with `#` are skipped.
pub fn read(file: &Path) -> Result<Vec<RelevanceQuestion>> {
    let text =
        fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
    let lines = text.lines().enumerate();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|(at, line)| {
            question(line).with_context(|| {
                format!(
                    "{}, line {}: not kind, site, query and URLs, separated by tabs",
                    file.display(),
                    at + 1
                )
            })
        })
        .collect()
}

fn question(line: &str) -> Option<RelevanceQuestion> {
    let mut fields = line.split('\t');
    let mut field = || fields.next().filter(|field| !field.is_empty());
    let (kind, site, query) = (field()?.into(), field()?.into(), field()?.into());
    let urls: Vec<String> = field()?.split(' ').map(str::to_owned).collect();
    Some(RelevanceQuestion {
        kind,
        site,
        query,
        urls,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_all_four_fields_is_refused() {
        let read = question("option\tzsh.test\tzsh --version\thttp://zsh.test/a http://zsh.test/b")
            .unwrap();
        assert_eq!(
            (read.kind.as_str(), read.query.as_str()),
            ("option", "zsh --version")
        );
        assert_eq!(read.urls, ["http://zsh.test/a", "http://zsh.test/b"]);
        assert_eq!(question("option\tzsh.test\tno answer"), None);
        assert_eq!(question("option\tzsh.test\t\thttp://zsh.test/a"), None);
    }
}
