//! Who serves the invented web of an experiment, and what did its servers see?
//!
//! A process of its own: it prints its port, serves until its standard input ends, and then prints what
//! it saw, so it never outlives the benchmark that started it. **Invariant:** the wishes say everything
//! about the web, so that both processes invent the same.

use std::env;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};
use testweb::site::{Clock, KeepAlive, Latency, Plan, Serving, Spread, Web};
use tokio::runtime;

use crate::cli::{WebKind, WebWishes};

/// The process that serves.
pub struct Server {
    process: Child,
    output: BufReader<ChildStdout>,
    /// The port of all servers.
    pub port: u16,
}

/// What the servers saw of one crawl.
#[derive(Debug, Serialize, Deserialize)]
pub struct Seen {
    /// The pages by number, each with the seconds from the first request to the end of its answer, in
    /// that order.
    pub fetched: Vec<(u32, f64)>,
    /// Connections made.
    pub connections: u64,
}

/// The plan of the web that is wished for.
pub fn plan(wishes: &WebWishes) -> Plan {
    let plan = Plan::two_level(wishes.seed);
    let plan = match wishes.web {
        WebKind::TwoLevel => plan,
        // The paper's second set: 20 servers that answer within 100 ms, 100 requests a connection. Half
        // of ours take less than 40 ms, one in a thousand more than 100.
        WebKind::Fast => Plan {
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
        median: spread.median * wishes.slowness,
        ..spread
    };
    Plan {
        servers: wishes.servers.unwrap_or(plan.servers),
        pages: wishes.pages.unwrap_or(plan.pages),
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

impl Server {
    /// Starts it and waits until it can be asked.
    pub fn start(wishes: &WebWishes) -> Result<Self> {
        let mut process = Command::new(env::current_exe()?)
            .arg("serve-web")
            .args(arguments(wishes))
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

    /// Ends it. Returns what it saw.
    pub fn end(mut self) -> Result<Seen> {
        drop(self.process.stdin.take());
        let mut text = String::new();
        self.output.read_to_string(&mut text)?;
        let status = self.process.wait()?;
        ensure!(status.success(), "the server ended with {status}");
        serde_json::from_str(&text).context("cannot read what the server prints")
    }
}

/// Writes a list of seeds: the home page of every server, so that all servers can be visited from the
/// start, whatever the strategy.
pub fn write_homes(web: &Web, port: u16, path: &Path) -> Result<()> {
    let homes = web
        .servers()
        .map(|(server, _)| web.url(web.home(server), port) + "\n");
    fs::write(path, homes.collect::<String>())
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Serves, and prints what was seen.
pub fn run(wishes: &WebWishes) -> Result<()> {
    let runtime = runtime::Builder::new_multi_thread().enable_all().build()?;
    let web = plan(wishes).invent();
    let serving = runtime.block_on(Serving::start(web, Clock::Still, None))?;
    println!("{}", serving.port());
    io::stdin().read_to_end(&mut Vec::new())?;
    println!("{}", serde_json::to_string(&seen(&serving))?);
    Ok(())
}

fn seen(serving: &Serving) -> Seen {
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
    Seen {
        fetched: fetched
            .into_iter()
            .map(|(page, at)| (page.0, since_first(at)))
            .collect(),
        connections,
    }
}

fn arguments(wishes: &WebWishes) -> Vec<String> {
    let mut arguments = vec![
        format!("--web={}", wishes.web),
        format!("--seed={}", wishes.seed),
        format!("--slowness={}", wishes.slowness),
    ];
    arguments.extend(wishes.servers.map(|servers| format!("--servers={servers}")));
    arguments.extend(wishes.pages.map(|pages| format!("--pages={pages}")));
    arguments
}

#[cfg(test)]
mod tests {
    use crate::cli::{Bench, BenchArguments};
    use clap::Parser;

    use super::*;

    #[test]
    fn both_processes_invent_the_same_web() {
        for web in [WebKind::TwoLevel, WebKind::Fast] {
            let wishes = WebWishes {
                web,
                seed: 7,
                servers: Some(12),
                pages: Some(90),
                slowness: 0.3,
            };
            let line = ["bench".to_owned(), "serve-web".to_owned()];
            let line = line.into_iter().chain(arguments(&wishes));
            let Bench::ServeWeb(other) = BenchArguments::parse_from(line).bench else {
                panic!("another benchmark");
            };
            assert_eq!(plan(&other), plan(&wishes));
            assert_eq!(plan(&other).invent().pages().count(), 90);
        }
    }
}
