//! The program under torture: a store, the commands run on it, and their output.
//!
//! **Invariant:** no command may panic, hang or be ended by a signal that this harness did not
//! send. The directory of a round that fails is kept, with the output of every command in it.

use std::fs::{self, File};
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::program::TestProgram;

/// A command that takes longer counts as hanging. The slowest takes a few seconds on an idle
/// machine.
const HANGS: Duration = Duration::from_secs(240);

/// A store and the program that runs on it.
pub struct TortureSubject {
    program: TestProgram,
    /// Environment variables of every command.
    pub environment: Vec<(String, String)>,
    commands: u32,
}

/// A running command.
pub struct RunningCommand {
    child: Child,
    line: String,
    output: PathBuf,
    errors: PathBuf,
}

/// A command that has ended.
pub struct EndedCommand {
    /// The command, for messages.
    pub line: String,
    /// `None` if the harness killed it.
    pub status: Option<ExitStatus>,
    pub output: String,
    pub errors: String,
}

impl TortureSubject {
    pub fn new() -> Self {
        Self {
            program: TestProgram::new(),
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

    /// Returns a path next to the store.
    pub fn path(&self, name: &str) -> PathBuf {
        self.program.path(name)
    }

    pub fn warcs(&self) -> Vec<PathBuf> {
        self.program.warcs()
    }

    /// Starts a command.
    pub fn start(&mut self, arguments: &[&str]) -> RunningCommand {
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
        RunningCommand {
            child: command.spawn().unwrap(),
            line,
            output,
            errors,
        }
    }

    /// Runs a command to its end, with success or failure.
    pub fn end(&mut self, arguments: &[&str]) -> EndedCommand {
        self.start(arguments).wait()
    }

    /// Runs a command, which must succeed.
    pub fn run(&mut self, arguments: &[&str]) -> EndedCommand {
        let ended = self.end(arguments);
        assert_eq!(ended.code(), 0, "{ended}");
        ended
    }

    /// Runs a command with `--json`, which must succeed, and parses the document that it prints.
    pub fn json(&mut self, arguments: &[&str]) -> Value {
        let ended = self.run(&[arguments, &["--json"]].concat());
        serde_json::from_str(&ended.output).unwrap_or_else(|wrong| panic!("{wrong}: {ended}"))
    }

    /// Runs `verify`, which must find no problem. Returns its report.
    pub fn verified(&mut self) -> Value {
        let report = self.json(&["verify"]);
        assert_eq!(report["problems"], serde_json::json!([]), "{report}");
        report
    }
}

impl RunningCommand {
    /// Waits for the end. The test fails on a hang, a panic or a signal.
    pub fn wait(mut self) -> EndedCommand {
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

    /// Kills the command after this time, unless it has ended before.
    pub fn kill_after(mut self, time: Duration) -> EndedCommand {
        std::thread::sleep(time);
        let status = self.child.try_wait().unwrap();
        if status.is_none() {
            self.child.kill().unwrap();
            self.child.wait().unwrap();
        }
        self.ended(status)
    }

    fn ended(&self, status: Option<ExitStatus>) -> EndedCommand {
        let text = |path: &PathBuf| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        let ended = EndedCommand {
            line: self.line.clone(),
            status,
            output: text(&self.output),
            errors: text(&self.errors),
        };
        let panicked = ended.errors.contains("panicked at");
        let code = status.map(|status| status.code());
        // 101 is the exit code after a panic; `None` means a signal.
        assert!(
            !panicked && code != Some(Some(101)) && code != Some(None),
            "{ended}"
        );
        ended
    }
}

/// Kills the command, so that a failed round leaves no process behind.
impl Drop for RunningCommand {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl EndedCommand {
    /// Returns the exit code, or -1 if the harness killed the command.
    pub fn code(&self) -> i32 {
        let code = self.status.and_then(|status| status.code());
        code.unwrap_or(-1)
    }

    pub fn was_killed(&self) -> bool {
        self.status.is_none()
    }
}

impl std::fmt::Display for EndedCommand {
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
