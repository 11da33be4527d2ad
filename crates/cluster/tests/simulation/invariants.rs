//! What must hold in every simulation, whatever the faults.

use std::collections::BTreeMap;

use cluster::Slot;
use cluster::fold::{Fold, Head};
use cluster::message::{Kind, decode_header};
use frontier::bench::ServerKey;
use frontier::{Facts, PageKey};
use page::HostId;

use crate::model::BrokerState;
use crate::node::{Common, Process};

/// Panics if the log of a slot names another owner than the process that makes a request.
pub fn check_owner(process: &Process, slot: Slot) {
    let last = process.broker.state().logs[&slot].last().cloned();
    let (sequence, message) = last.expect("a claim");
    let (header, _) = decode_header(&message).expect("a message");
    let owner = Head::of_last(sequence, &header).owner;
    let name = process.agent.name();
    assert!(
        owner.as_ref() == Some(&name),
        "{name} requests a page of {slot:?}, which {owner:?} owns"
    );
}

/// Panics if a process makes a request to a host that wants none, by the notes that were published
/// before the process claimed its slots.
pub fn check_wait(process: &Process, host: HostId) {
    let wait = process
        .broker
        .state()
        .waits
        .get(&ServerKey::Host(host))
        .copied();
    if let Some((end, published)) = wait {
        let known = published < process.claimed.get();
        let name = process.agent.name();
        assert!(
            !known || end <= process.common.now(),
            "{name} asks {host:?} before the end of its wait"
        );
    }
}

/// The folds of all logs.
pub struct Folds {
    pub folds: BTreeMap<Slot, Fold>,
    /// Number of visits that new owners have forgotten, because they have no copy.
    pub forgotten: usize,
}

impl Folds {
    /// Folds all logs. Panics if a message of a node counts that did not own the slot.
    pub fn of(state: &BrokerState) -> Self {
        let (mut folds, mut forgotten) = (BTreeMap::new(), 0);
        for (slot, log) in &state.logs {
            let mut fold = Fold::default();
            let mut owner = None;
            for (sequence, message) in log {
                let (header, _) = decode_header(message).expect("a message");
                match header.kind {
                    Kind::Claim { numbered_from } => {
                        assert!(
                            header.epoch > fold.head().epoch,
                            "{slot:?}: epoch {} is claimed twice",
                            header.epoch
                        );
                        if numbered_from.is_some() {
                            let visits = fold.facts().visits();
                            let archived = visits.filter(|(_, visited)| {
                                let copy = visited.copy.as_ref();
                                copy.is_some_and(|copy| copy.place.is_some())
                            });
                            forgotten += archived.count();
                        }
                        owner = Some((header.node.clone(), header.epoch));
                    }
                    Kind::Batch | Kind::Release | Kind::Snapshot => assert_eq!(
                        owner,
                        Some((header.node.clone(), header.epoch)),
                        "{slot:?}: message {sequence} is not of the owner"
                    ),
                }
                if header.kind == Kind::Release {
                    owner = None;
                }
                let named = fold.apply(*sequence, message).expect("a message");
                assert_eq!(named, None, "no log of the simulation is trimmed");
            }
            assert_eq!(fold.refused(), 0, "{slot:?} has refused messages");
            folds.insert(*slot, fold);
        }
        Self { folds, forgotten }
    }

    /// Returns what is missing for the crawl to be complete; `None`: nothing.
    pub fn missing(&self, common: &Common, living: &[&Process]) -> Option<String> {
        for (page, url) in common.web.urls.iter().enumerate() {
            let key = PageKey::of(url);
            let slot = common.division.slot(key.partition);
            let facts = self.folds.get(&slot).map(Fold::facts);
            if facts.is_none_or(|facts| facts.discovery(key).is_none()) {
                return Some(format!("page {page} is not in the log of {slot:?}"));
            }
            let visited = facts.and_then(|facts| facts.visited(key));
            if visited.is_none_or(|visited| visited.status != Some(200)) {
                return Some(format!("page {page} of {slot:?} is not fetched"));
            }
        }
        if let Some(process) = living.iter().find(|process| process.open.get() > 0) {
            let name = process.agent.name();
            return Some(format!("results of {name} are neither published nor lost"));
        }
        self.unowned(common, living).or_else(|| {
            common.division.slots().find_map(|slot| {
                let fold = self.folds.get(&slot)?;
                let owner = owner(living, fold.head())?;
                let digest = owner.disk.0.borrow().digest(slot);
                (digest != fold.digest()).then(|| {
                    let name = owner.agent.name();
                    format!("{slot:?}: the ledger of {name} differs from the log")
                })
            })
        })
    }

    /// Returns a slot that no living node owns.
    pub fn unowned(&self, common: &Common, living: &[&Process]) -> Option<String> {
        common.division.slots().find_map(|slot| {
            let head = self.folds.get(&slot).map(Fold::head);
            match head.and_then(|head| owner(living, head)) {
                Some(_) => None,
                None => Some(format!("{slot:?} has no living owner, but {head:?}")),
            }
        })
    }

    /// Panics if a page is in the log of a wrong slot, or was fetched too often.
    pub fn check(&self, common: &Common) {
        for (slot, fold) in &self.folds {
            for Ok(known) in fold.facts().pages() {
                assert_eq!(common.division.slot(known.key.partition), *slot);
            }
        }
        let fetches = common.fetches.borrow();
        let repeats = fetches.iter().sum::<u32>() as usize - fetches.len();
        let allowed = common.wasted.get() + self.forgotten;
        assert!(
            repeats <= allowed,
            "{repeats} fetches were repeated, and {allowed} results were lost"
        );
    }
}

/// Returns the living process that owns a slot, by the log and by its own view.
fn owner<'a>(living: &[&'a Process], head: &Head) -> Option<&'a Process> {
    let named = |process: &&&Process| Some(process.agent.name()) == head.owner;
    living.iter().find(named).copied()
}
