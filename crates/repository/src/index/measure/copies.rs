//! The last copy of each page. The measurement of gains compares a new copy with it.
//!
//! **Invariant:** copies that were put since the last commit are kept in memory; all others are
//! read from the texts stored in the index. So memory is bounded by the texts that are put between
//! two commits. The index writer holds these in memory too.

use std::collections::HashMap;

use page::PageId;
use tantivy::DocAddress;

use super::super::content::PageTexts;
use super::super::score::LinkStats;
use super::super::stored::CommittedPage;

/// One copy of a page, as it is scored.
#[derive(Debug, PartialEq)]
pub(in super::super) struct PageCopy {
    pub(super) texts: PageTexts<'static>,
    pub(super) link_stats: LinkStats,
    /// Its address in the index, if it is committed.
    pub(super) place: Option<DocAddress>,
}

/// Finds the last copy of a page, committed or not.
#[derive(Default)]
pub(super) struct LastCopies {
    /// The copies that were put since the last commit. `None` means that the page was removed.
    recent: HashMap<PageId, Option<PageCopy>>,
}

impl LastCopies {
    /// Takes the last copy of a page. `committed` is the copy in the last commit. Returns `None`
    /// if the index has no copy of the page, or the page was removed.
    ///
    /// The caller must call [`keep`](Self::keep) next, with the copy that replaces this one.
    pub(super) fn take(
        &mut self,
        page: PageId,
        committed: Option<&CommittedPage>,
    ) -> Option<PageCopy> {
        match self.recent.remove(&page) {
            Some(copy) => copy,
            None => committed.map(|committed| PageCopy {
                texts: committed.page.texts().into_owned(),
                link_stats: committed.page.link_stats,
                place: Some(committed.place),
            }),
        }
    }

    /// Stores the new copy of a page. `None` means that the page was removed.
    pub(super) fn keep(&mut self, page: PageId, copy: Option<(PageTexts<'static>, LinkStats)>) {
        let copy = copy.map(|(texts, link_stats)| PageCopy {
            texts,
            link_stats,
            place: None,
        });
        self.recent.insert(page, copy);
    }

    /// Drops the copies in memory, because the index has committed them.
    pub(super) fn committed(&mut self) {
        self.recent.clear();
    }
}
