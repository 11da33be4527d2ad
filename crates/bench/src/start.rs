//! `bench start`: the time from opening a large store to the first request.
//!
//! It writes a ledger of invented pages and links, and starts the crawl core from it as `avocet
//! crawl` and `avocet run` do, with their default policies. Each start runs in a process of its
//! own. The files are in the page cache. Opening archive and index is not part of the measurement.
//!
//! **Invariant:** all starts of one kind know the same pages, and the same pages wait.

use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::Args;
use crawl::scope::{Reach, ScopeRules};
use crawl::{Action, Again, Begun, Core, Event, Plan, Scope};
use frontier::{Discovery, Entry, Facts, OutLinks, PageCopy, PageKey, Said, Visited};
use ledger::{Batch, Ledger, LedgerError};
use node::settings::Settings;
use node::settings::policies::PolicySettings;
use page::TextDigest;
use page::url::traps::Rules;
use policy::{History, Moment, Outcome, Policy, Visit};
use serde::{Deserialize, Serialize};

use crate::child;
use crate::machine::{process_time, resident};
use crate::report;
use crate::steps::policies;
use crate::urls::{Urls, scramble};

/// The time of the first visit. Each later visit is a millisecond later.
const BEGIN: Moment = Moment::from_micros(1_700_000_000_000_000);
/// Pages in a commit.
const GROUP: u64 = 1000;
/// Known pages per page that was read: a quarter waits for its first visit.
const KNOWN: f64 = 1.25;
/// Fetches per second of the continuous crawl.
const BUDGET: f64 = 10.0;
/// A tail has the visits to one page in this many.
const TAIL: u64 = 10;

/// Options of `bench start`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench start --pages 1000000 --links 10

Needs about 1 KB of disk (under target/) per page.")]
pub struct StartOptions {
    /// Pages that were read; a quarter more are known and were not read
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1000..=100_000_000))]
    pub pages: u64,
    /// Links of each page to known pages
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub links: u64,
    /// Servers
    #[arg(long, value_name = "N", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub servers: u64,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// What a start begins from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum StartFrom {
    /// The ledger alone.
    Ledger,
    /// The ledger; the checkpoint is made.
    Making,
    /// The checkpoint.
    Checkpoint,
}

/// One start.
#[derive(Debug, Serialize, Deserialize)]
pub struct StartCell {
    place: PathBuf,
    from: StartFrom,
    continuous: bool,
    pages: u64,
}

/// The cost of one start.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct StartCost {
    /// Wall time in seconds, from opening the ledger to the first action.
    wall: f64,
    /// CPU time of all threads, in seconds.
    cpu: f64,
    /// Memory at the first action, in bytes.
    memory: u64,
    /// Peak memory, in bytes.
    peak: u64,
    /// Known pages.
    known: u64,
    /// Pages that wait for a fetch, or for the time of a fetch.
    waiting: u64,
    /// Size of the checkpoint, in bytes.
    bytes: u64,
}

/// The table of `bench start`.
#[derive(Debug, Serialize)]
struct StartReport {
    rows: Vec<(String, StartCost)>,
}

/// Runs the benchmark and prints the table.
pub fn run(options: &StartOptions, place: &Path) -> Result<()> {
    eprintln!("writing the ledger");
    write_ledger(options, place)?;
    let mut rows = Vec::new();
    let kinds = [("crawl", false), ("run", true)];
    let mut starts = |name: &str, from| -> Result<()> {
        for (kind, continuous) in kinds {
            eprintln!("{kind}, {name}");
            let cell = StartCell {
                place: place.to_owned(),
                from,
                continuous,
                pages: options.pages,
            };
            let (cost, process): (StartCost, _) = child::measure("start-cell", &cell, place)?;
            let peak = process.peak;
            rows.push((format!("{kind}, {name}"), StartCost { peak, ..cost }));
            if from == StartFrom::Making && !continuous {
                // The other kind makes it too.
                std::fs::remove_file(checkpoint(place))?;
            }
        }
        Ok(())
    };
    starts("ledger alone", StartFrom::Ledger)?;
    starts("checkpoint made", StartFrom::Making)?;
    starts("checkpoint", StartFrom::Checkpoint)?;
    add_tail(options, place)?;
    starts("checkpoint and tail", StartFrom::Checkpoint)?;
    for (name, cost) in &rows {
        let same = rows
            .iter()
            .take(2)
            .any(|(_, first)| (first.known, first.waiting) == (cost.known, cost.waiting));
        ensure!(
            same,
            "{name}: {} pages known, {} waiting",
            cost.known,
            cost.waiting
        );
    }
    report::print(&StartReport { rows }, options.json)
}

fn checkpoint(place: &Path) -> PathBuf {
    place.join("checkpoint")
}

fn write_ledger(options: &StartOptions, place: &Path) -> Result<()> {
    let ledger = Ledger::open(&place.join("ledger"))?;
    let urls = Urls {
        servers: options.servers,
    };
    let known = (options.pages as f64 * KNOWN) as u64;
    for first in (0..known).step_by(GROUP as usize) {
        let mut batch = Batch::default();
        for number in first..(first + GROUP).min(known) {
            let url = urls.url(number)?;
            let key = PageKey::of(&url);
            let source = (number > 0).then(|| urls.url(number / 2).map(|url| url.id()));
            let at = BEGIN + Duration::from_millis(number / 2);
            let discovery = Discovery {
                url: url.as_str().to_owned(),
                order: number,
                at,
                depth: number.checked_ilog2().unwrap_or(0) as u16,
                hops: 0,
                source: source.transpose()?,
                absent: None,
            };
            batch.entries.push(Entry::Admitted(key, discovery));
            if number < options.pages {
                batch.entries.push(visit(key, number, 0));
                let links = (0..options.links).map(|link| {
                    let chance = scramble(number * options.links + link);
                    // Half of the links lead to neighbours, the others anywhere.
                    let to = match link % 2 {
                        0 => (number + chance % 1000) % known,
                        _ => (chance % known) * (chance >> 32) % known,
                    };
                    let words = if link == 0 {
                        Urls::anchor(to)
                    } else {
                        String::new()
                    };
                    (to as u32, words)
                });
                let links = OutLinks::new(options.links as u32, links.collect());
                batch.entries.push(Entry::Links(key, links));
            }
        }
        ledger.commit(&batch)?;
    }
    Ok(())
}

fn visit(key: PageKey, number: u64, days: u32) -> Entry {
    let at = BEGIN + Duration::from_millis(number);
    let mut history = History::discovered(at, 3);
    for day in 0..=days {
        let at = at + Duration::from_secs(86_400) * day;
        let changed = (scramble(number) >> day).is_multiple_of(4) || day == 0;
        let outcome = match changed {
            true => Outcome::Changed,
            false => Outcome::Unchanged,
        };
        history = history.after(Visit::new(at, outcome));
    }
    let text = TextDigest::of(&format!("{} and {number}", Urls::anchor(number)));
    let copy = PageCopy {
        at,
        etag: Some("\"65537a3c-6978\"".into()),
        text: Some(text),
        indexed: true,
        ..PageCopy::default()
    };
    let visited = Visited {
        history,
        status: Some(200),
        bytes: 18_000,
        copy: Some(copy),
        ..Visited::default()
    };
    Entry::Visited(key, Box::new(visited))
}

/// Commits visits while the checkpoint is open.
fn add_tail(options: &StartOptions, place: &Path) -> Result<()> {
    let ledger = Ledger::open(&place.join("ledger"))?;
    ledger
        .open_checkpoint(&checkpoint(place))
        .map_err(anyhow::Error::msg)?;
    let urls = Urls {
        servers: options.servers,
    };
    for first in (0..options.pages / TAIL).step_by(GROUP as usize) {
        let numbers = first..(first + GROUP).min(options.pages / TAIL);
        let visits = numbers.map(|number| {
            let number = number * TAIL;
            Ok(visit(PageKey::of(&urls.url(number)?), number, 1))
        });
        let batch = Batch {
            entries: visits.collect::<Result<_>>()?,
            ..Batch::default()
        };
        ledger.commit(&batch)?;
    }
    ledger.close_checkpoint();
    Ok(())
}

/// Starts a crawl in this process, and prints the cost.
pub fn run_cell(cell: &StartCell) -> Result<()> {
    let (began, cpu) = (Instant::now(), process_time());
    let ledger = Ledger::open(&cell.place.join("ledger"))?;
    let path = checkpoint(&cell.place);
    let mut core = match cell.from {
        StartFrom::Ledger => begin(cell, &ledger)?,
        StartFrom::Making | StartFrom::Checkpoint => {
            let opened = ledger.open_checkpoint(&path).map_err(anyhow::Error::msg)?;
            let expected = cell.from == StartFrom::Making;
            ensure!(opened.made().is_some() == expected, "{:?}", opened.made());
            match cell.continuous {
                true => begin(cell, &opened.facts(&ledger))?,
                false => begin(cell, &opened.facts_without_anchors(&ledger))?,
            }
        }
    };
    let now = BEGIN + Duration::from_secs(30 * 86_400);
    let mut actions: Vec<Action<()>> = Vec::new();
    for _ in 0..10_000 {
        core.step(Event::Woken, now, &mut actions);
        let waits = |action: &Action<()>| matches!(action, Action::WakeAt(_));
        if !actions.iter().all(waits) {
            break;
        }
    }
    let cost = StartCost {
        wall: began.elapsed().as_secs_f64(),
        cpu: (process_time() - cpu).as_secs_f64(),
        memory: resident(),
        peak: 0,
        known: core.frontier().known() as u64,
        waiting: core.frontier().waiting() as u64,
        bytes: std::fs::metadata(&path).map_or(0, |data| data.len()),
    };
    println!("{}", serde_json::to_string(&cost)?);
    Ok(())
}

fn begin<F: Facts<Error = LedgerError>>(cell: &StartCell, facts: &F) -> Result<Core<()>> {
    let rules = ScopeRules {
        reach: Reach::Any,
        ..ScopeRules::default()
    };
    let scope = Scope::new(&rules, Rules::default())?;
    let plan = Plan {
        connections: 64,
        again: match cell.continuous {
            true => Again::Always { budget: BUDGET },
            false => Again::Never,
        },
        ..Plan::default()
    };
    let mut settings = Settings::default();
    settings.budget.fetches_per_second = Some(BUDGET);
    let choice = PolicySettings::new(&settings, Path::new(""), cell.continuous).choose()?;
    let policies = policies(choice).of_plan(&plan);
    let words = policies.0.needs().words;
    ensure!(
        words == cell.continuous,
        "the defaults need other facts than this benchmark passes"
    );
    let now = BEGIN + Duration::from_secs(30 * 86_400);
    let receive = |_, receive: &mut dyn FnMut(Said<'_>)| receive(Said::default());
    let Begun { mut core, .. } = Core::begin(plan, scope, policies, facts, receive, 7, now)
        .context("cannot restore the core")?;
    ensure!(
        core.frontier().known() as u64 >= cell.pages,
        "pages are missing"
    );
    Ok(core)
}

impl fmt::Display for StartReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{:<28} {:>8} {:>8} {:>9} {:>9} {:>13}",
            "start", "seconds", "CPU s", "MB", "peak MB", "bytes a URL"
        )?;
        for (name, cost) in &self.rows {
            let megabytes = |bytes: u64| bytes as f64 / 1e6;
            writeln!(
                out,
                "{name:<28} {:>8.2} {:>8.2} {:>9.0} {:>9.0} {:>13.1}",
                cost.wall,
                cost.cpu,
                megabytes(cost.memory),
                megabytes(cost.peak),
                cost.bytes as f64 / cost.known as f64
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_store_starts_from_ledger_and_checkpoint_with_the_same_pages() {
        let place = tempfile::tempdir().unwrap();
        let options = StartOptions {
            pages: 1000,
            links: 5,
            servers: 20,
            json: false,
        };
        write_ledger(&options, place.path()).unwrap();
        add_tail(&options, place.path()).unwrap();
        for continuous in [false, true] {
            let cell = |from| StartCell {
                place: place.path().to_owned(),
                from,
                continuous,
                pages: 1000,
            };
            let ledger = Ledger::open(&place.path().join("ledger")).unwrap();
            let from_ledger = begin(&cell(StartFrom::Ledger), &ledger).unwrap();
            let opened = ledger.open_checkpoint(&checkpoint(place.path())).unwrap();
            assert_eq!(opened.made(), None);
            let facts = opened.facts(&ledger);
            let restored = begin(&cell(StartFrom::Checkpoint), &facts).unwrap();
            let counts = |mut core: Core<()>| {
                (
                    core.frontier().known(),
                    core.frontier().waiting(),
                    core.frontier().price(),
                )
            };
            assert_eq!(counts(from_ledger), counts(restored));
        }
    }
}
