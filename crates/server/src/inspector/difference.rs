//! Compares the main text of two versions of a page, line by line, and marks the words that differ.
//!
//! **Invariant:** the comparison is bounded in size and time, whatever a page contains.

use std::time::Duration;

use anyhow::Result;
use crawl::AnswerText;
use page::{PageUrl, article};
use similar::{ChangeTag, TextDiff};

use node::handle::{NodeHandle, PageVersion};

/// The maximum number of bytes of a text that are compared.
const LONGEST: usize = 200_000;
/// The time limit of the comparison. The rest is then compared more coarsely.
const TIME: Duration = Duration::from_millis(500);
/// Unchanged lines that are shown before and after a change.
const AROUND: usize = 2;
/// The maximum number of lines that are shown.
const MOST: usize = 600;

/// The difference between two versions.
pub struct Difference {
    pub from: PageVersion,
    pub to: PageVersion,
    /// Whether the texts are equal.
    pub same: bool,
    pub added: usize,
    pub removed: usize,
    /// Whether lines beyond [`MOST`] were cut off.
    pub cut: bool,
    pub lines: Vec<DiffLine>,
}

/// A line of the comparison.
#[derive(Debug, PartialEq, Eq)]
pub struct DiffLine {
    /// `added`, `removed`, `kept` or `gap`.
    pub class: &'static str,
    /// `+`, `-` or empty, for readers who do not see the colour.
    pub sign: &'static str,
    /// The text in pieces, each with whether it differs.
    pub pieces: Vec<(bool, String)>,
}

impl Difference {
    /// Compares two versions in the archive.
    pub fn between(
        node: &NodeHandle,
        url: &PageUrl,
        from: &PageVersion,
        to: &PageVersion,
    ) -> Result<Self> {
        let (before, after) = (text(node, url, from)?, text(node, url, to)?);
        let (lines, added, removed) = compare(&before, &after);
        Ok(Self {
            from: from.clone(),
            to: to.clone(),
            same: added + removed == 0,
            added,
            removed,
            cut: lines.len() > MOST,
            lines: lines.into_iter().take(MOST).collect(),
        })
    }
}

/// Returns the main text of a version, one line per block.
fn text(node: &NodeHandle, url: &PageUrl, version: &PageVersion) -> Result<String> {
    let answer = node.version(url, version)?;
    let mut text = match answer.text() {
        Some(AnswerText::Html(text)) => article::article(&text, url).text,
        Some(AnswerText::Plain(text)) => text.into_owned(),
        None => format!("({} bytes that are no text)", answer.content.len()),
    };
    text.truncate(page::char_floor(&text, LONGEST));
    Ok(text)
}

fn compare(before: &str, after: &str) -> (Vec<DiffLine>, usize, usize) {
    let difference = TextDiff::configure()
        .timeout(TIME)
        .diff_lines(before, after);
    let (mut lines, mut added, mut removed) = (Vec::new(), 0, 0);
    for (place, group) in difference.grouped_ops(AROUND).iter().enumerate() {
        if place > 0 {
            lines.push(DiffLine {
                class: "gap",
                sign: "",
                pieces: vec![(false, "…".into())],
            });
        }
        for change in group
            .iter()
            .flat_map(|op| difference.iter_inline_changes(op))
        {
            let (class, sign) = match change.tag() {
                ChangeTag::Equal => ("kept", ""),
                ChangeTag::Insert => ("added", "+"),
                ChangeTag::Delete => ("removed", "-"),
            };
            added += usize::from(sign == "+");
            removed += usize::from(sign == "-");
            let pieces = change.iter_strings_lossy();
            let pieces =
                pieces.map(|(other, text)| (other, text.trim_end_matches('\n').to_owned()));
            lines.push(DiffLine {
                class,
                sign,
                pieces: pieces.collect(),
            });
        }
    }
    (lines, added, removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_words_are_marked() {
        let before = "one\ntwo\nthree\nfour\nthe red fox sleeps\nsix\n";
        let after = "one\ntwo\nthree\nfour\nthe grey fox sleeps\nsix\nseven\n";
        let (lines, added, removed) = compare(before, after);
        assert_eq!((added, removed), (2, 1));
        let new: Vec<&DiffLine> = lines.iter().filter(|line| line.class == "added").collect();
        let other: Vec<&str> = (new[0].pieces.iter())
            .filter(|(other, _)| *other)
            .map(|(_, text)| text.trim())
            .collect();
        assert_eq!(other, ["grey"]);
        assert_eq!(
            lines[0].pieces,
            [(false, "three".to_owned())],
            "two lines around"
        );
        assert_eq!(compare(before, before).0, []);
    }
}
