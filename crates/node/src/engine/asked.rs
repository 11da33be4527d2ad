//! What does a running crawl say of one page?
//!
//! The same truth as `avocet explain` of a store at rest, asked of the frontier that decides. The core looks at its
//! memory; what takes reads of many records happens on the thread of whoever asks.

use anyhow::{Context, Result};
use frontier::{PageKey, Visited};

use super::Engine;
use crate::explain::{self, Asked, Explanation, Facts};
use crate::store;

impl Engine {
    /// What the last visit to a page found.
    pub fn visited(&self, key: PageKey) -> Option<Visited> {
        let uncommitted = self.ask(move |core| core.uncommitted_record(key.page).cloned());
        let stored = || self.trust(self.ledger.visited(key)).flatten();
        uncommitted.flatten().or_else(stored)
    }

    /// Explains a URL.
    pub fn explain(&self, text: &str) -> Result<Explanation> {
        let url = explain::parse(text)?;
        let mut facts = Facts::read(&self.ledger, url)?;
        let policies = self.live.policies();
        let (decided_by, now) = (policies.clone(), self.clock.now());
        let told = self.ask(move |core| {
            // What is on its way to the ledger is newer than what is there.
            if let Some(visited) = core.uncommitted_record(facts.key.page) {
                facts.visited = Some(visited.clone());
            }
            if let Some(found) = core.frontier().recent(facts.key.page) {
                facts.discovery = Some(found.clone());
            }
            if let Some(host) = core.host(facts.url.host()) {
                facts.host = Some(host.facts().clone());
            }
            let (frontier, scope) = core.frontier_and_scope();
            let told = facts.told(Asked {
                frontier,
                scope,
                policies: &decided_by,
                running: true,
                now,
            });
            (facts, told)
        });
        let (facts, (explanation, source)) = told.context("the crawl has just ended: ask again")?;
        let topic = facts.judged(&store::archive(self.live.root()), &policies)?;
        let explanation = explain::complete(explanation, &facts, source, &self.ledger)?;
        Ok(Explanation {
            topic,
            ..explanation
        })
    }
}
