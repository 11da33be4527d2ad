//! A node's part in the cluster: it announces the node, and claims and releases slots.
//!
//! The crawl runs in *terms*. During a term the slots of a node do not change, except that another
//! node may claim them. When a slot should come or go, the term ends like a crawl that is stopped:
//! requests under way finish, their pages are committed and published. Then [`Agent::rebalance`]
//! releases and claims slots, and the next term starts from the ledger. So a takeover takes the
//! path that every restart takes, and needs no code of its own in the core.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use frontier::ServerFacts;
use frontier::bench::ServerKey;
use futures_util::{FutureExt, StreamExt};
use policy::Moment;
use tokio::sync::Notify;
use tracing::{info, warn};

use crate::broker::Broker;
use crate::copies::ReachableFiles;
use crate::division::Slot;
use crate::error::BrokerError;
use crate::fold::{Fold, Head};
use crate::log::{AppendError, SlotLog};
use crate::member::{Member, MemberSettings, NodeFigures, Order, Peer};
use crate::message::{Header, Kind, NodeName, encode_claim, encode_header, pack};
use crate::server_notes::NoteBoard;
use crate::slot_store::{Applied, SlotStore};

/// Time between two heartbeats.
const BEAT: Duration = Duration::from_secs(1);

/// Number of checks for changes, one a second, after which the notes of the other nodes are read
/// again.
const NOTES_EVERY: u64 = 5;

/// Time after which a slot whose snapshot cannot be read is tried again.
const UNREADABLE_FOR: Duration = Duration::from_secs(60);

/// Logs that are read at once when slots are claimed.
const READS: usize = 16;

/// Reads the time. Must not jump: the driver counts on a monotonic clock.
pub type Now = Arc<dyn Fn() -> Moment + Send + Sync>;

/// A slot of this node during a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tail {
    /// The epoch of this node's claim.
    pub epoch: u64,
    /// The last message of the log, and the last offers, that the ledger has.
    pub applied: Applied,
    /// Number of messages of the log.
    pub length: u64,
}

/// This node in the cluster.
pub struct Agent<B = Broker> {
    broker: B,
    pub(crate) now: Now,
    silence: Duration,
    member: Mutex<Member>,
    /// The slots that this node worked on when another node claimed them.
    fenced: Mutex<BTreeSet<Slot>>,
    /// Slots whose logs may name this node as the owner although it does not work on them: all when
    /// it starts, and those of a claim or release that the broker did not answer. No other node may
    /// claim them while this one is alive, so this one must release them. For a claim without an
    /// answer, with the sequence that the claim follows: until the log has a later message, the
    /// claim may still arrive.
    doubtful: Mutex<BTreeMap<Slot, Option<u64>>>,
    /// When the broker last acknowledged a heartbeat, in microseconds.
    pub(crate) acknowledged: AtomicU64,
    /// Whether the broker has acknowledged a heartbeat of this process. Other nodes do not know a
    /// node before, so it claims no slot.
    announced: AtomicBool,
    /// When another node last announced that it has hardly any work, in microseconds.
    awaited: AtomicU64,
    notes: NoteBoard,
    /// Number of checks for changes. Each reads the log of another slot of this node.
    checks: AtomicU64,
    /// Slots whose logs cannot be folded, with the time of the next attempt.
    unreadable: Mutex<BTreeMap<Slot, Moment>>,
    /// Signals that a rebalance would change something.
    change: Notify,
    /// Whether this node was silent for so long that others may have begun to claim its slots. It
    /// makes no request until it has claimed them again.
    lapsed: AtomicBool,
    /// Whether the program is about to end.
    leaving: AtomicBool,
    /// Whether another process uses the name of this node.
    doubled: AtomicBool,
}

impl<B: SlotLog> Agent<B> {
    /// Joins the cluster. The node owns nothing yet.
    pub fn new(broker: B, settings: MemberSettings, now: Now) -> Arc<Self> {
        let started = now();
        Arc::new(Self {
            silence: settings.silence,
            doubtful: Mutex::new(settings.division.slots().map(|slot| (slot, None)).collect()),
            announced: AtomicBool::new(false),
            awaited: AtomicU64::new(0),
            notes: NoteBoard::default(),
            checks: AtomicU64::new(0),
            member: Mutex::new(Member::new(settings, started)),
            fenced: Mutex::default(),
            unreadable: Mutex::default(),
            acknowledged: AtomicU64::new(started.micros()),
            change: Notify::new(),
            lapsed: AtomicBool::new(false),
            leaving: AtomicBool::new(false),
            doubled: AtomicBool::new(false),
            broker,
            now,
        })
    }

    /// Returns the name of this node.
    pub fn name(&self) -> NodeName {
        self.member().settings().name.clone()
    }

    /// Returns the broker.
    pub fn broker(&self) -> &B {
        &self.broker
    }

    /// Sends and receives heartbeats, and obeys orders, until the task is aborted.
    pub async fn run(self: Arc<Self>) -> Result<(), BrokerError> {
        let name = self.member().settings().name.clone();
        let mut beats = self.broker.beats().await?;
        let mut orders = self.broker.requests(&format!("orders.{name}")).await?;
        let mut tick = tokio::time::interval(BEAT);
        tick.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                // Heartbeats that wait are heard first: after a standstill the other nodes are
                // alive.
                biased;
                beat = beats.next() => {
                    let beat = beat.ok_or_else(|| ended("heartbeats"))?;
                    let hungry = beat.figures.hungry && beat.node != self.name();
                    let superseded = self.member().superseded(&beat);
                    superseded.into_iter().for_each(|slot| self.lost(slot));
                    if !self.member().hear(beat, (self.now)()) {
                        self.doubled.store(true, Ordering::Relaxed);
                        self.change.notify_one();
                    }
                    if hungry {
                        let now = (self.now)().micros();
                        self.awaited.store(now, Ordering::Relaxed);
                    }
                }
                order = orders.next() => {
                    let (order, reply) = order.ok_or_else(|| ended("orders"))?;
                    match postcard::from_bytes(&order) {
                        Ok(Order::Drain(draining)) => self.member().drain(draining),
                        Ok(Order::Assign(assignment)) => self.member().assign(assignment),
                        Err(_) => continue,
                    }
                    if let Some(reply) = reply {
                        self.broker.answer(reply, pack(&true, Vec::new())).await?;
                    }
                }
                _ = tick.tick() => {
                    let node = self.clone();
                    // The broker may be away for long. Heartbeats of others must be read meanwhile.
                    let checks = self.checks.load(Ordering::Relaxed);
                    let reads = checks.is_multiple_of(NOTES_EVERY);
                    tokio::spawn(async move {
                        node.announce_or_warn().await;
                        if reads && let Err(error) = node.read_notes().await {
                            warn!("{error}");
                        }
                    });
                    if self.is_change_due().await {
                        self.change.notify_one();
                    }
                }
            }
        }
    }

    /// Sends a heartbeat now. After a time without contact, the acknowledgement counts only when
    /// the logs have shown which slots other nodes have claimed meanwhile.
    async fn announce(&self) -> Result<(), BrokerError> {
        let (beat, sent) = (self.member().heartbeat(), (self.now)());
        let mut announced = self.broker.beat(&beat).await;
        if announced.is_ok() && self.unacknowledged() >= self.silence {
            self.lapse();
        } else if announced.is_ok() && !self.is_in_contact() {
            let owned: Vec<Slot> = self.member().owned().keys().copied().collect();
            for slot in owned {
                announced = announced.and(self.check(slot).await);
            }
        }
        announced?;
        self.acknowledged
            .fetch_max(sent.micros(), Ordering::Relaxed);
        self.announced.store(true, Ordering::SeqCst);
        self.member().in_contact((self.now)());
        Ok(())
    }

    /// Sends a heartbeat. The next one follows within a second if the broker does not answer.
    async fn announce_or_warn(&self) {
        if let Err(error) = self.announce().await {
            warn!("{error}");
        }
    }

    /// Reads the log of a slot of this node, and drops the slot if another node has claimed it.
    async fn check(&self, slot: Slot) -> Result<(), BrokerError> {
        let Some(epoch) = self.member().owned().get(&slot).copied() else {
            return Ok(());
        };
        let head = self.broker.head(slot).await?;
        let ours = head.epoch == epoch && head.owner.as_ref() == Some(&self.name());
        // The slot may have been released meanwhile.
        let owned = self.member().owned().get(&slot) == Some(&epoch);
        if owned && !ours {
            self.lost(slot);
        }
        Ok(())
    }

    /// Gives up all slots, because other nodes may have decided to claim them. The next rebalance
    /// claims them again. If this node only read their logs, a claim that another node has begun
    /// could arrive later. The broker refuses such a claim when the log has a later message.
    fn lapse(&self) {
        self.lapsed.store(true, Ordering::SeqCst);
        let mut member = self.member();
        let owned: Vec<Slot> = member.owned().keys().copied().collect();
        for slot in &owned {
            member.lost(*slot);
            self.doubtful().insert(*slot, None);
        }
        drop(member);
        if !owned.is_empty() {
            warn!("this node was cut off: it claims its slots again");
            self.fenced().extend(owned);
            self.change.notify_one();
        }
    }

    /// Returns whether this node may make requests: it is in contact with the broker, and has been
    /// since it claimed its slots.
    pub fn may_fetch(&self) -> bool {
        !self.lapsed.load(Ordering::SeqCst) && self.is_in_contact()
    }

    /// Returns whether the broker has acknowledged a heartbeat within half of the silence after
    /// which others replace this node.
    fn is_in_contact(&self) -> bool {
        self.unacknowledged() < self.silence / 2
    }

    /// Returns the time since the last heartbeat that the broker has acknowledged.
    fn unacknowledged(&self) -> Duration {
        let acknowledged = Moment::from_micros(self.acknowledged.load(Ordering::Relaxed));
        (self.now)().since(acknowledged)
    }

    /// Waits until a rebalance would change something.
    pub async fn change_due(&self) {
        self.change.notified().await;
    }

    /// Returns whether slots should be released, can be claimed or were lost.
    async fn is_change_due(&self) -> bool {
        let now = (self.now)();
        if self.check_some().await.is_err() {
            return false;
        }
        let (release, claim) = {
            let member = self.member();
            (member.to_release(now), member.to_claim(now))
        };
        if !release.is_empty() || !self.fenced().is_empty() {
            return true;
        }
        match self.is_named_wrongly().await {
            Ok(false) => {}
            Ok(true) => return true,
            Err(_) => return false,
        }
        for slot in self.readable(claim, now) {
            match self.broker.head(slot).await {
                Ok(head) if self.member().may_claim(slot, &head, now) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
        false
    }

    /// Reads the logs of two slots, others with each call.
    ///
    /// A node learns from the broker's refusal that it has lost a slot, but publishes nothing to a
    /// slot without work. And the log of another slot may name this node by a late message of the
    /// process that had its name before.
    async fn check_some(&self) -> Result<(), BrokerError> {
        let round = self.checks.fetch_add(1, Ordering::Relaxed) as usize;
        let (owned, others): (Vec<Slot>, Vec<Slot>) = {
            let member = self.member();
            let slots = member.settings().division.slots();
            slots.partition(|slot| member.owned().contains_key(slot))
        };
        if let Some(slot) = owned.get(round % owned.len().max(1)) {
            self.check(*slot).await?;
        }
        if let Some(slot) = others.get(round % others.len().max(1)) {
            let head = self.broker.head(*slot).await?;
            if head.owner.as_ref() == Some(&self.name()) {
                self.doubtful().entry(*slot).or_default();
            }
        }
        Ok(())
    }

    /// Returns whether the log of a slot names this node although it does not work on the slot.
    async fn is_named_wrongly(&self) -> Result<bool, BrokerError> {
        let doubtful = self.doubtful().clone();
        for (slot, follows) in doubtful {
            if self.member().owned().contains_key(&slot) {
                continue;
            }
            let head = self.broker.head(slot).await?;
            if head.owner.as_ref() == Some(&self.name()) {
                return Ok(true);
            }
            if is_settled(&head, follows) {
                self.doubtful().remove(&slot);
            }
        }
        Ok(false)
    }

    /// Another node has claimed a slot of this node: the term must end.
    ///
    /// The node learns this from a refused publication or from a heartbeat, often from both.
    pub fn lost(&self, slot: Slot) {
        if !self.fenced().insert(slot) {
            return;
        }
        warn!(
            slot = slot.0,
            "another node has claimed a slot of this node"
        );
        let mut member = self.member();
        member.lost(slot);
        member.figures().fenced += 1;
        drop(member);
        self.change.notify_one();
    }

    /// Releases the slots that other nodes should own, and claims those that this node should own.
    /// Returns the slots of the next term: none if [another process](Agent::is_doubled) uses the
    /// name of this node.
    pub async fn rebalance<S: SlotStore>(
        &self,
        store: &mut S,
    ) -> Result<BTreeMap<Slot, Tail>, S::Error> {
        let hearing = self.member().hearing((self.now)());
        tokio::time::sleep(hearing).await;
        if self.is_doubled() {
            return Ok(BTreeMap::new());
        }
        if !self.announced.load(Ordering::SeqCst) {
            self.announce().await?;
        }
        self.fenced().clear();
        self.lapsed.store(false, Ordering::SeqCst);
        let release = self.member().to_release((self.now)());
        if !release.is_empty() {
            self.hand_waits_over(store).await?;
        }
        self.notes.clear_addresses();
        for slot in release {
            self.give_up(slot);
        }
        let now = (self.now)();
        let claim = self.member().to_claim(now);
        let claim = self.readable(claim, now);
        for slots in claim.chunks(READS) {
            self.claim(slots, store).await?;
        }
        self.release_doubtful(store).await?;
        self.announce_or_warn().await;
        // The owners before have written their notes before they released a slot or died.
        let waits = self.read_notes().await?;
        store.keep_waits(waits, (self.now)())?;
        let owned = self.member().owned().clone();
        store.retain(&owned.keys().copied().collect())?;
        let lengths = self.broker.lengths().await?;
        let mut tails = BTreeMap::new();
        for (slot, epoch) in owned {
            let tail = Tail {
                epoch,
                applied: store.applied(slot)?.unwrap_or_default(),
                length: lengths.get(&slot).copied().unwrap_or(0),
            };
            tails.insert(slot, tail);
        }
        // What was due before is done.
        self.change.notified().now_or_never();
        Ok(tails)
    }

    /// Releases the slots whose logs name this node although it does not work on them. The store
    /// remembers that its facts agree with the log, so that a restart before any other claim needs
    /// no takeover.
    async fn release_doubtful<S: SlotStore>(&self, store: &mut S) -> Result<(), S::Error> {
        let doubtful = self.doubtful().clone();
        let released = futures_util::stream::iter(doubtful)
            .map(|(slot, follows)| async move { (slot, self.release(slot, follows).await) })
            .buffered(READS)
            .collect::<Vec<_>>()
            .await;
        let mut failure = None;
        for (slot, released) in released {
            match released {
                Ok(Released::Doubtful) => continue,
                Ok(Released::Settled) => {}
                Ok(Released::Appended { after, sequence }) => {
                    let applied = store.applied(slot)?;
                    let current = applied.filter(|applied| applied.sequence == after);
                    if let Some(applied) = current {
                        store.record(
                            slot,
                            Applied {
                                sequence,
                                ..applied
                            },
                        )?;
                    }
                }
                Err(error) => {
                    failure.get_or_insert(error);
                    continue;
                }
            }
            self.doubtful().remove(&slot);
        }
        failure.map_or(Ok(()), |error| Err(error.into()))
    }

    /// Releases a slot if its log names this node although it does not work on it.
    async fn release(&self, slot: Slot, follows: Option<u64>) -> Result<Released, BrokerError> {
        if self.member().owned().contains_key(&slot) {
            return Ok(Released::Settled);
        }
        let head = self.broker.head(slot).await?;
        if head.owner.as_ref() != Some(&self.name()) {
            return Ok(match is_settled(&head, follows) {
                true => Released::Settled,
                false => Released::Doubtful,
            });
        }
        let after = head.sequence;
        let message = encode_header(&self.header(head.epoch, Kind::Release)).into();
        match self.broker.append(slot, after, &message).await {
            Ok(sequence) => Ok(Released::Appended { after, sequence }),
            Err(AppendError::Fenced) => Ok(Released::Doubtful),
            Err(AppendError::Full) => Err(BrokerError::request("release", AppendError::Full)),
            Err(AppendError::Broker(error)) => Err(error),
        }
    }

    /// Releases all slots at the end of the program. The store keeps their facts.
    pub async fn leave<S: SlotStore>(&self, store: &mut S) -> Result<(), S::Error> {
        let owned: Vec<Slot> = self.member().owned().keys().copied().collect();
        // The last heartbeat says that this node takes no slots: the others need not wait for the
        // silence.
        self.member().drain(true);
        self.hand_waits_over(store).await?;
        for slot in owned {
            self.give_up(slot);
        }
        self.release_doubtful(store).await?;
        self.announce_or_warn().await;
        Ok(())
    }

    /// The program is about to end: no publication waits for a broker that is away.
    pub fn is_leaving(&self, leaving: bool) {
        self.leaving.store(leaving, Ordering::Relaxed);
    }

    /// Returns whether to give up a publication that the broker does not answer.
    pub(crate) fn gives_up(&self) -> bool {
        self.leaving.load(Ordering::Relaxed) && !self.is_in_contact()
    }

    /// Returns whether another process uses the name of this node.
    pub fn is_doubled(&self) -> bool {
        self.doubled.load(Ordering::Relaxed)
    }

    /// Publishes which servers want no requests, before slots are released.
    async fn hand_waits_over<S: SlotStore>(&self, store: &S) -> Result<(), S::Error> {
        for (server, facts) in store.waits((self.now)())? {
            self.notes.wait(server, facts);
        }
        // A message that arrived late makes the first attempt fail.
        if self.publish_notes().await.is_err() {
            self.publish_notes().await?;
        }
        Ok(())
    }

    /// Stops work on a slot, whose log names this node until it is released.
    fn give_up(&self, slot: Slot) {
        self.doubtful().insert(slot, None);
        self.member().lost(slot);
    }

    /// Claims slots whose logs allow it, and brings the store to the state of their logs.
    async fn claim<S: SlotStore>(&self, slots: &[Slot], store: &mut S) -> Result<(), S::Error> {
        let heads = futures_util::stream::iter(slots)
            .map(
                |slot| async move { Ok::<_, BrokerError>((*slot, self.broker.head(*slot).await?)) },
            )
            .buffered(READS)
            .collect::<Vec<_>>()
            .await;
        let mut wanted: Vec<(Slot, Head, Option<Applied>)> = Vec::new();
        for head in heads {
            let (slot, head) = head?;
            if self.member().may_claim(slot, &head, (self.now)()) {
                let applied = store.applied(slot)?;
                let current = applied.filter(|applied| applied.sequence == head.sequence);
                wanted.push((slot, head, current));
            }
        }
        let folded = futures_util::stream::iter(wanted)
            .map(|(slot, head, current)| async move {
                let fold = match current {
                    Some(_) => None,
                    None => Some(self.broker.fold(slot, head.sequence).await),
                };
                (slot, head, current, fold)
            })
            .buffered(READS)
            .collect::<Vec<_>>()
            .await;
        for folded in folded {
            let (slot, head, current, fold) = folded;
            let fold = match fold.transpose() {
                Ok(fold) => fold,
                // The other slots must not wait for a damaged snapshot.
                Err(error @ (BrokerError::Snapshot(_) | BrokerError::Objects(_))) => {
                    let until = (self.now)() + UNREADABLE_FOR;
                    warn!(
                        slot = slot.0,
                        "a slot is not taken over, and is tried again in {} s: {error}",
                        UNREADABLE_FOR.as_secs()
                    );
                    self.unreadable().insert(slot, until);
                    continue;
                }
                // Its owner lives.
                Err(BrokerError::Trimmed { .. }) => continue,
                Err(error) => return Err(error.into()),
            };
            self.take_over(slot, &head, current, fold, store).await?;
        }
        Ok(())
    }

    /// Publishes the claim of a slot. If the broker accepts it, stores the facts of the log.
    async fn take_over<S: SlotStore>(
        &self,
        slot: Slot,
        head: &Head,
        current: Option<Applied>,
        fold: Option<Fold>,
        store: &mut S,
    ) -> Result<(), S::Error> {
        let numbered_from = match &fold {
            Some(fold) if !fold.facts().is_empty() => Some(store.free_number()?),
            _ => None,
        };
        let epoch = head.epoch + 1;
        let files = fold.as_ref().map(Fold::files).unwrap_or_default();
        let reachable = store.reachable(files).await?;
        let reachable: ReachableFiles = reachable.into_iter().collect();
        let header = self.header(epoch, Kind::Claim { numbered_from });
        let message = encode_claim(&header, &reachable).into();
        self.doubtful().insert(slot, Some(head.sequence));
        let sequence = match self.broker.append(slot, head.sequence, &message).await {
            Ok(sequence) => sequence,
            Err(AppendError::Fenced) => return Ok(()),
            Err(AppendError::Full) => {
                warn!("the stream of facts is full: raise [cluster] stream_bytes");
                self.doubtful().insert(slot, None);
                return Ok(());
            }
            Err(AppendError::Broker(error)) => return Err(error.into()),
        };
        let offers = match (current, &fold) {
            (Some(applied), _) => applied.offers,
            (None, Some(fold)) => fold.offers_applied(),
            (None, None) => 0,
        };
        let applied = Applied { sequence, offers };
        match fold {
            Some(fold) => {
                let facts = fold.taken_over(numbered_from.unwrap_or(0), &reachable);
                let pages = fold.facts().len();
                if pages > 0 {
                    info!(slot = slot.0, epoch, pages, "takes over a slot");
                }
                store.replace(slot, &facts, applied)?;
            }
            None => store.record(slot, applied)?,
        }
        let mut member = self.member();
        // Others may claim the slot since a lapse that came after the claim was sent.
        if !self.lapsed.load(Ordering::SeqCst) {
            member.claimed(slot, epoch);
        }
        Ok(())
    }

    fn header(&self, epoch: u64, kind: Kind) -> Header {
        let node = self.member().settings().name.clone();
        Header { node, epoch, kind }
    }

    /// Returns whether this node is about to give slots to other nodes.
    pub fn is_releasing(&self) -> bool {
        !self.member().to_release((self.now)()).is_empty()
    }

    /// Changes what the node announces about its work.
    pub fn report(&self, change: impl FnOnce(&mut NodeFigures)) {
        change(self.member().figures());
    }

    /// Returns whether another node had hardly any work when it was last heard, less than two
    /// heartbeats ago.
    pub fn is_awaited(&self) -> bool {
        let awaited = Moment::from_micros(self.awaited.load(Ordering::Relaxed));
        (self.now)().since(awaited) < 2 * BEAT
    }

    /// Notes that a server has refused requests for a time. The next publication has it.
    pub fn note_refusal(&self, server: ServerKey, facts: ServerFacts) {
        self.notes.wait(server, facts);
    }

    /// Notes that a server was asked. A delay that is shorter than the silence is over when another
    /// node replaces this one, and a node that releases a slot publishes all delays before.
    pub fn note_request(&self, server: ServerKey, facts: ServerFacts) {
        if facts.wait >= self.silence {
            self.notes.wait(server, facts);
        }
    }

    /// Notes that this node requests pages from an address.
    pub fn note_address(&self, address: IpAddr) {
        self.notes.address(address);
    }

    /// Returns the addresses from which other living nodes request pages too, with the number of
    /// these nodes.
    pub fn shared_addresses(&self) -> BTreeMap<IpAddr, u32> {
        let living = self.living_peers().into_iter();
        let living = living.map(|peer| peer.beat.node).collect();
        self.notes.shared(&living)
    }

    /// Stores the notes on servers with the broker, if they have changed.
    pub(crate) async fn publish_notes(&self) -> Result<(), BrokerError> {
        let (name, now) = (self.name(), (self.now)());
        if let Some(bytes) = self.notes.publish(&self.broker, &name, now).await? {
            self.report(|figures| {
                figures.messages += 1;
                figures.message_bytes += bytes as u64;
            });
        }
        Ok(())
    }

    /// Reads the notes of all nodes. Returns the waits that are not over.
    async fn read_notes(&self) -> Result<Vec<(ServerKey, ServerFacts)>, BrokerError> {
        let (name, now) = (self.name(), (self.now)());
        self.notes.read(&self.broker, &name, now).await
    }

    /// Returns the number of living nodes whose index does not have all copies of the slots that
    /// they have taken over.
    pub fn indexing_nodes(&self) -> usize {
        self.member().indexing((self.now)())
    }

    /// Returns the other nodes that are alive.
    pub fn living_peers(&self) -> Vec<Peer> {
        let (member, now) = (self.member(), (self.now)());
        let alive = |peer: &&Peer| member.is_alive(&peer.beat.node, now);
        member.peers().filter(alive).cloned().collect()
    }

    /// The lock is held for the time of a method of [`Member`], without I/O.
    pub(crate) fn member(&self) -> MutexGuard<'_, Member> {
        self.member.lock().expect("no method of Member panics")
    }

    fn doubtful(&self) -> MutexGuard<'_, BTreeMap<Slot, Option<u64>>> {
        self.doubtful.lock().expect("a map is changed in one call")
    }

    /// Returns those of these slots whose logs were readable when they were last folded.
    fn readable(&self, mut slots: Vec<Slot>, now: Moment) -> Vec<Slot> {
        let mut unreadable = self.unreadable();
        unreadable.retain(|_, until| *until > now);
        slots.retain(|slot| !unreadable.contains_key(slot));
        slots
    }

    fn unreadable(&self) -> MutexGuard<'_, BTreeMap<Slot, Moment>> {
        let unreadable = self.unreadable.lock();
        unreadable.expect("a map is changed in one call")
    }

    fn fenced(&self) -> MutexGuard<'_, BTreeSet<Slot>> {
        self.fenced.lock().expect("a set is changed in one call")
    }
}

/// What became of a slot that this node does not work on.
enum Released {
    /// Its log does not name this node, and no claim of this node can arrive any more.
    Settled,
    /// A claim of this node may still arrive, or another message came first.
    Doubtful,
    /// The broker has stored the release.
    Appended {
        /// The sequence of the message before.
        after: u64,
        /// The sequence of the release.
        sequence: u64,
    },
}

/// Returns whether a claim that follows this message of a log can no longer arrive, given the head
/// of the log: the broker refuses it if the log has a later message.
fn is_settled(head: &Head, follows: Option<u64>) -> bool {
    follows.is_none_or(|sequence| head.sequence > sequence)
}

/// The error of a subscription that has ended, so that the caller subscribes again.
fn ended(to: &str) -> BrokerError {
    BrokerError::request(format!("listen to {to}"), "the subscription has ended")
}
