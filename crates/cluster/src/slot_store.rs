//! What an agent needs from a node's store: the facts of slots, and how far they agree with the
//! logs.

use std::collections::BTreeSet;

use frontier::bench::ServerKey;
use frontier::{Entry, ServerFacts};
use policy::Moment;

use crate::division::Slot;
use crate::error::BrokerError;

/// How far the facts of a slot in a node's ledger agree with the slot's log.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Applied {
    /// Sequence of the last message of the log whose facts the ledger has.
    pub sequence: u64,
    /// Sequence of the last message of offers whose pages the ledger has.
    pub offers: u64,
}

/// The facts of slots in a node's store.
pub trait SlotStore {
    /// The error of the store.
    type Error: From<BrokerError>;

    /// Returns how far the ledger's facts of a slot agree with its log. Returns `None` if the
    /// ledger has facts that were not published, or no record.
    fn applied(&self, slot: Slot) -> Result<Option<Applied>, Self::Error>;

    /// Returns a page number above all that the ledger has ever used.
    fn free_number(&self) -> Result<u32, Self::Error>;

    /// Returns those of these archive files from which this node can read copies: its own, and
    /// those that are in the object store.
    fn reachable(
        &self,
        files: BTreeSet<u32>,
    ) -> impl Future<Output = Result<BTreeSet<u32>, Self::Error>>;

    /// Replaces all facts of a slot.
    fn replace(&mut self, slot: Slot, facts: &[Entry], applied: Applied)
    -> Result<(), Self::Error>;

    /// Records how far the ledger agrees with the log of a slot.
    fn record(&mut self, slot: Slot, applied: Applied) -> Result<(), Self::Error>;

    /// Returns the servers that want no requests for some time, with their politeness records.
    fn waits(&self, now: Moment) -> Result<Vec<(ServerKey, ServerFacts)>, Self::Error>;

    /// Stores politeness records of servers that other nodes have asked.
    fn keep_waits(
        &mut self,
        waits: Vec<(ServerKey, ServerFacts)>,
        now: Moment,
    ) -> Result<(), Self::Error>;

    /// Deletes the facts of all slots except these.
    fn retain(&mut self, slots: &BTreeSet<Slot>) -> Result<(), Self::Error>;
}
