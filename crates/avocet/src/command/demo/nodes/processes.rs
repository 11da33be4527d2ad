//! The nodes of the demo: child processes, and what their heartbeats say.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use cluster::broker::Broker;
use cluster::log::SlotLog;
use cluster::member::Heartbeat;
use cluster::message::NodeName;
use cluster::{Division, Slot};
use futures_util::StreamExt;
use node::panics::POISONED;
use rustix::process::{Pid, Signal, kill_process};
use testweb::site::ServedWeb;

use super::super::configure;
use super::kill::NodeKill;
use super::watchdog::Watchdog;
use super::{CRAWL, LOOK_EVERY, SILENCE, SLOTS, STREAM_BYTES};
use crate::cli::DemoArguments;

/// How long a node may take to end cleanly before it is killed.
const END: Duration = Duration::from_secs(30);

/// Number of lines of a node's log that an error shows.
const LOG_LINES: usize = 5;

/// The processes of the nodes.
pub struct DemoNodes {
    names: Vec<NodeName>,
    processes: Vec<NodeProcess>,
    /// Process numbers of the NATS servers.
    servers: Vec<u32>,
    watchdog: Option<Watchdog>,
    /// The kill of a node, if it has happened.
    killed: Option<NodeKill>,
}

/// A process of `avocet run`. It is killed when it is dropped.
struct NodeProcess {
    name: NodeName,
    log: PathBuf,
    child: Option<Child>,
}

impl DemoNodes {
    /// Starts one process for each name.
    pub fn start(
        root: &Path,
        nats: &str,
        names: &[NodeName],
        homes: &[String],
        arguments: &DemoArguments,
    ) -> Result<Self> {
        let program = std::env::current_exe().context("the path of this program is unknown")?;
        let mut nodes = Self {
            names: names.to_vec(),
            processes: Vec::new(),
            servers: Vec::new(),
            watchdog: None,
            killed: None,
        };
        for name in names {
            let store = root.join(name.as_str());
            let more = format!(
                "\n[cluster]\nslots = {SLOTS}\nreplicas = 1\nstream_bytes = {STREAM_BYTES}\n"
            );
            configure(&store, arguments, &more)?;
            let log = root.join(format!("{name}.log"));
            let written =
                File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
            let listen = arguments.listen.filter(|_| nodes.processes.is_empty());
            let listen = listen.map_or("127.0.0.1:0".into(), |listen| listen.0.to_string());
            let child = Command::new(&program)
                .arg("run")
                .args(homes)
                .args(["--cluster", nats, "--name", CRAWL, "--node", name.as_str()])
                .args(["--silence", &format!("{}ms", SILENCE.as_millis())])
                .args(["--listen", &listen])
                .arg("--store")
                .arg(&store)
                // A terminal sends SIGINT to its foreground process group. The demo ends the nodes
                // itself, while the NATS server still runs.
                .process_group(0)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(written)
                .spawn()
                .with_context(|| format!("cannot start {}", program.display()))?;
            nodes.processes.push(NodeProcess {
                name: name.clone(),
                log,
                child: Some(child),
            });
        }
        Ok(nodes)
    }

    /// Lets the nodes and these NATS servers be killed if the demo is killed.
    pub fn watch_over(&mut self, servers: impl Iterator<Item = u32>) -> Result<()> {
        self.servers = servers.collect();
        self.renew_watchdog()
    }

    /// Starts a watchdog over the processes that run now: the number of an ended process may belong
    /// to another program later.
    fn renew_watchdog(&mut self) -> Result<()> {
        let children = self.processes.iter().filter_map(|node| node.child.as_ref());
        let nodes = children.map(Child::id);
        let all: Vec<u32> = nodes.chain(self.servers.iter().copied()).collect();
        self.watchdog = Some(Watchdog::over(&all)?);
        Ok(())
    }

    /// Returns the names of all nodes, the killed one included.
    pub fn names(&self) -> &[NodeName] {
        &self.names
    }

    /// Returns the kill of a node, if it has happened.
    pub fn killed(&self) -> Option<&NodeKill> {
        self.killed.as_ref()
    }

    /// Returns the kill of a node, to record its takeover.
    pub fn killed_mut(&mut self) -> Option<&mut NodeKill> {
        self.killed.as_mut()
    }

    /// Returns the paths of the logs.
    pub fn logs(&self) -> String {
        let logs = self.processes.iter();
        let logs: Vec<String> = logs.map(|node| node.log.display().to_string()).collect();
        logs.join(", ")
    }

    /// Fails if a node has ended by itself.
    pub fn check(&mut self) -> Result<()> {
        for node in &mut self.processes {
            let Some(child) = &mut node.child else {
                continue;
            };
            if let Some(status) = child.try_wait()? {
                let log = std::fs::read_to_string(&node.log).unwrap_or_default();
                let lines: Vec<&str> = log.lines().collect();
                let last = lines[lines.len().saturating_sub(LOG_LINES)..].join("\n");
                bail!(
                    "{} ended by itself ({status}). The end of its log:\n{last}",
                    node.name
                );
            }
        }
        Ok(())
    }

    /// Kills a node (SIGKILL), and completes the record of the kill.
    pub fn kill(&mut self, name: &NodeName, mut kill: NodeKill, web: &ServedWeb) -> Result<()> {
        let named = self.processes.iter_mut().find(|node| node.name == *name);
        if let Some(node) = named {
            node.kill();
            kill.done(web.now());
            self.killed = Some(kill);
        }
        self.renew_watchdog()
    }

    /// Ends all nodes cleanly: they release their slots and commit what they have. A node that does
    /// not end in time is killed.
    pub async fn end(&mut self) {
        for node in &self.processes {
            if let Some(child) = &node.child {
                // A node that has ended meanwhile needs no signal.
                kill_process(Pid::from_child(child), Signal::INT).ok();
            }
        }
        let begun = Instant::now();
        for node in &mut self.processes {
            while begun.elapsed() < END
                && let Some(child) = &mut node.child
                && matches!(child.try_wait(), Ok(None))
            {
                tokio::time::sleep(LOOK_EVERY).await;
            }
            node.kill();
        }
    }
}

impl NodeProcess {
    fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            // A process that has ended already is as dead as it should be.
            child.kill().ok();
            child.wait().ok();
        }
    }
}

impl Drop for NodeProcess {
    fn drop(&mut self) {
        self.kill();
    }
}

/// The last heartbeat of each node.
#[derive(Clone, Default)]
pub struct HeardNodes(Arc<Mutex<HeardState>>);

#[derive(Default)]
struct HeardState {
    last: BTreeMap<NodeName, (Heartbeat, Instant)>,
    /// Nodes that get no more searches.
    off: BTreeSet<NodeName>,
}

impl HeardNodes {
    /// Listens to the heartbeats until the runtime ends.
    pub async fn listen(broker: &Broker) -> Result<Self> {
        let mut beats = broker.beats().await?;
        let heard = Self::default();
        let state = heard.clone();
        tokio::spawn(async move {
            while let Some(beat) = beats.next().await {
                let seen = (beat.clone(), Instant::now());
                state.state().last.insert(beat.node, seen);
            }
        });
        Ok(heard)
    }

    fn state(&self) -> MutexGuard<'_, HeardState> {
        self.0.lock().expect(POISONED)
    }

    /// Returns the last heartbeat of each node, and whether the node is alive.
    pub fn all(&self) -> Vec<(Heartbeat, bool)> {
        let state = self.state();
        let last = state.last.values();
        last.map(|(beat, at)| {
            let alive = at.elapsed() < SILENCE && !state.off.contains(&beat.node);
            (beat.clone(), alive)
        })
        .collect()
    }

    /// Returns whether all nodes have a server, and every slot has an owner.
    pub fn have_all(&self, names: &[NodeName], division: Division) -> bool {
        let state = self.state();
        let serves = |name: &NodeName| {
            let heard = state.last.get(name);
            heard.is_some_and(|(beat, _)| !beat.figures.address.is_empty())
        };
        let owned: BTreeSet<Slot> = (state.last.values())
            .flat_map(|(beat, _)| beat.owned.iter().map(|(slot, _)| *slot))
            .collect();
        names.iter().all(serves) && owned.len() == division.slots().count()
    }

    /// Returns the address of a living node, another one for each turn.
    pub fn address(&self, turn: usize) -> Option<String> {
        let beats = self.all().into_iter();
        let living = beats.filter(|(beat, alive)| *alive && !beat.figures.address.is_empty());
        let living: Vec<String> = living.map(|(beat, _)| beat.figures.address).collect();
        (!living.is_empty()).then(|| living[turn % living.len()].clone())
    }

    /// Returns the address of a node, if it serves.
    pub fn address_of(&self, name: &NodeName) -> Option<String> {
        let state = self.state();
        let heard = state.last.get(name);
        let address = heard.map(|(beat, _)| beat.figures.address.clone());
        address.filter(|address| !address.is_empty())
    }

    /// Sends no more searches to a node.
    pub fn take_off(&self, name: &NodeName) {
        self.state().off.insert(name.clone());
    }

    /// Returns the node that has made the most requests.
    pub fn busiest(&self, names: &[NodeName]) -> Option<NodeName> {
        let state = self.state();
        let heard = names.iter().filter_map(|name| state.last.get(name));
        let busiest = heard.max_by_key(|(beat, _)| beat.figures.fetched);
        busiest.map(|(beat, _)| beat.node.clone())
    }

    /// Returns the slots that a node owned by its last heartbeat.
    pub fn owned(&self, name: &NodeName) -> Vec<Slot> {
        let state = self.state();
        let heard = state.last.get(name);
        let owned = heard.map(|(beat, _)| beat.owned.iter().map(|(slot, _)| *slot).collect());
        owned.unwrap_or_default()
    }

    /// Returns how many of these slots have an owner other than this node, by heartbeats of living
    /// nodes.
    pub fn owned_by_others(&self, slots: &[Slot], name: &NodeName) -> usize {
        let others = self.all().into_iter();
        let others: BTreeSet<Slot> = others
            .filter(|(beat, alive)| *alive && beat.node != *name)
            .flat_map(|(beat, _)| beat.owned.into_iter().map(|(slot, _)| slot))
            .collect();
        slots.iter().filter(|slot| others.contains(slot)).count()
    }
}
