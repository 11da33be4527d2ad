//! Publishes what a node committed: first the offers to other slots, then the facts of its own
//! slots.
//!
//! **Invariant:** the facts of a page are in the log only if the broker has stored the offers that
//! come from its links. So no link between slots is lost, whenever a node dies. Offers may be sent
//! twice; the owner of a slot knows its pages and ignores them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use crawl::Offer;
use frontier::{Entry, PageKey, Partition};
use futures_util::future::join_all;
use page::{PageId, PageUrl};
use tokio::runtime::Handle;
use tracing::{info, warn};

use crate::agent::{Agent, Tail};
use crate::broker::{Broker, MESSAGE_LIMIT};
use crate::division::{Division, Slot};
use crate::log::{AppendError, SlotLog};
use crate::message::{Header, Kind, encode_batch, encode_offers};
use crate::objects::{ObjectError, ObjectStore};
use crate::slot_store::Applied;
use crate::snapshot::{SlotSnapshot, encode_mark, prefix};

/// Wait before a publication is tried again.
const RETRY: Duration = Duration::from_millis(500);

/// How long the object store may take for a snapshot. Commits wait meanwhile.
const STORED_WITHIN: Duration = Duration::from_secs(10);

/// Most facts or offers of one message. A message of this many facts is far below
/// [`MESSAGE_LIMIT`] unless hosts have long robots.txt files; such a message is divided again.
const CHUNK: usize = 2_000;

/// Number of offers to a slot from which on they get a message of their own, which only the owner
/// of the slot reads. Fewer go into one message for all slots, which all nodes read: 64 offers are
/// about 2 KB.
const WORTHWHILE: usize = 64;

/// Number of pages whose offers are remembered, so that they are not sent again. The cache is
/// emptied when it is full: 16 bytes a page, 16 MB at most.
const REMEMBERED: usize = 1 << 20;

/// What a group commit gives to the cluster, beside its facts.
#[derive(Debug, Default)]
pub struct Exchange {
    /// Pages of other slots.
    pub offers: Vec<Offer>,
    /// Messages of offers that the core has processed: their sequences, with the slot that each is
    /// for; `None`: for all slots.
    pub taken: Vec<(Option<Slot>, u64)>,
}

/// The broker is away, and the program is about to end.
#[derive(Debug, thiserror::Error)]
#[error(
    "the NATS servers do not answer: what was fetched last is not published, and the next owner of its slots fetches it again"
)]
pub struct Unpublished;

/// Publishes the commits of one term.
pub struct Publisher<B = Broker> {
    agent: Arc<Agent<B>>,
    runtime: Handle,
    division: Division,
    tails: BTreeMap<Slot, Tail>,
    /// The slots of this node at the start of the term, also those that it has lost since.
    owned: BTreeSet<Slot>,
    sent: HashSet<PageId>,
    /// Slots whose snapshots were not stored: how much longer than usual their logs become before
    /// the next attempt.
    refused: BTreeMap<Slot, u64>,
}

impl<B: SlotLog> Publisher<B> {
    /// Creates the publisher of a term.
    pub fn new(agent: Arc<Agent<B>>, runtime: Handle, tails: BTreeMap<Slot, Tail>) -> Self {
        let division = agent.member().settings().division;
        Self {
            agent,
            runtime,
            division,
            owned: tails.keys().copied().collect(),
            tails,
            sent: HashSet::new(),
            refused: BTreeMap::new(),
        }
    }

    /// Returns whether offers of this node should not wait, because another node has hardly any
    /// work.
    pub fn is_awaited(&self) -> bool {
        self.agent.is_awaited()
    }

    /// Publishes a group commit. Returns when the broker has stored it. A slot that another node
    /// has claimed is dropped with its facts, and the agent ends the term.
    ///
    /// While the broker is away or its streams are full, this waits. The core then makes no further
    /// requests once its limit of uncommitted ones is reached.
    ///
    /// It blocks the thread that calls it, so it must not be called on an async task.
    pub fn publish(&mut self, facts: &[Entry], exchange: Exchange) -> Result<(), Unpublished> {
        let runtime = self.runtime.clone();
        runtime.block_on(self.send(facts, exchange))
    }

    /// Does the work of [`Publisher::publish`] on an async task.
    pub async fn send(&mut self, facts: &[Entry], exchange: Exchange) -> Result<(), Unpublished> {
        for (slot, sequence) in exchange.taken {
            let concerned = |tail: &(&Slot, &mut Tail)| slot.is_none_or(|slot| *tail.0 == slot);
            for (_, tail) in self.tails.iter_mut().filter(concerned) {
                tail.applied.offers = tail.applied.offers.max(sequence);
            }
        }
        let mut offers = exchange.offers;
        offers.extend(self.between_own_slots(facts));
        self.send_offers(offers).await?;
        self.send_notes().await?;
        self.append_facts(facts).await
    }

    /// Publishes what this node knows about servers, so that the next owner of a slot keeps the
    /// waits that servers asked for in answers whose facts follow.
    async fn send_notes(&self) -> Result<(), Unpublished> {
        while let Err(error) = self.agent.publish_notes().await {
            warn!("{error}; tries again");
            if self.agent.gives_up() {
                return Err(Unpublished);
            }
            tokio::time::sleep(RETRY).await;
        }
        Ok(())
    }

    /// Returns how far the ledger agrees with the log of each slot.
    pub fn applied(&self) -> BTreeMap<Slot, Applied> {
        self.tails
            .iter()
            .map(|(slot, tail)| (*slot, tail.applied))
            .collect()
    }

    /// Returns the new pages of slots of this node that were found in another slot of this node.
    ///
    /// They are sent as offers too. The facts of a page and those of the pages that it links to go
    /// to different logs. If this node dies between the two appends, or loses the slot of the
    /// linked pages, the next owner of that slot still learns of them.
    fn between_own_slots(&self, facts: &[Entry]) -> Vec<Offer> {
        let visited = facts.iter().filter_map(|fact| match fact {
            Entry::Visited(key, _) => Some((key.page, self.division.slot(key.partition))),
            _ => None,
        });
        let visited: HashMap<PageId, Slot> = visited.collect();
        let found = facts.iter().filter_map(|fact| {
            let Entry::Admitted(key, discovery) = fact else {
                return None;
            };
            let source = discovery.source?;
            let slot = self.division.slot(key.partition);
            let away = *visited.get(&source)? != slot && self.owned.contains(&slot);
            away.then(|| PageUrl::parse(&discovery.url).ok())?
                .map(|url| Offer {
                    url,
                    depth: discovery.depth,
                    hops: discovery.hops,
                    source: discovery.source,
                })
        });
        found.collect()
    }

    async fn send_offers(&mut self, offers: Vec<Offer>) -> Result<(), Unpublished> {
        if self.sent.len() + offers.len() > REMEMBERED {
            self.sent.clear();
        }
        let mut by_slot: BTreeMap<Slot, Vec<Offer>> = BTreeMap::new();
        for offer in offers {
            if self.sent.insert(offer.url.id()) {
                let slot = self.division.slot(Partition::of(&offer.url));
                by_slot.entry(slot).or_default().push(offer);
            }
        }
        let count = by_slot.values().map(Vec::len).sum::<usize>() as u64;
        self.agent.report(|figures| figures.offered += count);
        let messages = addressed(by_slot).into_iter().flat_map(|(to, offers)| {
            let messages = in_messages(&offers, true, &|some, _| encode_offers(some));
            messages.into_iter().map(move |message| (to, message))
        });
        let agent = &self.agent;
        let sends = messages.map(|(to, message)| async move {
            retried(agent, &message, || {
                agent.broker().offer(to, message.clone())
            })
            .await
        });
        for sent in join_all(sends).await {
            if let Err(Refused::Leaving) = sent {
                return Err(Unpublished);
            }
        }
        Ok(())
    }

    /// Returns the slot of a fact. Returns `None` for a seed whose URL cannot be parsed.
    pub fn slot_of(&self, fact: &Entry) -> Option<Slot> {
        partition_of(fact).map(|partition| self.division.slot(partition))
    }

    /// Returns the slot whose log is the longest, if it has at least this many messages and the
    /// crawl has an object store.
    pub fn snapshot_due(&self, messages: u64) -> Option<Slot> {
        self.agent.broker().objects()?;
        let due = |(slot, tail): (&Slot, &Tail)| {
            let refused = self.refused.get(slot).copied().unwrap_or(0);
            (tail.length >= messages + refused).then_some((tail.length, *slot))
        };
        self.tails
            .iter()
            .filter_map(due)
            .max()
            .map(|(_, slot)| slot)
    }

    /// Writes a snapshot of a slot, whose facts in the ledger are these, and trims its log. All
    /// facts must be published. If the object store does not take the snapshot, the log stays, and
    /// is tried again when it has grown by a tenth of `messages`.
    ///
    /// It blocks the thread that calls it, so it must not be called on an async task.
    pub fn snapshot(
        &mut self,
        slot: Slot,
        facts: Vec<Entry>,
        messages: u64,
    ) -> Result<(), Unpublished> {
        let runtime = self.runtime.clone();
        runtime.block_on(self.send_snapshot(slot, facts, messages))
    }

    async fn send_snapshot(
        &mut self,
        slot: Slot,
        facts: Vec<Entry>,
        messages: u64,
    ) -> Result<(), Unpublished> {
        let agent = self.agent.clone();
        let broker = agent.broker();
        let (Some(tail), Some(objects)) = (self.tails.get(&slot).copied(), broker.objects()) else {
            return Ok(());
        };
        let header = |kind| Header {
            node: agent.name(),
            epoch: tail.epoch,
            kind,
        };
        let snapshot = SlotSnapshot {
            owner: header(Kind::Batch),
            facts,
            offers_applied: tail.applied.offers,
        };
        let (object, mark) = snapshot.encode(slot, tail.applied.sequence);
        let stored = objects.put_bytes(&mark.object, &object);
        let why = match tokio::time::timeout(STORED_WITHIN, stored).await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(_) => Some("the object store does not answer".to_owned()),
        };
        if let Some(why) = why {
            warn!(slot = slot.0, "the log of a slot is not trimmed: {why}");
            let grown = (tail.length + messages / 10).saturating_sub(messages);
            self.refused.insert(slot, grown.max(1));
            return Ok(());
        }
        let message = Bytes::from(encode_mark(&header(Kind::Snapshot), &mark));
        let append = || broker.append(slot, tail.applied.sequence, &message);
        let sequence = match retried(&agent, &message, append).await {
            Ok(sequence) => sequence,
            Err(Refused::Fenced) => {
                self.tails.remove(&slot);
                agent.lost(slot);
                return Ok(());
            }
            Err(Refused::Leaving) => return Err(Unpublished),
        };
        self.refused.remove(&slot);
        if let Some(tail) = self.tails.get_mut(&slot) {
            tail.applied.sequence = sequence;
            tail.length = 1;
        }
        if let Err(error) = broker.trim(slot, sequence).await {
            // The next snapshot trims the log.
            warn!(slot = slot.0, "the log of a slot is not trimmed: {error}");
        }
        if let Err(error) = delete_older(objects, slot).await {
            warn!(slot = slot.0, "an old snapshot is not deleted: {error}");
        }
        info!(
            slot = slot.0,
            bytes = object.len(),
            "the log of a slot is trimmed to a snapshot"
        );
        Ok(())
    }

    async fn append_facts(&mut self, facts: &[Entry]) -> Result<(), Unpublished> {
        let mut by_slot: BTreeMap<Slot, Vec<&Entry>> = BTreeMap::new();
        for fact in facts {
            if let Some(slot) = self.slot_of(fact) {
                by_slot.entry(slot).or_default().push(fact);
            }
        }
        let node = self.agent.member().settings().name.clone();
        let agent = &self.agent;
        let appends = by_slot.into_iter().filter_map(|(slot, facts)| {
            let tail = *self.tails.get(&slot)?;
            let header = Header {
                node: node.clone(),
                epoch: tail.epoch,
                kind: Kind::Batch,
            };
            // The offers are applied when all facts that follow from them are in the log: only the
            // last message says so. 0 changes nothing.
            let encode = move |some: &[&Entry], last: bool| {
                let offers = if last { tail.applied.offers } else { 0 };
                encode_batch(&header, some, offers)
            };
            Some(async move {
                let mut last = tail.applied.sequence;
                let messages = in_messages(&facts, true, &encode);
                let count = messages.len() as u64;
                for message in messages {
                    let append = || agent.broker().append(slot, last, &message);
                    last = retried(agent, &message, append)
                        .await
                        .map_err(|why| (slot, why))?;
                }
                Ok((slot, last, count))
            })
        });
        for appended in join_all(appends.collect::<Vec<_>>()).await {
            match appended {
                Ok((slot, last, count)) => {
                    if let Some(tail) = self.tails.get_mut(&slot) {
                        tail.applied.sequence = last;
                        tail.length += count;
                    }
                }
                Err((slot, Refused::Fenced)) => {
                    self.tails.remove(&slot);
                    self.agent.lost(slot);
                }
                Err((_, Refused::Leaving)) => return Err(Unpublished),
            }
        }
        Ok(())
    }
}

/// Returns the messages of offers to make: one for each slot that has at least [`WORTHWHILE`]
/// offers, and one for all other slots together (`None`).
fn addressed(by_slot: BTreeMap<Slot, Vec<Offer>>) -> Vec<(Option<Slot>, Vec<Offer>)> {
    let mut messages = Vec::new();
    let mut few = Vec::new();
    for (slot, offers) in by_slot {
        if offers.len() >= WORTHWHILE {
            messages.push((Some(slot), offers));
        } else {
            few.extend(offers);
        }
    }
    if !few.is_empty() {
        messages.push((None, few));
    }
    messages
}

/// Deletes all snapshots of a slot except the last two: a reader may still want the one before the
/// last.
async fn delete_older(objects: &ObjectStore, slot: Slot) -> Result<(), ObjectError> {
    let names = objects.names(&prefix(slot)).await?;
    for name in &names[..names.len().saturating_sub(2)] {
        objects.delete(name).await?;
    }
    Ok(())
}

/// Why a message was not stored.
enum Refused {
    /// Another node owns the slot.
    Fenced,
    /// The broker is away, and the program is about to end.
    Leaving,
}

/// Sends a message until the broker has stored it.
async fn retried<B, T, F>(
    agent: &Agent<B>,
    message: &Bytes,
    send: impl Fn() -> F,
) -> Result<T, Refused>
where
    B: SlotLog,
    F: Future<Output = Result<T, AppendError>>,
{
    loop {
        match send().await {
            Ok(done) => {
                agent.report(|figures| {
                    figures.messages += 1;
                    figures.message_bytes += message.len() as u64;
                });
                return Ok(done);
            }
            Err(AppendError::Fenced) => return Err(Refused::Fenced),
            Err(error) => warn!("{error}; tries again"),
        }
        if agent.gives_up() {
            return Err(Refused::Leaving);
        }
        tokio::time::sleep(RETRY).await;
    }
}

/// Returns the ledger partition that a fact belongs to. Returns `None` for a seed whose URL cannot
/// be parsed.
fn partition_of(fact: &Entry) -> Option<Partition> {
    match fact {
        Entry::Admitted(key, _)
        | Entry::Visited(key, _)
        | Entry::Links(key, _)
        | Entry::Signalled(key, _) => Some(key.partition),
        Entry::Host(partition, ..) => Some(*partition),
        Entry::Seed(url) => {
            let url = PageUrl::parse(url).ok()?;
            Some(PageKey::of(&url).partition)
        }
    }
}

/// Encodes items as messages of at most [`CHUNK`] items and [`MESSAGE_LIMIT`] bytes. A single item
/// that is larger gets a message of its own. `encode` learns which message is the last of all.
fn in_messages<T>(items: &[T], last: bool, encode: &impl Fn(&[T], bool) -> Vec<u8>) -> Vec<Bytes> {
    let mut messages = Vec::new();
    let mut chunks = items.chunks(CHUNK).peekable();
    while let Some(some) = chunks.next() {
        let last = last && chunks.peek().is_none();
        let message = encode(some, last);
        if message.len() > MESSAGE_LIMIT && some.len() > 1 {
            let (first, second) = some.split_at(some.len() / 2);
            messages.extend(in_messages(first, false, encode));
            messages.extend(in_messages(second, last, encode));
        } else {
            messages.push(message.into());
        }
    }
    messages
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_messages_are_divided_and_nothing_is_lost() {
        let items: Vec<u32> = (0..4_500).collect();
        let heavy = |some: &[u32], last: bool| {
            let mut bytes = vec![0; some.len() * 1_000];
            bytes[0] = u8::from(last);
            bytes
        };
        let messages = in_messages(&items, true, &heavy);
        let last: Vec<u8> = messages.iter().map(|message| message[0]).collect();
        assert!(
            last.ends_with(&[0, 1]) && last.iter().sum::<u8>() == 1,
            "{last:?}"
        );
        assert!(
            messages
                .iter()
                .all(|message| message.len() <= MESSAGE_LIMIT)
        );
        let total: usize = messages.iter().map(Bytes::len).sum();
        assert_eq!(total, 4_500_000);
        assert_eq!(
            in_messages(&items[..1], true, &|_, _| vec![0; MESSAGE_LIMIT + 1]).len(),
            1
        );
        assert!(in_messages(&[] as &[u32], true, &heavy).is_empty());
    }

    #[test]
    fn few_offers_share_a_message_and_many_to_one_slot_get_their_own() {
        let offers = |count: usize, of: u16| {
            let offer = |page| Offer {
                url: PageUrl::parse(&format!("http://site{of}.org/{page}")).unwrap(),
                depth: 1,
                hops: 0,
                source: None,
            };
            (Slot(of), (0..count).map(offer).collect::<Vec<Offer>>())
        };
        let by_slot = BTreeMap::from([offers(3, 1), offers(WORTHWHILE, 2), offers(5, 3)]);
        let messages = addressed(by_slot).into_iter();
        let counts: Vec<_> = messages.map(|(to, offers)| (to, offers.len())).collect();
        assert_eq!(counts, [(Some(Slot(2)), WORTHWHILE), (None, 8)]);
        assert!(addressed(BTreeMap::new()).is_empty());
    }

    #[test]
    fn every_fact_belongs_to_the_partition_of_its_page() {
        let url = PageUrl::parse("http://example.org/x").unwrap();
        let key = PageKey::of(&url);
        let at = policy::Moment::START;
        assert_eq!(
            partition_of(&Entry::Signalled(key, at)),
            Some(key.partition)
        );
        let seed = Entry::Seed("http://www.example.org/".into());
        assert_eq!(partition_of(&seed), Some(key.partition));
        assert_eq!(partition_of(&Entry::Seed("no url".into())), None);
    }
}
