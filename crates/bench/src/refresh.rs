//! `bench refresh`: the cost of choosing which of many known pages to fetch again.
//!
//! **Invariant:** pages, URLs and histories are created before the timing starts. `choosing.rs`
//! defines what is timed.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use frontier::bench::Manners;
use frontier::{Frontier, FrontierLink, Next};
use page::PageUrl;
use policy::catalog::{Catalog, Upkeep};
use policy::published::server::Quality;
use policy::{Crawl, History, Moment, Number, Outcome, Price, Visit};
use serde::{Deserialize, Serialize};

use crate::child;
use crate::choosing::{PageHistories, choose, mixed};
use crate::machine::{resident, thread_time};
use crate::report;

const DAY: u64 = 86_400;
/// Pages per host.
const PAGES_OF_HOST: u32 = 1000;
/// Mean days between two fetches of a page.
const ROUND: u64 = 30;

/// The figures that a measuring process printed.
#[derive(Debug, Serialize, Deserialize)]
struct RefreshCost {
    pages: u64,
    decisions: u64,
    /// Histories read for all decisions.
    looks: u64,
    /// Mean CPU time of a decision, in nanoseconds.
    nanoseconds: f64,
    /// Memory of the frontier per page, in bytes.
    bytes_a_page: f64,
}

#[derive(Debug, Serialize)]
struct RefreshReport {
    policy: String,
    rows: Vec<RefreshCost>,
}

/// Options of `bench refresh`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench refresh
  cargo xtask bench refresh --pages 1000000 --policy freshness

A frontier under a budget knows the given number of pages, each visited before. The benchmark times the choice of the
next page, and the computation of the next due time of the fetched page. Each size runs in its own process, on one core.")]
pub struct RefreshOptions {
    /// Known pages, one row each
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [1_000_000, 10_000_000], value_parser = clap::value_parser!(u32).range(1000..=50_000_000))]
    pub pages: Vec<u32>,
    /// Decisions to time
    #[arg(long, value_name = "N", default_value_t = 500_000)]
    pub decisions: u32,
    /// The refresh policy
    #[arg(long, value_name = "POLICY", default_value = "holistic")]
    pub policy: String,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// One row of the table.
#[derive(Debug, Serialize, Deserialize)]
pub struct RefreshCell {
    /// Known pages.
    pub pages: u32,
    /// Decisions to time.
    pub decisions: u32,
    /// The refresh policy.
    pub policy: String,
}

/// Runs the benchmark and prints the table.
pub fn run(options: &RefreshOptions, place: &Path) -> Result<()> {
    let mut rows = Vec::new();
    for &pages in &options.pages {
        eprintln!("{pages} pages");
        let cell = RefreshCell {
            pages,
            decisions: options.decisions,
            policy: options.policy.clone(),
        };
        rows.push(child::measure("refresh-cell", &cell, place)?.0);
    }
    let policy = options.policy.clone();
    report::print(&RefreshReport { policy, rows }, options.json)
}

/// Chooses among the given number of pages, in this process.
pub fn run_cell(options: &RefreshCell) -> Result<()> {
    let now = Moment::START + Duration::from_secs(1000 * DAY);
    let mut known = LastVisits::new(options.pages);
    let before = resident();
    let mut frontier = known_pages(options, &mut known, now)?;
    let bytes = resident().saturating_sub(before) as f64;
    let step = step(options.pages);
    let choices = choose(
        &mut frontier,
        &mut known,
        (now, step),
        options.decisions,
        thread_time,
    )?;
    let measured = RefreshCost {
        pages: options.pages.into(),
        decisions: choices.made.into(),
        looks: choices.looks,
        nanoseconds: choices.nanoseconds(),
        bytes_a_page: bytes / f64::from(options.pages),
    };
    println!("{}", serde_json::to_string(&measured)?);
    Ok(())
}

/// Returns the time between two fetches under the budget.
pub fn step(pages: u32) -> Duration {
    Duration::from_secs_f64((ROUND * DAY) as f64 / f64::from(pages))
}

/// Returns a frontier that knows the pages, each with a due time.
pub fn known_pages(
    options: &RefreshCell,
    known: &mut LastVisits,
    now: Moment,
) -> Result<Frontier<Crawl>> {
    let per_second = f64::from(options.pages) / (ROUND * DAY) as f64;
    let upkeep = Upkeep {
        budget: Some(per_second),
        ..Upkeep::default()
    };
    let policy = Crawl {
        refresh: Some(Catalog::standard().refresh(&options.policy, &upkeep)?),
        ..Crawl::default()
    };
    let manners = Manners {
        pages_per_visit: 1,
        pages_per_host: u32::MAX,
        ..Manners::default()
    };
    let mut frontier =
        Frontier::new(policy, Box::new(Quality), Price::LEAST, manners, 1).with_budget(per_second);
    for page in 0..options.pages {
        let text = format!("http://host-{}.example/{page}", page / PAGES_OF_HOST);
        let url = PageUrl::parse(&text).with_context(|| text.clone())?;
        let link = FrontierLink {
            url: &url,
            depth: 1,
            hops: 0,
            source: None,
            absent: None,
        };
        let (number, fact) = frontier.hear(link, now);
        frontier.committed(&[fact]);
        known.0[number.index()] = seconds(now);
    }
    // Fetches every page for the first time, without counting the cost.
    while let Next::Visit(mut visit) = frontier.next(now) {
        while let Some(page) = visit.first() {
            let id = frontier.page(visit.host, page);
            let later = known.history(page);
            let first = History::discovered(later.discovered, 1);
            frontier.visited(id, &first, &later, now);
            visit.settled(page);
        }
        frontier.bench.settle(visit, now, Duration::ZERO, false);
        if frontier.bench.waiting() == 0 {
            break;
        }
    }
    Ok(frontier)
}

/// The time of the last fetch of each page, in seconds. A full history takes much more memory.
pub struct LastVisits(Vec<u32>);

impl LastVisits {
    /// Creates the table for this number of pages, none of which was fetched.
    pub fn new(pages: u32) -> Self {
        Self(vec![0; pages as usize])
    }
}

impl PageHistories for LastVisits {
    fn history(&self, page: Number) -> History {
        history(page, self.0[page.index()])
    }

    fn visit(&mut self, page: Number, now: Moment) -> History {
        let later = self
            .history(page)
            .after(Visit::new(now, Outcome::Unchanged));
        self.0[page.index()] = seconds(now);
        later
    }
}

/// Returns the history of a page: eight revisits, ten days apart. The first k of them found a
/// change, where the page's number determines k (0 to 8).
fn history(page: Number, fetched: u32) -> History {
    let fetched = Duration::from_secs(fetched.into());
    let start = Moment::START + (fetched - Duration::from_secs(80 * DAY));
    let changes = mixed(page.0) % 9;
    let first = History::discovered(start, 1).after(Visit::new(start, Outcome::Changed));
    (1..=8).fold(first, |history, visit: u32| {
        let at = start + Duration::from_secs(u64::from(visit) * 10 * DAY);
        let outcome = if visit <= changes {
            Outcome::Changed
        } else {
            Outcome::Unchanged
        };
        history.after(Visit::new(at, outcome))
    })
}

fn seconds(moment: Moment) -> u32 {
    moment.unix_seconds() as u32
}

impl fmt::Display for RefreshReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "CPU time of one core; policy {}", self.policy)?;
        writeln!(
            f,
            "{:>10} {:>10} {:>14} {:>12} {:>12}",
            "pages", "decisions", "ns a decision", "looks each", "bytes a page"
        )?;
        for row in &self.rows {
            let looks = row.looks as f64 / row.decisions as f64;
            writeln!(
                f,
                "{:>10} {:>10} {:>14.0} {looks:>12.2} {:>12.0}",
                row.pages, row.decisions, row.nanoseconds, row.bytes_a_page
            )?;
        }
        Ok(())
    }
}
