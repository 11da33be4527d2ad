//! Explains a page of a running crawl.
//!
//! The answer has the same content as `avocet explain` for a store at rest, but comes from the
//! frontier of the crawl. The core reads only its memory; the caller's thread reads the ledger.

use anyhow::{Context, Result};
use frontier::{PageKey, Visited};

use super::Engine;
use crate::explain::{self, ExplainContext, Explanation, PageFacts};
use crate::store;

impl Engine {
    /// Returns the record of the last visit to a page, committed or not.
    pub fn visited(&self, key: PageKey) -> Option<Visited> {
        let uncommitted = self.ask(move |core| core.uncommitted_record(key.page).cloned());
        let stored = || self.ok_or_stop(self.ledger.visited(key)).flatten();
        uncommitted.flatten().or_else(stored)
    }

    /// Explains a URL.
    pub fn explain(&self, text: &str) -> Result<Explanation> {
        let url = explain::parse(text)?;
        let mut facts = PageFacts::read(&self.ledger, url)?;
        let policies = self.live.policies();
        let (decided_by, now) = (policies.clone(), self.clock.now());
        let explained = self.ask(move |core| {
            // Uncommitted records are newer than those in the ledger.
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
            let explained = facts.explain_from_memory(ExplainContext {
                frontier,
                scope,
                policies: &decided_by,
                running: true,
                now,
            });
            (facts, explained)
        });
        let (facts, (explanation, source)) =
            explained.context("the crawl has just ended: run the command again")?;
        let topic = facts.topic_opinion(&store::archive(self.live.root()), &policies)?;
        let explanation = explain::complete(explanation, &facts, source, &self.ledger)?;
        Ok(Explanation {
            topic,
            ..explanation
        })
    }
}
