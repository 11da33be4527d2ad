//! Which slots this node should own: a pure function of heartbeats, the heads of the logs and time.
//!
//! A node announces itself by a heartbeat every second. Every node computes from the nodes that it
//! hears who should own each slot, by weighted rendezvous hashing with a bound on the share of each
//! node: a change of membership moves few slots beyond those of the node that came or went. A node
//! claims a slot that it should own if no living node owns it. A node releases a slot if a living
//! node should own it instead.
//!
//! Two nodes may disagree for some seconds. The log decides then: the broker accepts one claim.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use policy::Moment;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::division::{Division, Slot};
use crate::fold::Head;
use crate::message::NodeName;

/// What a node announces about itself.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// The node.
    pub node: NodeName,
    /// A number of this process, higher for later processes, so that two processes with one name
    /// are noticed and the later one ends.
    pub incarnation: u64,
    /// The number of another process with its name that it has heard.
    pub namesake: Option<u64>,
    /// Its share of the slots, relative to other nodes.
    pub capacity: f64,
    /// Whether it gives all its slots away.
    pub draining: bool,
    /// The slots that it owns, with their epochs.
    pub owned: Vec<(Slot, u64)>,
    /// Slots that an operator has assigned to nodes. The newest assignment of a slot wins.
    pub assigned: Vec<Assignment>,
    /// What it has done so far.
    pub figures: NodeFigures,
}

/// Counts of one node since it started.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct NodeFigures {
    /// Where people reach its web server, such as `http://10.0.0.1:8321`; empty: it has none.
    pub address: String,
    /// Known pages of its slots.
    pub known: u64,
    /// Requests for pages.
    pub fetched: u64,
    /// Bytes received from web servers.
    pub bytes: u64,
    /// Messages to the broker, heartbeats not included.
    pub messages: u64,
    /// Bytes of these messages.
    pub message_bytes: u64,
    /// Pages that it sent to other nodes.
    pub offered: u64,
    /// Slots that it lost to another node while it still worked on them.
    pub fenced: u64,
    /// Pages that other nodes sent to it.
    pub received: u64,
    /// Requests for pages whose results the broker has not stored yet.
    pub unpublished: u64,
    /// The least worth at which it fetches a page; `None`: it has no budget, or has just started.
    pub price: Option<f64>,
    /// The budget of the whole crawl that this node knows, in fetches per second; `None`: it has
    /// none.
    pub budget: Option<f64>,
    /// Whether it is paused.
    pub paused: bool,
    /// Slots that it has taken over and whose copies are not in its index yet.
    pub unindexed: u64,
    /// Whether it has hardly any pages to fetch, so that offers to it should not wait.
    pub hungry: bool,
    /// Fetches per second that its pages are worth at each of the [prices](crate::demand::prices);
    /// empty: not known yet.
    pub demand: Vec<f32>,
}

/// An operator's decision that a node should own a slot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assignment {
    /// The slot.
    pub slot: Slot,
    /// The node.
    pub node: NodeName,
    /// When the operator decided.
    pub at: Moment,
}

/// An order of an operator to a node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Order {
    /// Give all slots away (`true`), or take a share again (`false`).
    Drain(bool),
    /// A slot should be owned by a node.
    Assign(Assignment),
}

/// Another node, as this one last heard it.
#[derive(Debug, Clone)]
pub struct Peer {
    /// Its last heartbeat.
    pub beat: Heartbeat,
    /// When the heartbeat arrived, by the clock of this node.
    pub heard: Moment,
}

/// The settings of a node's membership.
#[derive(Debug, Clone)]
pub struct MemberSettings {
    /// The name of this node.
    pub name: NodeName,
    /// A number of this process, higher than those of earlier processes with its name.
    pub incarnation: u64,
    /// Its share of the slots, relative to other nodes.
    pub capacity: f64,
    /// The division of the web.
    pub division: Division,
    /// A node that was silent for this long is replaced.
    pub silence: Duration,
    /// With static coordination: all nodes of the cluster. A slot never moves to another node.
    pub fixed: Option<Vec<NodeName>>,
}

/// A node's view of the cluster.
#[derive(Debug)]
pub struct Member {
    settings: MemberSettings,
    /// When the broker last acknowledged a heartbeat.
    contact: Moment,
    /// When the node began to listen: at its start, and again after a time without contact. The
    /// silence of others counts from then on.
    listens: Moment,
    peers: BTreeMap<NodeName, Peer>,
    /// Claims that a log showed before a heartbeat of their node did: the epoch, and when this node
    /// first read it.
    sighted: BTreeMap<Slot, (u64, Moment)>,
    owned: BTreeMap<Slot, u64>,
    assigned: BTreeMap<Slot, Assignment>,
    draining: bool,
    namesake: Option<u64>,
    figures: NodeFigures,
}

impl Member {
    /// Creates the view of a node that starts now and owns nothing.
    pub fn new(settings: MemberSettings, now: Moment) -> Self {
        Self {
            settings,
            contact: now,
            listens: now,
            peers: BTreeMap::new(),
            sighted: BTreeMap::new(),
            owned: BTreeMap::new(),
            assigned: BTreeMap::new(),
            draining: false,
            namesake: None,
            figures: NodeFigures::default(),
        }
    }

    /// Returns how long the node must still listen before its first claim: other nodes are not
    /// heard yet.
    pub fn hearing(&self, now: Moment) -> Duration {
        let whole = HEARING.min(self.settings.silence);
        whole.saturating_sub(now.since(self.listens))
    }

    /// Returns the settings.
    pub fn settings(&self) -> &MemberSettings {
        &self.settings
    }

    /// Returns what the node announces about its work.
    pub fn figures(&mut self) -> &mut NodeFigures {
        &mut self.figures
    }

    /// Processes a heartbeat. Returns `false` if it comes from a process with the name of this node
    /// that started earlier and has heard this process: then this process must end. A heartbeat
    /// that names no other process may be a late one of a predecessor that has ended.
    pub fn hear(&mut self, beat: Heartbeat, now: Moment) -> bool {
        for assignment in &beat.assigned {
            self.assign(assignment.clone());
        }
        if beat.node == self.settings.name {
            let own = self.settings.incarnation;
            if beat.incarnation != own {
                self.namesake = Some(beat.incarnation);
            }
            return beat.incarnation >= own || beat.namesake != Some(own);
        }
        self.peers
            .insert(beat.node.clone(), Peer { beat, heard: now });
        true
    }

    /// Returns the slots of this node that another node has claimed since, by its heartbeat. A node
    /// that was paused learns it so, even if it has nothing to publish.
    pub fn superseded(&self, beat: &Heartbeat) -> Vec<Slot> {
        let newer = |(slot, epoch): &&(Slot, u64)| {
            let own = self.owned.get(slot);
            beat.node != self.settings.name && own.is_some_and(|own| own < epoch)
        };
        beat.owned
            .iter()
            .filter(newer)
            .map(|(slot, _)| *slot)
            .collect()
    }

    /// Processes an operator's decision, unless a later one is known for the slot.
    pub fn assign(&mut self, assignment: Assignment) {
        let known = self.assigned.get(&assignment.slot);
        if known.is_none_or(|known| known.at < assignment.at) {
            self.assigned.insert(assignment.slot, assignment);
        }
    }

    /// Gives all slots away (`true`), or takes a share again (`false`).
    pub fn drain(&mut self, draining: bool) {
        self.draining = draining;
    }

    /// The broker has accepted the claim of a slot.
    pub fn claimed(&mut self, slot: Slot, epoch: u64) {
        self.owned.insert(slot, epoch);
    }

    /// A slot was released, or another node has claimed it.
    pub fn lost(&mut self, slot: Slot) {
        self.owned.remove(&slot);
    }

    /// Returns the slots of this node with their epochs.
    pub fn owned(&self) -> &BTreeMap<Slot, u64> {
        &self.owned
    }

    /// Returns the other nodes as they were last heard, the silent ones too.
    pub fn peers(&self) -> impl Iterator<Item = &Peer> {
        self.peers.values()
    }

    /// The broker has acknowledged a heartbeat of this node.
    pub fn in_contact(&mut self, now: Moment) {
        if !self.is_in_contact(now) {
            self.listens = now;
        }
        self.contact = now;
    }

    fn is_in_contact(&self, now: Moment) -> bool {
        now.since(self.contact) < self.settings.silence / 2
    }

    /// Returns how long a node that was last heard at `heard` has been silent. A time in which this
    /// node was paused or cut off from the broker says nothing about others, and does not count.
    fn silent_for(&self, heard: Moment, now: Moment) -> Duration {
        let until = if self.is_in_contact(now) {
            now
        } else {
            self.contact
        };
        until.since(heard.max(self.listens))
    }

    /// Returns whether a node was heard within the time of silence.
    pub fn is_alive(&self, node: &NodeName, now: Moment) -> bool {
        let heard = |peer: &Peer| self.silent_for(peer.heard, now) < self.settings.silence;
        *node == self.settings.name || self.peers.get(node).is_some_and(heard)
    }

    /// Returns the number of living nodes, this one included, whose index does not have all copies
    /// of the slots that they have taken over.
    pub fn indexing(&self, now: Moment) -> usize {
        let others = self.peers.values();
        let others = others.filter(|peer| self.is_alive(&peer.beat.node, now));
        let figures = others.map(|peer| &peer.beat.figures).chain([&self.figures]);
        figures.filter(|figures| figures.unindexed > 0).count()
    }

    /// Returns the heartbeat of this node.
    pub fn heartbeat(&self) -> Heartbeat {
        Heartbeat {
            node: self.settings.name.clone(),
            incarnation: self.settings.incarnation,
            namesake: self.namesake,
            capacity: self.settings.capacity,
            draining: self.draining,
            owned: self
                .owned
                .iter()
                .map(|(slot, epoch)| (*slot, *epoch))
                .collect(),
            assigned: self.assigned.values().cloned().collect(),
            figures: self.figures.clone(),
        }
    }

    /// Returns the slots that this node should give to living nodes.
    pub fn to_release(&self, now: Moment) -> Vec<Slot> {
        let owners = self.desired(&self.candidates(now));
        let away = |slot: &Slot| {
            let owner = owners.get(slot);
            owner.is_some_and(|owner| **owner != self.settings.name)
        };
        self.owned.keys().copied().filter(away).collect()
    }

    /// Returns the slots that this node should claim if their logs allow it
    /// ([`Member::may_claim`]). Returns none in the first two seconds: other nodes are not heard
    /// yet.
    pub fn to_claim(&self, now: Moment) -> Vec<Slot> {
        if !self.hearing(now).is_zero() {
            return Vec::new();
        }
        let owners = self.desired(&self.candidates(now));
        let held: BTreeSet<Slot> = self
            .peers
            .values()
            .filter(|peer| self.is_alive(&peer.beat.node, now))
            .flat_map(|peer| peer.beat.owned.iter().map(|(slot, _)| *slot))
            .collect();
        let free = |slot: &Slot| !held.contains(slot) && !self.owned.contains_key(slot);
        let mine = |slot: &Slot| owners.get(slot) == Some(&&self.settings.name);
        let slots = self.settings.division.slots();
        slots.filter(|slot| free(slot) && mine(slot)).collect()
    }

    /// Returns whether the owner that the log of a slot names can be replaced: it is this node, or
    /// was silent for long enough while this node listened.
    ///
    /// The silence of an owner counts from its last heartbeat. A claim that no heartbeat of its
    /// owner has named shows that the owner was alive after that heartbeat: then the silence counts
    /// from the time at which this node first read the claim.
    pub fn may_claim(&mut self, slot: Slot, head: &Head, now: Moment) -> bool {
        let Some(owner) = &head.owner else {
            return true;
        };
        if *owner == self.settings.name {
            return true;
        }
        let named = |peer: &&Peer| peer.beat.owned.contains(&(slot, head.epoch));
        let alive = match self.peers.get(owner).filter(named) {
            Some(peer) => peer.heard,
            None => self.sighted(slot, head.epoch, now),
        };
        // Without contact, the owner may have come to life unheard.
        self.is_in_contact(now) && self.silent_for(alive, now) >= self.settings.silence
    }

    /// Returns when this node first read a claim.
    fn sighted(&mut self, slot: Slot, epoch: u64, now: Moment) -> Moment {
        let sighted = self.sighted.entry(slot).or_insert((epoch, now));
        if sighted.0 != epoch {
            *sighted = (epoch, now);
        }
        sighted.1
    }

    /// Returns the nodes that may own slots, with their capacities.
    fn candidates(&self, now: Moment) -> Vec<(&NodeName, f64)> {
        if let Some(fixed) = &self.settings.fixed {
            return fixed.iter().map(|name| (name, 1.0)).collect();
        }
        let own = (&self.settings.name, self.settings.capacity);
        let own = (!self.draining).then_some(own);
        let others = self
            .peers
            .values()
            .filter(|peer| !peer.beat.draining && self.is_alive(&peer.beat.node, now));
        let others = others.map(|peer| (&peer.beat.node, peer.beat.capacity));
        own.into_iter().chain(others).collect()
    }

    /// Returns the node that should own each slot: that of the operator's decision if it is a
    /// candidate, else as [`balanced`] says. Returns nothing if no node takes slots.
    fn desired<'a>(&self, candidates: &[(&'a NodeName, f64)]) -> BTreeMap<Slot, &'a NodeName> {
        let mut owners = balanced(self.settings.division, candidates);
        for (slot, assigned) in &self.assigned {
            let chosen = candidates.iter().find(|(name, _)| **name == assigned.node);
            if let Some((name, _)) = chosen {
                owners.insert(*slot, name);
            }
        }
        owners
    }
}

/// Divides the slots among nodes in proportion to their capacities. Depends on nothing but the
/// names and capacities of the nodes.
///
/// Weighted rendezvous hashing (Thaler & Ravishankar 1998; logarithmic weights by Schindelhauer &
/// Schomaker 2005) gives each pair of a slot and a node the score `-capacity / ln(u)`, where u in
/// (0, 1) is a hash of both. Without a bound, the largest of four nodes would have 1.25 to 1.55
/// times its share of 64 to 16 slots. So the pairs are taken in the order of their scores, and a
/// node that has its share rounded down takes no more until all slots are taken or all nodes have
/// theirs; then each takes one more. A change of membership moves 1.1 to 1.5 times as many slots
/// as without the bound (16 to 64 slots, 2 to 5 nodes).
fn balanced<'a>(
    division: Division,
    candidates: &[(&'a NodeName, f64)],
) -> BTreeMap<Slot, &'a NodeName> {
    let mut owners = BTreeMap::new();
    if candidates.is_empty() {
        return owners;
    }
    let all = division.slots().count();
    let capacity: f64 = candidates.iter().map(|(_, capacity)| capacity).sum();
    let share = |capacity_of: f64| {
        // A share that is a whole number may come out slightly lower.
        (all as f64 * capacity_of / capacity + 1e-9).floor() as usize
    };
    let score = |slot: Slot, name: &NodeName, capacity: f64| {
        let hash = xxh3_64(format!("{}/{name}", slot.0).as_bytes());
        // The upper 53 bits fit into a float exactly. One half keeps the logarithm finite.
        let unit = ((hash >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
        -capacity / unit.ln()
    };
    let mut pairs: Vec<(f64, Slot, usize)> = Vec::with_capacity(all * candidates.len());
    for (number, (name, capacity)) in candidates.iter().enumerate() {
        pairs.extend(
            division
                .slots()
                .map(|slot| (score(slot, name, *capacity), slot, number)),
        );
    }
    let name = |number: usize| candidates[number].0;
    pairs.sort_unstable_by(|a, b| {
        let by_score = b.0.total_cmp(&a.0);
        by_score.then_with(|| (a.1, name(a.2)).cmp(&(b.1, name(b.2))))
    });
    let mut held = vec![0; candidates.len()];
    let mut spare = 0;
    while owners.len() < all {
        for (_, slot, number) in &pairs {
            let full = held[*number] >= share(candidates[*number].1) + spare;
            if !full && !owners.contains_key(slot) {
                owners.insert(*slot, name(*number));
                held[*number] += 1;
            }
        }
        spare += 1;
    }
    owners
}

/// How long a node listens for heartbeats before its first claim: two heartbeats.
const HEARING: Duration = Duration::from_secs(2);

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: u64) -> Moment {
        Moment::from_micros(second * 1_000_000)
    }

    fn name(name: &str) -> NodeName {
        NodeName::new(name).unwrap()
    }

    fn member(node: &str) -> Member {
        let settings = MemberSettings {
            name: name(node),
            incarnation: 1,
            capacity: 1.0,
            division: Division::new(256).unwrap(),
            silence: Duration::from_secs(10),
            fixed: None,
        };
        Member::new(settings, at(0))
    }

    fn claim_all(member: &mut Member, now: u64) -> usize {
        let slots = member.to_claim(at(now));
        for slot in &slots {
            member.claimed(*slot, 1);
        }
        slots.len()
    }

    /// The broker acknowledges the heartbeats of these seconds.
    fn acknowledge(member: &mut Member, seconds: std::ops::RangeInclusive<u64>) {
        seconds.for_each(|second| member.in_contact(at(second)));
    }

    fn exchange(from: &Member, to: &mut [&mut Member], now: u64) {
        for member in to {
            assert!(member.hear(from.heartbeat(), at(now)));
        }
    }

    #[test]
    fn nodes_divide_the_slots_and_a_new_node_takes_only_its_share() {
        let (mut a, mut b, mut c) = (member("a"), member("b"), member("c"));
        exchange(&a, &mut [&mut b], 1);
        exchange(&b, &mut [&mut a], 1);
        assert!(
            a.to_claim(at(1)).is_empty(),
            "other nodes are not heard yet"
        );
        let shares = (claim_all(&mut a, 2), claim_all(&mut b, 2));
        assert_eq!(shares, (128, 128));
        assert!(a.to_release(at(2)).is_empty() && b.to_release(at(2)).is_empty());

        exchange(&c, &mut [&mut a, &mut b], 3);
        exchange(&a, &mut [&mut b, &mut c], 3);
        exchange(&b, &mut [&mut a, &mut c], 3);
        let released = [a.to_release(at(3)), b.to_release(at(3))].concat();
        assert!((85..110).contains(&released.len()), "{}", released.len());
        assert!(c.to_claim(at(3)).is_empty(), "their owners are alive");
        for slot in &released {
            a.lost(*slot);
            b.lost(*slot);
        }
        exchange(&a, &mut [&mut b, &mut c], 4);
        exchange(&b, &mut [&mut a, &mut c], 4);
        let claimed = [&mut a, &mut b, &mut c].map(|node| claim_all(node, 4));
        assert_eq!(claimed.iter().sum::<usize>(), released.len());
        let shares = [&a, &b, &c].map(|node| node.owned().len());
        assert!(
            shares.iter().all(|share| (85..=86).contains(share)),
            "{shares:?}"
        );
    }

    #[test]
    fn the_slots_of_a_silent_node_are_divided_among_the_others() {
        let (mut a, mut b) = (member("a"), member("b"));
        exchange(&a, &mut [&mut b], 2);
        exchange(&b, &mut [&mut a], 2);
        let (of_a, of_b) = (claim_all(&mut a, 3), claim_all(&mut b, 3));
        exchange(&b, &mut [&mut a], 4);
        acknowledge(&mut a, 1..=14);
        assert!(a.to_claim(at(13)).is_empty());
        assert_eq!(a.to_claim(at(14)).len(), of_b);
        let slot = *b.owned().keys().next().unwrap();
        let head = Head {
            sequence: 1,
            epoch: 1,
            owner: Some(name("b")),
        };
        assert!(!a.may_claim(slot, &head, at(13)) && a.may_claim(slot, &head, at(14)));
        assert_eq!(a.owned().len(), of_a);
    }

    #[test]
    fn an_owner_that_was_never_heard_is_replaced_when_its_claim_was_known_for_the_silence() {
        let mut a = member("a");
        let slot = Slot(1);
        let head = |owner: Option<&str>, epoch| Head {
            sequence: 1,
            epoch,
            owner: owner.map(name),
        };
        acknowledge(&mut a, 1..=30);
        assert!(
            !a.may_claim(slot, &head(Some("b"), 1), at(15)),
            "first read"
        );
        assert!(!a.may_claim(slot, &head(Some("b"), 1), at(24)));
        assert!(a.may_claim(slot, &head(Some("b"), 1), at(25)));
        assert!(
            !a.may_claim(slot, &head(Some("c"), 2), at(25)),
            "c has just claimed it"
        );
        assert!(
            a.may_claim(slot, &head(Some("a"), 1), at(1)),
            "this node, restarted"
        );
        assert!(a.may_claim(slot, &head(None, 1), at(1)));
    }

    #[test]
    fn a_claim_after_the_last_heartbeat_shows_that_its_node_was_alive() {
        let (mut a, mut b) = (member("a"), member("b"));
        b.claimed(Slot(1), 4);
        exchange(&b, &mut [&mut a], 2);
        acknowledge(&mut a, 1..=24);
        let head = |epoch| Head {
            sequence: 1,
            epoch,
            owner: Some(name("b")),
        };
        assert!(a.may_claim(Slot(1), &head(4), at(12)));
        assert!(
            !a.may_claim(Slot(1), &head(5), at(12)),
            "b claimed it again"
        );
        assert!(a.may_claim(Slot(1), &head(5), at(22)));
    }

    #[test]
    fn a_node_that_was_paused_or_cut_off_does_not_replace_the_others() {
        let (mut a, mut b) = (member("a"), member("b"));
        let slot = Slot(1);
        b.claimed(slot, 1);
        exchange(&b, &mut [&mut a], 2);
        claim_all(&mut a, 2);
        acknowledge(&mut a, 1..=3);
        let head = Head {
            sequence: 1,
            epoch: 1,
            owner: Some(name("b")),
        };
        assert!(
            !a.may_claim(slot, &head, at(60)),
            "the node has just woken up"
        );
        let unknown = Head {
            owner: Some(name("c")),
            ..head.clone()
        };
        acknowledge(&mut a, 4..=20);
        assert!(
            !a.may_claim(slot, &unknown, at(60)),
            "c may have started while a was away"
        );
        a.in_contact(at(61));
        assert!(a.to_claim(at(62)).is_empty() && !a.may_claim(slot, &head, at(62)));
        acknowledge(&mut a, 62..=71);
        assert!(
            a.may_claim(slot, &head, at(71)),
            "b was silent while a listened"
        );
    }

    #[test]
    fn a_draining_node_gives_all_its_slots_away_and_keeps_them_if_it_is_alone() {
        let (mut a, b) = (member("a"), member("b"));
        assert_eq!(claim_all(&mut a, 2), 256);
        a.drain(true);
        assert!(a.to_release(at(2)).is_empty());
        exchange(&b, &mut [&mut a], 3);
        assert_eq!(a.to_release(at(3)).len(), 256);
        a.drain(false);
        assert!(a.to_release(at(3)).len() < 256);
    }

    #[test]
    fn the_newest_assignment_of_an_operator_wins_and_travels_with_heartbeats() {
        let (mut a, mut b) = (member("a"), member("b"));
        exchange(&b, &mut [&mut a], 2);
        claim_all(&mut a, 2);
        let slot = *a.owned().keys().next().unwrap();
        let assign = |node: &str, second| Assignment {
            slot,
            node: name(node),
            at: at(second),
        };
        b.assign(assign("b", 5));
        b.assign(assign("a", 4));
        exchange(&b, &mut [&mut a], 6);
        assert_eq!(a.to_release(at(6)), [slot]);
        acknowledge(&mut a, 1..=16);
        assert!(
            a.to_release(at(16)).is_empty(),
            "the assigned node is silent"
        );
    }

    #[test]
    fn living_nodes_that_still_index_copies_are_counted() {
        let (mut a, mut b, mut c) = (member("a"), member("b"), member("c"));
        b.figures().unindexed = 2;
        c.figures().unindexed = 1;
        exchange(&c, &mut [&mut a], 1);
        exchange(&b, &mut [&mut a], 9);
        acknowledge(&mut a, 1..=12);
        assert_eq!(a.indexing(at(9)), 2);
        a.figures().unindexed = 1;
        assert_eq!(a.indexing(at(12)), 2, "c is dead");
        b.figures().unindexed = 0;
        exchange(&b, &mut [&mut a], 12);
        assert_eq!(a.indexing(at(12)), 1);
    }

    #[test]
    fn capacity_sets_the_share() {
        let (mut a, mut b) = (member("a"), member("b"));
        b.settings.capacity = 3.0;
        exchange(&b, &mut [&mut a], 2);
        assert_eq!(claim_all(&mut a, 2), 64);
    }

    #[test]
    fn with_a_fixed_list_of_nodes_no_slot_moves() {
        let mut a = member("a");
        a.settings.fixed = Some(vec![name("a"), name("b")]);
        let share = claim_all(&mut a, 2);
        assert!(share < 256);
        assert!(a.to_claim(at(1000)).is_empty() && a.to_release(at(1000)).is_empty());
    }

    #[test]
    fn a_later_claim_in_a_heartbeat_ends_the_ownership() {
        let (mut a, mut b) = (member("a"), member("b"));
        a.claimed(Slot(1), 4);
        a.claimed(Slot(2), 4);
        b.claimed(Slot(1), 5);
        b.claimed(Slot(2), 3);
        assert_eq!(a.superseded(&b.heartbeat()), [Slot(1)]);
        assert_eq!(b.superseded(&a.heartbeat()), [Slot(2)]);
    }

    #[test]
    fn of_two_processes_with_the_same_name_the_later_one_must_end() {
        let (mut first, mut second) = (member("a"), member("a"));
        second.settings.incarnation = 2;
        assert!(first.hear(first.heartbeat(), at(1)));
        assert!(
            second.hear(first.heartbeat(), at(1)),
            "the first one may have ended since"
        );
        assert!(first.hear(second.heartbeat(), at(2)));
        assert!(!second.hear(first.heartbeat(), at(3)));
        assert_eq!(first.peers().count(), 0);
    }
}
