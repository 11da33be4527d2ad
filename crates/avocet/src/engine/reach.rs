//! How a server is reached, and what it allows.

use std::sync::Arc;

use fetch::{Connection, Robots, Trouble};
use frontier::{Bound, Entry};
use page::PageUrl;

use super::Engine;
use super::claimed::Claimed;
use super::host::Host;
use super::visit::Call;
use crate::verdict::Lead;

/// Sitemaps of one robots.txt that are followed (hostile-web.md, row 52).
const SITEMAPS: usize = 64;

/// Why a visit ended before its pages did.
pub(super) enum End {
    /// The host did not answer, for this reason.
    Trouble(Trouble),
    /// The host's robots.txt cannot be had, so nothing may be fetched.
    NoRules,
    /// Another host has the address; the pages wait there.
    Moved,
}

impl Call<'_> {
    /// Makes sure there is an open connection to the server of `url`.
    pub(super) async fn connect(&mut self, url: &PageUrl) -> Result<(), End> {
        let engine = self.engine;
        if self.connection.as_ref().is_some_and(Connection::is_open) {
            return Ok(());
        }
        let kept = engine.shared().take_connection(url.host());
        self.connection = kept.filter(Connection::is_open);
        if self.connection.is_some() {
            return Ok(());
        }
        let route = engine.fetcher.route(url).await.map_err(End::Trouble)?;
        if let Some(address) = route.address()
            && let Some(held) = self.visit.take()
        {
            match engine.shared().bind(held, address.ip().to_canonical()) {
                Bound::Go(held) => self.visit = Some(held),
                Bound::Moved => return Err(End::Moved),
            }
        }
        engine.shared().make_room(engine.plan.connections);
        let began = engine.clock.now();
        let mut opened = engine.fetcher.connect(url, &route).await;
        if matches!(opened, Err(Trouble::NotHttp2 | Trouble::NotHttp1)) {
            // From now on the fetcher speaks the other HTTP to this server.
            opened = engine.fetcher.connect(url, &route).await;
        }
        if let Some(visit) = &mut self.visit {
            // A connection that failed cost its time too.
            visit.estimate.connected(engine.clock.now().since(began));
        }
        let opened = opened.map_err(End::Trouble)?;
        if let Some(host) = engine.shared().host(url.host()) {
            host.connected(opened.connect_time());
        }
        self.connection = Some(opened);
        Ok(())
    }

    /// The rules of a host, and whether the host itself was asked for them.
    pub(super) async fn rules(&mut self, url: &PageUrl) -> Result<(Arc<Robots>, bool), End> {
        let engine = self.engine;
        let known = engine
            .shared()
            .host(url.host())
            .and_then(|host| host.rules(engine.clock.now()));
        if let Some(rules) = known {
            return Ok((rules, false));
        }
        // What an older file asked for holds until there is another.
        let crawl_delay = engine
            .shared()
            .host(url.host())
            .and_then(|host| host.crawl_delay());
        self.asks(self.delay(crawl_delay)).await;
        let answer = engine.fetcher.robots(url, &mut self.connection).await;
        let busy = matches!(answer.status, Some(429 | 503));
        if let Some(wait) = answer.retry_after.filter(|_| busy) {
            self.rest_for(wait);
        }
        let now = engine.clock.now();
        let mut shared = engine.shared();
        engine.live.meter().overhead(answer.wire_bytes);
        shared.tally.bytes += answer.wire_bytes;
        shared.spend(now);
        let host = shared.host(url.host()).ok_or(End::NoRules)?;
        let learned = host.learn_rules(answer, now);
        let mut facts: Vec<Entry> = host.fact().into_iter().collect();
        if let Some(rules) = learned.as_ref().filter(|_| engine.plan.is_continuous()) {
            // What robots.txt names is a way in, as a seed is.
            let sitemaps = rules.sitemaps(url);
            let leads: Vec<Lead> = (sitemaps.into_iter().take(SITEMAPS))
                .map(Lead::listing)
                .collect();
            facts.extend(shared.admit(&leads, None, now).facts);
        }
        shared.push_facts(facts);
        learned.map(|rules| (rules, true)).ok_or(End::NoRules)
    }
}

impl Engine {
    /// Brings what the ledger knows of a host to memory.
    pub(super) fn recall_host(&self, claimed: &Claimed) {
        let id = claimed.url.host();
        if self.shared().host(id).is_some() {
            return;
        }
        let facts = self
            .trust(self.ledger.host((claimed.key.partition, id)))
            .flatten();
        self.shared()
            .remember(id, Host::recalled(&claimed.url, facts, &self.present()));
    }

    pub(super) fn forbidden(&self, url: &PageUrl, rules: &Robots) -> Option<&'static str> {
        if !rules.allows(url) {
            return Some("robots");
        }
        (!self.shared().frontier.novelty.allows(url.pattern())).then_some("trap:pattern")
    }
}
