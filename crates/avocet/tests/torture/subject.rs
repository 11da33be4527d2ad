//! The program under torture: a store, every command that was run on it, and what each said.
//!
//! **Invariant:** no command may panic, hang or be ended by a signal that this harness did not send.
//! The directory of a round that fails is kept, with the output of every command in it.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::Program;

/// A command that takes longer hangs: the slowest takes some seconds, on a machine that does
/// nothing else.
const HANGS: Duration = Duration::from_secs(240);

/// A store and the program that uses it.
pub struct Subject {
    program: Program,
    /// Variables of the environment of every command.
    pub environment: Vec<(String, String)>,
    commands: u32,
}

/// A command that runs.
pub struct Running {
    child: Child,
    line: String,
    output: PathBuf,
    errors: PathBuf,
}

/// A command that has ended.
pub struct Ended {
    /// The command, for messages.
    pub line: String,
    /// `None` if the harness killed it.
    pub status: Option<ExitStatus>,
    pub output: String,
    pub errors: String,
}

impl Subject {
    pub fn new() -> Self {
        Self {
            program: Program::new(),
            environment: Vec::new(),
            commands: 0,
        }
    }

    pub fn store(&self) -> PathBuf {
        self.program.store()
    }

    pub fn archive(&self) -> PathBuf {
        self.store().join("archive")
    }

    /// A path beside the store.
    pub fn path(&self, name: &str) -> PathBuf {
        self.program.path(name)
    }

    pub fn warcs(&self) -> Vec<PathBuf> {
        self.program.warcs()
    }

    /// Starts a command.
    pub fn start(&mut self, arguments: &[&str]) -> Running {
        self.commands += 1;
        let number = self.commands;
        let words: Vec<&str> = arguments
            .iter()
            .copied()
            .filter(|word| !word.starts_with("http://"))
            .collect();
        let line = format!("{number}: avocet {}", words.join(" "));
        let output = self.path(&format!("{number:04}-{}.out", arguments[0]));
        let errors = output.with_extension("err");
        let mut command = self.program.command(arguments);
        command.envs(self.environment.iter().map(|(name, value)| (name, value)));
        command.stdout(File::create(&output).unwrap());
        command.stderr(File::create(&errors).unwrap());
        Running {
            child: command.spawn().unwrap(),
            line,
            output,
            errors,
        }
    }

    /// Runs a command to its end, whatever that is.
    pub fn end(&mut self, arguments: &[&str]) -> Ended {
        self.start(arguments).wait()
    }

    /// Runs a command to its end, which must be a success.
    pub fn run(&mut self, arguments: &[&str]) -> Ended {
        let ended = self.end(arguments);
        assert_eq!(ended.code(), 0, "{ended}");
        ended
    }

    /// Runs a command with `--json`, which must succeed, and reads the document that it prints.
    pub fn json(&mut self, arguments: &[&str]) -> Value {
        let ended = self.run(&[arguments, &["--json"]].concat());
        serde_json::from_str(&ended.output).unwrap_or_else(|wrong| panic!("{wrong}: {ended}"))
    }

    /// Runs `verify`, which must find nothing wrong. Returns its report.
    pub fn verified(&mut self) -> Value {
        let report = self.json(&["verify"]);
        assert_eq!(report["problems"], serde_json::json!([]), "{report}");
        report
    }
}

impl Running {
    /// Waits for the end. Fails on a hang, a panic or a signal.
    pub fn wait(mut self) -> Ended {
        let began = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return self.ended(Some(status));
            }
            if began.elapsed() > HANGS {
                self.child.kill().unwrap();
                self.child.wait().unwrap();
                panic!("hangs: {}", self.ended(None));
            }
            std::thread::sleep(Duration::from_millis(4));
        }
    }

    /// Kills it after this time, unless it has ended before.
    pub fn kill_after(mut self, time: Duration) -> Ended {
        std::thread::sleep(time);
        let status = self.child.try_wait().unwrap();
        if status.is_none() {
            self.child.kill().unwrap();
            self.child.wait().unwrap();
        }
        self.ended(status)
    }

    fn ended(&self, status: Option<ExitStatus>) -> Ended {
        let text = |path: &PathBuf| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        let ended = Ended {
            line: self.line.clone(),
            status,
            output: text(&self.output),
            errors: text(&self.errors),
        };
        let panicked = ended.errors.contains("panicked at");
        let code = status.map(|status| status.code());
        // 101 is what Rust's runtime exits with after a panic; `None` is a signal.
        assert!(
            !panicked && code != Some(Some(101)) && code != Some(None),
            "{ended}"
        );
        ended
    }
}

/// A round that fails leaves no process behind.
impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Ended {
    /// The exit code; -1 if the harness killed it.
    pub fn code(&self) -> i32 {
        let code = self.status.and_then(|status| status.code());
        code.unwrap_or(-1)
    }

    pub fn was_killed(&self) -> bool {
        self.status.is_none()
    }
}

impl std::fmt::Display for Ended {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let shown: String = self.output.chars().take(2_000).collect();
        let code = self.code();
        write!(
            f,
            "{} ended with {code}\n{shown}\n{}",
            self.line, self.errors
        )
    }
}
