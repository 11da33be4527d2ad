//! What does a running crawl say of one page?
//!
//! The same truth as `avocet explain` of a store at rest, asked of the frontier that decides. The lock is held for a look at
//! memory; what takes reads of many records happens after it.

use anyhow::Result;
use frontier::{PageKey, Visited};

use super::Engine;
use crate::explain::{self, Asked, Explanation, Facts};
use crate::store;

impl Engine {
    /// What the last visit to a page found.
    pub fn visited(&self, key: PageKey) -> Option<Visited> {
        let unsettled = self.shared().unsettled(key.page).cloned();
        unsettled.or_else(|| self.trust(self.ledger.visited(key)).flatten())
    }

    /// Explains a URL.
    pub fn explain(&self, text: &str) -> Result<Explanation> {
        let url = explain::parse(text)?;
        let mut facts = Facts::read(&self.ledger, url)?;
        let ranking = self.live.ranking();
        let (explanation, source): (Explanation, Option<PageKey>) = {
            let mut guard = self.shared();
            let shared = &mut *guard;
            // What is on its way to the ledger is newer than what is there.
            if let Some(visited) = shared.unsettled(facts.key.page) {
                facts.visited = Some(visited.clone());
            }
            if let Some(found) = shared.frontier.recent(facts.key.page) {
                facts.discovery = Some(found.clone());
            }
            if let Some(host) = shared.host(facts.url.host()) {
                facts.host = Some(host.facts().clone());
            }
            facts.told(Asked {
                frontier: &mut shared.frontier,
                scope: &shared.scope,
                ranking: &ranking,
                running: true,
                now: self.clock.now(),
            })
        };
        let topic = facts.judged(&store::archive(self.live.root()), &ranking)?;
        let explanation = explain::complete(explanation, &facts, source, &self.ledger)?;
        Ok(Explanation {
            topic,
            ..explanation
        })
    }
}
