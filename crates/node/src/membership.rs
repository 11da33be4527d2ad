//! The membership of this node in a cluster: joins it as the settings say, and makes the terms in
//! which the crawl runs.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use cluster::agent::Agent;
use cluster::broker::{Broker, BrokerSettings};
use cluster::log::SlotLog;
use cluster::member::MemberSettings;
use cluster::message::NodeName;
use cluster::{Division, Slot};
use futures_util::StreamExt;
use tokio::task::JoinHandle;
use tracing::{info, warn};

use crate::clock::Clock;
use crate::cluster_seat::ClusterSeat;
use crate::engine::term::Term;
use crate::live::Live;
use crate::settings::{ClusterSettings, Coordination, LinkExchange, Usage};
use crate::slots::{Digests, LedgerSlots};
use crate::store::Store;
use crate::whole_crawl::WholeCrawl;
use crate::whole_search::{self, WholeSearch};

/// Time between two attempts to reach the broker.
const RETRY: Duration = Duration::from_secs(1);

/// This node in a cluster.
pub struct Membership {
    agent: Arc<Agent>,
    whole: Arc<WholeCrawl>,
    division: Division,
    /// Where people reach the web server of this node, if the settings say it.
    address: Option<String>,
    exchange: bool,
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
            tokio::spawn(answer_digests(agent.clone(), live.clone())),
            tokio::spawn(whole_search::answer(agent.clone(), live.clone())),
        ];
        tasks.extend(whole.start(live));
        seat.take(WholeSearch::new(agent.clone()), whole.clone());
        Ok(Some(Self {
            agent,
            whole,
            address,
            division,
            exchange: settings.exchange == LinkExchange::Exchange,
            tasks,
        }))
    }

    /// Claims and releases slots, and returns the next term. Waits while the broker is away.
    pub async fn term(&self, store: &Store, indexed: bool) -> Result<Term> {
        loop {
            if self.agent.is_doubled() {
                bail!(
                    "another process runs with the name of this node: give each node its own --node NAME"
                );
            }
            let mut slots = LedgerSlots::open(store, self.division, indexed)?;
            match self.agent.rebalance(&mut slots).await {
                Ok(tails) => {
                    return Ok(Term {
                        agent: self.agent.clone(),
                        division: self.division,
                        tails,
                        address: self.address.clone(),
                        changed_budget: Arc::default(),
                        exchange: self.exchange,
                    });
                }
                Err(error) if error.is::<cluster::error::BrokerError>() => warn!("{error:#}"),
                Err(error) => return Err(error),
            }
            tokio::time::sleep(RETRY).await;
        }
    }

    /// Waits until the slots of this node should change.
    pub async fn change_due(&self) {
        self.agent.change_due().await;
    }

    /// The program is about to end: what cannot be published is given up.
    pub fn is_leaving(&self) {
        self.agent.is_leaving(true);
    }

    /// Gives all slots back at the end of the program.
    pub async fn leave(self, store: &Store, indexed: bool) -> Result<()> {
        let mut slots = LedgerSlots::open(store, self.division, indexed)?;
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

/// Answers requests for the digests of this node.
async fn answer_digests(agent: Arc<Agent>, live: Arc<Live>) {
    loop {
        let subject = format!("digests.{}", agent.name());
        if let Ok(mut requests) = agent.broker().requests(&subject).await {
            while let Some((_, Some(reply))) = requests.next().await {
                let live = live.clone();
                let asked = move || live.ask(|crawl| crawl.digests()).flatten();
                let digests = tokio::task::spawn_blocking(asked).await;
                let digests: Digests = digests.ok().flatten().unwrap_or_default();
                let digests: Vec<(Slot, _)> = digests.into_iter().collect();
                let answer = ledger::encode(&digests);
                agent.broker().answer(reply, answer).await.ok();
            }
        }
        tokio::time::sleep(RETRY).await;
    }
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
        replicas: settings.replicas.map(usize::from),
        stream_bytes: settings.stream_bytes,
    })
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

/// Returns the nodes of static coordination; `None`: coordination is dynamic.
fn fixed(settings: &ClusterSettings) -> Result<Option<Vec<NodeName>>> {
    if settings.coordination == Coordination::Dynamic {
        return Ok(None);
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
