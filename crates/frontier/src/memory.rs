//! A ledger in memory, for the laboratory, the simulator and tests.
//!
//! It stores what the ledger on disk stores and gives the same answers. The tests of the crate
//! `ledger` compare the two.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::convert::Infallible;

use page::HostId;
use policy::Moment;

use crate::bench::ServerKey;
use crate::facts::Facts;
use crate::owner::Partition;
use crate::record::{Discovery, Entry, HostFacts, Known, OutLinks, PageKey, ServerFacts, Visited};

/// A ledger in memory.
#[derive(Debug, Clone, Default)]
pub struct MemoryLedger {
    discoveries: BTreeMap<PageKey, Discovery>,
    visits: BTreeMap<PageKey, Visited>,
    links: BTreeMap<PageKey, OutLinks>,
    hosts: BTreeMap<(Partition, HostId), HostFacts>,
    servers: HashMap<ServerKey, ServerFacts>,
    seeds: BTreeSet<String>,
    /// When facts dated in the future were first noticed; `None` if there are no such facts.
    pub noticed_ahead: Option<Moment>,
    sequence: u64,
}

impl MemoryLedger {
    /// Commits facts in the order in which they were learned. Returns the number of this
    /// commit.
    pub fn commit(&mut self, entries: &[Entry]) -> u64 {
        self.sequence += 1;
        for entry in entries {
            match entry {
                Entry::Admitted(key, discovery) => {
                    self.discoveries.insert(*key, discovery.clone());
                }
                Entry::Visited(key, visited) => {
                    let sequence = self.sequence;
                    let visited = (**visited).clone();
                    self.visits.insert(
                        *key,
                        Visited {
                            sequence,
                            ..visited
                        },
                    );
                }
                Entry::Links(key, links) => {
                    self.links.insert(*key, links.clone());
                }
                Entry::Signalled(key, at) => {
                    let visited = self.visits.get_mut(key);
                    let earlier = visited.filter(|visited| visited.history.asked < Some(*at));
                    if let Some(visited) = earlier {
                        visited.history = visited.history.signalled(*at);
                    }
                }
                Entry::Host(partition, host, facts) => {
                    self.hosts.insert((*partition, *host), facts.clone());
                }
                Entry::Seed(url) => {
                    self.seeds.insert(url.clone());
                }
            }
        }
        self.sequence
    }

    /// Stores the politeness record of a server, merged with the record before by
    /// [`ServerFacts::in_place_of`].
    pub fn keep_server(&mut self, key: ServerKey, facts: ServerFacts) {
        let before = self.servers.get(&key);
        let facts = before.map_or(facts, |before| facts.in_place_of(*before));
        self.servers.insert(key, facts);
    }

    /// Returns how a page was discovered; `None`: it is not known.
    pub fn discovery(&self, key: PageKey) -> Option<&Discovery> {
        self.discoveries.get(&key)
    }

    /// Returns the result of the last visit to a page; `None`: there was none.
    pub fn visited(&self, key: PageKey) -> Option<&Visited> {
        self.visits.get(&key)
    }

    /// Returns the results of the last visits to all pages, sorted by key.
    pub fn visits(&self) -> impl Iterator<Item = (PageKey, &Visited)> {
        self.visits.iter().map(|(key, visited)| (*key, visited))
    }

    /// Returns the facts of a host.
    pub fn host(&self, key: (Partition, HostId)) -> Option<&HostFacts> {
        self.hosts.get(&key)
    }

    /// Returns the URLs that seeds were redirected to.
    pub fn seeds(&self) -> impl Iterator<Item = &str> {
        self.seeds.iter().map(String::as_str)
    }
}

impl Facts for MemoryLedger {
    type Error = Infallible;

    fn pages(&self) -> impl Iterator<Item = Result<Known, Infallible>> {
        self.discoveries.iter().map(|(key, discovery)| {
            Ok(Known {
                key: *key,
                discovery: discovery.clone(),
                visited: self.visits.get(key).cloned(),
            })
        })
    }

    fn links(&self) -> impl Iterator<Item = Result<(PageKey, OutLinks), Infallible>> {
        let links = self.links.iter();
        links.map(|(key, links)| Ok((*key, links.clone())))
    }

    fn hosts(&self) -> impl Iterator<Item = Result<(HostId, HostFacts), Infallible>> {
        let hosts = self.hosts.iter();
        hosts.map(|((_, host), facts)| Ok((*host, facts.clone())))
    }

    fn servers(&self) -> impl Iterator<Item = Result<(ServerKey, ServerFacts), Infallible>> {
        self.servers.iter().map(|(key, facts)| Ok((*key, *facts)))
    }

    fn noticed_ahead(&self) -> Result<Option<Moment>, Infallible> {
        Ok(self.noticed_ahead)
    }

    fn damaged(what: String) -> Infallible {
        unreachable!("a ledger in memory has a damaged record: {what}")
    }
}
