//! The last copies of pages, which a new copy is compared with.
//!
//! **Invariant:** pages that were put or removed since the last commit are read from memory, all
//! others from the text stored in the index. So memory holds the texts since one commit, as the
//! index writer does.

use std::collections::HashMap;

use page::PageId;
use tantivy::DocAddress;

use super::super::content::PageTexts;
use super::super::score::LinkStats;
use super::super::stored::CommittedPage;

#[derive(Debug, PartialEq)]
pub(in super::super) struct PageCopy {
    pub(super) texts: PageTexts<'static>,
    pub(super) link_stats: LinkStats,
    /// Its address in the index, if it is committed.
    pub(super) place: Option<DocAddress>,
}

/// The last copies of all pages.
#[derive(Default)]
pub(super) struct LastCopies {
    /// The copies that are not committed. `None` means that the page was removed.
    recent: HashMap<PageId, Option<PageCopy>>,
}

impl LastCopies {
    /// Takes the last copy of a page, before another one replaces it or the page is removed.
    /// `committed` is the copy in the last commit. Returns `None` if the page does not exist.
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

    /// Forgets all uncommitted copies, because the index has committed them.
    pub(super) fn committed(&mut self) {
        self.recent.clear();
    }
}
