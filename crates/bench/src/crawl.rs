//! What does it cost to crawl real pages?
//!
//! Every variant crawls the same sites into a new store, as often as asked, and a bare client fetches
//! the pages that the first crawl found, in the same run: load from elsewhere on the machine hits all
//! of them alike, and the medians are compared.

pub mod bare;
mod report;
pub mod serve;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use frontier::PageKey;
use ledger::Ledger;
use page::PageUrl;
use serde::Deserialize;

use crate::child::{self, Ended};
use crate::cli::Crawl;
use crate::machine::Machine;
use crate::program::Program;
use report::{Measured, Report};
use serve::Server;

/// What a crawl keeps, as flags.
const VARIANTS: [(&str, &[&str]); 4] = [
    ("ledger", &["--no-archive", "--no-index"]),
    ("ledger, archive", &["--no-index"]),
    ("ledger, index", &["--no-archive"]),
    ("ledger, archive, index", &[]),
];
const BARE: &str = "bare client";

/// What `avocet crawl --json` prints, as far as it is of interest.
#[derive(Debug, Deserialize)]
struct Summary {
    pages: u64,
    queued: u64,
    bytes: u64,
}

/// What `avocet export urls` prints, as far as it is of interest.
#[derive(Debug, Deserialize)]
struct Exported {
    url: String,
    status: Option<u16>,
}

/// Measures, and prints the table.
pub fn run(wishes: &Crawl, place: &Path) -> Result<()> {
    let program = Program::build()?;
    let server = (!wishes.site.is_empty())
        .then(|| Server::start(&wishes.site))
        .transpose()?;
    let mut urls = wishes.url.clone();
    urls.extend(server.iter().flat_map(|server| server.urls.clone()));
    let bench = Bench {
        wishes,
        place,
        urls,
        avocet: program.path().to_owned(),
    };
    let list = place.join("urls.txt");
    let mut runs: Vec<(&'static str, Measured)> = Vec::new();
    for run in 1..=wishes.runs {
        for (name, flags) in VARIANTS {
            eprintln!("run {run} of {}: {name}", wishes.runs);
            runs.push((name, bench.crawl(flags, &list)?));
        }
        eprintln!("run {run} of {}: {BARE}", wishes.runs);
        runs.push((BARE, bench.bare(&list)?));
    }
    let names = VARIANTS.map(|(name, _)| name).into_iter().chain([BARE]);
    let command = env::args().skip(1).collect::<Vec<_>>().join(" ");
    let report = Report::new(
        names,
        &runs,
        BARE,
        Machine::this(),
        format!("cargo xtask bench {command}"),
    )?;
    if wishes.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print!("{report}");
    }
    Ok(())
}

struct Bench<'a> {
    wishes: &'a Crawl,
    place: &'a Path,
    urls: Vec<String>,
    avocet: PathBuf,
}

impl Bench<'_> {
    /// Crawls once into a new store. The first crawl says which pages there are.
    fn crawl(&self, flags: &[&str], list: &Path) -> Result<Measured> {
        let store = self.place.join("store");
        let ended = child::run(
            Command::new(&self.avocet)
                .args(["crawl", "--json", "--time", &self.wishes.time])
                .args(["--per-server", &self.wishes.per_server.to_string()])
                .args(flags)
                .args(&self.urls)
                .arg("--store")
                .arg(&store),
            &self.errors(),
        )?;
        let summary: Summary =
            serde_json::from_str(&ended.output).context("cannot read what avocet crawl prints")?;
        ensure!(
            summary.queued == 0,
            "{} pages were left after {}",
            summary.queued,
            self.wishes.time
        );
        let connections = self.connections(&store)?;
        if !list.exists() {
            self.export(&store, list)?;
        }
        fs::remove_dir_all(&store).context("cannot remove the store")?;
        Ok(measured(&ended, summary.pages, summary.bytes, connections))
    }

    fn bare(&self, list: &Path) -> Result<Measured> {
        let ended = child::run(
            Command::new(env::current_exe()?).arg("bare").arg(list),
            &self.errors(),
        )?;
        let fetched: bare::Fetched = serde_json::from_str(&ended.output)?;
        Ok(measured(
            &ended,
            fetched.pages,
            fetched.bytes,
            fetched.connections,
        ))
    }

    /// The connections that the crawler opened to the sites' hosts, as the ledger tells.
    fn connections(&self, store: &Path) -> Result<u64> {
        let ledger = Ledger::open(&store.join("ledger"))?;
        let mut connections = 0;
        for url in &self.urls {
            let url = PageUrl::parse(url).with_context(|| format!("the URL {url:?}"))?;
            let host = ledger.host((PageKey::of(&url).partition, url.host()))?;
            connections += host.map_or(0, |host| u64::from(host.connections));
        }
        Ok(connections)
    }

    fn export(&self, store: &Path, list: &Path) -> Result<()> {
        let export = child::run(
            Command::new(&self.avocet)
                .args(["export", "urls", "--store"])
                .arg(store),
            &self.errors(),
        )?;
        let mut pages = String::new();
        for line in export.output.lines() {
            let exported: Exported =
                serde_json::from_str(line).context("cannot read a line of the export")?;
            if exported.status == Some(200) {
                pages.extend([&exported.url, "\n"]);
            }
        }
        ensure!(!pages.is_empty(), "the crawl found no page");
        fs::write(list, pages).with_context(|| format!("cannot write {}", list.display()))
    }

    fn errors(&self) -> PathBuf {
        self.place.join("errors.txt")
    }
}

fn measured(ended: &Ended, pages: u64, bytes: u64, connections: u64) -> Measured {
    let count = pages.max(1) as f64;
    Measured {
        pages: pages as f64,
        pages_per_second: count / ended.wall.as_secs_f64(),
        cpu_ms_per_page: ended.cpu.as_secs_f64() * 1e3 / count,
        peak_mb: ended.peak as f64 / 1e6,
        kilobytes_per_page: bytes as f64 / 1e3 / count,
        connections: connections as f64,
    }
}
