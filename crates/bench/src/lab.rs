//! How fast is the lab?
//!
//! **Invariant:** the world is made before the clock starts, everything else of a run is timed: frontier,
//! policy, bench. Memory is the peak of the whole process, the world included.

use std::env;
use std::fmt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use lab::run::order_of_visits;
use lab::run::refresh::{Lives, Refresh, refresh};
use lab::world::{Linked, World};
use policy::catalog::{Catalog, Wishes};
use policy::refresh::Uniform;
use policy::{Crawl, Price};
use serde::{Deserialize, Serialize};

use crate::child;
use crate::cli::{Lab, LabOrdering, LabRefresh};
use crate::machine::{Machine, thread_time};

const DAY: u64 = 86_400;
/// Where all worlds come from.
const SEED: u64 = 1;

/// What a process measured of itself.
#[derive(Debug, Serialize, Deserialize)]
struct Simulated {
    /// Fetches, first or repeated.
    fetches: u64,
    /// Pages of the world.
    pages: u64,
    /// Links between them.
    links: u64,
    /// CPU time.
    seconds: f64,
}

#[derive(Debug, Serialize)]
struct Row {
    what: String,
    #[serde(flatten)]
    simulated: Simulated,
    /// The most memory, in bytes.
    peak: u64,
}

#[derive(Debug, Serialize)]
struct Report {
    command: String,
    machine: Machine,
    rows: Vec<Row>,
}

/// Measures, and prints the table.
pub fn run(wishes: &Lab, place: &Path) -> Result<()> {
    let mut rows = Vec::new();
    for order in orders(wishes) {
        eprintln!("{order}: {} fetches", wishes.fetches);
        let asked = [
            "lab-ordering".to_owned(),
            order.clone(),
            wishes.fetches.to_string(),
            wishes.pages.to_string(),
            wishes.links.to_string(),
        ];
        rows.push(row(format!("ordering by {order}"), &asked, place)?);
    }
    eprintln!("refresh: {} pages for a year", wishes.refreshed);
    let asked = [
        "lab-refresh".to_owned(),
        wishes.refreshed.to_string(),
        wishes.interval.to_string(),
    ];
    let what = format!("a year, every {} days", wishes.interval);
    rows.push(row(what, &asked, place)?);
    let arguments = env::args().skip(1).collect::<Vec<_>>().join(" ");
    let report = Report {
        command: format!("cargo xtask bench {arguments}"),
        machine: Machine::this(),
        rows,
    };
    if wishes.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print!("{report}");
    }
    Ok(())
}

/// The orderings that are wanted: without a name, all that need nothing but links.
fn orders(wishes: &Lab) -> Vec<String> {
    if !wishes.order.is_empty() {
        return wishes.order.clone();
    }
    let catalog = Catalog::standard();
    let orders = catalog.orders().iter();
    let plain = orders.filter(|order| order.wish.is_none() && order.name != "depth-limited");
    plain.map(|order| order.name.to_owned()).collect()
}

fn row(what: String, asked: &[String], place: &Path) -> Result<Row> {
    let mut command = Command::new(env::current_exe()?);
    let ended = child::run(command.args(asked), &place.join("errors"))?;
    let simulated = serde_json::from_str(&ended.output).context("a child printed no JSON")?;
    Ok(Row {
        what,
        simulated,
        peak: ended.peak,
    })
}

/// Crawls from one start after another, in this process.
pub fn run_ordering(asked: &LabOrdering) -> Result<()> {
    let knobs = [
        ("pages".to_owned(), asked.pages.to_string()),
        ("links".to_owned(), asked.links.to_string()),
        ("hosts".to_owned(), (asked.pages / 100).max(1).to_string()),
    ];
    let world = World::open("invented:graph", &knobs, SEED)?.linked()?;
    let catalog = Catalog::standard();
    let (mut fetches, mut took) = (0, Duration::ZERO);
    while fetches < asked.fetches {
        let order = catalog.order(&asked.order, &Wishes::default())?;
        let began = thread_time();
        // Everything can be reached from the first page.
        let visits = order_of_visits(&world, order, &[0]);
        took += thread_time() - began;
        ensure!(visits.len() == world.graph().pages(), "not all was fetched");
        fetches += visits.len() as u64;
    }
    say(&world, fetches, took)
}

/// Refreshes pages for a year, in this process.
pub fn run_refresh(asked: &LabRefresh) -> Result<()> {
    let knobs = [
        ("pages".to_owned(), asked.pages.to_string()),
        ("span".to_owned(), "365".to_owned()),
    ];
    let world = World::open("invented:pages", &knobs, SEED)?;
    let World::Histories(histories) = world else {
        anyhow::bail!("invented:pages is no history");
    };
    let lives = Lives::of_histories(&histories)?;
    let (from, _) = lives.span().context("no page has a version")?;
    let interval = Duration::from_secs(u64::from(asked.interval) * DAY);
    let policy = Crawl {
        refresh: Some(Box::new(Uniform::every(interval))),
        ..Crawl::default()
    };
    let plan = Refresh {
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
        pages: u64::from(asked.pages),
        links: 0,
        seconds: (thread_time() - began).as_secs_f64(),
    };
    println!("{}", serde_json::to_string(&simulated)?);
    Ok(())
}

fn say(world: &Linked, fetches: u64, took: Duration) -> Result<()> {
    let simulated = Simulated {
        fetches,
        pages: world.graph().pages() as u64,
        links: world.graph().edges().count() as u64,
        seconds: took.as_secs_f64(),
    };
    println!("{}", serde_json::to_string(&simulated)?);
    Ok(())
}

impl fmt::Display for Report {
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
