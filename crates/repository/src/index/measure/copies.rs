//! The last copies of pages, which a new copy is held against.
//!
//! **Invariant:** a page put or removed since the last commit is answered from memory, every other from the text
//! that the index keeps. So memory has the texts of one commit, as the index's writer has them until then.

use std::collections::HashMap;

use page::PageId;
use tantivy::DocAddress;

use super::super::content::Texts;
use super::super::score::Standing;
use super::super::stored::Committed;

/// A copy of a page.
#[derive(Debug, PartialEq)]
pub(in super::super) struct Copy {
    pub(super) texts: Texts<'static>,
    pub(super) standing: Standing,
    /// Where the index has it, if it is committed.
    pub(super) place: Option<DocAddress>,
}

/// The last copies of all pages.
#[derive(Default)]
pub(super) struct Copies {
    /// Those that are not committed. `None`: the page was removed.
    recent: HashMap<PageId, Option<Copy>>,
}

impl Copies {
    /// Takes the last copy of a page, to be followed by another or by none; `committed` is that of the last commit.
    /// Returns `None` if there is no such page.
    pub(super) fn take(&mut self, page: PageId, committed: Option<&Committed>) -> Option<Copy> {
        match self.recent.remove(&page) {
            Some(copy) => copy,
            None => committed.map(|committed| Copy {
                texts: committed.page.texts().into_owned(),
                standing: committed.page.standing,
                place: Some(committed.place),
            }),
        }
    }

    /// Keeps what was put in place of the last copy, or that the page was removed.
    pub(super) fn keep(&mut self, page: PageId, copy: Option<(Texts<'static>, Standing)>) {
        let copy = copy.map(|(texts, standing)| Copy {
            texts,
            standing,
            place: None,
        });
        self.recent.insert(page, copy);
    }

    /// The index has everything so far.
    pub(super) fn committed(&mut self) {
        self.recent.clear();
    }
}
