//! A model of the broker: logs with compare-and-set, mail and heartbeats, with faults.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_nats::Subject;
use bytes::Bytes;
use cluster::error::BrokerError;
use cluster::log::{AppendError, Mail, Messages, SlotLog};
use cluster::member::Heartbeat;
use cluster::message::{NodeName, decode_header};
use cluster::server_notes::ServerNotes;
use cluster::{Division, Slot};
use frontier::bench::ServerKey;
use futures_util::{StreamExt, stream};
use policy::Moment;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::time::{Instant, sleep};

use crate::random::SimRandom;

/// Time after which a request without an answer fails.
const PATIENCE: Duration = Duration::from_secs(2);

/// How often faults happen, from 0 to 1 of all requests.
#[derive(Debug, Clone, Copy, Default)]
pub struct FaultRates {
    /// The request is done, and the answer is lost.
    pub lost_answer: f64,
    /// The request is done after its sender has given up.
    pub late: f64,
    /// A request takes up to two seconds.
    pub slow: f64,
    /// Offers are stored twice.
    pub doubled: f64,
    /// A heartbeat does not reach a node.
    pub lost_beat: f64,
}

/// The state of the broker.
pub struct BrokerState {
    pub logs: BTreeMap<Slot, Vec<(u64, Bytes)>>,
    mail: Vec<(Option<Slot>, u64, Bytes)>,
    notes: BTreeMap<NodeName, (u64, Bytes)>,
    /// The waits that nodes have published: the end of each, and when it was first published.
    pub waits: HashMap<ServerKey, (Moment, Instant)>,
    sequence: u64,
    listeners: Vec<(usize, UnboundedSender<Heartbeat>)>,
    orders: BTreeMap<usize, UnboundedSender<(Bytes, Option<Subject>)>>,
    pub rates: FaultRates,
    pub random: SimRandom,
    /// No request is answered before this time.
    pub away_until: Instant,
    /// Nothing is stored before this time.
    pub full_until: Instant,
    /// Nodes that cannot reach the broker before a time.
    pub cut_until: BTreeMap<usize, Instant>,
    /// Prints every message that is appended.
    pub trace: bool,
}

impl BrokerState {
    /// Returns an empty broker without faults.
    pub fn new(random: SimRandom, rates: FaultRates) -> Self {
        Self {
            logs: BTreeMap::new(),
            mail: Vec::new(),
            notes: BTreeMap::new(),
            waits: HashMap::new(),
            sequence: 0,
            listeners: Vec::new(),
            orders: BTreeMap::new(),
            rates,
            random,
            away_until: Instant::now(),
            full_until: Instant::now(),
            cut_until: BTreeMap::new(),
            trace: std::env::var_os("AVOCET_TRACE").is_some(),
        }
    }

    /// Ends all faults.
    pub fn heal(&mut self) {
        let now = Instant::now();
        (self.away_until, self.full_until) = (now, now);
        self.cut_until.clear();
        self.rates = FaultRates::default();
    }

    /// Sends an order to a node.
    pub fn order(&mut self, node: usize, order: Bytes) {
        if let Some(listener) = self.orders.get(&node) {
            // The node may be dead.
            listener.send((order, None)).ok();
        }
    }

    fn is_away(&self, node: usize) -> bool {
        let now = Instant::now();
        let cut = self.cut_until.get(&node);
        now < self.away_until || cut.is_some_and(|until| now < *until)
    }

    fn is_full(&self) -> bool {
        Instant::now() < self.full_until
    }

    fn append(&mut self, slot: Slot, expected: u64, message: Bytes) -> Result<u64, AppendError> {
        let log = self.logs.entry(slot).or_default();
        if log.last().map_or(0, |(sequence, _)| *sequence) != expected {
            return Err(AppendError::Fenced);
        }
        if Instant::now() < self.full_until {
            return Err(AppendError::Full);
        }
        self.sequence += 1;
        if self.trace {
            let (header, _) = decode_header(&message).expect("a message");
            eprintln!("message {} of {slot:?}: {header:?}", self.sequence);
        }
        log.push((self.sequence, message));
        Ok(self.sequence)
    }

    fn offer(&mut self, to: Option<Slot>, message: &Bytes) -> Result<(), AppendError> {
        if self.is_full() {
            return Err(AppendError::Full);
        }
        let copies = 1 + usize::from(self.random.chance(self.rates.doubled));
        for _ in 0..copies {
            self.sequence += 1;
            self.mail.push((to, self.sequence, message.clone()));
        }
        Ok(())
    }

    fn put_notes(
        &mut self,
        node: NodeName,
        expected: u64,
        message: Bytes,
    ) -> Result<u64, AppendError> {
        let last = self.notes.get(&node).map_or(0, |(sequence, _)| *sequence);
        if last != expected {
            return Err(AppendError::Fenced);
        }
        let notes = ServerNotes::decode(&message).expect("notes");
        for (server, facts) in notes.waits() {
            let (end, now) = (facts.asked + facts.wait, Instant::now());
            let known = self.waits.entry(server).or_insert((end, now));
            if known.0 < end {
                *known = (end, now);
            }
        }
        self.sequence += 1;
        self.notes.insert(node, (self.sequence, message));
        Ok(self.sequence)
    }

    fn beat(&mut self, beat: &Heartbeat) {
        let listeners = std::mem::take(&mut self.listeners);
        for (node, listener) in listeners {
            let lost = self.is_away(node) || self.random.chance(self.rates.lost_beat);
            if lost || listener.send(beat.clone()).is_ok() {
                self.listeners.push((node, listener));
            }
        }
    }
}

/// The connection of a node to the broker.
#[derive(Clone)]
pub struct ModelBroker {
    pub node: usize,
    pub state: Arc<Mutex<BrokerState>>,
}

impl ModelBroker {
    pub fn state(&self) -> MutexGuard<'_, BrokerState> {
        self.state.lock().expect("no method panics")
    }

    async fn travel(&self) -> Result<(), BrokerError> {
        let took = {
            let mut state = self.state();
            let slow = state.rates.slow;
            match state.random.chance(slow) {
                true => whole_millis(&mut state.random, 0, 1_900),
                false => whole_millis(&mut state.random, 1, 20),
            }
        };
        sleep(took).await;
        if self.state().is_away(self.node) {
            sleep(PATIENCE).await;
            return Err(BrokerError::request("any", "away"));
        }
        Ok(())
    }

    async fn change<T: Send>(
        &self,
        change: impl FnOnce(&mut BrokerState) -> T + Send + 'static,
    ) -> Result<T, BrokerError> {
        self.travel().await?;
        let (lost, late) = {
            let mut state = self.state();
            let rates = state.rates;
            let lost = state.random.chance(rates.lost_answer);
            let late = state.random.chance(rates.late);
            (
                lost,
                late.then(|| whole_millis(&mut state.random, 0, 6_000)),
            )
        };
        if let Some(after) = late {
            let broker = self.clone();
            tokio::spawn(async move {
                sleep(after).await;
                change(&mut broker.state());
            });
            sleep(PATIENCE).await;
            return Err(BrokerError::request("change", "late"));
        }
        let done = change(&mut self.state());
        if lost {
            sleep(PATIENCE).await;
            return Err(BrokerError::request("change", "the answer is lost"));
        }
        self.travel().await?;
        Ok(done)
    }
}

/// Draws a duration. Faults of the broker come at whole milliseconds.
pub fn whole_millis(random: &mut SimRandom, from: u64, to: u64) -> Duration {
    Duration::from_millis(random.between(from, to))
}

fn receiving<T: Send + 'static>(receiver: UnboundedReceiver<T>) -> Messages<T> {
    stream::unfold(receiver, |mut receiver| async {
        let next = receiver.recv().await?;
        Some((next, receiver))
    })
    .boxed()
}

impl SlotLog for ModelBroker {
    async fn last(&self, slot: Slot) -> Result<Option<(u64, Bytes)>, BrokerError> {
        self.travel().await?;
        let state = self.state();
        let log = state.logs.get(&slot);
        Ok(log.and_then(|log| log.last().cloned()))
    }

    async fn try_append(
        &self,
        slot: Slot,
        expected: u64,
        message: &Bytes,
    ) -> Result<u64, AppendError> {
        let message = message.clone();
        self.change(move |state| state.append(slot, expected, message))
            .await?
    }

    async fn messages(
        &self,
        slot: Slot,
    ) -> Result<Messages<Result<(u64, Bytes), BrokerError>>, BrokerError> {
        self.travel().await?;
        let log = self.state().logs.get(&slot).cloned().unwrap_or_default();
        let stored = stream::iter(log).map(Ok);
        Ok(stored.chain(stream::pending()).boxed())
    }

    async fn offer(&self, to: Option<Slot>, message: Bytes) -> Result<(), AppendError> {
        self.change(move |state| state.offer(to, &message)).await?
    }

    async fn mail(
        &self,
        applied: BTreeMap<Slot, u64>,
        division: Division,
    ) -> Result<Messages<Result<Mail, BrokerError>>, BrokerError> {
        self.travel().await?;
        let place = (0, self.clone(), applied);
        let next = move |(mut place, broker, applied): (usize, Self, BTreeMap<Slot, u64>)| async move {
            loop {
                if broker.state().is_away(broker.node) {
                    return None;
                }
                let found = broker.state().mail.get(place).cloned();
                let Some((slot, sequence, message)) = found else {
                    sleep(Duration::from_millis(100)).await;
                    continue;
                };
                place += 1;
                let mail = Mail::read(slot, sequence, &message, &applied, division);
                if let Some(mail) = mail.transpose() {
                    return Some((mail, (place, broker, applied)));
                }
            }
        };
        Ok(stream::unfold(place, next).boxed())
    }

    async fn notes(&self) -> Result<BTreeMap<NodeName, (u64, Bytes)>, BrokerError> {
        self.travel().await?;
        Ok(self.state().notes.clone())
    }

    async fn put_notes(
        &self,
        node: &NodeName,
        expected: u64,
        message: &Bytes,
    ) -> Result<u64, AppendError> {
        let (node, message) = (node.clone(), message.clone());
        self.change(move |state| state.put_notes(node, expected, message))
            .await?
    }

    async fn beat(&self, beat: &Heartbeat) -> Result<(), BrokerError> {
        let beat = beat.clone();
        self.change(move |state| state.beat(&beat)).await
    }

    async fn beats(&self) -> Result<Messages<Heartbeat>, BrokerError> {
        self.travel().await?;
        let (sender, receiver) = unbounded_channel();
        self.state().listeners.push((self.node, sender));
        Ok(receiving(receiver))
    }

    async fn requests(
        &self,
        _subject: &str,
    ) -> Result<Messages<(Bytes, Option<Subject>)>, BrokerError> {
        self.travel().await?;
        let (sender, receiver) = unbounded_channel();
        self.state().orders.insert(self.node, sender);
        Ok(receiving(receiver))
    }

    async fn answer(&self, _to: Subject, _answer: Vec<u8>) -> Result<(), BrokerError> {
        unreachable!("the orders of the simulation want no answer")
    }
}
