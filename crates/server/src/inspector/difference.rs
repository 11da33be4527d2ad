//! What changed between two versions of a page? Its main text, line by line, with the words that differ.
//!
//! **Invariant:** what is compared is bounded in size and time, whatever a page says.

use std::time::Duration;

use anyhow::Result;
use page::media::{self, Media};
use page::{PageUrl, article, charset};
use similar::{ChangeTag, TextDiff};

use node::handle::{NodeHandle, PageVersion};

/// Bytes of a text that are compared.
const LONGEST: usize = 200_000;
/// The time for the comparison; after that it is coarser.
const TIME: Duration = Duration::from_millis(500);
/// Lines that are shown around a change.
const AROUND: usize = 2;
/// Lines that are shown.
const MOST: usize = 600;

/// What changed.
pub struct Difference {
    pub from: PageVersion,
    pub to: PageVersion,
    /// Whether nothing did.
    pub same: bool,
    pub added: usize,
    pub removed: usize,
    /// Whether there is more than is shown.
    pub cut: bool,
    pub lines: Vec<Line>,
}

/// A line of the comparison.
#[derive(Debug, PartialEq, Eq)]
pub struct Line {
    /// `added`, `removed`, `kept` or `gap`.
    pub class: &'static str,
    /// `+`, `-` or nothing: not by colour alone.
    pub sign: &'static str,
    /// Its text, in pieces that are other words or not.
    pub pieces: Vec<(bool, String)>,
}

impl Difference {
    /// Between two versions in the archive.
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

/// The main text of a version, a line a block.
fn text(node: &NodeHandle, url: &PageUrl, version: &PageVersion) -> Result<String> {
    let answer = node.version(url, version)?;
    let declared = answer.content_type.as_deref();
    let (text, _) = charset::decode(&answer.content, declared);
    let mut text = match media::kind(declared, &answer.content) {
        Media::Html => article::article(&text, url).text,
        Media::Text => text.into_owned(),
        _ => format!("({} bytes that are no text)", answer.content.len()),
    };
    let end = (0..=LONGEST.min(text.len()))
        .rev()
        .find(|end| text.is_char_boundary(*end));
    text.truncate(end.unwrap_or(0));
    Ok(text)
}

fn compare(before: &str, after: &str) -> (Vec<Line>, usize, usize) {
    let difference = TextDiff::configure()
        .timeout(TIME)
        .diff_lines(before, after);
    let (mut lines, mut added, mut removed) = (Vec::new(), 0, 0);
    for (place, group) in difference.grouped_ops(AROUND).iter().enumerate() {
        if place > 0 {
            lines.push(Line {
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
            lines.push(Line {
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
    fn changed_words_are_told() {
        let before = "one\ntwo\nthree\nfour\nthe red fox sleeps\nsix\n";
        let after = "one\ntwo\nthree\nfour\nthe grey fox sleeps\nsix\nseven\n";
        let (lines, added, removed) = compare(before, after);
        assert_eq!((added, removed), (2, 1));
        let new: Vec<&Line> = lines.iter().filter(|line| line.class == "added").collect();
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
