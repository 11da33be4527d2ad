//! The kill of a node, and how the others replace it.

use cluster::Slot;
use cluster::message::NodeName;
use serde::Serialize;
use std::time::Instant;
use testweb::site::{ServedWeb, ServerNumber};

use super::processes::HeardNodes;

/// The kill of a node and its takeover. Times are in seconds.
#[derive(Debug, Clone, Serialize)]
pub struct NodeKill {
    /// The killed node.
    pub node: String,
    /// The time of the kill, since the start of the town.
    pub at: f64,
    /// Number of slots that it owned.
    pub slots: usize,
    /// The home pages of the sites in these slots.
    pub sites: Vec<String>,
    /// Time from the kill until another node owned one of the slots; `null`: none yet.
    pub first_slot_after: Option<f64>,
    /// Time from the kill until other nodes owned all of the slots.
    pub all_slots_after: Option<f64>,
    /// Time from the kill until another node requested a page of the sites.
    pub first_request_after: Option<f64>,
    /// Pages that were fetched in full since the kill although the same version had been fetched
    /// before: the copies of the killed node are out of reach for the others.
    pub pages_fetched_again: usize,
    #[serde(skip)]
    owned: Vec<Slot>,
    #[serde(skip)]
    name: NodeName,
    #[serde(skip)]
    servers: Vec<ServerNumber>,
    #[serde(skip)]
    killed: Instant,
}

impl NodeKill {
    /// Describes a kill that is about to happen. `sites` are the slots of the town's sites, in the
    /// order of their home pages.
    pub fn new(name: &NodeName, owned: Vec<Slot>, sites: &[Slot], homes: Vec<String>) -> Self {
        let numbered = (0..).map(ServerNumber).zip(sites).zip(homes);
        let of_node = numbered.filter(|((_, slot), _)| owned.contains(slot));
        let (servers, sites) = of_node.map(|((server, _), home)| (server, home)).unzip();
        Self {
            node: name.to_string(),
            at: 0.0,
            slots: owned.len(),
            sites,
            first_slot_after: None,
            all_slots_after: None,
            first_request_after: None,
            pages_fetched_again: 0,
            owned,
            name: name.clone(),
            servers,
            killed: Instant::now(),
        }
    }

    /// The node is dead now.
    pub fn done(&mut self, at: f64) {
        (self.at, self.killed) = (at, Instant::now());
    }

    /// Records what has happened since. Returns whether the takeover has just become complete: all
    /// slots have new owners, and one of them has requested a page.
    pub fn follow(&mut self, heard: &HeardNodes, web: &ServedWeb) -> bool {
        let before = self.is_complete();
        let since = self.killed.elapsed().as_secs_f64();
        let taken = heard.owned_by_others(&self.owned, &self.name);
        if taken > 0 {
            self.first_slot_after.get_or_insert(since);
        }
        if taken == self.owned.len() {
            self.all_slots_after.get_or_insert(since);
        }
        if self.first_request_after.is_none() {
            let visits = self.servers.iter().flat_map(|server| {
                let visits = web.log().visits(*server).into_iter();
                visits.map(|visit| visit.arrived.as_secs_f64())
            });
            let first = visits.filter(|at| *at > self.at).min_by(f64::total_cmp);
            self.first_request_after = first.map(|first| first - self.at);
        }
        !before && self.is_complete()
    }

    /// Counts the repeated pages until now.
    pub fn count_repeats(&mut self, web: &ServedWeb) {
        self.pages_fetched_again = web.fetched_again(self.at);
    }

    fn is_complete(&self) -> bool {
        self.all_slots_after.is_some()
            && (self.first_request_after.is_some() || self.servers.is_empty())
    }
}
