//! The note of the ledger about the slots of this node of a cluster.

use anyhow::Result;
use cluster::note::SlotNote;
use frontier::Partition;
use ledger::{LedgerReader, decode};

/// Reads the note of a ledger. A ledger that was never part of a cluster has an empty one.
pub fn note_of(ledger: &LedgerReader) -> Result<SlotNote> {
    let note = ledger.note()?;
    let note = note.map(|note| decode(&note, || "the slots of this node".into()));
    Ok(note.transpose()?.unwrap_or_default())
}

/// Returns whether copies of other nodes in this partition are still to be fetched and indexed.
pub fn is_unread(note: &SlotNote, partition: Partition) -> bool {
    let mut unread = note.unread().values();
    unread.any(|partitions| partitions.contains(&partition.0))
}
