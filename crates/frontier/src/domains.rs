//! Page budgets of registrable domains and of the hosts within them.
//!
//! A server can invent pages, texts and host names without end and at no cost. Links from domains
//! that other people registered cost money. So the budget of a domain follows these links, as STAR
//! does in IRLbot (Lee, Leonard, Wang & Loguinov, WWW 2008). Pages beyond the budget are deferred,
//! not dropped: they wait until the budget grows or until nothing else is left to fetch.
//!
//! **Evidence**, all of it derived from facts in the ledger:
//! - S: other registrable domains with a link to the domain. Each counts once.
//! - T: pages of the domain whose text was read; D: different texts among them. Texts with equal
//!   simhash count as one text, even if they differ slightly.
//!
//! **Domain budget**, in pages: `B · max(S, 1) · (D + 10) / (T + 20)`, with B from the settings.
//! The budget is linear in S, because each other domain costs its owner money. The share of
//! distinct texts scales the budget by a factor between 0 and 1. The factor begins at 1/2, with a
//! pseudo-count of 20 pages. So distinct texts at most double the budget: a generator of random
//! text gains no more than that.
//!
//! **Host budget**: the same formula with the S of the host and the D and T of the domain, but at
//! least half of the domain's budget. So a host gets more than half of the domain's budget only if
//! enough other domains link to that host.
//!
//! **Host names**: one for every 16 pages of the domain's budget, at least one, in the order of
//! their discovery. A wildcard DNS entry makes names at no cost; each costs us a lookup, a
//! robots.txt and a connection. Further names open only when evidence raises the budget.
//!
//! **Spare capacity**: when nothing else waits and no visit is under way, deferred pages of open
//! host names are released too, at most 64 at a time, those of the smallest domains first. A domain
//! is finished in this way only while at most `spare` of its pages are known, fetched or not. A
//! site of a few thousand pages that a single domain links to is thus fetched to its end. A tarpit
//! whose pages each name 20 new ones reaches the limit after `spare / 20` fetches.
//!
//! **Exempt** are the domains of seeds, which a user named: their pages are always released.
//!
//! A link or a text that vanished on a revisit keeps counting until the next start.

use std::collections::{HashMap, HashSet};

use page::{HostId, Simhash};
use policy::{Number, Rows};
use serde::{Deserialize, Serialize};

/// Weight of the prior of 1/2 in the share of distinct texts, as a pseudo-count of pages.
const PRIOR: f64 = 20.0;
/// Pages of a domain's budget for each host name that is opened.
const PAGES_PER_NAME: u32 = 16;
/// Maximum number of linking domains that are counted for a domain or host, at 4 bytes each. A
/// domain with more is popular in any case.
const MOST_LINKING: usize = 1024;
/// Marks a page that was not added. No budget limits such a page.
const UNKNOWN: u32 = u32::MAX;

/// Settings of the page budgets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainLimits {
    /// Pages of a domain for each other domain that links to it.
    pub pages: u32,
    /// A domain with more known pages than this is not finished with spare capacity.
    pub spare: u32,
}

impl Default for DomainLimits {
    fn default() -> Self {
        Self {
            pages: 100,
            spare: 8000,
        }
    }
}

/// The budget that holds back the pages of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SpentBudget {
    /// The budget of the registrable domain.
    Domain,
    /// The budget of the host.
    Host,
    /// The number of host names of the domain.
    Names,
}

/// The budget of a host's domain and the evidence for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DomainAccount {
    /// The registrable domain.
    pub domain: String,
    /// The budget that is used up, if any.
    pub spent: Option<SpentBudget>,
    /// Pages that the domain may have. If the host's budget is used up: pages that the host may
    /// have.
    pub allowed: u32,
    /// Pages released so far: fetched or waiting on the bench. Of the domain or host, like
    /// `allowed`.
    pub used: u32,
    /// Other domains that link to it. Of the domain or host, like `allowed`.
    pub linking_domains: u32,
    /// Pages of the domain whose text was read.
    pub texts: u32,
    /// Different texts among them.
    pub distinct_texts: u32,
    /// Open host names of the domain: names whose pages may be fetched.
    pub open_names: u32,
    /// Known host names of the domain.
    pub known_names: u32,
    /// Known pages of the domain.
    pub known: u32,
    /// A domain with more known pages than this is not finished with spare capacity.
    pub spare: u32,
}

/// The budgets of all known domains.
pub(crate) struct DomainBudgets {
    limits: DomainLimits,
    names: HashMap<Box<str>, u32>,
    domains: Vec<Domain>,
    ids: HashMap<HostId, u32>,
    hosts: Vec<BudgetedHost>,
    /// For each page twice the index of its host, plus one if it was released.
    pages: Rows<u32>,
    /// Whether the ledger is being read. No unvisited page is released then, because the evidence
    /// is incomplete.
    recalling: bool,
}

#[derive(Default)]
struct Domain {
    name: Box<str>,
    /// Whether a page of it is a seed.
    exempt: bool,
    known: u32,
    released: u32,
    texts: u32,
    distinct: HashSet<Simhash>,
    linking: Linking,
    /// In the order of their discovery. The first `open` of them are open.
    hosts: Vec<u32>,
    open: usize,
}

struct BudgetedHost {
    id: HostId,
    domain: u32,
    open: bool,
    /// Its first page.
    first: Number,
    released: u32,
    linking: Linking,
}

/// Domains that link to a domain or host, sorted by index.
#[derive(Default)]
struct Linking(Vec<u32>);

impl Linking {
    fn insert(&mut self, domain: u32) -> bool {
        match self.0.binary_search(&domain) {
            Err(at) if self.0.len() < MOST_LINKING => {
                self.0.insert(at, domain);
                true
            }
            _ => false,
        }
    }

    fn len(&self) -> u32 {
        self.0.len() as u32
    }
}

/// Returns the budget in pages: `per_link · max(linking, 1) · (distinct + 10) / (texts + 20)`.
pub fn budget(per_link: u32, linking: u32, distinct: u32, texts: u32) -> u32 {
    let share = (f64::from(distinct) + PRIOR / 2.0) / (f64::from(texts) + PRIOR);
    (f64::from(per_link) * f64::from(linking.max(1)) * share) as u32
}

impl Domain {
    fn budget(&self, limits: DomainLimits, linking: &Linking) -> u32 {
        if self.exempt {
            return u32::MAX;
        }
        let distinct = self.distinct.len() as u32;
        budget(limits.pages, linking.len(), distinct, self.texts)
    }

    fn allowed(&self, limits: DomainLimits) -> u32 {
        self.budget(limits, &self.linking)
    }

    fn allowed_names(&self, limits: DomainLimits) -> usize {
        (self.allowed(limits) / PAGES_PER_NAME).max(1) as usize
    }
}

impl DomainBudgets {
    pub fn new(limits: DomainLimits) -> Self {
        Self {
            limits,
            names: HashMap::new(),
            domains: Vec::new(),
            ids: HashMap::new(),
            hosts: Vec::new(),
            pages: Rows::new(UNKNOWN),
            recalling: false,
        }
    }

    /// Adds a new page. `domain` computes the registrable domain; it is called only for a new
    /// host. Returns the index of the domain.
    pub fn add_page(
        &mut self,
        page: Number,
        host: HostId,
        domain: impl FnOnce() -> Box<str>,
    ) -> u32 {
        let index = match self.ids.get(&host) {
            Some(&index) => index,
            None => self.new_host(page, host, domain()),
        };
        self.pages.set(page.index(), index << 1);
        let host = &mut self.hosts[index as usize];
        host.first = host.first.min(page);
        let domain = host.domain;
        self.domains[domain as usize].known += 1;
        domain
    }

    fn new_host(&mut self, first: Number, id: HostId, name: Box<str>) -> u32 {
        let next = self.domains.len() as u32;
        let domain = *self.names.entry(name.clone()).or_insert(next);
        if domain == next {
            self.domains.push(Domain {
                name,
                ..Domain::default()
            });
        }
        let index = self.hosts.len() as u32;
        self.hosts.push(BudgetedHost {
            id,
            domain,
            open: false,
            first,
            released: 0,
            linking: Linking::default(),
        });
        self.ids.insert(id, index);
        self.domains[domain as usize].hosts.push(index);
        if !self.recalling {
            self.open_names(domain);
        }
        index
    }

    /// Exempts the domain of a seed from its budget.
    pub fn exempt(&mut self, domain: u32) {
        self.domains[domain as usize].exempt = true;
        self.open_names(domain);
    }

    /// Counts a link to a page. Returns the domain of the page if the budget of the domain or of
    /// the page's host may have grown.
    pub fn linked(&mut self, from: HostId, to: Number) -> Option<u32> {
        let known = self.pages.get(to.index());
        if known == UNKNOWN {
            return None;
        }
        let source = *self.ids.get(&from)?;
        let source = self.hosts[source as usize].domain;
        let host = &mut self.hosts[(known >> 1) as usize];
        let domain = host.domain;
        // A domain that the host has counted was added to the host's domain at the same time.
        if source == domain || !host.linking.insert(source) {
            return None;
        }
        self.domains[domain as usize].linking.insert(source);
        self.open_names(domain);
        Some(domain)
    }

    /// Counts the text of a page of a host. Returns the host's domain, whose budget may have
    /// grown.
    pub fn read(&mut self, host: HostId, text: Simhash) -> Option<u32> {
        let index = *self.ids.get(&host)?;
        let index = self.hosts[index as usize].domain;
        let domain = &mut self.domains[index as usize];
        domain.texts += 1;
        domain.distinct.insert(text);
        self.open_names(index);
        Some(index)
    }

    /// Opens as many host names as the budget allows, in the order of their discovery.
    fn open_names(&mut self, index: u32) {
        if self.recalling {
            return;
        }
        let domain = &mut self.domains[index as usize];
        let allowed = domain.allowed_names(self.limits);
        while domain.open < allowed
            && let Some(&host) = domain.hosts.get(domain.open)
        {
            domain.open += 1;
            self.hosts[host as usize].open = true;
        }
    }

    /// Releases a new page if the budgets of its host and domain allow it. Returns whether the page
    /// is released, now or earlier; a page that was not added counts as released.
    pub fn admit(&mut self, page: Number) -> bool {
        let known = self.pages.get(page.index());
        if known == UNKNOWN || known & 1 == 1 {
            return true;
        }
        let within = !self.recalling && self.spent(known >> 1).is_none();
        if within {
            self.release(page);
        }
        within
    }

    /// Counts a page as released.
    pub fn release(&mut self, page: Number) {
        let known = self.pages.get(page.index());
        if known == UNKNOWN || known & 1 == 1 {
            return;
        }
        self.pages.set(page.index(), known | 1);
        let host = &mut self.hosts[(known >> 1) as usize];
        host.released += 1;
        self.domains[host.domain as usize].released += 1;
    }

    /// Returns the budget that is used up and holds back further pages of a host, if any.
    fn spent(&self, host: u32) -> Option<SpentBudget> {
        let host = &self.hosts[host as usize];
        let domain = &self.domains[host.domain as usize];
        if !host.open {
            Some(SpentBudget::Names)
        } else if domain.released >= domain.allowed(self.limits) {
            Some(SpentBudget::Domain)
        } else if host.released >= self.host_allowed(host) {
            Some(SpentBudget::Host)
        } else {
            None
        }
    }

    fn host_allowed(&self, host: &BudgetedHost) -> u32 {
        let domain = &self.domains[host.domain as usize];
        let own = domain.budget(self.limits, &host.linking);
        own.max(domain.allowed(self.limits) / 2)
    }

    /// Returns the hosts of a domain whose pages are within budget.
    pub fn within_budget(&self, domain: u32) -> impl Iterator<Item = HostId> {
        let hosts = self.open_hosts(domain);
        let within = hosts.filter(|&&host| self.spent(host).is_none());
        within.map(|&host| self.hosts[host as usize].id)
    }

    /// Returns the hosts of a domain whose names are open.
    pub fn open_names_of(&self, domain: u32) -> impl Iterator<Item = HostId> {
        let hosts = self.open_hosts(domain);
        hosts.map(|&host| self.hosts[host as usize].id)
    }

    fn open_hosts(&self, domain: u32) -> impl Iterator<Item = &u32> {
        let domain = &self.domains[domain as usize];
        domain.hosts[..domain.open].iter()
    }

    /// Returns the indices of all domains.
    pub fn all(&self) -> std::ops::Range<u32> {
        0..self.domains.len() as u32
    }

    /// Returns the name and all hosts of a domain.
    pub fn named(&self, domain: u32) -> (&str, impl Iterator<Item = HostId>) {
        let domain = &self.domains[domain as usize];
        let hosts = domain.hosts.iter();
        let hosts = hosts.map(|&host| self.hosts[host as usize].id);
        (&domain.name, hosts)
    }

    /// Returns the number of known pages of a domain, fetched or not; `None` if the domain has
    /// too many for spare capacity to finish it.
    pub fn finishable(&self, domain: u32) -> Option<u32> {
        let known = self.domains[domain as usize].known;
        (known <= self.limits.spare).then_some(known)
    }

    /// Begins to read the ledger: [`admit`](Self::admit) releases no page until
    /// [`recalled`](Self::recalled) is called.
    pub fn recall(&mut self) {
        self.recalling = true;
    }

    /// Ends the reading of the ledger: sorts host names by discovery and applies the budgets.
    pub fn recalled(&mut self) {
        self.recalling = false;
        for index in self.all() {
            let hosts = &self.hosts;
            let order = |host: &u32| hosts[*host as usize].first;
            self.domains[index as usize].hosts.sort_by_key(order);
            self.open_names(index);
        }
    }

    /// Returns the budget of a host and its domain; `None`: the host is unknown or exempt.
    pub fn account(&self, host: HostId) -> Option<DomainAccount> {
        let index = *self.ids.get(&host)?;
        let host = &self.hosts[index as usize];
        let domain = &self.domains[host.domain as usize];
        if domain.exempt {
            return None;
        }
        let spent = self.spent(index);
        let (allowed, used, linking) = match spent {
            Some(SpentBudget::Host) => (self.host_allowed(host), host.released, &host.linking),
            _ => (
                domain.allowed(self.limits),
                domain.released,
                &domain.linking,
            ),
        };
        Some(DomainAccount {
            domain: domain.name.to_string(),
            spent,
            allowed,
            used,
            linking_domains: linking.len(),
            texts: domain.texts,
            distinct_texts: domain.distinct.len() as u32,
            open_names: domain.open as u32,
            known_names: domain.hosts.len() as u32,
            known: domain.known,
            spare: self.limits.spare,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn budgets_equal_the_formula() {
        for (linking, distinct, texts, pages) in [
            (0, 0, 0, 50),
            (1, 0, 0, 50),
            (1, 20, 20, 75),
            (1, 1_000_000, 1_000_000, 99),
            (3, 0, 0, 150),
            (1, 1, 50, 15),
        ] {
            let given = budget(100, linking, distinct, texts);
            assert_eq!(given, pages, "{linking}, {distinct} of {texts}");
        }
    }

    #[derive(Debug, Clone, Copy)]
    enum BudgetEvidence {
        Link(u8, u8),
        Text(u8, u8),
    }

    fn evidence() -> impl Strategy<Value = BudgetEvidence> {
        prop_oneof![
            (0u8..40, 0u8..40).prop_map(|(from, to)| BudgetEvidence::Link(from, to)),
            (0u8..40, 0u8..6).prop_map(|(page, text)| BudgetEvidence::Text(page, text)),
        ]
    }

    /// Budgets of 40 pages on 20 hosts of 10 domains.
    fn known_pages() -> DomainBudgets {
        let mut budgets = DomainBudgets::new(DomainLimits::default());
        for page in 0..40 {
            let domain = || format!("{}.example", page % 10).into();
            budgets.add_page(Number(page), host(page), domain);
        }
        budgets
    }

    fn host(page: u32) -> HostId {
        HostId(u64::from(page % 20))
    }

    fn take_in(budgets: &mut DomainBudgets, evidence: BudgetEvidence) {
        match evidence {
            BudgetEvidence::Link(from, to) => budgets.linked(host(from.into()), Number(to.into())),
            BudgetEvidence::Text(page, text) => {
                budgets.read(host(page.into()), Simhash(text.into()))
            }
        };
    }

    /// Returns the accounts of all hosts, without what depends on the order of events.
    fn accounts(budgets: &DomainBudgets) -> Vec<DomainAccount> {
        let accounts = (0..20).map(|number| budgets.account(host(number)).unwrap());
        accounts
            .map(|account| DomainAccount {
                // Which names are open depends on the order of events: an open name stays open.
                open_names: 0,
                spent: None,
                ..account
            })
            .collect()
    }

    proptest! {
        #[test]
        fn more_links_and_more_distinct_texts_never_lower_a_budget(
            linking in 0u32..2000, distinct in 0u32..9000, more in 0u32..9000, per_link in 1u32..1000,
        ) {
            let texts = distinct + more;
            let now = budget(per_link, linking, distinct, texts);
            prop_assert!(budget(per_link, linking + 1, distinct, texts) >= now);
            prop_assert!(budget(per_link, linking, distinct + 1, texts + 1) >= now);
            prop_assert!(budget(per_link, linking, distinct, texts + 1) <= now, "a duplicate");
            let most = per_link * linking.max(1);
            prop_assert!(now <= most, "texts alone cannot raise the budget above this");
        }

        #[test]
        fn the_order_of_evidence_does_not_matter(
            mut events in prop::collection::vec(evidence(), 0..200),
        ) {
            let (mut forth, mut back) = (known_pages(), known_pages());
            events.iter().for_each(|event| take_in(&mut forth, *event));
            events.reverse();
            events.iter().for_each(|event| take_in(&mut back, *event));
            prop_assert_eq!(accounts(&forth), accounts(&back));
        }
    }

    #[test]
    fn a_domain_counts_once_and_never_for_itself() {
        let mut budgets = known_pages();
        for (from, to) in [
            (1, 0),
            (11, 0),
            (21, 10),
            (10, 0),
            (20, 0),
            (2, 10),
            (99, 0),
        ] {
            budgets.linked(host(from), Number(to));
        }
        budgets.linked(HostId(77), Number(0));
        let account = budgets.account(host(0)).unwrap();
        // From 1.example, 2.example and 9.example, each by any of its hosts.
        assert_eq!((account.linking_domains, account.allowed), (3, 150));
        let other = budgets.account(host(1)).unwrap();
        assert_eq!((other.linking_domains, other.allowed), (0, 50));
        assert_eq!(budgets.linked(HostId(1), Number(4000)), None);
    }

    #[test]
    fn a_host_gets_the_budget_of_its_own_links_and_at_least_half_of_its_domain() {
        let mut budgets = known_pages();
        for from in 1..8 {
            budgets.linked(host(from), Number(0));
        }
        let of = |budgets: &DomainBudgets, id| {
            let host = &budgets.hosts[budgets.ids[&host(id)] as usize];
            budgets.host_allowed(host)
        };
        assert_eq!((of(&budgets, 0), of(&budgets, 10)), (350, 175));
        budgets.domains[0].released = 200;
        budgets.hosts[budgets.ids[&host(10)] as usize].released = 175;
        let account = budgets.account(host(10)).unwrap();
        assert_eq!(account.spent, Some(SpentBudget::Host));
        assert_eq!((account.used, account.allowed), (175, 175));
        assert_eq!(budgets.account(host(0)).unwrap().spent, None);
    }

    #[test]
    fn a_page_that_is_offered_again_is_counted_once() {
        let mut budgets = known_pages();
        assert!(budgets.admit(Number(0)) && budgets.admit(Number(0)));
        budgets.release(Number(0));
        assert_eq!(budgets.account(host(0)).unwrap().used, 1);
        assert!(
            budgets.admit(Number(4000)),
            "no budget limits an unknown page"
        );
    }

    #[test]
    fn at_most_1024_linking_domains_are_stored() {
        let mut linking = Linking::default();
        for domain in 0..5000 {
            linking.insert(domain);
        }
        assert_eq!(linking.0.len(), MOST_LINKING);
    }
}
