//! A running `avocet serve` for tests, and pages to index.

use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use page::PageUrl;
use repository::index::{Document, Index};
use serde_json::Value;

use crate::http::{self, HttpAnswer};
use crate::program::TestProgram;

/// A server process that is killed when dropped.
pub struct AvocetServer {
    child: Child,
    pub address: SocketAddr,
}

impl AvocetServer {
    /// Starts `avocet serve` on a free port.
    pub fn start(program: &TestProgram, more: &[&str]) -> Self {
        let mut arguments = vec!["serve", "--listen", "127.0.0.1:0", "--json"];
        arguments.extend(more);
        Self::of(program, &arguments)
    }

    /// Starts a command whose first line of output is the address of its server.
    pub fn of(program: &TestProgram, arguments: &[&str]) -> Self {
        let mut command = program.command(arguments);
        let (child, address) = Self::spawn(command.stderr(Stdio::null()));
        Self { child, address }
    }

    /// Starts a command whose first line of output is the address of its server. Returns its
    /// process and this address.
    pub fn spawn(command: &mut Command) -> (Child, SocketAddr) {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        out.read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).unwrap();
        let url = said["listening"].as_str().unwrap();
        let address = url.strip_prefix("http://").unwrap().trim_end_matches('/');
        (child, address.parse().unwrap())
    }

    pub fn get(&self, path: &str) -> HttpAnswer {
        self.ask("GET", path, &[], "")
    }

    pub fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert_eq!(answer.head["content-type"], "application/json", "{path}");
        answer.json()
    }

    /// Sends a request with further header fields and a body.
    pub fn ask(&self, method: &str, path: &str, fields: &[&str], body: &str) -> HttpAnswer {
        http::ask(self.address, method, path, fields, body)
    }

    /// Sends bytes unchanged.
    pub fn send(&self, bytes: &[u8]) -> HttpAnswer {
        http::send(self.address, bytes)
    }

    /// Repeats a request until the response fulfils a condition.
    pub fn until(&self, path: &str, good: impl Fn(&HttpAnswer) -> bool) -> HttpAnswer {
        let begun = Instant::now();
        loop {
            let answer = self.get(path);
            if good(&answer) {
                return answer;
            }
            assert!(
                begun.elapsed() < Duration::from_secs(60),
                "{path} stays {answer:?}"
            );
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    /// Interrupts the server with SIGINT. Returns its exit code.
    pub fn interrupt(mut self) -> Option<i32> {
        let id = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(id, rustix::process::Signal::INT).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for AvocetServer {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// A page to index.
pub struct Leaf {
    pub url: String,
    pub title: String,
    pub text: String,
    pub language: &'static str,
    /// Age of the copy in days.
    pub days: i64,
    /// Id of a section whose heading is the first line of the text.
    pub section: Option<&'static str>,
}

impl Leaf {
    pub fn new(url: &str, title: &str, text: &str) -> Self {
        Self {
            url: url.into(),
            title: title.into(),
            text: text.into(),
            language: "en",
            days: 0,
            section: None,
        }
    }
}

/// Writes pages to the index of a store that has no ledger entries or archive.
pub fn put(program: &TestProgram, leaves: &[Leaf]) {
    if !program.store().join("FORMAT").exists() {
        let none = program.path("none.txt");
        std::fs::write(&none, "").unwrap();
        // The import makes the store, and fails because there is no URL.
        program.fail(&["import", "urls", none.to_str().unwrap()]);
    }
    let index = Index::open(&program.store().join("index")).unwrap();
    let mut writer = index.writer(20_000_000).unwrap();
    let now = jiff::Timestamp::now().as_second();
    for (number, leaf) in leaves.iter().enumerate() {
        let parsed = PageUrl::parse(&leaf.url);
        let id = parsed
            .as_ref()
            .map_or(page::PageId(number as u128), PageUrl::id);
        let heading = leaf.text.lines().next().unwrap_or_default();
        let sections = leaf.section.map(|id| page::PageSection {
            heading: 0..u32::try_from(heading.len()).unwrap(),
            level: 2,
            id: Some(id.into()),
        });
        writer
            .put(&Document {
                sections: sections.as_slice(),
                title: &leaf.title,
                text: &leaf.text,
                language: Some(leaf.language),
                fetched_at: now - leaf.days * 86_400,
                ..Document::new(
                    id,
                    &leaf.url,
                    parsed.as_ref().map_or("", |url| url.host_name()),
                )
            })
            .unwrap();
    }
    writer
        .commit(index.sequence().unwrap().unwrap_or(0))
        .unwrap();
}
