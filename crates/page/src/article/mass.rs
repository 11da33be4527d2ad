//! How much text every element of a tree holds.

use std::collections::HashMap;

use dom_query::{NodeId, NodeRef};

use super::tree::{is_preformatted, name};

/// Characters that are not white space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Mass {
    /// All of them.
    pub text: usize,
    /// Those of links.
    pub links: usize,
    /// Those of preformatted elements.
    pub code: usize,
}

impl Mass {
    /// Text outside links.
    pub fn prose(self) -> usize {
        self.text - self.links
    }
}

/// The mass of every element.
pub(super) struct Masses(HashMap<NodeId, Mass>);

impl Masses {
    /// Weighs everything below `root`.
    pub fn below(root: &NodeRef<'_>) -> Self {
        let mut masses = Self(HashMap::new());
        masses.weigh(root, false, false);
        masses
    }

    /// The mass of an element when the tree was weighed.
    pub fn of(&self, node: &NodeRef<'_>) -> Mass {
        self.0.get(&node.id).copied().unwrap_or_default()
    }

    fn weigh(&mut self, node: &NodeRef<'_>, link: bool, code: bool) -> Mass {
        let mut mass = Mass::default();
        if node.is_text() {
            mass.text = node
                .text()
                .chars()
                .filter(|letter| !letter.is_whitespace())
                .count();
            mass.links = if link { mass.text } else { 0 };
            mass.code = if code { mass.text } else { 0 };
            return mass;
        }
        let Some(name) = name(node) else { return mass };
        let link = link || &*name == "a" && node.has_attr("href");
        let code = code || is_preformatted(&name);
        for child in node.children_it(false) {
            let below = self.weigh(&child, link, code);
            mass.text += below.text;
            mass.links += below.links;
            mass.code += below.code;
        }
        self.0.insert(node.id, mass);
        mass
    }
}
