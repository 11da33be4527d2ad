//! `bench http`: throughput by HTTP version and number of connections.
//!
//! It repeats the breadth-first crawls of Cao, Jiang & Singh (2003), section 5.2, with `avocet`
//! itself: on the test set with servers of all kinds, and on 20 fast servers.
//!
//! **Invariant:** a crawl stops at its page limit, long before it has fetched the whole web. So the
//! slow servers that would remain at the end affect no figure.

mod report;

use std::env;
use std::path::Path;

use anyhow::{Result, ensure};

use crate::cli::{HttpOptions, WebKind, WebOptions};
use crate::machine::Machine;
use crate::program::AvocetProgram;
use crate::web::{self, WebProcess};
use report::{HttpReport, HttpRow};

/// The values of `avocet crawl --http`.
pub const VERSIONS: [&str; 4] = ["1.0", "1.1", "pipelined", "2"];

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
    let arguments = env::args().skip(1).collect::<Vec<_>>().join(" ");
    let report = HttpReport {
        command: format!("cargo xtask bench {arguments}"),
        machine: Machine::this(),
        rows,
    };
    if let Some(folder) = &options.out {
        report.draw(folder)?;
    }
    if options.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print!("{report}");
    }
    Ok(())
}
