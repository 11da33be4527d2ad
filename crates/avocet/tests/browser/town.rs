//! `avocet demo`, as the thing that is looked at.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use serde_json::Value;

/// A demo that runs until dropped, with nobody in town who searches.
pub struct Town {
    process: Child,
    directory: tempfile::TempDir,
    /// Where the search page is, without a slash at the end.
    pub address: String,
}

impl Town {
    pub fn start(more: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let mut process = Command::new(env!("CARGO_BIN_EXE_avocet"))
            .args([
                "demo",
                "--searches",
                "0",
                "--seed",
                "1",
                "--budget",
                "40/s",
                "--listen",
                "127.0.0.1:0",
                "--time",
                "30m",
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
            .expect("the demo says where it is");
        // What it says later must be read, or it would wait.
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

    /// A page that no search for goods shows: the home page of the manual.
    pub fn unseen(&self, shown: &str) -> String {
        let port = shown.rsplit_once(':').unwrap().1.split('/').next().unwrap();
        format!("http://127.10.0.2:{port}/")
    }

    /// All lines of the log of searches and clicks.
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

impl Drop for Town {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
