//! A running `avocet run` for tests, with its server and its controls.

use std::net::SocketAddr;
use std::process::Child;
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;
use testweb::site::ServedWeb;

use crate::http::{self, HttpAnswer};
use crate::program::TestProgram;

/// A running crawl and the address of its server.
pub struct CrawlProcess {
    pub program: TestProgram,
    pub address: SocketAddr,
    pub token: String,
    child: Child,
}

impl Drop for CrawlProcess {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl CrawlProcess {
    /// Starts a crawl at the home pages of a web.
    pub async fn start(serving: &ServedWeb, more: &[&str]) -> Self {
        Self::crawl(&serving.homes(), more).await
    }

    pub async fn crawl(homes: &[String], more: &[&str]) -> Self {
        Self::public(homes, &[more, &["--allow-private"]].concat()).await
    }

    /// Starts a crawl without `--allow-private`: of private addresses only the seeds are open.
    pub async fn public(homes: &[String], more: &[&str]) -> Self {
        let program = TestProgram::new();
        let mut arguments = vec!["run", "--scope", "any"];
        arguments.extend(["--listen", "127.0.0.1:0"]);
        arguments.extend(homes.iter().map(String::as_str));
        arguments.extend(more);
        let child = program.start(&arguments);
        let mut running = Self {
            program,
            child,
            address: SocketAddr::from(([127, 0, 0, 1], 0)),
            token: String::new(),
        };
        let said = running
            .until("it listens", |state| state["address"].is_string())
            .await;
        let address = said["address"].as_str().unwrap();
        running.address = address.trim_start_matches("http://").parse().unwrap();
        let token = std::fs::read_to_string(running.program.store().join("TOKEN")).unwrap();
        running.token = token.trim().to_owned();
        running
    }

    pub fn state(&self) -> Value {
        let text = std::fs::read(self.program.store().join("state.json")).unwrap_or_default();
        serde_json::from_slice(&text).unwrap_or_default()
    }

    /// Waits until the state of the crawl fulfils a condition, and returns the state.
    pub async fn until(&self, what: &str, is: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..600 {
            let state = self.state();
            if is(&state) {
                return state;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("{what}: {}", self.state());
    }

    /// Waits until this number of URLs has the status 200 in the ledger.
    pub async fn until_fetched(&self, pages: usize) {
        for _ in 0..300 {
            if self.program.fetched().len() >= pages {
                return;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
        panic!("only these are fetched: {:?}", self.program.fetched());
    }

    pub fn ask(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &str,
    ) -> HttpAnswer {
        let field = |(name, value): &(&str, &str)| format!("{name}: {value}");
        let fields: Vec<String> = headers.iter().map(field).collect();
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        http::ask(self.address, method, path, &fields, body)
    }

    pub fn get(&self, path: &str) -> HttpAnswer {
        self.ask("GET", path, &[], "")
    }

    /// Sends a control request with the token.
    pub fn control(&self, path: &str, body: &Value) -> HttpAnswer {
        let bearer = format!("Bearer {}", self.token);
        let headers = [
            ("Authorization", bearer.as_str()),
            ("Content-Type", "application/json"),
        ];
        self.ask(
            "POST",
            &format!("/api/v1/{path}"),
            &headers,
            &body.to_string(),
        )
    }

    /// Stops the crawl with SIGTERM. Returns the store.
    pub async fn stop(self) -> TestProgram {
        self.end(Signal::TERM).await
    }

    /// Stops the crawl with a signal, which must be a clean stop. Returns the store.
    pub async fn end(mut self, signal: Signal) -> TestProgram {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, signal).unwrap();
        assert!(self.child.wait().unwrap().success());
        std::mem::replace(&mut self.program, TestProgram::new())
    }
}
