//! The part of a crawl on many machines that the driver of one term needs: the slots of this node
//! and the way to the others.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Context, Result};
use cluster::agent::{Agent, Tail};
use cluster::log::SlotLog;
use cluster::publisher::Publisher;
use cluster::{Division, Slot, demand};
use crawl::{Core, Ownership};
use futures_util::StreamExt;
use policy::Moment;
use repository::archive::Sealed;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};

use super::plan::EnginePlan;
use super::{DriverMessage, Engine, UnboundedSender};
use crate::copies::arrivals::Arrivals;
use crate::copies::uploads::Uploads;
use crate::live::Live;
use crate::panics::POISONED;
use crate::settings::LinkExchange;

/// Messages of offers that the core has not processed yet. Further ones stay with the broker.
const UNREAD: usize = 64;

/// Settled pages per message at which a group is large enough.
const PAGES_PER_MESSAGE: usize = 25;

/// Requests that may wait for the broker, however few slots a node has: 10 s of work at 100
/// requests per second.
const LEAST_UNPUBLISHED: usize = 1000;

/// A node with fewer waiting pages announces that offers to it should not wait.
const FEW_PAGES: usize = 32;

/// Smallest share of the budget that a node gets, so that it notices when its pages gain worth.
const LEAST_SHARE: f64 = 0.001;

/// A term of a node in a cluster: the time between two changes of its slots.
#[derive(Clone)]
pub struct Term {
    /// This node.
    pub agent: Arc<Agent>,
    /// How the web is divided.
    pub division: Division,
    /// The slots of this node.
    pub tails: BTreeMap<Slot, Tail>,
    /// Where people reach the web server of this node, if the settings say it.
    pub address: Option<String>,
    /// The budget of the whole crawl, if it has changed during the term.
    pub changed_budget: Arc<Mutex<Option<f64>>>,
    /// What becomes of links between slots of different nodes.
    pub links: LinkExchange,
    /// Whether this node crawls the whole web for itself, without slots.
    pub independent: bool,
    /// Number of messages of a log at which it is trimmed to a snapshot.
    pub snapshot_after: u64,
    /// The longest time that settled pages wait to be published.
    pub publish_every: Duration,
    /// The uploads of the archive, if there is an object store.
    pub uploads: Option<Arc<Uploads>>,
}

impl std::fmt::Debug for Term {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "Term of {} slots", self.tails.len())
    }
}

/// The thread that reads the copies of pages which this node has taken over.
pub(super) struct ArrivalReader {
    stop: watch::Sender<bool>,
    thread: JoinHandle<()>,
}

impl ArrivalReader {
    /// Stops the thread and waits for its end. The messages that it has sent must have been dropped
    /// or handled.
    pub(super) async fn end(self) -> Result<()> {
        self.stop.send_replace(true);
        let ended = tokio::task::spawn_blocking(move || self.thread.join()).await?;
        ended.ok().context("the reader of copies panicked")
    }
}

impl Engine {
    /// Starts the thread that reads the copies of pages which this node of a cluster has taken
    /// over. It ends when all are read.
    pub(super) fn read_arrivals(&self) -> Result<Option<ArrivalReader>> {
        let Some(term) = self.plan.term.as_ref().filter(|_| self.plan.archive) else {
            return Ok(None);
        };
        let (stop, stopped) = watch::channel(false);
        let arrivals = Arrivals {
            ledger: self.ledger.clone(),
            archive: crate::store::archive(self.live.root()),
            objects: term.agent.broker().objects().cloned(),
            indexed: self.plan.rules.index,
            stop: stopped,
        };
        let (messages, runtime) = (self.messages.clone(), Handle::current());
        let thread = std::thread::Builder::new().name("arrivals".into());
        let thread = thread.spawn(move || {
            let give = |work| messages.send(DriverMessage::Arrival(work)).is_ok();
            if let Err(error) = arrivals.read(&runtime, give) {
                messages.send(DriverMessage::Failed(error)).ok();
            }
        })?;
        Ok(Some(ArrivalReader { stop, thread }))
    }
}

impl Term {
    /// Returns the partitions that the core crawls.
    pub fn ownership(&self) -> Ownership {
        match self.independent {
            true => Ownership::all(),
            false => self.division.ownership(self.tails.keys().copied()),
        }
    }

    /// Returns the number of settled pages that make a group of pages in this number of slots large
    /// enough. It costs one message per slot, and one for its offers.
    pub(super) fn group(slots: usize) -> usize {
        (slots + 1) * PAGES_PER_MESSAGE
    }

    /// Returns how many requests may wait for the broker: at least one group that is published and
    /// one that is gathered. So the crawl goes on while a group is published.
    pub fn unpublished(&self) -> usize {
        (2 * Self::group(self.tails.len())).max(LEAST_UNPUBLISHED)
    }

    /// Sets the budget of the whole crawl, in fetches per second.
    pub(super) fn afford(&self, budget: f64) {
        *self.changed_budget.lock().expect(POISONED) = Some(budget);
    }

    /// Returns the budget of the whole crawl now, in fetches per second; `None`: there is none.
    pub(super) fn budget(&self, plan: &EnginePlan) -> Option<f64> {
        let changed = *self.changed_budget.lock().expect(POISONED);
        changed.or(plan.budget())
    }

    /// Returns the share of the cluster's budget at the start of the term, in fetches per second:
    /// by the number of slots; all of it if the node is independent. Positive even without slots,
    /// since a budget of zero is not allowed.
    pub fn first_share(&self, budget: f64) -> f64 {
        if self.independent {
            return budget;
        }
        let all = self.division.slots().count();
        budget * self.tails.len().max(1) as f64 / all as f64
    }

    /// Announces what this node has done. `budget` is that of the whole crawl.
    pub(super) fn announce(&self, core: &mut Core<Sealed>, live: &Live, budget: Option<f64>) {
        let whole = live.whole(core.summary(Duration::ZERO));
        let known = core.frontier().known() as u64;
        let price = budget.map(|_| core.frontier().price().value());
        let hungry = core.frontier().bench.waiting() < FEW_PAGES;
        let listens = || live.address().map(|address| named(&address, &host_name()));
        let address = self.address.clone().or_else(listens);
        self.agent.report(|figures| {
            figures.known = known;
            figures.fetched = whole.pages + whole.unchanged;
            figures.bytes = whole.bytes;
            figures.address = address.unwrap_or_default();
            figures.unpublished = core.uncommitted() as u64;
            figures.price = price;
            figures.budget = budget;
            figures.paused = core.mode() == crawl::Mode::Paused;
            figures.hungry = hungry && core.mode() == crawl::Mode::Running;
        });
    }

    /// Announces the demand of this node's pages. Returns its share of the cluster's budget by the
    /// demand of all living nodes, in fetches per second. The share by slots holds until all of
    /// them have announced their demand. An independent node has the whole budget for itself.
    pub(super) fn share(&self, core: &mut Core<Sealed>, budget: f64, now: Moment) -> f64 {
        if self.independent {
            return budget;
        }
        let peers = self.agent.living_peers();
        let others = peers.iter().map(|peer| &peer.beat.figures);
        let known = core.frontier().known() as u64 + others.clone().map(|of| of.known).sum::<u64>();
        let round = known as f64 / budget;
        let own = core.frontier().demand(&demand::prices(), round, now);
        let own: Vec<f32> = own.into_iter().map(|fetches| fetches as f32).collect();
        self.agent.report(|figures| figures.demand.clone_from(&own));
        let others: Vec<&[f32]> = others.map(|of| of.demand.as_slice()).collect();
        let silent = others.iter().any(|curve| curve.is_empty());
        let share = demand::share(&own, &others, budget).filter(|_| !silent);
        // A node whose pages are not worth their price still looks for news from time to time.
        share.map_or(self.first_share(budget), |share| {
            share.max(budget * LEAST_SHARE)
        })
    }

    /// Returns the publisher of the term. The calling task must run on the runtime that drives the
    /// agent.
    pub(super) fn publisher(&self) -> Publisher {
        let tails = self.tails.clone();
        Publisher::new(self.agent.clone(), Handle::current(), tails)
    }

    /// Reads the offers of other nodes and sends them to the driver, until the crawl ends. Each
    /// takes a permit, which the driver returns when the core has processed the offers.
    pub(super) async fn receive(
        self,
        messages: UnboundedSender<DriverMessage>,
        permits: Arc<Semaphore>,
    ) {
        let mut applied: BTreeMap<Slot, u64> = self
            .tails
            .iter()
            .map(|(slot, tail)| (*slot, tail.applied.offers))
            .collect();
        loop {
            // A failure means that the broker is away. The slots are read again from where the core
            // has arrived.
            if let Ok(mut mail) = self
                .agent
                .broker()
                .mail(applied.clone(), self.division)
                .await
            {
                while let Some(Ok(mail)) = mail.next().await {
                    let Ok(permit) = permits.acquire().await else {
                        return;
                    };
                    permit.forget();
                    mail.read_in(&mut applied);
                    let count = mail.offers.len() as u64;
                    self.agent.report(|figures| figures.received += count);
                    if messages.send(DriverMessage::Mail(mail)).is_err() {
                        return;
                    }
                }
            }
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
    }

    /// Returns the permits of [`Term::receive`].
    pub(super) fn permits() -> Arc<Semaphore> {
        Arc::new(Semaphore::new(UNREAD))
    }
}

/// Returns the address of a server for people on other machines: a server that listens on all
/// addresses is named by its machine.
fn named(address: &str, host: &str) -> String {
    let any = ["//0.0.0.0:", "//[::]:"].into_iter();
    let mut any = any.filter(|any| address.contains(any));
    match any.next() {
        Some(any) => address.replacen(any, &format!("//{host}:"), 1),
        None => address.to_owned(),
    }
}

fn host_name() -> String {
    let name = rustix::system::uname();
    name.nodename().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_on_all_addresses_is_named_by_its_machine() {
        for (address, expected) in [
            ("http://0.0.0.0:8321", "http://m1:8321"),
            ("http://[::]:8321", "http://m1:8321"),
            ("http://10.0.0.1:8321", "http://10.0.0.1:8321"),
        ] {
            assert_eq!(named(address, "m1"), expected);
        }
    }
}
