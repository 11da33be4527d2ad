//! The membership of this node in a cluster: joins it as the settings say, and makes the terms in
//! which the crawl runs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use cluster::agent::Agent;
use cluster::broker::{Broker, BrokerSettings};
use cluster::log::SlotLog;
use cluster::member::MemberSettings;
use cluster::message::NodeName;
use cluster::objects::ObjectPlace;
use cluster::{Division, Slot};
use futures_util::StreamExt;
use tokio::sync::OnceCell;
use tokio::task::JoinHandle;
use tracing::{info, warn};

use crate::clock::Clock;
use crate::cluster_seat::ClusterSeat;
use crate::copies::uploads::Uploads;
use crate::copies::{number_archive, share};
use crate::engine::plan::EnginePlan;
use crate::engine::term::Term;
use crate::live::{Live, RunningCrawl};
use crate::settings::{ClusterSettings, Coordination, LinkExchange, Usage};
use crate::slots::LedgerSlots;
use crate::store::Store;
use crate::whole_crawl::WholeCrawl;
use crate::whole_search::{self, WholeSearch};

/// Time between two attempts to reach the broker.
const RETRY: Duration = Duration::from_secs(1);

/// Attempts to get an answer from the running crawl.
const ATTEMPTS: usize = 8;

/// How long a planned hand-over waits for the uploads of copies. Pages whose copies are not
/// uploaded are fetched again.
const UPLOADED_WITHIN: Duration = Duration::from_secs(30);

/// The same before other changes of slots: they rarely release one.
const BRIEFLY: Duration = Duration::from_secs(2);

/// This node in a cluster.
pub struct Membership {
    agent: Arc<Agent>,
    whole: Arc<WholeCrawl>,
    division: Division,
    /// Where people reach the web server of this node, if the settings say it.
    address: Option<String>,
    links: LinkExchange,
    independent: bool,
    upload_every: Duration,
    snapshot_after: u64,
    publish_every: Duration,
    /// The uploads of the archive, from the first term with an archive and an object store on.
    uploads: OnceCell<Option<Arc<Uploads>>>,
    tasks: Vec<JoinHandle<()>>,
}

impl Membership {
    /// Joins the cluster that the settings name, and takes the seat. Returns `None` if they name
    /// none.
    pub async fn join(
        settings: &ClusterSettings,
        live: &Arc<Live>,
        seat: &ClusterSeat,
    ) -> Result<Option<Self>> {
        if settings.servers.is_empty() {
            return Ok(None);
        }
        let division = division(settings)?;
        let address = settings.address.clone();
        if let Some(address) = address.as_ref().filter(|address| !is_web(address)) {
            let why = format!("[cluster] address: {address:?} is not like http://10.0.0.11:8321");
            return Err(Usage(why).into());
        }
        let broker = Broker::connect(&broker_settings(settings)?).await?;
        broker
            .warnings()
            .iter()
            .for_each(|warning| warn!("{warning}"));
        let clock = Clock::start();
        let member = MemberSettings {
            name: node_name(settings)?,
            incarnation: clock.now().micros() << 8 | u64::from(std::process::id() % 256),
            capacity: settings.capacity,
            division,
            silence: settings.silence.0,
            fixed: fixed(settings)?,
        };
        info!(node = %member.name, crawl = settings.name, "joins the cluster");
        let agent = Agent::new(broker, member, Arc::new(move || clock.now()));
        let whole = WholeCrawl::new(agent.clone(), settings.name.clone(), live);
        let mut tasks = vec![
            tokio::spawn(take_part(agent.clone())),
            tokio::spawn(answer(agent.clone(), live.clone(), "digests", digests)),
            tokio::spawn(answer(agent.clone(), live.clone(), "sample", sample)),
            tokio::spawn(whole_search::answer(agent.clone(), live.clone())),
        ];
        tasks.extend(whole.start(live));
        seat.take(WholeSearch::new(agent.clone()), whole.clone());
        Ok(Some(Self {
            agent,
            whole,
            address,
            division,
            links: settings.exchange,
            independent: settings.coordination == Coordination::Independent,
            upload_every: settings.upload_every.0,
            snapshot_after: settings.snapshot_after,
            publish_every: settings.publish_every.0,
            uploads: OnceCell::new(),
            tasks,
        }))
    }

    /// Claims and releases slots, and returns the next term. Waits while the broker is away.
    pub async fn term(&self, store: &Store, plan: &EnginePlan) -> Result<Term> {
        loop {
            let term = self.try_term(store, plan).await;
            if self.agent.is_doubled() {
                bail!(
                    "another process runs with the name of this node: give each node its own --node NAME"
                );
            }
            match term {
                Ok(term) => return Ok(term),
                Err(error) if error.is::<cluster::error::BrokerError>() => warn!("{error:#}"),
                Err(error) => return Err(error),
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    async fn try_term(&self, store: &Store, plan: &EnginePlan) -> Result<Term> {
        if self.independent {
            return Ok(self.whole_web());
        }
        let uploads = match plan.archive {
            true => self.uploads(store).await?,
            false => None,
        };
        if let Some(uploads) = &uploads {
            self.finish_uploads(uploads, self.agent.is_releasing())
                .await;
        }
        let mut slots = self.slots(store, plan.rules.index)?;
        Ok(Term {
            tails: self.agent.rebalance(&mut slots).await?,
            agent: self.agent.clone(),
            division: self.division,
            address: self.address.clone(),
            changed_budget: Arc::default(),
            links: self.links,
            independent: false,
            snapshot_after: self.snapshot_after,
            publish_every: self.publish_every,
            uploads,
        })
    }

    /// Returns the term of an independent node.
    fn whole_web(&self) -> Term {
        Term {
            tails: BTreeMap::new(),
            agent: self.agent.clone(),
            division: self.division,
            address: self.address.clone(),
            changed_budget: Arc::default(),
            links: self.links,
            independent: true,
            snapshot_after: self.snapshot_after,
            publish_every: self.publish_every,
            uploads: None,
        }
    }

    fn slots<'a>(&self, store: &'a Store, indexed: bool) -> Result<LedgerSlots<'a>> {
        let objects = self.agent.broker().objects().cloned();
        let keeps_foreign = self.links == LinkExchange::Crossover;
        LedgerSlots::open(store, self.division, indexed, objects, keeps_foreign)
    }

    /// Numbers the archive, and starts its uploads if there is an object store.
    async fn uploads(&self, store: &Store) -> Result<Option<Arc<Uploads>>> {
        let start = async || {
            let broker = self.agent.broker();
            let complete = number_archive(store, broker).await?;
            let Some(objects) = broker.objects().cloned() else {
                return Ok(None);
            };
            share(&store.archive(), &objects)?;
            let every = self.upload_every;
            let uploads = Uploads::start(objects, store.archive(), every, complete);
            Ok::<_, anyhow::Error>(Some(Arc::new(uploads)))
        };
        self.uploads.get_or_try_init(start).await.cloned()
    }

    /// Waits for the uploads of a term that has ended, so that the next owners of its slots have
    /// the copies.
    async fn finish_uploads(&self, uploads: &Uploads, releasing: bool) {
        let patience = if releasing { UPLOADED_WITHIN } else { BRIEFLY };
        if !uploads.flush(patience).await && releasing {
            warn!(
                "the object store did not take the last copies within {} s: the next owners of their pages fetch them again",
                patience.as_secs()
            );
        }
    }

    /// Waits until the slots of this node should change, or another process uses its name.
    pub async fn change_due(&self) {
        self.agent.change_due().await;
        while self.independent && !self.agent.is_doubled() {
            self.agent.change_due().await;
        }
    }

    /// The program is about to end: what cannot be published is given up.
    pub fn is_leaving(&self) {
        self.agent.is_leaving(true);
    }

    /// Gives all slots back at the end of the program.
    pub async fn leave(self, store: &Store, indexed: bool) -> Result<()> {
        if let Some(Some(uploads)) = self.uploads.get() {
            self.finish_uploads(uploads, true).await;
        }
        let mut slots = self.slots(store, indexed)?;
        let left = self.agent.leave(&mut slots).await;
        self.tasks.iter().for_each(JoinHandle::abort);
        self.whole.close();
        left.context(
            "the slots of this node were not released; the others take them over after the silence",
        )
    }
}

/// Sends and receives heartbeats. Begins again when the broker comes back.
async fn take_part(agent: Arc<Agent>) {
    loop {
        if let Err(error) = agent.clone().run().await {
            warn!("{error}");
        }
        tokio::time::sleep(RETRY).await;
    }
}

/// Answers requests to this node from its running crawl, until the task is aborted. An answer may
/// take a read of the whole ledger.
async fn answer(
    agent: Arc<Agent>,
    live: Arc<Live>,
    subject: &'static str,
    make: fn(&dyn RunningCrawl) -> Option<Vec<u8>>,
) {
    loop {
        let subject = format!("{subject}.{}", agent.name());
        if let Ok(mut requests) = agent.broker().requests(&subject).await {
            while let Some((_, Some(reply))) = requests.next().await {
                let (live, agent) = (live.clone(), agent.clone());
                tokio::spawn(async move {
                    if let Some(answer) = made(live, make).await {
                        agent.broker().answer(reply, answer).await.ok();
                    }
                });
            }
        }
        tokio::time::sleep(RETRY).await;
    }
}

/// Returns the answer of the running crawl. Between two terms no crawl runs: then this tries again
/// for some seconds.
async fn made(live: Arc<Live>, make: fn(&dyn RunningCrawl) -> Option<Vec<u8>>) -> Option<Vec<u8>> {
    for _ in 0..ATTEMPTS {
        let live = live.clone();
        let made = tokio::task::spawn_blocking(move || live.ask(make).flatten()).await;
        if let Some(answer) = made.ok().flatten() {
            return Some(answer);
        }
        tokio::time::sleep(RETRY).await;
    }
    None
}

/// Returns count and checksum of each slot of this node, encoded.
fn digests(crawl: &dyn RunningCrawl) -> Option<Vec<u8>> {
    let digests: Vec<(Slot, _)> = crawl.digests()?.into_iter().collect();
    Some(ledger::encode(&digests))
}

/// Returns a sample of the pages that this node knows, encoded.
fn sample(crawl: &dyn RunningCrawl) -> Option<Vec<u8>> {
    crawl.page_sample().map(|sample| ledger::encode(&sample))
}

/// Returns how the settings divide the web.
pub fn division(settings: &ClusterSettings) -> Result<Division> {
    let division = Division::new(settings.slots);
    Ok(division
        .ok_or_else(|| Usage("[cluster] slots must be a power of two, 256 at most".into()))?)
}

/// Returns how the settings reach the broker.
pub fn broker_settings(settings: &ClusterSettings) -> Result<BrokerSettings> {
    let certificate = match (&settings.certificate, &settings.key) {
        (Some(certificate), Some(key)) => Some((certificate.clone(), key.clone())),
        (None, None) => None,
        _ => return Err(Usage("[cluster] certificate and key belong together".into()).into()),
    };
    checked_name(&settings.name, "[cluster] name (--name)")?;
    Ok(BrokerSettings {
        servers: settings.servers.clone(),
        crawl: settings.name.clone(),
        credentials: settings.credentials.clone(),
        roots: settings.roots.clone(),
        certificate,
        monitors: settings.monitors.clone(),
        replicas: settings.replicas.map(usize::from),
        stream_bytes: settings.stream_bytes,
        object_store: object_store(settings)?,
    })
}

/// Returns the object store that the settings name.
fn object_store(settings: &ClusterSettings) -> Result<Option<ObjectPlace>> {
    let place = settings.object_store.as_ref();
    let wrong = |why| Usage(format!("[cluster] object_store (--object-store): {why}"));
    Ok(place
        .map(|place| place.parse().map_err(wrong))
        .transpose()?)
}

/// Returns the name of this node: that of the settings, or the host name.
fn node_name(settings: &ClusterSettings) -> Result<NodeName> {
    if let Some(name) = &settings.node {
        return checked_name(name, "[cluster] node (--node)");
    }
    let host = rustix::system::uname()
        .nodename()
        .to_string_lossy()
        .into_owned();
    let legal = |letter: char| {
        if letter.is_ascii_alphanumeric() {
            letter
        } else {
            '-'
        }
    };
    let name: String = host
        .to_ascii_lowercase()
        .chars()
        .map(legal)
        .take(40)
        .collect();
    checked_name(&name, "the host name; set [cluster] node (--node)")
}

/// Returns the nodes that divide the slots once and for all: none if they are independent. Returns
/// `None` if coordination is dynamic.
fn fixed(settings: &ClusterSettings) -> Result<Option<Vec<NodeName>>> {
    match settings.coordination {
        Coordination::Dynamic => return Ok(None),
        Coordination::Independent => return Ok(Some(Vec::new())),
        Coordination::Static => {}
    }
    if settings.nodes.is_empty() {
        let why = "static coordination needs the names of all nodes in [cluster] nodes";
        return Err(Usage(why.into()).into());
    }
    let names = settings.nodes.iter();
    names
        .map(|name| checked_name(name, "[cluster] nodes"))
        .collect::<Result<_>>()
        .map(Some)
}

fn is_web(address: &str) -> bool {
    let schemes = ["http://", "https://"];
    schemes.iter().any(|scheme| address.starts_with(scheme))
}

fn checked_name(name: &str, what: &str) -> Result<NodeName> {
    let checked = NodeName::new(name);
    let why = || {
        Usage(format!(
            "{what}: {name:?} is not 1 to 40 lower-case letters, digits and hyphens"
        ))
    };
    Ok(checked.ok_or_else(why)?)
}
