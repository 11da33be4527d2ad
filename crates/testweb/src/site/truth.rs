//! What must an honest crawl of this web fetch?
//!
//! **Invariant:** computed from the model, never from HTML or robots.txt as served, so that a fault in
//! reading either cannot hide in the truth it is checked against.

use std::collections::BTreeSet;

use super::web::{Kind, Page, PageNumber, RobotsFile, ServerNumber, Web};

/// How far a crawl goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// Wherever links lead.
    Any,
    /// On the servers of the seeds.
    SeedServers,
}

impl Web {
    /// The pages that a crawl from these seeds asks for at one moment, if it obeys robots.txt, follows
    /// redirects and asks a busy page again.
    ///
    /// Pages that answer with an error are among them: a crawler learns that only by asking. The pages
    /// of endless calendars are not.
    pub fn reachable(&self, seeds: &[PageNumber], scope: Scope, at: f64) -> BTreeSet<PageNumber> {
        let servers: BTreeSet<ServerNumber> =
            seeds.iter().map(|&seed| self.page(seed).server).collect();
        let mut reached = BTreeSet::new();
        let mut waiting = seeds.to_vec();
        while let Some(number) = waiting.pop() {
            let page = self.page(number);
            let in_scope = scope == Scope::Any || servers.contains(&page.server);
            if in_scope && self.allows(page) && reached.insert(number) {
                waiting.extend(self.leads_to(number, at));
            }
        }
        reached
    }

    /// The pages that a page leads to at one moment: those it links to, or the one it redirects to.
    pub fn leads_to(&self, page: PageNumber, at: f64) -> Vec<PageNumber> {
        let page = self.page(page);
        if !page.exists(at) {
            return Vec::new();
        }
        match page.kind {
            Kind::Ordinary | Kind::Busy | Kind::Copy(_) => {
                self.links(page, at).map(Page::number).collect()
            }
            Kind::Redirect(to, _) => vec![to],
            Kind::Error(_) => Vec::new(),
        }
    }

    /// Whether the page's server lets crawlers ask for it.
    fn allows(&self, page: &Page) -> bool {
        match self.server(page.server).robots {
            RobotsFile::Open | RobotsFile::Missing => true,
            RobotsFile::Rules { .. } => !page.path.starts_with("/private/"),
            RobotsFile::Broken => false,
        }
    }
}
