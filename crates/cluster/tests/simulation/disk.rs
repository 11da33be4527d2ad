//! The disk of a node: a ledger in memory for each slot, and the note about the logs.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::convert::Infallible;
use std::rc::Rc;

use cluster::Slot;
use cluster::error::BrokerError;
use cluster::fold::SlotDigest;
use cluster::note::SlotNote;
use cluster::server_notes::is_open;
use cluster::slot_store::{Applied, SlotStore};
use crawl::Stored;
use frontier::bench::ServerKey;
use frontier::{Entry, Facts, HostFacts, Known, MemoryLedger, OutLinks, PageKey, ServerFacts};
use page::HostId;
use policy::{History, Moment};

/// What a node has committed. It survives a kill.
#[derive(Debug, Default)]
pub struct NodeDisk {
    pub slots: BTreeMap<Slot, MemoryLedger>,
    pub note: SlotNote,
    /// The politeness records of servers.
    pub servers: MemoryLedger,
    /// A page number above all that were ever used.
    free: u32,
}

impl NodeDisk {
    /// Commits facts of slots.
    pub fn commit(&mut self, facts: impl Iterator<Item = (Slot, Entry)>) {
        for (slot, fact) in facts {
            if let Entry::Admitted(_, discovery) = &fact {
                self.free = self.free.max(discovery.order as u32 + 1);
            }
            self.slots.entry(slot).or_default().commit(&[fact]);
        }
    }

    /// Returns count and checksum of the facts of a slot.
    pub fn digest(&self, slot: Slot) -> SlotDigest {
        let mut digest = SlotDigest::default();
        for Ok(known) in self.slots.get(&slot).into_iter().flat_map(Facts::pages) {
            digest.add(&known);
        }
        digest
    }

    fn all<T>(&self, of: impl Fn(&MemoryLedger) -> Option<T>) -> Option<T> {
        self.slots.values().find_map(of)
    }

    /// Returns the records of a page.
    pub fn stored(&self, key: PageKey) -> Stored {
        Stored {
            key,
            discovery: self.all(|ledger| ledger.discovery(key).cloned()),
            visited: self.all(|ledger| ledger.visited(key).cloned()),
        }
    }

    /// Returns the history of a page.
    pub fn history(&self, key: PageKey) -> Option<History> {
        let stored = self.stored(key);
        let visited = stored.visited.map(|visited| visited.history);
        let discovered =
            || (stored.discovery).map(|found| History::discovered(found.at, found.depth));
        visited.or_else(discovered)
    }

    /// Returns the facts of a host.
    pub fn host(&self, key: (frontier::Partition, HostId)) -> Option<HostFacts> {
        self.all(|ledger| ledger.host(key).cloned())
    }
}

impl Facts for NodeDisk {
    type Error = Infallible;

    fn pages(&self) -> impl Iterator<Item = Result<Known, Infallible>> {
        self.slots.values().flat_map(Facts::pages)
    }

    fn links(&self) -> impl Iterator<Item = Result<(PageKey, OutLinks), Infallible>> {
        self.slots.values().flat_map(Facts::links)
    }

    fn hosts(&self) -> impl Iterator<Item = Result<(HostId, HostFacts), Infallible>> {
        self.slots.values().flat_map(Facts::hosts)
    }

    fn servers(&self) -> impl Iterator<Item = Result<(ServerKey, ServerFacts), Infallible>> {
        self.servers.servers()
    }

    fn noticed_ahead(&self) -> Result<Option<Moment>, Infallible> {
        Ok(None)
    }

    fn first_free(&self) -> Result<u32, Infallible> {
        Ok(self.free)
    }

    fn damaged(what: String) -> Infallible {
        unreachable!("a damaged record: {what}")
    }
}

/// A disk, as the agent uses it.
#[derive(Clone, Default)]
pub struct SharedDisk(pub Rc<RefCell<NodeDisk>>);

impl SlotStore for SharedDisk {
    type Error = BrokerError;

    fn applied(&self, slot: Slot) -> Result<Option<Applied>, BrokerError> {
        Ok(self.0.borrow().note.applied(slot))
    }

    fn free_number(&self) -> Result<u32, BrokerError> {
        Ok(self.0.borrow().free)
    }

    /// The archive of a node dies with it.
    async fn reachable(&self, _: BTreeSet<u32>) -> Result<BTreeSet<u32>, BrokerError> {
        Ok(BTreeSet::new())
    }

    fn replace(
        &mut self,
        slot: Slot,
        facts: &[Entry],
        applied: Applied,
    ) -> Result<(), BrokerError> {
        let mut disk = self.0.borrow_mut();
        disk.slots.remove(&slot);
        disk.commit(facts.iter().map(|fact| (slot, fact.clone())));
        disk.note.replaced(slot, applied, None);
        Ok(())
    }

    fn record(&mut self, slot: Slot, applied: Applied) -> Result<(), BrokerError> {
        self.0.borrow_mut().note.record(slot, applied);
        Ok(())
    }

    fn waits(&self, now: Moment) -> Result<Vec<(ServerKey, ServerFacts)>, BrokerError> {
        let disk = self.0.borrow();
        let servers = disk.servers().map(|server| match server {
            Ok(server) => server,
        });
        Ok(servers.filter(|(_, facts)| is_open(facts, now)).collect())
    }

    fn keep_waits(
        &mut self,
        waits: Vec<(ServerKey, ServerFacts)>,
        now: Moment,
    ) -> Result<(), BrokerError> {
        let mut disk = self.0.borrow_mut();
        for (server, facts) in waits {
            disk.servers.keep_server(server, facts, now);
        }
        Ok(())
    }

    fn retain(&mut self, slots: &BTreeSet<Slot>) -> Result<(), BrokerError> {
        let mut disk = self.0.borrow_mut();
        disk.slots.retain(|slot, _| slots.contains(slot));
        disk.note.retain(slots);
        Ok(())
    }
}
