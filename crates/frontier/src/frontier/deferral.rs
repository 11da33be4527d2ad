//! Defers new pages that are beyond the budget of their domain, and releases them.
//!
//! **Invariant:** a page that may be fetched is deferred only if the budget of its host or
//! domain is used up, or its host name is not open. [`crate::domains`] defines budgets and open
//! host names.

use page::{HostId, PageUrl, TextDigest};
use policy::{Number, Policy};

use super::{Frontier, FrontierLink};
use crate::domains::{DomainAccount, DomainBudgets, DomainLimits};
use crate::facts::Facts;
use crate::record::Known;

/// Maximum number of deferred pages that are released at a time when nothing else is left. The
/// number is small, so that pages within budget that are found later wait behind few pages.
const SPARE_PAGES: usize = 64;

/// A domain gets spare capacity only if it has at most this many times the known pages of the
/// smallest domain that gets some. So small domains are finished before a tarpit, which has many
/// pages.
const ALIKE: u32 = 2;

impl<P: Policy> Frontier<P> {
    /// Adds page budgets for domains without a seed. To be called before [`Frontier::recall`].
    #[must_use]
    pub fn with_domain_budgets(mut self, limits: DomainLimits) -> Self {
        self.domains = Some(Box::new(DomainBudgets::new(limits)));
        self
    }

    /// Returns the budget of a host and its domain; `None`: domains are not limited, or the host
    /// is unknown or exempt.
    pub fn domain_account(&self, host: HostId) -> Option<DomainAccount> {
        self.domains.as_ref()?.account(host)
    }

    /// Returns up to `most` domains with the numbers of their deferred pages, the largest first.
    pub fn deferring_domains(&self, most: usize) -> Vec<(String, usize)> {
        let Some(domains) = &self.domains else {
            return Vec::new();
        };
        let deferring = domains.all().filter_map(|domain| {
            let (name, hosts) = domains.named(domain);
            let pages = hosts.map(|host| self.bench.deferred_of(host)).sum();
            (pages > 0).then(|| (name.to_owned(), pages))
        });
        let mut deferring: Vec<(String, usize)> = deferring.collect();
        deferring.sort_by(|(name, pages), (other, more)| more.cmp(pages).then(name.cmp(other)));
        deferring.truncate(most);
        deferring
    }

    /// Counts the first text of a page as evidence for its domain.
    pub fn share_text(&mut self, host: HostId, text: &TextDigest) {
        let domains = self.domains.as_mut();
        let grown = domains.and_then(|domains| domains.read(host, text.simhash));
        self.release(grown);
    }

    /// Counts a new page, and the link that leads to it, as evidence. A seed exempts its domain.
    pub(super) fn count_discovery(&mut self, page: Number, link: &FrontierLink<'_>) {
        let Some(domains) = &mut self.domains else {
            return;
        };
        let name = || link.url.registrable_domain().into();
        let domain = domains.add_page(page, link.url.host(), name);
        let grown = match link.source {
            None => {
                domains.exempt(domain);
                Some(domain)
            }
            Some(source) => domains.linked(source.host(), page),
        };
        self.release(grown);
    }

    /// Counts the links of a page as evidence.
    pub(super) fn count_links(&mut self, from: HostId, links: &[policy::LinkFact<'_>]) {
        for link in links {
            let Some(domains) = &mut self.domains else {
                return;
            };
            let grown = domains.linked(from, link.to);
            self.release(grown);
        }
    }

    pub(super) fn is_within_budget(&mut self, page: Number) -> bool {
        let domains = self.domains.as_mut();
        domains.is_none_or(|domains| domains.admit(page))
    }

    /// Releases the best deferred pages of a domain, as many as its budget allows.
    fn release(&mut self, domain: Option<u32>) {
        let Some(domain) = domain else { return };
        while self.bench.deferred() > 0
            && let Some(domains) = &self.domains
            && let Some(host) = self.best_of(domains.within_budget(domain))
        {
            self.release_one(host);
        }
    }

    /// Returns the host with the best deferred page.
    fn best_of(&self, hosts: impl Iterator<Item = HostId>) -> Option<HostId> {
        let best = hosts.filter_map(|host| Some((self.bench.best_deferred(host)?, host)));
        let best = best.max();
        best.map(|(_, host)| host)
    }

    fn release_one(&mut self, host: HostId) {
        if let (Some(domains), Some((page, worth))) = (&mut self.domains, self.bench.release(host))
        {
            domains.release(page);
            let history = self.discovered(host, page);
            self.put(page, host, worth, history.as_ref());
        }
    }

    /// Releases up to [`SPARE_PAGES`] pages beyond the budgets, if nothing else waits and no visit
    /// is under way that could find pages. Returns whether it released any page.
    pub(super) fn use_spare_capacity(&mut self) -> bool {
        if self.bench.deferred() == 0 || !self.bench.is_at_rest() {
            return false;
        }
        let Some(domains) = &self.domains else {
            return false;
        };
        let finishable = domains.all().filter_map(|domain| {
            let known = domains.finishable(domain)?;
            self.best_of(domains.open_names_of(domain))?;
            Some((known, domain))
        });
        let mut finishable: Vec<(u32, u32)> = finishable.collect();
        finishable.sort_unstable();
        let smallest = finishable.first().map_or(0, |(known, _)| *known);
        finishable.retain(|(known, _)| *known <= smallest.saturating_mul(ALIKE));
        finishable.truncate(SPARE_PAGES);
        let each = SPARE_PAGES / finishable.len().max(1);
        for &(_, domain) in &finishable {
            for _ in 0..each {
                let Some(domains) = &self.domains else { break };
                let Some(host) = self.best_of(domains.open_names_of(domain)) else {
                    break;
                };
                self.release_one(host);
            }
        }
        !finishable.is_empty()
    }

    pub(super) fn begin_recall(&mut self) {
        if let Some(domains) = &mut self.domains {
            domains.recall();
        }
    }

    /// Counts a page of the ledger, and its text, as evidence.
    pub(super) fn recall_evidence(&mut self, known: &Known, page: Number) {
        let Some(domains) = &mut self.domains else {
            return;
        };
        let host = known.key.page.host();
        let name = || {
            let url = PageUrl::parse(&known.discovery.url);
            url.map_or_else(|_| "".into(), |url| url.registrable_domain().into())
        };
        let domain = domains.add_page(page, host, name);
        if known.discovery.source.is_none() {
            domains.exempt(domain);
        }
        let Some(visited) = &known.visited else {
            return;
        };
        domains.release(page);
        let copy = visited.copy.as_ref().filter(|_| !visited.history.listing);
        if let Some(text) = copy.and_then(|copy| copy.text.as_ref()) {
            domains.read(host, text.simhash);
        }
    }

    /// Counts the links in the ledger as evidence, and releases the best pages within budget.
    pub(super) fn end_recall<F: Facts>(&mut self, facts: &F) -> Result<(), F::Error> {
        let Some(domains) = &mut self.domains else {
            return Ok(());
        };
        for known in facts.pages() {
            let known = known?;
            let page = self.seen.number(known.key.page);
            if let (Some(page), Some(source)) = (page, known.discovery.source) {
                domains.linked(source.host(), page);
            }
        }
        for links in facts.links() {
            let (from, links) = links?;
            for (to, _) in links.links() {
                domains.linked(from.page.host(), Number(to));
            }
        }
        domains.recalled();
        for domain in domains.all() {
            self.release(Some(domain));
        }
        Ok(())
    }
}
