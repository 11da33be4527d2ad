//! Which HTTP, over how many connections?
//!
//! The breadth-first crawls of Cao, Jiang & Singh (2003), §5.2, with the program itself: the test set with
//! servers of all kinds, and 20 fast servers. **Invariant:** a crawl stops at its limit of pages long
//! before a web ends, so a few slow servers at the end are in no figure.

mod report;

use std::env;
use std::path::Path;

use anyhow::{Result, ensure};

use crate::cli::{Http, WebKind, WebWishes};
use crate::machine::Machine;
use crate::program::Program;
use crate::web::{self, Server};
use report::{Report, Row};

/// What `avocet crawl --http` takes.
pub const VERSIONS: [&str; 4] = ["1.0", "1.1", "pipelined", "2"];

/// Measures, prints the tables and draws the figures.
pub fn run(wishes: &Http, place: &Path) -> Result<()> {
    let program = Program::build()?;
    let mut rows = Vec::new();
    for (kind, connections) in [
        (WebKind::TwoLevel, &wishes.connections),
        (WebKind::Fast, &wishes.fast_connections),
    ] {
        let web_wishes = WebWishes {
            web: kind,
            seed: wishes.seed,
            servers: None,
            pages: None,
            slowness: wishes.slowness,
        };
        let web = web::plan(&web_wishes).invent();
        for http in VERSIONS {
            for &connections in connections {
                eprintln!("{kind}: HTTP {http}, {connections} connections");
                let server = Server::start(&web_wishes)?;
                let seeds = place.join("seeds.txt");
                web::write_homes(&web, server.port, &seeds)?;
                let (most, pages) = (connections.to_string(), wishes.pages.to_string());
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
                let seen = server.end()?;
                ensure!(summary.pages > 0, "HTTP {http} fetched nothing");
                let seconds = seen.fetched.last().map_or(f64::NAN, |&(_, at)| at);
                rows.push(Row {
                    web: kind.to_string(),
                    http,
                    connections,
                    pages: summary.pages,
                    pages_per_second: summary.pages as f64 / seconds,
                    opened: seen.connections,
                    cpu_share: ended.cpu.as_secs_f64() / seconds,
                });
            }
        }
    }
    let arguments = env::args().skip(1).collect::<Vec<_>>().join(" ");
    let report = Report {
        command: format!("cargo xtask bench {arguments}"),
        machine: Machine::this(),
        rows,
    };
    if let Some(folder) = &wishes.out {
        report.draw(folder)?;
    }
    if wishes.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print!("{report}");
    }
    Ok(())
}
