//! By which distinct tag paths are the page's links reached?
//!
//! **Invariant:** at most the limit of paths is kept; one empty path stands for all others.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::links::AlreadyHashed;
use super::open::Open;
use super::tag::Name;

/// Collects tag paths.
#[derive(Default)]
pub(super) struct Paths {
    pub(super) paths: Vec<String>,
    index: HashMap<u64, u32, BuildHasherDefault<AlreadyHashed>>,
}

impl Paths {
    /// The index of the path of an element here.
    pub(super) fn of(&mut self, open: &Open<'_>, tag: Name, name: &str, limit: usize) -> u32 {
        let number = open.path_below(tag);
        if let Some(&index) = self.index.get(&number) {
            return index;
        }
        let index = self.paths.len();
        if index > limit {
            return limit as u32;
        }
        if index == limit {
            self.paths.push(String::new());
        } else {
            self.paths.push(open.path_text(name));
            self.index.insert(number, index as u32);
        }
        index as u32
    }
}
