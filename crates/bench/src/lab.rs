//! `bench lab`: the speed of the lab's simulations.
//!
//! **Invariant:** the world is created before the timing starts. All else is timed: frontier,
//! policy, bench. Memory is the peak of the whole process, with the world.

use std::env;
use std::fmt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use lab::run::order_of_visits;
use lab::run::refresh::{Lives, RefreshPlan, refresh};
use lab::world::{Linked, World};
use policy::catalog::{Catalog, Wishes};
use policy::refresh::Uniform;
use policy::{Crawl, Price};
use serde::{Deserialize, Serialize};

use crate::child;
use crate::cli::{LabOptions, LabOrdering, LabRefresh};
use crate::machine::{Machine, thread_time};

const DAY: u64 = 86_400;
/// The seed of all worlds.
const SEED: u64 = 1;

/// What a simulating process measured and printed.
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
    command: String,
    machine: Machine,
    rows: Vec<LabRow>,
}

/// Runs the benchmark and prints the table.
pub fn run(options: &LabOptions, place: &Path) -> Result<()> {
    let mut rows = Vec::new();
    for order in orders(options) {
        eprintln!("{order}: {} fetches", options.fetches);
        let args = [
            "lab-ordering".to_owned(),
            order.clone(),
            options.fetches.to_string(),
            options.pages.to_string(),
            options.links.to_string(),
        ];
        rows.push(row(format!("ordering by {order}"), &args, place)?);
    }
    eprintln!("refresh: {} pages for a year", options.refreshed);
    let args = [
        "lab-refresh".to_owned(),
        options.refreshed.to_string(),
        options.interval.to_string(),
    ];
    let what = format!("a year, every {} days", options.interval);
    rows.push(row(what, &args, place)?);
    let arguments = env::args().skip(1).collect::<Vec<_>>().join(" ");
    let report = LabReport {
        command: format!("cargo xtask bench {arguments}"),
        machine: Machine::this(),
        rows,
    };
    if options.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print!("{report}");
    }
    Ok(())
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

fn row(what: String, args: &[String], place: &Path) -> Result<LabRow> {
    let mut command = Command::new(env::current_exe()?);
    let ended = child::run(command.args(args), &place.join("errors"))?;
    let simulated = serde_json::from_str(&ended.output)
        .context("cannot parse the output of the child process")?;
    Ok(LabRow {
        what,
        simulated,
        peak: ended.peak,
    })
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
    print_result(&world, fetches, took)
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
    let simulated = Simulated {
        fetches: refreshed.visits,
        pages: u64::from(options.pages),
        links: 0,
        seconds: (thread_time() - began).as_secs_f64(),
    };
    println!("{}", serde_json::to_string(&simulated)?);
    Ok(())
}

fn print_result(world: &Linked, fetches: u64, took: Duration) -> Result<()> {
    let simulated = Simulated {
        fetches,
        pages: world.graph().pages() as u64,
        links: world.graph().edges().count() as u64,
        seconds: took.as_secs_f64(),
    };
    println!("{}", serde_json::to_string(&simulated)?);
    Ok(())
}

impl fmt::Display for LabReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "$ {}", self.command)?;
        writeln!(
            f,
            "{} cores, {}; CPU time of one",
            self.machine.cores, self.machine.cpu
        )?;
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
