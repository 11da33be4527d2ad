//! `bench search`: the latency of searches over HTTP while pages are indexed.
//!
//! **Invariant:** the server is `avocet serve`, in its own process, with its index on disk. Every
//! answer is read to its end and checked; an error ends the benchmark.

mod invented;
mod searchers;

use std::fmt;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use repository::index::{Index, PageIndexWriter};
use serde::Serialize;

use crate::machine::{memory, occupied};
use crate::program::AvocetProgram;
use crate::report;
use invented::InventedPages;

/// The time between two commits of the index. A crawl waits 15 s, so this is a harder case.
const COMMIT_EVERY: Duration = Duration::from_millis(500);
/// Pages per commit while the index is built.
const GROUP: u32 = 20_000;

#[derive(Debug, Serialize)]
struct SearchReport {
    pages: u64,
    index_bytes: u64,
    searchers: u32,
    searches: usize,
    /// Searches per second.
    rate: f64,
    /// Quantiles of the latency, in milliseconds.
    p50: f64,
    p90: f64,
    p99: f64,
    worst: f64,
    /// Pages indexed during the searches.
    put: u64,
    /// Memory of the server after a tenth of the time, and at the end, in bytes.
    memory: [u64; 2],
}

/// Options of `bench search`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench search
  cargo xtask bench search --searchers 200 --pause 2000 --seconds 60

`avocet serve` serves an index of invented pages in its own process. Searchers send requests over HTTP, while this process
puts pages into the same index and commits twice a second (a crawl commits the index every 15 s). The time of a search
is from the first byte of the request to the last byte of the answer.")]
pub struct SearchOptions {
    /// Pages in the index
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    pub pages: u32,
    /// Mean number of words per page
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(10..=10_000))]
    pub words: u32,
    /// Searchers at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=900))]
    pub searchers: u32,
    /// Mean pause of a searcher between two searches, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 100)]
    pub pause: u64,
    /// Seconds during which searches are made
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub seconds: u64,
    /// Pages per second that are indexed during the searches
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub crawled: u32,
    /// Request the search page instead of the API
    #[arg(long)]
    pub html: bool,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// Runs the benchmark and prints the table.
pub fn run(options: &SearchOptions, place: &Path) -> Result<()> {
    let program = AvocetProgram::build()?;
    let store = place.join("store");
    create_store(&program, &store, place)?;
    eprintln!("{} pages", options.pages);
    let index = Index::open(&store.join("index"))?;
    let mut writer = index.writer(repository::index::HEAP)?;
    let mut pages = InventedPages::new(options.words);
    for number in 0..options.pages {
        pages.put(&mut writer, number)?;
        if number % GROUP == GROUP - 1 {
            writer.commit(0)?;
        }
    }
    writer.commit(0)?;
    let server = ServeProcess::start(&program, &store)?;
    eprintln!("{} searchers for {} s", options.searchers, options.seconds);
    let ended = AtomicBool::new(false);
    let (times, put, memory) = thread::scope(|scope| {
        let putting = scope.spawn(|| keep_putting(&mut writer, &mut pages, options, &ended));
        let watching = scope.spawn(|| {
            thread::sleep(Duration::from_secs(options.seconds) / 10);
            server.memory()
        });
        let times = searchers::search(&server.address, options);
        let last = server.memory();
        ended.store(true, Ordering::Relaxed);
        let put = putting
            .join()
            .map_err(|_| anyhow::anyhow!("the writer panicked"))??;
        let first = watching.join().unwrap_or_default();
        anyhow::Ok((times?, put, [first, last]))
    })?;
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1e3;
    let report = SearchReport {
        pages: index.count(),
        index_bytes: occupied(&store.join("index")),
        searchers: options.searchers,
        searches: times.len(),
        rate: times.len() as f64 / options.seconds as f64,
        p50: at(0.5),
        p90: at(0.9),
        p99: at(0.99),
        worst: at(1.0),
        put,
        memory,
    };
    report::print(&report, options.json)
}

/// Creates a store without pages.
fn create_store(program: &AvocetProgram, store: &Path, place: &Path) -> Result<()> {
    let none = place.join("none.txt");
    fs::write(&none, "")?;
    let import = Command::new(program.path())
        .args(["import", "urls"])
        .arg(&none)
        .arg("--store")
        .arg(store)
        .stdout(Stdio::null())
        .status()?;
    ensure!(import.success(), "avocet import failed");
    fs::write(store.join("avocet.toml"), "[serve]\nrate = 0\n").context("cannot write avocet.toml")
}

/// Indexes new and known pages in turn until `ended` is set.
///
/// Returns the number of pages.
fn keep_putting(
    writer: &mut PageIndexWriter,
    pages: &mut InventedPages,
    options: &SearchOptions,
    ended: &AtomicBool,
) -> Result<u64> {
    let mut put = 0;
    let began = Instant::now();
    let mut committed = 0;
    while !ended.load(Ordering::Relaxed) {
        thread::sleep(Duration::from_millis(20));
        let due = (began.elapsed().as_secs_f64() * f64::from(options.crawled)) as u64;
        while put < due {
            let known = pages.below(options.pages);
            let new = options.pages + put as u32;
            pages.put(writer, if put % 2 == 0 { known } else { new })?;
            put += 1;
        }
        let commits = began.elapsed().as_millis() / COMMIT_EVERY.as_millis();
        if commits > committed && put > 0 {
            committed = commits;
            writer.commit(0)?;
        }
    }
    Ok(put)
}

/// The process of `avocet serve`.
struct ServeProcess {
    child: Child,
    address: String,
}

impl ServeProcess {
    fn start(program: &AvocetProgram, store: &Path) -> Result<Self> {
        let mut child = Command::new(program.path())
            .args(["serve", "--json", "--listen", "127.0.0.1:0", "--store"])
            .arg(store)
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start avocet serve")?;
        let out = child.stdout.take().context("no output")?;
        let mut line = String::new();
        BufReader::new(out).read_line(&mut line)?;
        let answer: serde_json::Value = serde_json::from_str(&line)?;
        let url = answer["listening"].as_str().unwrap_or_default();
        let address = url.trim_start_matches("http://").trim_end_matches('/');
        Ok(Self {
            child,
            address: address.to_owned(),
        })
    }

    /// Returns the anonymous memory of the process, in bytes.
    ///
    /// Mapped files of the index are not counted, since the kernel can reclaim them.
    fn memory(&self) -> u64 {
        memory(&self.child.id().to_string(), "RssAnon:")
    }
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl fmt::Display for SearchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{} pages, {:.0} MB of index, {} pages indexed meanwhile",
            self.pages,
            self.index_bytes as f64 / 1e6,
            self.put
        )?;
        writeln!(
            f,
            "{:>9} {:>9} {:>9} {:>8} {:>8} {:>8} {:>8} {:>18}",
            "searchers",
            "searches",
            "a second",
            "p50 ms",
            "p90 ms",
            "p99 ms",
            "worst",
            "server MB, early and at the end"
        )?;
        let [before, after] = self.memory.map(|bytes| bytes as f64 / 1e6);
        writeln!(
            f,
            "{:>9} {:>9} {:>9.1} {:>8.1} {:>8.1} {:>8.1} {:>8.1} {:>10.0} {:>7.0}",
            self.searchers,
            self.searches,
            self.rate,
            self.p50,
            self.p90,
            self.p99,
            self.worst,
            before,
            after
        )
    }
}
