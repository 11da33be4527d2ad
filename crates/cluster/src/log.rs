//! What a node needs from the broker: the log of every slot, the mail between slots, heartbeats and
//! orders. [`Broker`](crate::broker::Broker) provides it over NATS JetStream, and the simulation of
//! the cluster (`tests/simulation`) in memory, with faults.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use async_nats::Subject;
use bytes::Bytes;
use frontier::Partition;
use futures_util::StreamExt;
use futures_util::stream::BoxStream;

use crate::division::{Division, Slot};
use crate::error::BrokerError;
use crate::fold::{Fold, Head};
use crate::member::Heartbeat;
use crate::message::{NodeName, decode_header, decode_offers};
use crate::objects::ObjectStore;
use crate::snapshot::{SlotSnapshot, SnapshotError, SnapshotMark};

/// Why a message was not appended to a slot's log.
#[derive(Debug, thiserror::Error)]
pub enum AppendError {
    /// Another node has written to the log: this node does not own the slot.
    #[error("another node owns the slot")]
    Fenced,
    /// The stream has reached its size limit. Nothing was stored.
    #[error("the stream is full: raise [cluster] stream_bytes")]
    Full,
    /// The broker did not answer. The message may be stored or not.
    #[error(transparent)]
    Broker(#[from] BrokerError),
}

/// A message of offers for slots of this node.
#[derive(Debug)]
pub struct Mail {
    /// The slot that the message is for; `None`: it is for all slots, and was read for all slots of
    /// this node.
    pub slot: Option<Slot>,
    /// The sequence of the message.
    pub sequence: u64,
    /// The offers to the slots of this node.
    pub offers: Vec<crawl::Offer>,
}

impl Mail {
    /// Notes for each slot that it is for that its offers are read.
    pub fn read_in(&self, read: &mut BTreeMap<Slot, u64>) {
        for (slot, sequence) in read {
            if self.slot.is_none_or(|own| own == *slot) {
                *sequence = self.sequence.max(*sequence);
            }
        }
    }

    /// Reads a message of offers for the owner of these slots, who has applied the offers to each
    /// of them up to a sequence. Returns `None` if all of it is applied.
    pub fn read(
        slot: Option<Slot>,
        sequence: u64,
        message: &[u8],
        applied: &BTreeMap<Slot, u64>,
        division: Division,
    ) -> Result<Option<Self>, BrokerError> {
        let is_new = |slot: &Slot| applied.get(slot).is_some_and(|applied| *applied < sequence);
        let is_news = match &slot {
            Some(slot) => is_new(slot),
            None => applied.keys().any(is_new),
        };
        if !is_news {
            return Ok(None);
        }
        let mut offers = decode_offers(message)?;
        offers.retain(|offer| is_new(&division.slot(Partition::of(&offer.url))));
        Ok(Some(Self {
            slot,
            sequence,
            offers,
        }))
    }
}

/// A stream of messages of the broker.
pub type Messages<T> = BoxStream<'static, T>;

/// A message of a slot's log with its sequence, or why it could not be read.
pub type LogMessage = Result<(u64, Bytes), BrokerError>;

/// The connection of a node to the other nodes.
pub trait SlotLog: Send + Sync + 'static {
    /// Returns the last message of a slot's log with its sequence; `None`: the log is empty.
    fn last(
        &self,
        slot: Slot,
    ) -> impl Future<Output = Result<Option<(u64, Bytes)>, BrokerError>> + Send;

    /// Appends a message to the log of a slot, if the last message there has the sequence
    /// `expected` (0: the log is empty). Returns the sequence of the message.
    fn try_append(
        &self,
        slot: Slot,
        expected: u64,
        message: &Bytes,
    ) -> impl Future<Output = Result<u64, AppendError>> + Send;

    /// Returns the messages of a slot's log with their sequences, from the first on, and waits for
    /// further ones.
    fn messages(
        &self,
        slot: Slot,
    ) -> impl Future<Output = Result<Messages<LogMessage>, BrokerError>> + Send;

    /// Sends offers to a slot, or to several slots (`None`): such a message is read by all nodes.
    /// Returns when the broker has stored them.
    fn offer(
        &self,
        to: Option<Slot>,
        message: Bytes,
    ) -> impl Future<Output = Result<(), AppendError>> + Send;

    /// Returns the offers for these slots that come after the given sequences, in order, and waits
    /// for further ones.
    fn mail(
        &self,
        applied: BTreeMap<Slot, u64>,
        division: Division,
    ) -> impl Future<Output = Result<Messages<Result<Mail, BrokerError>>, BrokerError>> + Send;

    /// Announces this node. Returns when a majority of the broker's servers has the heartbeat:
    /// until then others may think that this node is dead.
    fn beat(&self, beat: &Heartbeat) -> impl Future<Output = Result<(), BrokerError>> + Send;

    /// Returns the heartbeats of all nodes, from now on. A heartbeat that cannot be read is
    /// skipped.
    fn beats(&self) -> impl Future<Output = Result<Messages<Heartbeat>, BrokerError>> + Send;

    /// Returns the requests to a subject of the crawl, each with the subject for its answer.
    fn requests(
        &self,
        subject: &str,
    ) -> impl Future<Output = Result<Messages<(Bytes, Option<Subject>)>, BrokerError>> + Send;

    /// Answers a request.
    fn answer(
        &self,
        to: Subject,
        answer: Vec<u8>,
    ) -> impl Future<Output = Result<(), BrokerError>> + Send;

    /// Returns the notes of each node on web servers, with the sequences of their messages.
    fn notes(
        &self,
    ) -> impl Future<Output = Result<BTreeMap<NodeName, (u64, Bytes)>, BrokerError>> + Send;

    /// Replaces the notes of a node, if the last message of them has the sequence `expected` (0:
    /// there is none). Returns the sequence of the message.
    fn put_notes(
        &self,
        node: &NodeName,
        expected: u64,
        message: &Bytes,
    ) -> impl Future<Output = Result<u64, AppendError>> + Send;

    /// Returns the object store of the crawl; `None`: it has none.
    fn objects(&self) -> Option<&ObjectStore> {
        None
    }

    /// Removes the messages of a slot's log before this sequence.
    fn trim(
        &self,
        _slot: Slot,
        _before: u64,
    ) -> impl Future<Output = Result<(), BrokerError>> + Send {
        std::future::ready(Ok(()))
    }

    /// Returns the number of messages of each slot's log. A slot may be missing.
    fn lengths(&self) -> impl Future<Output = Result<BTreeMap<Slot, u64>, BrokerError>> + Send {
        std::future::ready(Ok(BTreeMap::new()))
    }

    /// Reads the snapshot that a message names.
    fn snapshot(
        &self,
        slot: Slot,
        mark: &SnapshotMark,
    ) -> impl Future<Output = Result<SlotSnapshot, BrokerError>> + Send {
        async move {
            let object = mark.object.clone();
            let Some(objects) = self.objects() else {
                return Err(SnapshotError::NoStore {
                    object,
                    slot: slot.0,
                }
                .into());
            };
            let Some(found) = objects.get(&mark.object).await? else {
                return Err(SnapshotError::Missing {
                    object,
                    slot: slot.0,
                }
                .into());
            };
            Ok(SlotSnapshot::decode(slot, mark, &found)?)
        }
    }

    /// Returns the owner of a slot by the last message of its log.
    fn head(&self, slot: Slot) -> impl Future<Output = Result<Head, BrokerError>> + Send {
        async move {
            let Some((sequence, message)) = self.last(slot).await? else {
                return Ok(Head::default());
            };
            let (header, _) = decode_header(&message)?;
            Ok(Head::of_last(sequence, &header))
        }
    }

    /// Appends as [`SlotLog::try_append`] does. A repeated append of a message whose
    /// acknowledgement was lost succeeds.
    fn append(
        &self,
        slot: Slot,
        expected: u64,
        message: &Bytes,
    ) -> impl Future<Output = Result<u64, AppendError>> + Send {
        async move {
            match self.try_append(slot, expected, message).await {
                Err(AppendError::Fenced) => match self.last(slot).await? {
                    Some((sequence, last)) if last == *message => Ok(sequence),
                    _ => Err(AppendError::Fenced),
                },
                other => other,
            }
        }
    }

    /// Folds the log of a slot up to and including the message with this sequence. A trimmed log
    /// begins with a snapshot.
    fn fold(
        &self,
        slot: Slot,
        until: u64,
    ) -> impl Future<Output = Result<Fold, BrokerError>> + Send {
        async move {
            let mut fold = Fold::default();
            if until == 0 {
                return Ok(fold);
            }
            let mut messages = self.messages(slot).await?;
            while let Some(message) = messages.next().await {
                let (sequence, message) = message?;
                if let Some(mark) = fold.apply(sequence, &message)? {
                    fold.restore(sequence, self.snapshot(slot, &mark).await?);
                }
                match sequence.cmp(&until) {
                    Ordering::Less => {}
                    Ordering::Equal => return Ok(fold),
                    Ordering::Greater => return Err(BrokerError::Trimmed { slot: slot.0 }),
                }
            }
            let ended = format!("the log of slot {} ended before message {until}", slot.0);
            Err(BrokerError::request(ended, "the stream was trimmed"))
        }
    }
}

#[cfg(test)]
mod tests {
    use page::PageUrl;

    use super::*;
    use crate::message::encode_offers;

    #[test]
    fn a_message_for_all_slots_is_read_for_those_that_have_not_applied_it() {
        let division = Division::new(16).unwrap();
        let offer = |host: u32| crawl::Offer {
            url: PageUrl::parse(&format!("http://site{host}.org/")).unwrap(),
            depth: 1,
            hops: 0,
            source: None,
        };
        let offers: Vec<crawl::Offer> = (0..200).map(offer).collect();
        let message = encode_offers(&offers);
        let applied = BTreeMap::from([(Slot(1), 4), (Slot(2), 9), (Slot(3), 0)]);
        let read = |slot, sequence| {
            let mail = Mail::read(slot, sequence, &message, &applied, division);
            mail.unwrap()
        };
        let slots = |mail: Mail| -> Vec<Slot> {
            let slot = |offer: &crawl::Offer| division.slot(Partition::of(&offer.url));
            let mut slots: Vec<Slot> = mail.offers.iter().map(slot).collect();
            slots.sort();
            slots.dedup();
            slots
        };
        assert_eq!(slots(read(None, 9).unwrap()), [Slot(1), Slot(3)]);
        assert_eq!(slots(read(None, 10).unwrap()), [Slot(1), Slot(2), Slot(3)]);
        let applied_by_all = BTreeMap::from([(Slot(1), 10)]);
        let mail = Mail::read(None, 10, &message, &applied_by_all, division);
        assert!(mail.unwrap().is_none());
        assert!(read(Some(Slot(2)), 9).is_none());
        assert!(read(Some(Slot(7)), 12).is_none(), "not a slot of this node");
        assert_eq!(slots(read(Some(Slot(3)), 9).unwrap()), [Slot(1), Slot(3)]);
    }
}
