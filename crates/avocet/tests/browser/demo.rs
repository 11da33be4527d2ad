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
            .args(["--budget", "40/s", "--listen", "127.0.0.1:0"])
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

impl Drop for DemoTown {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
