//! `bench refresh`: the cost of choosing which of many known pages to fetch again.
//!
//! **Invariant:** pages, URLs and histories are created before the timing starts. `choosing.rs`
//! defines what is timed.

use std::env;
use std::fmt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use frontier::bench::Manners;
use frontier::{Frontier, FrontierLink, Next};
use page::PageUrl;
use policy::catalog::{Catalog, Upkeep};
use policy::published::server::Quality;
use policy::{Crawl, History, Moment, Number, Outcome, Price, Visit};
use serde::{Deserialize, Serialize};

use crate::child;
use crate::choosing::{PageHistories, choose, mixed};
use crate::cli::{RefreshCell, RefreshOptions};
use crate::machine::{Machine, resident, thread_time};

const DAY: u64 = 86_400;
/// PageHistories per host.
const PAGES_OF_HOST: u32 = 1000;
/// Mean days between two fetches of a page.
const ROUND: u64 = 30;

/// What a measuring process printed.
#[derive(Debug, Serialize, Deserialize)]
struct RefreshCost {
    pages: u64,
    decisions: u64,
    looks: u64,
    nanoseconds: f64,
    bytes_a_page: f64,
}

#[derive(Debug, Serialize)]
struct RefreshReport {
    command: String,
    machine: Machine,
    policy: String,
    rows: Vec<RefreshCost>,
}

/// Runs the benchmark and prints the table.
pub fn run(options: &RefreshOptions, place: &Path) -> Result<()> {
    let usual = vec![1_000_000, 10_000_000];
    let sizes = if options.pages.is_empty() {
        usual
    } else {
        options.pages.clone()
    };
    let mut rows = Vec::new();
    for pages in sizes {
        eprintln!("{pages} pages");
        let args = [
            "refresh-cell".to_owned(),
            pages.to_string(),
            options.decisions.to_string(),
            options.policy.clone(),
        ];
        let mut command = Command::new(env::current_exe()?);
        let ended = child::run(command.args(&args), &place.join("errors"))?;
        rows.push(
            serde_json::from_str(&ended.output)
                .context("cannot parse the output of the child process")?,
        );
    }
    let arguments = env::args().skip(1).collect::<Vec<_>>().join(" ");
    let report = RefreshReport {
        command: format!("cargo xtask bench {arguments}"),
        machine: Machine::this(),
        policy: options.policy.clone(),
        rows,
    };
    if options.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print!("{report}");
    }
    Ok(())
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
    // Every admitted page waits for its first fetch. After it, the page is known.
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

/// Returns the history of a page: eight revisits, ten days apart, some of which found a change.
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
        writeln!(f, "$ {}", self.command)?;
        let machine = &self.machine;
        writeln!(
            f,
            "{} cores, {}; CPU time of one; {}",
            machine.cores, machine.cpu, self.policy
        )?;
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
