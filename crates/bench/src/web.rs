//! The process that serves the invented web of `bench servers` and `bench http`.
//!
//! It prints its port, serves until its standard input ends, and then prints its log. So it never
//! outlives the benchmark that started it.
//!
//! **Invariant:** the options determine the web, so both processes generate the same one.

use std::fmt;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use testweb::site::{KeepAlive, Latency, ServedWeb, Spread, Web, WebClock, WebPlan};
use tokio::runtime;

use crate::child;

/// The web to generate.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WebOptions {
    /// The kind of web.
    pub web: WebKind,
    /// The seed of all random numbers.
    pub seed: u64,
    /// The number of servers, if not the default.
    pub servers: Option<usize>,
    /// The number of pages, if not the default.
    pub pages: Option<usize>,
    /// The factor on all latencies.
    pub slowness: f64,
}

/// A kind of web.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum WebKind {
    /// The web of the two-level scheduling paper.
    TwoLevel,
    /// The second web of that paper: 20 fast servers.
    Fast,
}

impl fmt::Display for WebKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TwoLevel => "two-level",
            Self::Fast => "fast",
        })
    }
}

/// The server process.
pub struct WebProcess {
    process: Child,
    output: BufReader<ChildStdout>,
    /// The port of all servers.
    pub port: u16,
}

/// The log of the servers for one crawl.
#[derive(Debug, Serialize, Deserialize)]
pub struct ServedLog {
    /// Page numbers in the order of their answers, each with the seconds from the first request of
    /// the crawl to the end of its answer.
    pub fetched: Vec<(u32, f64)>,
    /// Connections opened.
    pub connections: u64,
}

/// Returns the plan of the web that the options describe.
pub fn plan(options: &WebOptions) -> WebPlan {
    let plan = WebPlan::two_level(options.seed);
    let plan = match options.web {
        WebKind::TwoLevel => plan,
        // The second set of the paper: 20 servers that answer within 100 ms, with 100 requests
        // per connection. Here the median is 40 ms at a slowness of 1, and a server takes more
        // than 100 ms with a probability of one in a thousand.
        WebKind::Fast => WebPlan {
            servers: 20,
            latency: Latency::PerServer {
                connect: Spread {
                    median: 0.02,
                    sigma: 0.3,
                },
                response: Spread {
                    median: 0.04,
                    sigma: 0.3,
                },
            },
            keep_alive: KeepAlive {
                one: 0.0,
                hundred: 1.0,
            },
            ..plan
        },
    };
    let slower = |spread: Spread| Spread {
        median: spread.median * options.slowness,
        ..spread
    };
    WebPlan {
        servers: options.servers.unwrap_or(plan.servers),
        pages: options.pages.unwrap_or(plan.pages),
        latency: match plan.latency {
            Latency::None => Latency::None,
            Latency::PerServer { connect, response } => Latency::PerServer {
                connect: slower(connect),
                response: slower(response),
            },
        },
        ..plan
    }
}

impl WebProcess {
    /// Starts the process and waits until it serves.
    pub fn start(options: &WebOptions) -> Result<Self> {
        let mut process = child::part("serve-web", options)?
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the server")?;
        let output = process.stdout.take().context("the server has no output")?;
        let mut output = BufReader::new(output);
        let mut line = String::new();
        output.read_line(&mut line)?;
        let port = line.trim().parse();
        let port = port.context("the server ended before it served")?;
        Ok(Self {
            process,
            output,
            port,
        })
    }

    /// Ends the process and returns its log.
    pub fn end(mut self) -> Result<ServedLog> {
        drop(self.process.stdin.take());
        let mut text = String::new();
        self.output.read_to_string(&mut text)?;
        let status = self.process.wait()?;
        ensure!(status.success(), "the server ended with {status}");
        serde_json::from_str(&text).context("cannot parse the output of the server")
    }
}

/// Writes a list of seeds: the home page of every server.
///
/// So every strategy can visit all servers from the start.
pub fn write_homes(web: &Web, port: u16, path: &Path) -> Result<()> {
    let homes = web
        .servers()
        .map(|(server, _)| web.url(web.home(server), port) + "\n");
    fs::write(path, homes.collect::<String>())
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Serves the web until standard input ends, and prints the log.
pub fn run(options: &WebOptions) -> Result<()> {
    let runtime = runtime::Builder::new_multi_thread().enable_all().build()?;
    let web = plan(options).invent();
    let serving = runtime.block_on(ServedWeb::start(web, WebClock::Still, None))?;
    println!("{}", serving.port());
    io::stdin().read_to_end(&mut Vec::new())?;
    println!("{}", serde_json::to_string(&served_log(&serving))?);
    Ok(())
}

fn served_log(serving: &ServedWeb) -> ServedLog {
    let (web, log) = (serving.web(), serving.log());
    let mut first = f64::INFINITY;
    let mut connections = 0;
    for (server, _) in web.servers() {
        let arrivals = log.visits(server);
        let earliest = arrivals.first().map(|visit| visit.arrived.as_secs_f64());
        first = first.min(earliest.unwrap_or(f64::INFINITY));
        connections += u64::from(log.connections(server));
    }
    let fetched = serving.fetched();
    let since_first = |at: f64| (at - first).max(0.0);
    ServedLog {
        fetched: fetched
            .into_iter()
            .map(|(page, at)| (page.0, since_first(at)))
            .collect(),
        connections,
    }
}
