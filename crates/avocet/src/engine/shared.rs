//! What the visits of a crawl share, behind one lock that is never held over an await.
//!
//! **Invariant:** facts reach `pending` in the order in which they changed the frontier, and leave it
//! for the committer in the same order.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::mpsc::Sender;
use std::time::Duration;

use fetch::Connection;
use frontier::{Bound, Entry, Frontier, Link, Next, Visit};
use page::{HostId, PageUrl};
use policy::{Crawl, Moment, Outcome};

use super::committer::{Settled, Work};
use super::host::Host;
use super::plan::GROUP;
use super::tally::{Summary, Tally};
use crate::scope::{Outside, Scope};
use crate::verdict::Lead;

/// Hosts whose rules are kept in memory; the ledger knows the others.
const HOSTS: usize = 20_000;

/// The page that leads were found on.
pub struct Source<'a> {
    /// Its URL.
    pub url: &'a PageUrl,
    /// Its distance from a seed.
    pub depth: u16,
    /// Redirects in a row that led to it.
    pub hops: u8,
}

/// The memory of a running crawl.
pub struct Shared {
    /// What waits.
    pub frontier: Frontier<Crawl>,
    /// What belongs to the crawl.
    pub scope: Scope,
    /// What was done.
    pub tally: Tally,
    /// Visits under way.
    pub visits: usize,
    /// Pages that may still be fetched; `None`: any number.
    pub allowance: Option<u64>,
    hosts: HashMap<HostId, Host>,
    idle: Vec<(HostId, Moment, Connection)>,
    pending: Vec<Settled>,
    /// Where the committer listens; `None` once the crawl has ended.
    work: Option<Sender<Work>>,
}

impl Shared {
    /// The memory of a crawl that begins.
    pub fn new(
        frontier: Frontier<Crawl>,
        scope: Scope,
        allowance: Option<u64>,
        work: Sender<Work>,
    ) -> Self {
        Self {
            frontier,
            scope,
            tally: Tally::default(),
            visits: 0,
            allowance,
            hosts: HashMap::new(),
            idle: Vec::new(),
            pending: Vec::new(),
            work: Some(work),
        }
    }

    /// Takes the next visit off the bench.
    pub fn next(&mut self, now: Moment) -> Next {
        if self.allowance == Some(0) {
            return Next::Idle;
        }
        let next = self.frontier.bench.next(now);
        self.visits += usize::from(matches!(next, Next::Visit(_)));
        next
    }

    /// Says which address the host of a visit has, of which the first `asked` pages are settled.
    pub fn bind(&mut self, visit: Visit, asked: usize, address: IpAddr, now: Moment) -> Bound {
        let bound = self.frontier.bench.bind(visit, asked, address, now);
        self.visits -= usize::from(matches!(bound, Bound::Moved));
        bound
    }

    /// Ends a visit of which the first `asked` pages were settled.
    pub fn settle(&mut self, visit: Visit, asked: usize, now: Moment, delay: Duration) {
        self.visits -= 1;
        self.frontier.bench.settle(visit, asked, now, delay);
    }

    /// Takes in seeds, which have no `source`, and the links of a page. Returns the facts that are new.
    pub fn admit(
        &mut self,
        leads: &[Lead],
        source: Option<&Source<'_>>,
        now: Moment,
    ) -> Vec<Entry> {
        let mut facts = Vec::new();
        for lead in leads {
            if self.frontier.knows(lead.id) {
                continue;
            }
            let step = u16::from(!lead.redirect);
            let depth = source.map_or(0, |source| source.depth.saturating_add(step));
            let hops = source.map_or(0, |source| if lead.redirect { source.hops + 1 } else { 0 });
            if let Some(source) = source
                && lead.redirect
                && source.depth == 0
                && self.scope.follows_seed(source.url, &lead.url)
            {
                self.scope.add_seed(&lead.url);
                facts.push(Entry::Seed(lead.url.as_str().to_owned()));
            }
            match self.scope.admit(&lead.url, depth) {
                Ok(url) => {
                    let source = source.map(|source| source.url.id());
                    let link = Link {
                        url: &url,
                        depth,
                        hops,
                        source,
                    };
                    facts.extend(self.frontier.admit(link, now));
                }
                Err(Outside::Trap(trap)) => self.tally.error(trap.name()),
                Err(Outside::Scope | Outside::Depth) => self.tally.outside += 1,
            }
        }
        facts
    }

    /// Takes in a settled page.
    pub fn push(&mut self, settled: Settled, now: Moment) {
        let tally = &mut self.tally;
        tally.bytes += settled.visited.bytes;
        if let Some(error) = &settled.visited.error {
            tally.error(error);
        }
        match settled.visited.history.outcome {
            Some(Outcome::Changed) => tally.pages += 1,
            Some(Outcome::Unchanged) => tally.unchanged += 1,
            _ => {}
        }
        self.frontier
            .visited(settled.key.page, &settled.visited.history, now);
        self.pending.push(settled);
        if self.pending.len() >= GROUP {
            self.flush();
        }
    }

    /// Hands over facts that belong to no page.
    pub fn push_facts(&mut self, facts: Vec<Entry>) {
        self.flush();
        self.send(Work::Facts(facts));
    }

    /// Hands all settled pages to the committer.
    pub fn flush(&mut self) {
        if !self.pending.is_empty() {
            let pages = std::mem::take(&mut self.pending);
            self.send(Work::Pages(pages));
        }
    }

    /// Hands over what is left; the committer ends when it has written that.
    pub fn close(&mut self) {
        let hosts: Vec<_> = self.hosts.values().filter_map(Host::fact).collect();
        self.push_facts(hosts);
        self.work = None;
    }

    fn send(&mut self, work: Work) {
        if let Some(sender) = &self.work {
            // The receiver ends early only after an error, and that error ends the crawl.
            sender.send(work).ok();
        }
    }

    /// What was done so far, and what is left.
    pub fn summary(&self, took: Duration) -> Summary {
        let queued = self.frontier.bench.waiting() + self.frontier.bench.left_alone();
        self.tally.summary(self.frontier.known(), queued, took)
    }

    /// Takes one page of the allowance; `false`: there is none left.
    pub fn take_allowance(&mut self) -> bool {
        match &mut self.allowance {
            None => true,
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }

    /// Gives one page of the allowance back: what was asked for was no page.
    pub fn return_allowance(&mut self) {
        if let Some(left) = &mut self.allowance {
            *left += 1;
        }
    }

    /// What is remembered of a host.
    pub fn host(&mut self, id: HostId) -> Option<&mut Host> {
        self.hosts.get_mut(&id)
    }

    /// Remembers a host.
    pub fn remember(&mut self, id: HostId, host: Host) {
        if self.hosts.len() >= HOSTS {
            self.hosts.clear();
        }
        self.hosts.entry(id).or_insert(host);
    }

    /// Takes an open connection to a host, if there is one.
    pub fn take_connection(&mut self, host: HostId) -> Option<Connection> {
        let place = self.idle.iter().position(|(id, ..)| *id == host)?;
        Some(self.idle.swap_remove(place).2)
    }

    /// Keeps a connection for the next visit to its host.
    pub fn keep_connection(&mut self, host: HostId, connection: Connection, now: Moment) {
        self.idle.push((host, now, connection));
    }

    /// Closes connections that were idle for long, and the oldest while there are more than `most`.
    pub fn close_idle(&mut self, most: usize, now: Moment) {
        const PATIENCE: Duration = Duration::from_secs(30);
        self.idle
            .retain(|(_, since, connection)| connection.is_open() && now.since(*since) < PATIENCE);
        let excess = self.idle.len().saturating_sub(most);
        self.idle.sort_by_key(|(_, since, _)| *since);
        self.idle.drain(..excess);
    }

    /// Connections that are open and not in use.
    pub fn idle_connections(&self) -> usize {
        self.idle.len()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use frontier::bench::Manners;
    use policy::Price;

    use super::*;
    use crate::scope::ScopeRules;

    fn shared(seed: &str) -> Shared {
        let frontier = Frontier::new(Crawl::default(), Price::ONE, Manners::default(), 1);
        let rules = ScopeRules {
            seeds: vec![seed.into()],
            ..ScopeRules::default()
        };
        let scope = Scope::new(&rules, page::url::traps::Rules::default()).unwrap();
        Shared::new(frontier, scope, None, mpsc::channel().0)
    }

    fn lead(url: &str, redirect: bool) -> Lead {
        let url = PageUrl::parse(url).unwrap();
        Lead {
            id: url.id(),
            url,
            redirect,
        }
    }

    fn admitted(facts: &[Entry]) -> Vec<(&str, u16, u8)> {
        facts
            .iter()
            .filter_map(|fact| match fact {
                Entry::Admitted(_, found) => Some((found.url.as_str(), found.depth, found.hops)),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn a_seed_that_moved_within_its_domain_takes_the_scope_along() {
        let seed = PageUrl::parse("http://example.org/").unwrap();
        let mut shared = shared(seed.as_str());
        let now = Moment::START;
        shared.admit(&[Lead::seed(&seed)], None, now);
        let at_seed = Source {
            url: &seed,
            depth: 0,
            hops: 0,
        };
        let moved = shared.admit(
            &[lead("https://www.example.org/", true)],
            Some(&at_seed),
            now,
        );
        assert_eq!(admitted(&moved), [("https://www.example.org/", 0, 1)]);
        assert!(moved.contains(&Entry::Seed("https://www.example.org/".into())));

        let home = PageUrl::parse("https://www.example.org/").unwrap();
        let at_home = Source {
            url: &home,
            depth: 0,
            hops: 1,
        };
        let links = [
            lead("https://www.example.org/a", false),
            lead("https://www.example.org/a", false),
            lead("https://other.org/", false),
            lead("https://other.org/moved", true),
        ];
        let found = shared.admit(&links, Some(&at_home), now);
        assert_eq!(admitted(&found), [("https://www.example.org/a", 1, 0)]);
        assert_eq!(shared.tally.outside, 2);
    }

    #[test]
    fn a_redirect_deep_in_a_crawl_stays_in_scope() {
        let seed = PageUrl::parse("http://example.org/").unwrap();
        let mut shared = shared(seed.as_str());
        let deep = Source {
            url: &seed,
            depth: 3,
            hops: 0,
        };
        let lost = shared.admit(
            &[lead("http://shop.example.org/", true)],
            Some(&deep),
            Moment::START,
        );
        assert!(lost.is_empty());
    }
}
