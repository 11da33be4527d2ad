//! A ledger in memory, for the laboratory, the simulator and tests.
//!
//! It stores what the ledger on disk stores and gives the same answers. The tests of the crate
//! `ledger` compare the two.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::convert::Infallible;

use page::{HostId, PageId};
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

    /// Stores the politeness record of a server now, merged with the record before by
    /// [`ServerFacts::in_place_of`].
    pub fn keep_server(&mut self, key: ServerKey, facts: ServerFacts, now: Moment) {
        let before = self.servers.get(&key);
        let facts = before.map_or(facts, |before| facts.in_place_of(*before, now));
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

    /// Number of known pages.
    pub fn len(&self) -> usize {
        self.discoveries.len()
    }

    /// Returns whether no page is known.
    pub fn is_empty(&self) -> bool {
        self.discoveries.is_empty()
    }

    /// Returns all facts for a ledger that numbers these pages from `first`, in the order of their
    /// numbers here. Links to and from pages that are not known here are dropped: a page whose
    /// [source](Discovery::source) is not known counts as a seed.
    pub fn renumbered(&self, first: u32) -> Vec<Entry> {
        let mut pages: Vec<(&PageKey, &Discovery)> = self.discoveries.iter().collect();
        pages.sort_by_key(|(_, discovery)| discovery.order);
        let ids: HashSet<PageId> = self.discoveries.keys().map(|key| key.page).collect();
        let numbers: HashMap<u64, u32> = pages
            .iter()
            .map(|(_, page)| page.order)
            .zip(first..)
            .collect();
        let admitted = (u64::from(first)..)
            .zip(&pages)
            .map(|(order, (key, discovery))| {
                let known = |source: &PageId| ids.contains(source);
                let discovery = Discovery {
                    order,
                    source: discovery.source.filter(known),
                    ..(*discovery).clone()
                };
                Entry::Admitted(**key, discovery)
            });
        let visited =
            |(key, visited): (&PageKey, &Visited)| Entry::Visited(*key, Box::new(visited.clone()));
        let linked = |(key, links): (&PageKey, &OutLinks)| {
            let known = links.links().filter_map(|(to, words)| {
                let number = numbers.get(&u64::from(to))?;
                Some((*number, words.to_owned()))
            });
            Entry::Links(*key, OutLinks::new(links.out_links, known.collect()))
        };
        let host = |((partition, host), facts): (&(Partition, HostId), &HostFacts)| {
            Entry::Host(*partition, *host, facts.clone())
        };
        admitted
            .chain(self.visits.iter().map(visited))
            .chain(self.links.iter().map(linked))
            .chain(self.hosts.iter().map(host))
            .chain(self.seeds.iter().cloned().map(Entry::Seed))
            .collect()
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
                pattern: None,
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

#[cfg(test)]
mod tests {
    use page::PageUrl;

    use super::*;

    #[test]
    fn a_renumbered_ledger_has_the_same_facts_with_other_numbers() {
        let key =
            |name: &str| PageKey::of(&PageUrl::parse(&format!("http://a.org/{name}")).unwrap());
        let page = |name: &str, order, source: &str| {
            let discovery = Discovery {
                url: format!("http://a.org/{name}"),
                order,
                at: Moment::from_micros(order),
                depth: 1,
                hops: 0,
                source: Some(key(source).page),
                absent: None,
            };
            Entry::Admitted(key(name), discovery)
        };
        let links = OutLinks::new(
            4,
            vec![(7, "seven".into()), (9, "nine".into()), (8, String::new())],
        );
        let mut ledger = MemoryLedger::default();
        let seed = Entry::Seed("http://a.org/".into());
        ledger.commit(&[
            page("late", 9, "early"),
            page("early", 7, "elsewhere"),
            Entry::Links(key("early"), links),
            seed,
        ]);
        let moved = ledger.renumbered(100);
        assert_eq!(moved.len(), 4);
        let mut copy = MemoryLedger::default();
        copy.commit(&moved);
        let order = |name| copy.discovery(key(name)).unwrap().order;
        assert_eq!((order("early"), order("late"), copy.len()), (100, 101, 2));
        let source = |name| copy.discovery(key(name)).unwrap().source;
        assert_eq!(source("late"), Some(key("early").page));
        assert_eq!(source("early"), None, "its source is not known");
        let (_, links) = Facts::links(&copy).next().unwrap().unwrap();
        let targets: Vec<_> = links.links().collect();
        assert_eq!(
            targets,
            [(100, "seven"), (101, "nine")],
            "page 8 is not known"
        );
        assert_eq!(links.out_links, 4);
        assert_eq!(copy.seeds().collect::<Vec<_>>(), ["http://a.org/"]);
    }
}
