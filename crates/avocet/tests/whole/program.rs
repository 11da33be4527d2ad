//! The program under test, run as a process: its output and its exit code.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

/// A store in a temporary directory, and commands that run on it.
pub struct TestProgram {
    directory: tempfile::TempDir,
}

impl TestProgram {
    pub fn new() -> Self {
        let program = Self {
            directory: tempfile::tempdir().unwrap(),
        };
        std::fs::create_dir(program.store()).unwrap();
        // Short retry delays: the defaults would take minutes.
        std::fs::write(
            program.store().join("avocet.toml"),
            "[crawl]\nretry_after = \"1s\"\nattempts = 3\n",
        )
        .unwrap();
        program
    }

    pub fn store(&self) -> PathBuf {
        self.directory.path().join("store")
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_avocet"));
        command.args(arguments).arg("--store").arg(self.store());
        command
    }

    /// Runs a command, which must succeed.
    pub fn run(&self, arguments: &[&str]) -> Output {
        let output = self.command(arguments).output().unwrap();
        assert!(
            output.status.success(),
            "avocet {arguments:?} failed: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        output
    }

    /// Runs a command, which must fail. Returns its exit code and standard error.
    pub fn fail(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let output = self.command(arguments).output().unwrap();
        assert!(
            !output.status.success(),
            "avocet {arguments:?} should have failed"
        );
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    }

    /// Runs a command with `--json` and parses the document that it prints.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let mut arguments = arguments.to_vec();
        arguments.push("--json");
        serde_json::from_slice(&self.run(&arguments).stdout).unwrap()
    }

    /// Runs a command and parses the JSON Lines that it prints.
    pub fn lines(&self, arguments: &[&str]) -> Vec<Value> {
        let output = String::from_utf8(self.run(arguments).stdout).unwrap();
        output
            .lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    /// Starts a command in the background, for a test that kills it.
    pub fn start(&self, arguments: &[&str]) -> Child {
        let mut command = self.command(arguments);
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    /// Returns the URLs whose last status is 200, sorted.
    pub fn fetched(&self) -> Vec<String> {
        let mut urls: Vec<String> = self
            .lines(&["export", "urls"])
            .into_iter()
            .filter(|line| line["status"] == 200)
            .map(|line| line["url"].as_str().unwrap().to_owned())
            .collect();
        urls.sort();
        urls
    }

    pub fn warcs(&self) -> Vec<PathBuf> {
        let mut files: Vec<PathBuf> = std::fs::read_dir(self.store().join("archive"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| is_warc(path))
            .collect();
        files.sort();
        files
    }
}

/// Keeps the directory of a failed test.
impl Drop for TestProgram {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.directory.disable_cleanup(true);
            eprintln!("kept: {}", self.directory.path().display());
        }
    }
}

fn is_warc(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.ends_with(".warc.gz") || name.ends_with(".warc.gz.open")
}

/// Runs `warcio check` and `warcio index` on every file, which must succeed. Returns `false` if
/// warcio is not installed.
pub fn warcio_accepts(files: &[PathBuf]) -> bool {
    let python = |arguments: &[&str]| Command::new("python3").args(arguments).output();
    if !python(&["-c", "import warcio"]).is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: python3 has no module warcio (pip install warcio)");
        return false;
    }
    for file in files {
        for verb in ["check", "index"] {
            let path = file.to_str().unwrap();
            let output = python(&["-m", "warcio.cli", verb, path]).unwrap();
            assert!(
                output.status.success(),
                "warcio {verb} {path}: {}{}",
                String::from_utf8_lossy(&output.stdout),
                String::from_utf8_lossy(&output.stderr)
            );
        }
    }
    true
}
