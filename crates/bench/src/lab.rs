//! `bench lab`: the speed of the lab's simulations.
//!
//! **Invariant:** the world is created before the timing starts. All else is timed: frontier,
//! policy, bench. Memory is the peak of the whole process, with the world.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use lab::run::order_of_visits;
use lab::run::refresh::{Lives, RefreshPlan, refresh};
use lab::world::World;
use policy::catalog::{Catalog, Wishes};
use policy::refresh::Uniform;
use policy::{Crawl, Price};
use serde::{Deserialize, Serialize};

use crate::child::{self, EndedProcess};
use crate::machine::thread_time;
use crate::report;

const DAY: u64 = 86_400;
/// The seed of all worlds.
const SEED: u64 = 1;

/// The figures that a simulating process printed.
#[derive(Debug, Serialize, Deserialize)]
struct Simulated {
    /// Fetches, first or repeated.
    fetches: u64,
    /// Pages of the world.
    pages: u64,
    /// Links between them.
    links: u64,
    /// CPU time, in seconds.
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct LabRow {
    what: String,
    #[serde(flatten)]
    simulated: Simulated,
    /// Peak memory, in bytes.
    peak: u64,
}

#[derive(Debug, Serialize)]
struct LabReport {
    rows: Vec<LabRow>,
}

/// Options of `bench lab`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench lab
  cargo xtask bench lab --order pagerank --order breadth-first --fetches 325000

Simulates crawls of an invented graph by every ordering, repeated until enough fetches are made, and a year of
refreshes of changing pages. Each runs in its own process, on one core.")]
pub struct LabOptions {
    /// Only this ordering (repeatable)
    #[arg(long, value_name = "ORDER")]
    pub order: Vec<String>,
    /// Fetches to simulate with each ordering
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub fetches: u64,
    /// Pages of the graph
    #[arg(long, value_name = "N", default_value_t = 325_000, value_parser = clap::value_parser!(u32).range(1000..=10_000_000))]
    pub pages: u32,
    /// Mean number of links per page
    #[arg(long, value_name = "N", default_value_t = 10.0)]
    pub links: f64,
    /// Pages to refresh for a year
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    pub refreshed: u32,
    /// Days between two visits to a page
    #[arg(long, value_name = "DAYS", default_value_t = 18, value_parser = clap::value_parser!(u32).range(1..=3650))]
    pub interval: u32,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// The part that simulates crawls by one ordering.
#[derive(Serialize, Deserialize)]
pub struct LabOrdering {
    order: String,
    fetches: u64,
    pages: u32,
    links: f64,
}

/// The part that simulates a year of refreshes.
#[derive(Serialize, Deserialize)]
pub struct LabRefresh {
    pages: u32,
    interval: u32,
}

/// Runs the benchmark and prints the table.
pub fn run(options: &LabOptions, place: &Path) -> Result<()> {
    let mut rows = Vec::new();
    for order in orders(options) {
        eprintln!("{order}: {} fetches", options.fetches);
        let (what, part) = (format!("ordering by {order}"), "lab-ordering");
        let LabOptions {
            fetches,
            pages,
            links,
            ..
        } = *options;
        let part_options = LabOrdering {
            order,
            fetches,
            pages,
            links,
        };
        let (simulated, ended) = child::measure(part, &part_options, place)?;
        rows.push(LabRow::new(what, simulated, &ended));
    }
    eprintln!("refresh: {} pages for a year", options.refreshed);
    let what = format!("a year, every {} days", options.interval);
    let part_options = LabRefresh {
        pages: options.refreshed,
        interval: options.interval,
    };
    let (simulated, ended) = child::measure("lab-refresh", &part_options, place)?;
    rows.push(LabRow::new(what, simulated, &ended));
    report::print(&LabReport { rows }, options.json)
}

/// Returns the orderings to measure: those named, or else all that need nothing but links.
fn orders(options: &LabOptions) -> Vec<String> {
    if !options.order.is_empty() {
        return options.order.clone();
    }
    let catalog = Catalog::standard();
    let orders = catalog.orders().iter();
    let plain = orders.filter(|order| order.wish.is_none() && order.name != "depth-limited");
    plain.map(|order| order.name.to_owned()).collect()
}

impl LabRow {
    fn new(what: String, simulated: Simulated, ended: &EndedProcess) -> Self {
        Self {
            what,
            simulated,
            peak: ended.peak,
        }
    }
}

/// Simulates crawls in this process until enough fetches are made.
pub fn run_ordering(options: &LabOrdering) -> Result<()> {
    let knobs = [
        ("pages".to_owned(), options.pages.to_string()),
        ("links".to_owned(), options.links.to_string()),
        ("hosts".to_owned(), (options.pages / 100).max(1).to_string()),
    ];
    let world = World::open("invented:graph", &knobs, SEED)?.linked()?;
    let catalog = Catalog::standard();
    let (mut fetches, mut took) = (0, Duration::ZERO);
    while fetches < options.fetches {
        let order = catalog.order(&options.order, &Wishes::default())?;
        let began = thread_time();
        // All pages can be reached from the first page.
        let visits = order_of_visits(&world, order, &[0]);
        took += thread_time() - began;
        ensure!(
            visits.len() == world.graph().pages(),
            "the simulation did not fetch all pages"
        );
        fetches += visits.len() as u64;
    }
    print_result(&Simulated {
        fetches,
        pages: world.graph().pages() as u64,
        links: world.graph().edges().count() as u64,
        seconds: took.as_secs_f64(),
    })
}

/// Simulates a year of refreshes in this process.
pub fn run_refresh(options: &LabRefresh) -> Result<()> {
    let knobs = [
        ("pages".to_owned(), options.pages.to_string()),
        ("span".to_owned(), "365".to_owned()),
    ];
    let world = World::open("invented:pages", &knobs, SEED)?;
    let World::Histories(histories) = world else {
        anyhow::bail!("invented:pages is not a world of histories");
    };
    let lives = Lives::of_histories(&histories)?;
    let (from, _) = lives.span().context("no page has a version")?;
    let interval = Duration::from_secs(u64::from(options.interval) * DAY);
    let policy = Crawl {
        refresh: Some(Box::new(Uniform::every(interval))),
        ..Crawl::default()
    };
    let plan = RefreshPlan {
        from,
        until: from + Duration::from_secs(365 * DAY),
        spread: interval,
        warm_up: Duration::ZERO,
        price: Price::ONE,
        graces: Vec::new(),
        seed: SEED,
    };
    let began = thread_time();
    let refreshed = refresh(&lives, policy, &plan);
    print_result(&Simulated {
        fetches: refreshed.visits,
        pages: u64::from(options.pages),
        links: 0,
        seconds: (thread_time() - began).as_secs_f64(),
    })
}

fn print_result(simulated: &Simulated) -> Result<()> {
    println!("{}", serde_json::to_string(simulated)?);
    Ok(())
}

impl fmt::Display for LabReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "CPU time of one core")?;
        writeln!(
            f,
            "{:28} {:>9} {:>9} {:>10} {:>9} {:>11} {:>9}",
            "", "pages", "links", "fetches", "seconds", "fetches/s", "peak MB"
        )?;
        for row in &self.rows {
            let of = &row.simulated;
            writeln!(
                f,
                "{:28} {:>9} {:>9} {:>10} {:>9.2} {:>11.0} {:>9.0}",
                row.what,
                of.pages,
                of.links,
                of.fetches,
                of.seconds,
                of.fetches as f64 / of.seconds.max(1e-9),
                row.peak as f64 / 1e6
            )?;
        }
        Ok(())
    }
}
