//! The program under test, run as a process: its output and its exit code.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::{Value, json};

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
        program.configure("[crawl]\nretry_after = \"1s\"\nattempts = 3\n");
        program
    }

    /// Writes the configuration file of the store.
    pub fn configure(&self, text: &str) {
        std::fs::write(self.store().join("avocet.toml"), text).unwrap();
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

    /// Runs a command. Returns its standard output.
    pub fn text(&self, arguments: &[&str]) -> String {
        String::from_utf8(self.run(arguments).stdout).unwrap()
    }

    /// Runs `verify`, which must find no problem. Returns its report.
    pub fn verified(&self) -> Value {
        let report = self.json(&["verify"]);
        holds(&report, &json!({ "problems": [], "agree": true }));
        report
    }

    /// Returns the lines of the logs whose names begin with `kind`: `queries` or `clicks`.
    pub fn log(&self, kind: &str) -> Vec<Value> {
        let directory = self.store().join("log");
        let mut files = match directory.is_dir() {
            true => below(&directory),
            false => Vec::new(),
        };
        files.retain(|path| {
            path.file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .starts_with(kind)
        });
        let texts = files
            .iter()
            .map(|path| std::fs::read_to_string(path).unwrap());
        let text: String = texts.collect();
        let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
        lines.collect()
    }

    /// Runs a command with `--json` and parses the document that it prints.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let mut arguments = arguments.to_vec();
        arguments.push("--json");
        serde_json::from_slice(&self.run(&arguments).stdout).unwrap()
    }

    /// Runs a command and parses the JSON Lines that it prints.
    pub fn lines(&self, arguments: &[&str]) -> Vec<Value> {
        let output = self.text(arguments);
        let lines = output
            .lines()
            .map(|line| serde_json::from_str(line).unwrap());
        lines.collect()
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

/// Splits a command line at its spaces.
pub fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// Returns all files below a directory, sorted.
pub fn below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => files.extend(below(&path)),
            false => files.push(path),
        }
    }
    files.sort();
    files
}

/// Copies a directory with everything below it.
pub fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        match path.is_dir() {
            true => copy(&path, &target),
            false => _ = std::fs::copy(&path, &target).unwrap(),
        }
    }
}

/// Checks that a text contains a part.
#[track_caller]
pub fn has(text: &str, part: &str) {
    assert!(text.contains(part), "{part:?} is not in {text}");
}

/// Checks that a JSON object has these fields, with these values.
#[track_caller]
pub fn holds(found: &Value, fields: &Value) {
    for (key, value) in fields.as_object().unwrap() {
        assert_eq!(&found[key], value, "{key} in {found}");
    }
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
