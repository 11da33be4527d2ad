//! `bench http`: throughput by HTTP version and number of connections.
//!
//! It repeats the breadth-first crawls of Cao, Jiang & Singh (2003), section 5.2, with `avocet`
//! itself: on the test set with servers of all kinds, and on 20 fast servers.
//!
//! **Invariant:** a crawl stops at its page limit, long before it has fetched the whole web. So the
//! slow servers that would remain at the end affect no figure.

mod report;

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use clap::Args;

use crate::program::AvocetProgram;
use crate::web::{self, WebKind, WebOptions, WebProcess};
use report::{HttpReport, HttpRow};

/// The values of `avocet crawl --http`.
pub const VERSIONS: [&str; 4] = ["1.0", "1.1", "pipelined", "2"];

/// Options of `bench http`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench http --connections 8,16,32,64,96 --pages 5000 --out docs/figures

Two webs: the 500 servers of `bench servers`, and 20 fast servers that serve 100 requests per connection.")]
pub struct HttpOptions {
    /// Connections at the same time, to the 500 servers
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [8, 16, 32, 64, 96],
        value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub connections: Vec<u16>,
    /// Connections at the same time, to the 20 fast servers
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [2, 4, 8, 14, 20],
        value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub fast_connections: Vec<u16>,
    /// Pages to fetch, of 30,000
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u64).range(1..=30_000))]
    pub pages: u64,
    /// Seed of the webs
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,
    /// Factor on all latencies: 1 means a median of 30 ms to connect and 80 ms to answer
    #[arg(long, value_name = "FACTOR", default_value_t = 0.2)]
    pub slowness: f64,
    /// Draw the figures into this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON document instead of the tables
    #[arg(long)]
    pub json: bool,
}

/// Runs the benchmark, prints the tables and draws the figures.
pub fn run(options: &HttpOptions, place: &Path) -> Result<()> {
    let program = AvocetProgram::build()?;
    let mut rows = Vec::new();
    for (kind, connections) in [
        (WebKind::TwoLevel, &options.connections),
        (WebKind::Fast, &options.fast_connections),
    ] {
        let web_options = WebOptions {
            web: kind,
            seed: options.seed,
            servers: None,
            pages: None,
            slowness: options.slowness,
        };
        let web = web::plan(&web_options).invent();
        for http in VERSIONS {
            for &connections in connections {
                eprintln!("{kind}: HTTP {http}, {connections} connections");
                let server = WebProcess::start(&web_options)?;
                let seeds = place.join("seeds.txt");
                web::write_homes(&web, server.port, &seeds)?;
                let (most, pages) = (connections.to_string(), options.pages.to_string());
                let flags = [
                    ["--http", http],
                    ["--order", "breadth-first"],
                    ["--servers", "breadth-first"],
                    ["--connections", &most],
                    ["--pages", &pages],
                ]
                .concat();
                let flags = flags.into_iter().map(str::to_owned);
                let (ended, summary) = program.crawl(place, &seeds, flags)?;
                let log = server.end()?;
                ensure!(summary.pages > 0, "HTTP {http} fetched nothing");
                let seconds = log.fetched.last().map_or(f64::NAN, |&(_, at)| at);
                rows.push(HttpRow {
                    web: kind.to_string(),
                    http,
                    connections,
                    pages: summary.pages,
                    pages_per_second: summary.pages as f64 / seconds,
                    opened: log.connections,
                    cpu_share: ended.cpu.as_secs_f64() / seconds,
                });
            }
        }
    }
    let report = HttpReport { rows };
    if let Some(folder) = &options.out {
        report.draw(folder)?;
    }
    crate::report::print(&report, options.json)
}
