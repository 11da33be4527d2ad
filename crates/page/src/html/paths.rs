//! Collects the distinct tag paths of a page's links.
//!
//! **Invariant:** the number of paths is limited; one empty path stands for all others.

use std::collections::HashMap;
use std::hash::BuildHasherDefault;

use super::links::AlreadyHashed;
use super::open_elements::OpenElements;
use super::tag::NameKey;

#[derive(Default)]
pub(super) struct Paths {
    pub(super) paths: Vec<String>,
    index: HashMap<u64, u32, BuildHasherDefault<AlreadyHashed>>,
}

impl Paths {
    /// Returns the index of the path of an element `name` at this position. Beyond `limit` paths
    /// this is the index of the empty path.
    pub(super) fn of(
        &mut self,
        open: &OpenElements<'_>,
        tag: NameKey,
        name: &str,
        limit: usize,
    ) -> u32 {
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
