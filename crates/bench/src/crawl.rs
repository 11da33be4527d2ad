//! `bench crawl`: the cost of crawling real pages, with and without archive and index.
//!
//! In each run every variant crawls the same sites into a new store, and a bare client fetches the
//! pages that the first crawl found. So other load of the machine affects all of them alike. The
//! medians over the runs are compared.

pub mod bare;
mod report;
pub mod serve;
mod stages;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::Args;
use frontier::PageKey;
use ledger::Ledger;
use page::PageUrl;
use serde::Deserialize;

use crate::child::{self, EndedProcess};
use crate::program::AvocetProgram;
use report::{CrawlCost, CrawlReport};
use serve::SiteServer;

/// The variants: what a crawl stores, and its flags.
const VARIANTS: [(&str, &[&str]); 4] = [
    ("ledger", &["--no-archive", "--no-index"]),
    ("ledger, archive", &["--no-index"]),
    ("ledger, index", &["--no-archive"]),
    ("ledger, archive, index", &[]),
];
const BARE: &str = "bare client";

/// The part of the output of `avocet crawl --json` that is used.
#[derive(Debug, Deserialize)]
struct CrawlTotals {
    pages: u64,
    queued: u64,
    bytes: u64,
}

/// The part of a line of `avocet export urls` that is used.
#[derive(Debug, Deserialize)]
struct ExportedUrl {
    url: String,
    status: Option<u16>,
}

/// Options of `bench crawl`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench crawl --site /usr/share/doc/python3/html --site /usr/share/doc/git/html --runs 3
  cargo xtask bench crawl --stages --site /usr/share/doc/python3/html
  cargo xtask bench crawl --url http://127.0.0.2:8080/ --url http://127.0.0.3:8080/   # served by nginx, for example

CPU time and memory are of the crawler process alone. In wall time the crawler shares the cores with the server.")]
pub struct CrawlOptions {
    /// A directory of HTML, served at its own loopback address (repeatable)
    #[arg(long, value_name = "DIR", required_unless_present = "url")]
    pub site: Vec<PathBuf>,
    /// The start page of a site that another server serves (repeatable)
    #[arg(long, value_name = "URL")]
    pub url: Vec<String>,
    /// Runs of each variant; the table shows the medians
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=99))]
    pub runs: u16,
    /// Connections of the crawler to one server at the same time
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub per_server: u8,
    /// Time limit of a crawl
    #[arg(long, value_name = "TIME", default_value = "10m")]
    pub time: String,
    /// Print the CPU time of each stage of a page instead, measured in this process
    #[arg(long, requires = "site", conflicts_with = "url")]
    pub stages: bool,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// Runs the benchmark and prints the table.
pub fn run(options: &CrawlOptions, place: &Path) -> Result<()> {
    if options.stages {
        let report = stages::run(&options.site, options.runs, place)?;
        return crate::report::print(&report, options.json);
    }
    let program = AvocetProgram::build()?;
    let server = (!options.site.is_empty())
        .then(|| SiteServer::start(&options.site))
        .transpose()?;
    let mut urls = options.url.clone();
    urls.extend(server.iter().flat_map(|server| server.urls.clone()));
    let bench = CrawlBench {
        options,
        place,
        urls,
        avocet: program.path().to_owned(),
    };
    let list = place.join("urls.txt");
    let mut runs: Vec<(&'static str, CrawlCost)> = Vec::new();
    for run in 1..=options.runs {
        for (name, flags) in VARIANTS {
            eprintln!("run {run} of {}: {name}", options.runs);
            runs.push((name, bench.crawl(flags, &list)?));
        }
        eprintln!("run {run} of {}: {BARE}", options.runs);
        runs.push((BARE, bench.bare(&list)?));
    }
    let names = VARIANTS.map(|(name, _)| name).into_iter().chain([BARE]);
    crate::report::print(&CrawlReport::new(names, &runs, BARE)?, options.json)
}

struct CrawlBench<'a> {
    options: &'a CrawlOptions,
    place: &'a Path,
    urls: Vec<String>,
    avocet: PathBuf,
}

impl CrawlBench<'_> {
    /// Crawls once into a new store. The first crawl also writes the list of pages.
    fn crawl(&self, flags: &[&str], list: &Path) -> Result<CrawlCost> {
        let store = self.place.join("store");
        let ended = child::run(
            Command::new(&self.avocet)
                .args(["crawl", "--json", "--time", &self.options.time])
                .args(["--per-server", &self.options.per_server.to_string()])
                .args(flags)
                .args(&self.urls)
                .arg("--store")
                .arg(&store),
            &self.errors(),
        )?;
        let summary: CrawlTotals = serde_json::from_str(&ended.output)
            .context("cannot parse the output of avocet crawl")?;
        ensure!(
            summary.queued == 0,
            "{} pages were left after the time limit of {}",
            summary.queued,
            self.options.time
        );
        let connections = self.connections(&store)?;
        if !list.exists() {
            self.export(&store, list)?;
        }
        fs::remove_dir_all(&store).context("cannot remove the store")?;
        Ok(measured(&ended, summary.pages, summary.bytes, connections))
    }

    fn bare(&self, list: &Path) -> Result<CrawlCost> {
        let (fetched, ended): (bare::Fetched, _) = child::measure("bare", &list, self.place)?;
        Ok(measured(
            &ended,
            fetched.pages,
            fetched.bytes,
            fetched.connections,
        ))
    }

    /// Returns the number of connections that the crawler opened to the sites, from the ledger.
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
            let exported: ExportedUrl =
                serde_json::from_str(line).context("cannot parse a line of avocet export")?;
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

fn measured(ended: &EndedProcess, pages: u64, bytes: u64, connections: u64) -> CrawlCost {
    let count = pages.max(1) as f64;
    CrawlCost {
        pages: pages as f64,
        pages_per_second: count / ended.wall.as_secs_f64(),
        cpu_ms_per_page: ended.cpu.as_secs_f64() * 1e3 / count,
        peak_mb: ended.peak as f64 / 1e6,
        kilobytes_per_page: bytes as f64 / 1e3 / count,
        connections: connections as f64,
    }
}
