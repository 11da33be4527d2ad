//! The ground truth of a crawl: the pages that it must fetch.
//!
//! **Invariant:** the truth is computed from the model, never from HTML or robots.txt as served. So
//! an error in parsing HTML or robots.txt cannot affect the truth.

use std::collections::BTreeSet;

use super::web::{InventedPage, InventedRobots, PageAnswer, PageNumber, ServerNumber, Web};

/// The scope of a crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TruthScope {
    /// Everything that links lead to.
    Any,
    /// Only the servers of the seeds.
    SeedServers,
}

impl Web {
    /// Returns the pages that a crawl from these seeds requests at one moment, if it obeys
    /// robots.txt, follows redirects and retries busy pages.
    ///
    /// This includes pages that answer with an error: a crawler learns that only by a request.
    /// It does not include the pages of endless calendars.
    pub fn reachable(
        &self,
        seeds: &[PageNumber],
        scope: TruthScope,
        at: f64,
    ) -> BTreeSet<PageNumber> {
        let servers: BTreeSet<ServerNumber> =
            seeds.iter().map(|&seed| self.page(seed).server).collect();
        let mut reached = BTreeSet::new();
        let mut waiting = seeds.to_vec();
        while let Some(number) = waiting.pop() {
            let page = self.page(number);
            let in_scope = scope == TruthScope::Any || servers.contains(&page.server);
            if in_scope && self.allows(page) && reached.insert(number) {
                waiting.extend(self.leads_to(number, at));
            }
        }
        reached
    }

    /// Returns the pages that a page links to at one moment, or the one it redirects to.
    pub fn leads_to(&self, page: PageNumber, at: f64) -> Vec<PageNumber> {
        let page = self.page(page);
        if !page.exists(at) {
            return Vec::new();
        }
        match page.kind {
            PageAnswer::Ordinary | PageAnswer::Busy | PageAnswer::Copy(_) => {
                self.links(page, at).map(InventedPage::number).collect()
            }
            PageAnswer::Redirect(to, _) => vec![to],
            PageAnswer::Error(_) => Vec::new(),
        }
    }

    /// Returns whether robots.txt allows the page.
    fn allows(&self, page: &InventedPage) -> bool {
        match self.server(page.server).robots {
            InventedRobots::Open | InventedRobots::Missing => true,
            InventedRobots::Rules { .. } => !page.path.starts_with("/private/"),
            InventedRobots::Broken => false,
        }
    }
}
