//! The state of a slot, folded from its log.
//!
//! **Invariant:** a batch counts only if it has the epoch and the node of the last claim. The
//! broker refuses other batches too; the fold is a second line of defence that needs no clock.
//!
//! All readers of a log fold it alike: the next owner of the slot, and `avocet cluster verify`.

use std::collections::BTreeSet;

use frontier::{Entry, Facts, Known, MemoryLedger};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::copies::{ReachableFiles, files_of, within_reach};
use crate::message::{
    FactBatch, Header, Kind, NodeName, Unreadable, decode_batch, decode_claim, decode_header,
};
use crate::snapshot::{SlotSnapshot, SnapshotMark, decode_mark};

/// Who owns a slot, by the last message of its log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Head {
    /// Sequence of the last message; 0: the log is empty.
    pub sequence: u64,
    /// The epoch of the last claim; 0: there was none.
    pub epoch: u64,
    /// The owner; `None`: the slot was released or never claimed.
    pub owner: Option<NodeName>,
}

impl Head {
    /// Returns the head that the last message of a log shows.
    pub fn of_last(sequence: u64, header: &Header) -> Self {
        let released = header.kind == Kind::Release;
        Self {
            sequence,
            epoch: header.epoch,
            owner: (!released).then(|| header.node.clone()),
        }
    }
}

/// Count and checksum of the facts of a slot. Equal facts have equal digests, whatever their order
/// and numbering.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotDigest {
    /// Number of known pages.
    pub pages: u64,
    /// Number of visited pages.
    pub visited: u64,
    /// Sum of the hashes of all pages, each with its last visit.
    pub sum: u64,
}

impl SlotDigest {
    /// Adds a page.
    pub fn add(&mut self, known: &Known) {
        let mut text = known.discovery.url.clone().into_bytes();
        if let Some(visited) = &known.visited {
            self.visited += 1;
            let asked = visited.history.asked.unwrap_or_default().micros();
            text.extend(asked.to_le_bytes());
            text.extend(visited.status.unwrap_or(0).to_le_bytes());
            let copy = visited.copy.as_ref();
            text.extend(copy.map_or([0; 20], |copy| copy.payload));
        }
        self.pages += 1;
        self.sum = self.sum.wrapping_add(xxh3_64(&text));
    }
}

/// The facts of a slot and its owner.
#[derive(Debug, Default)]
pub struct Fold {
    head: Head,
    facts: MemoryLedger,
    offers_applied: u64,
    refused: u64,
}

impl Fold {
    /// Applies the next message of the log. Returns the snapshot that the message names if earlier
    /// messages are missing here, because the log was trimmed: then [`Fold::restore`] must follow.
    pub fn apply(
        &mut self,
        sequence: u64,
        message: &[u8],
    ) -> Result<Option<SnapshotMark>, Unreadable> {
        let (header, body) = decode_header(message)?;
        if header.kind == Kind::Snapshot {
            let mark = decode_mark(body)?;
            if mark.after != self.head.sequence {
                return Ok(Some(mark));
            }
        } else if self.head.sequence == 0 && header.epoch != 1 {
            return Err(Unreadable::new("its log begins in the middle"));
        }
        self.head.sequence = sequence;
        let holds =
            header.epoch == self.head.epoch && self.head.owner.as_ref() == Some(&header.node);
        match header.kind {
            Kind::Claim { numbered_from } if header.epoch > self.head.epoch => {
                self.head.epoch = header.epoch;
                self.head.owner = Some(header.node);
                if let Some(first) = numbered_from {
                    let taken_over = self.taken_over(first, &decode_claim(body)?);
                    self.facts = MemoryLedger::default();
                    self.facts.commit(&taken_over);
                }
            }
            Kind::Release if holds => self.head.owner = None,
            Kind::Batch if holds => {
                let FactBatch {
                    entries,
                    offers_applied,
                } = decode_batch(body)?;
                self.facts.commit(&entries);
                self.offers_applied = self.offers_applied.max(offers_applied);
            }
            Kind::Snapshot if holds => {}
            _ => self.refused += 1,
        }
        Ok(None)
    }

    /// Replaces everything by the snapshot that the message with this sequence names.
    pub fn restore(&mut self, sequence: u64, snapshot: SlotSnapshot) {
        let SlotSnapshot {
            owner,
            facts,
            offers_applied,
        } = snapshot;
        *self = Self {
            head: Head {
                sequence,
                epoch: owner.epoch,
                owner: Some(owner.node),
            },
            offers_applied,
            ..Self::default()
        };
        self.facts.commit(&facts);
    }

    /// Returns the facts for the ledger of a new owner, who numbers the pages from `first` and can
    /// read these archive files.
    pub fn taken_over(&self, first: u32, reachable: &ReachableFiles) -> Vec<Entry> {
        within_reach(self.facts.renumbered(first), reachable)
    }

    /// Returns the archive files that have the copies of the slot's pages.
    pub fn files(&self) -> BTreeSet<u32> {
        files_of(self.facts.visits().map(|(_, visited)| visited))
    }

    /// Returns the owner, by the messages so far.
    pub fn head(&self) -> &Head {
        &self.head
    }

    /// Returns the facts of the slot.
    pub fn facts(&self) -> &MemoryLedger {
        &self.facts
    }

    /// Returns the sequence of the last message of offers that is in the facts; 0: none.
    pub fn offers_applied(&self) -> u64 {
        self.offers_applied
    }

    /// Number of messages of nodes that did not own the slot, since the last snapshot. They changed
    /// nothing.
    pub fn refused(&self) -> u64 {
        self.refused
    }

    /// Returns count and checksum of the facts.
    pub fn digest(&self) -> SlotDigest {
        let mut digest = SlotDigest::default();
        for known in self.facts.pages() {
            let Ok(known) = known;
            digest.add(&known);
        }
        digest
    }
}

#[cfg(test)]
mod tests {
    use frontier::{Discovery, PageCopy, PageKey};
    use page::PageUrl;
    use policy::Moment;

    use super::*;
    use crate::division::Slot;
    use crate::message::{encode_batch, encode_claim, encode_header};
    use crate::snapshot::encode_mark;

    fn header(node: &str, epoch: u64, kind: Kind) -> Header {
        Header {
            node: NodeName::new(node).unwrap(),
            epoch,
            kind,
        }
    }

    fn claim(node: &str, epoch: u64, numbered_from: Option<u32>) -> Vec<u8> {
        encode_header(&header(node, epoch, Kind::Claim { numbered_from }))
    }

    fn page((url, order): &(&str, u64)) -> Entry {
        let discovery = Discovery {
            url: (*url).into(),
            order: *order,
            at: Moment::from_micros(1),
            depth: 0,
            hops: 0,
            source: None,
            absent: None,
        };
        Entry::Admitted(PageKey::of(&PageUrl::parse(url).unwrap()), discovery)
    }

    fn batch(node: &str, epoch: u64, pages: &[(&str, u64)], offers_applied: u64) -> Vec<u8> {
        let entries: Vec<Entry> = pages.iter().map(page).collect();
        let entries: Vec<&Entry> = entries.iter().collect();
        encode_batch(&header(node, epoch, Kind::Batch), &entries, offers_applied)
    }

    fn fold(messages: &[Vec<u8>]) -> Fold {
        let mut fold = Fold::default();
        for (sequence, message) in (1..).zip(messages) {
            assert_eq!(fold.apply(sequence, message).unwrap(), None);
        }
        fold
    }

    /// Returns all facts of a fold, as the ledger of the owner has them. The numbers of its commits
    /// are its own.
    fn facts_of(fold: &Fold) -> Vec<Entry> {
        let mut facts = Vec::new();
        for Ok(known) in fold.facts().pages() {
            facts.push(Entry::Admitted(known.key, known.discovery));
            let visited = known.visited.into_iter();
            facts.extend(visited.map(|visited| {
                let visited = frontier::Visited {
                    sequence: 0,
                    ..visited
                };
                Entry::Visited(known.key, Box::new(visited))
            }));
        }
        facts.extend(fold.facts().seeds().map(|seed| Entry::Seed(seed.into())));
        facts
    }

    /// Three nodes own a slot in turn. `steps`: what the owner does.
    fn log_of(steps: &[(u8, u8)]) -> Vec<Vec<u8>> {
        let (mut log, mut epoch, mut order) = (Vec::new(), 0, 0);
        let mut node = "a";
        for (step, value) in steps {
            let url = format!("http://x.org/{}", value % 16);
            let key = PageKey::of(&PageUrl::parse(&url).unwrap());
            let status = Some(200 + u16::from(*value));
            let visited = frontier::Visited {
                status,
                ..frontier::Visited::default()
            };
            let visited = Entry::Visited(key, Box::new(visited));
            match step % 8 {
                _ if epoch == 0 => {
                    epoch = 1;
                    log.push(claim(node, epoch, None));
                }
                0 => {
                    epoch += 1;
                    node = ["a", "b", "c"][usize::from(value % 3)];
                    order += 100;
                    log.push(claim(node, epoch, (value % 2 == 0).then_some(order)));
                }
                1 => log.push(encode_header(&header(node, epoch, Kind::Release))),
                2 => log.push(batch("b", epoch.max(2) - 1, &[(&url, 7)], 3)),
                3 => {
                    order += 1;
                    let batch_header = header(node, epoch, Kind::Batch);
                    let found = page(&(&url, u64::from(order)));
                    let seed = Entry::Seed(url);
                    log.push(encode_batch(&batch_header, &[&found, &visited, &seed], 0));
                }
                _ => {
                    order += 1;
                    let page = [(url.as_str(), u64::from(order))];
                    log.push(batch(node, epoch, &page, u64::from(*value)));
                }
            }
        }
        log
    }

    proptest::proptest! {
        #[test]
        fn a_trimmed_log_folds_to_the_same_facts(
            steps in proptest::collection::vec((0u8..8, 0u8..64), 2..60),
            place in 0usize..60,
            read in 0usize..60,
        ) {
            let log = log_of(&steps);
            // The owner at this place writes a snapshot, if there is one.
            let place = 1 + place % log.len();
            let before = fold(&log[..place]);
            let Some(node) = before.head().owner.clone() else {
                return Ok(());
            };
            let owner = Header { node, epoch: before.head().epoch, kind: Kind::Batch };
            let offers_applied = before.offers_applied();
            let snapshot = SlotSnapshot { owner: owner.clone(), facts: facts_of(&before), offers_applied };
            let after = place as u64;
            let (object, mark) = snapshot.encode(Slot(1), after);
            let marked = encode_mark(&Header { kind: Kind::Snapshot, ..owner }, &mark);
            let mut whole = log.clone();
            whole.insert(place, marked);
            let expected = fold(&whole);
            // Another node reads a part of the log before it is trimmed, and the rest then.
            let read = read % (place + 1);
            let mut trimmed = fold(&log[..read]);
            for (sequence, message) in (1..).zip(&whole).skip(place) {
                if let Some(named) = trimmed.apply(sequence, message).unwrap() {
                    assert_eq!(named, mark);
                    let snapshot = SlotSnapshot::decode(Slot(1), &named, &object).unwrap();
                    trimmed.restore(sequence, snapshot);
                }
            }
            assert_eq!(trimmed.head(), expected.head());
            assert_eq!(trimmed.digest(), expected.digest());
            assert_eq!(facts_of(&trimmed), facts_of(&expected));
            assert_eq!(trimmed.offers_applied(), expected.offers_applied());
        }
    }

    #[test]
    fn a_log_that_begins_in_the_middle_is_an_error() {
        let mut fold = Fold::default();
        let message = batch("a", 3, &[("http://x.org/1", 0)], 4);
        assert!(fold.apply(9, &message).is_err());
    }

    #[test]
    fn a_snapshot_of_a_node_that_does_not_own_the_slot_changes_nothing() {
        let snapshot = SlotSnapshot {
            owner: header("a", 1, Kind::Batch),
            facts: Vec::new(),
            offers_applied: 0,
        };
        let (_, mark) = snapshot.encode(Slot(1), 3);
        let fold = fold(&[
            claim("a", 1, None),
            batch("a", 1, &[("http://x.org/1", 0)], 4),
            claim("b", 2, None),
            encode_mark(&header("a", 1, Kind::Snapshot), &mark),
        ]);
        assert_eq!((fold.refused(), fold.digest().pages), (1, 1));
    }

    #[test]
    fn batches_of_an_old_epoch_do_not_count() {
        let fold = fold(&[
            claim("a", 1, None),
            batch("a", 1, &[("http://x.org/1", 0)], 4),
            claim("b", 2, Some(50)),
            batch("a", 1, &[("http://x.org/stale", 1)], 9),
            batch("a", 2, &[("http://x.org/forged", 1)], 9),
            claim("a", 2, None),
            batch("b", 2, &[("http://x.org/2", 51)], 6),
        ]);
        let head = Head {
            sequence: 7,
            epoch: 2,
            owner: NodeName::new("b"),
        };
        assert_eq!(fold.head(), &head);
        assert_eq!((fold.refused(), fold.offers_applied()), (3, 6));
        let mut orders: Vec<u64> = Vec::new();
        for Ok(known) in fold.facts().pages() {
            orders.push(known.discovery.order);
        }
        orders.sort_unstable();
        assert_eq!(orders, [50, 51], "the new owner numbered the old page");
    }

    #[test]
    fn a_claim_keeps_the_visits_whose_copies_it_names() {
        let visit = |name: &str, file| {
            let url = format!("http://x.org/{name}");
            let place = page::RecordLocation {
                file,
                offset: 0,
                length: 9,
            };
            let visited = frontier::Visited {
                status: Some(200),
                place: Some(place),
                copy: Some(PageCopy {
                    place: Some(place),
                    ..PageCopy::default()
                }),
                ..frontier::Visited::default()
            };
            Entry::Visited(
                PageKey::of(&PageUrl::parse(&url).unwrap()),
                Box::new(visited),
            )
        };
        let visits = [visit("1", 7), visit("2", 8)];
        let visits: Vec<&Entry> = visits.iter().collect();
        let taken = Kind::Claim {
            numbered_from: Some(50),
        };
        let reachable = [8].into_iter().collect();
        let log = [
            claim("a", 1, None),
            batch("a", 1, &[("http://x.org/1", 0), ("http://x.org/2", 1)], 0),
            encode_batch(&header("a", 1, Kind::Batch), &visits, 0),
            encode_claim(&header("b", 2, taken), &reachable),
        ];
        let before = fold(&log[..3]);
        assert_eq!(before.files(), BTreeSet::from([7, 8]));
        assert_eq!(before.digest().visited, 2);
        let after = fold(&log);
        assert_eq!(after.files(), BTreeSet::from([8]));
        assert_eq!((after.digest().pages, after.digest().visited), (2, 1));
    }

    #[test]
    fn a_released_slot_has_no_owner_and_takes_no_batch() {
        let release = encode_header(&header("a", 1, Kind::Release));
        let fold = fold(&[
            claim("a", 1, None),
            release.clone(),
            batch("a", 1, &[("http://x.org/1", 0)], 4),
        ]);
        assert_eq!((fold.head().owner.clone(), fold.refused()), (None, 1));
        assert!(fold.facts().is_empty());
        let (header, _) = decode_header(&release).unwrap();
        assert_eq!(Head::of_last(2, &header).owner, None);
    }

    #[test]
    fn the_digest_depends_on_the_facts_and_not_on_their_order() {
        let pages = [("http://x.org/1", 0), ("http://x.org/2", 1)];
        let swapped = [("http://x.org/2", 0), ("http://x.org/1", 1)];
        let digest = |pages| fold(&[claim("a", 1, None), batch("a", 1, pages, 0)]).digest();
        assert_eq!(digest(&pages), digest(&swapped));
        assert_ne!(digest(&pages), digest(&pages[..1]));
        assert_eq!(digest(&pages).pages, 2);
    }
}
