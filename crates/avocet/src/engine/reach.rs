//! How is a server reached, and what does it allow?

use std::sync::Arc;
use std::time::Duration;

use fetch::{Connection, Robots, Trouble};
use frontier::{Bound, Visit};
use page::PageUrl;

use super::Engine;
use super::claimed::Claimed;
use super::host::Host;

/// Why a visit ended before its pages did.
pub(super) enum End {
    /// The host did not answer, for this reason.
    Trouble(Trouble),
    /// The host's robots.txt cannot be had, so nothing may be fetched.
    NoRules,
    /// Another host has the address; the pages wait there.
    Moved,
}

impl Engine {
    /// Makes sure there is an open connection to the server of `url`, in a visit of which the first
    /// `asked` pages are settled.
    pub(super) async fn connect(
        &self,
        visit: &mut Option<Visit>,
        asked: usize,
        url: &PageUrl,
        connection: &mut Option<Connection>,
    ) -> Result<(), End> {
        if connection.as_ref().is_some_and(Connection::is_open) {
            return Ok(());
        }
        *connection = self
            .shared()
            .take_connection(url.host())
            .filter(Connection::is_open);
        if connection.is_some() {
            return Ok(());
        }
        let route = self.fetcher.route(url).await.map_err(End::Trouble)?;
        if let Some(address) = route.address()
            && let Some(held) = visit.take()
        {
            match self
                .shared()
                .bind(held, asked, address.ip().to_canonical(), self.clock.now())
            {
                Bound::Go(held) => *visit = Some(held),
                Bound::Moved => return Err(End::Moved),
            }
        }
        let opened = self
            .fetcher
            .connect(url, &route)
            .await
            .map_err(End::Trouble)?;
        if let Some(host) = self.shared().host(url.host()) {
            host.connected(opened.connect_time());
        }
        *connection = Some(opened);
        Ok(())
    }

    /// The rules of a host, and whether the host itself was asked for them.
    pub(super) async fn rules(
        &self,
        url: &PageUrl,
        connection: &mut Option<Connection>,
    ) -> Result<(Arc<Robots>, bool), End> {
        let known = self
            .shared()
            .host(url.host())
            .and_then(|host| host.rules(self.clock.now()));
        if let Some(rules) = known {
            return Ok((rules, false));
        }
        let answer = self.fetcher.robots(url, connection).await;
        let now = self.clock.now();
        let mut shared = self.shared();
        shared.tally.bytes += answer.wire_bytes;
        let host = shared.host(url.host()).ok_or(End::NoRules)?;
        let learned = host.learn_rules(answer, now);
        let fact = host.fact();
        shared.push_facts(fact.into_iter().collect());
        learned.map(|rules| (rules, true)).ok_or(End::NoRules)
    }

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
            .remember(id, Host::recalled(&claimed.url, facts));
    }

    pub(super) fn delay(&self, connection: Option<&Connection>, rules: &Robots) -> Duration {
        // Behind a proxy the address is the proxy's.
        let direct = connection.filter(|_| self.plan.fetch.proxy.is_none());
        let loopback = direct.is_some_and(|open| open.address().ip().is_loopback());
        let usual = if loopback {
            Duration::ZERO
        } else {
            Duration::from_secs(1)
        };
        let wanted = self.plan.delay.unwrap_or(usual);
        wanted.max(rules.crawl_delay().unwrap_or_default())
    }

    pub(super) fn forbidden(&self, url: &PageUrl, rules: &Robots) -> Option<&'static str> {
        if !rules.allows(url) {
            return Some("robots");
        }
        (!self.shared().frontier.novelty.allows(url.pattern())).then_some("trap:pattern")
    }
}
