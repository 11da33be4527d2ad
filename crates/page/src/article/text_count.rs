//! Counts the characters of text, links and code in every element of a tree.

use std::collections::HashMap;

use dom_query::{NodeId, NodeRef};

use super::tree::{is_preformatted, name};

/// Numbers of characters that are not white space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TextCount {
    /// In all text.
    pub text: usize,
    /// In links.
    pub links: usize,
    /// In preformatted elements.
    pub code: usize,
}

impl TextCount {
    /// Returns the number of characters outside links.
    pub fn prose(self) -> usize {
        self.text - self.links
    }
}

/// The counts of every element, each including the elements inside it.
pub(super) struct TextCounts(HashMap<NodeId, TextCount>);

impl TextCounts {
    /// Counts everything below `root`.
    pub fn below(root: &NodeRef<'_>) -> Self {
        let mut counts = Self(HashMap::new());
        counts.count_below(root, false, false);
        counts
    }

    /// Returns the counts of an element at the time of counting.
    pub fn of(&self, node: &NodeRef<'_>) -> TextCount {
        self.0.get(&node.id).copied().unwrap_or_default()
    }

    fn count_below(&mut self, node: &NodeRef<'_>, link: bool, code: bool) -> TextCount {
        let mut count = TextCount::default();
        if node.is_text() {
            count.text = node
                .text()
                .chars()
                .filter(|letter| !letter.is_whitespace())
                .count();
            count.links = if link { count.text } else { 0 };
            count.code = if code { count.text } else { 0 };
            return count;
        }
        let Some(name) = name(node) else { return count };
        let link = link || &*name == "a" && node.has_attr("href");
        let code = code || is_preformatted(&name);
        for child in node.children_it(false) {
            let below = self.count_below(&child, link, code);
            count.text += below.text;
            count.links += below.links;
            count.code += below.code;
        }
        self.0.insert(node.id, count);
        count
    }
}
