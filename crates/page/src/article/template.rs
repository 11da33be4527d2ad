//! Finds text that many pages of a host repeat, and removes it from articles.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_64;

use super::Article;
use super::chunks::blocks;

/// Minimum number of pages that must repeat a block for it to count as part of the template.
const MANY: usize = 3;

/// Hashes of the blocks of Markdown and lines of text that at least half of the given pages, and at
/// least three of them, have in common.
#[derive(Clone, Debug, Default)]
pub struct Template {
    repeated: HashSet<u64>,
}

impl Template {
    /// Finds the template of pages of one host.
    pub fn of(pages: &[Article]) -> Self {
        let mut counts: HashMap<u64, usize> = HashMap::new();
        for page in pages {
            // A block that one page repeats counts once.
            let parts: HashSet<u64> = parts(page).collect();
            for part in parts {
                *counts.entry(part).or_default() += 1;
            }
        }
        let enough = MANY.max(pages.len().div_ceil(2));
        let repeated = counts.into_iter().filter(|(_, pages)| *pages >= enough);
        Self {
            repeated: repeated.map(|(part, _)| part).collect(),
        }
    }

    /// Removes the template from an article. An article whose text or Markdown is all template
    /// stays unchanged.
    pub fn remove_from(&self, article: &mut Article) {
        let kept = |part: &&str| !self.repeated.contains(&digest(part));
        let text: Vec<&str> = article.text.lines().filter(kept).collect();
        let mut markdown = String::new();
        let mut headings = Vec::new();
        for (from, to) in blocks(&article.markdown, false) {
            let block = article.markdown[from..to].trim_matches('\n');
            if !kept(&block) {
                continue;
            }
            if !markdown.is_empty() {
                markdown.push_str("\n\n");
            }
            let heading = article
                .headings
                .iter()
                .find(|heading| heading.start == from);
            headings.extend(heading.map(|heading| super::Heading {
                start: markdown.len(),
                ..heading.clone()
            }));
            markdown.push_str(block);
        }
        if !text.iter().all(|line| line.trim().is_empty()) && !markdown.is_empty() {
            article.text = text.join("\n");
            article.markdown = markdown;
            article.headings = headings;
        }
    }
}

fn parts(page: &Article) -> impl Iterator<Item = u64> {
    let markdown = blocks(&page.markdown, false).into_iter();
    let markdown = markdown.map(|(from, to)| digest(page.markdown[from..to].trim_matches('\n')));
    markdown.chain(page.text.lines().map(digest))
}

fn digest(part: &str) -> u64 {
    xxh3_64(part.trim().as_bytes())
}
