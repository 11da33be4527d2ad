//! `bench measure`: the cost of measuring what a refresh is worth to searchers (ΔQ).
//!
//! **Invariant:** plain and measured runs alternate. Both put the same texts in the same order
//! with the same commits. The background work of a run is waited for and charged to it.

mod report;
mod texts;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use clap::Args;
use page::PageUrl;
use repository::index::{Document, HEAP, Index, PageIndexWriter, Workload};
use serde::{Deserialize, Serialize};

use crate::child;
use crate::instructions;
use crate::machine::{process_time, rest};
use report::{Instructions, MeasureReport, PairedTimes};
use texts::{MeasuredTexts, PageText};

/// Options of `bench measure`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench measure
  cargo xtask bench measure --world invented:corpus --refreshes 3000

Puts pages into an index, then their later texts. A measured run measures what each refresh is worth to searchers, and a
plain run does not. The runs alternate in one process; CPU time is that of all its threads, with merges of the index.
If valgrind is installed, instructions are counted as well, in separate processes.")]
pub struct MeasureOptions {
    /// A recorded history with bodies, or invented:corpus [default: ../shared/data/telegram-web
    /// if it exists]
    #[arg(long, value_name = "WORLD")]
    pub world: Option<String>,
    /// A directory with queries.tsv [default: those of the world, or ../shared/data/queries]
    #[arg(long, value_name = "DIR")]
    pub queries: Option<PathBuf>,
    /// Changed texts to index
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u32).range(10..=10_000_000))]
    pub refreshes: u32,
    /// Texts per commit
    #[arg(long, value_name = "N", default_value_t = 500, value_parser = clap::value_parser!(u32).range(1..))]
    pub group: u32,
    /// Number of pairs of runs
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(2..=100))]
    pub runs: u32,
    /// Changed texts whose instructions are counted; 0 counts none
    #[arg(long, value_name = "N", default_value_t = 2500)]
    pub counted: u32,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// One run whose instructions are counted.
#[derive(Debug, Serialize, Deserialize)]
pub struct MeasureRun {
    /// The texts, as `measure` wrote them.
    pub texts: PathBuf,
    /// Which texts to index, and whether to measure.
    pub what: Indexing,
    /// Texts per commit.
    pub group: u32,
}

/// Which texts are indexed, and whether the refreshes are measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Indexing {
    /// Only first copies, without measurement.
    First,
    /// All texts, without measurement.
    Plain,
    /// All texts, with measurement of the refreshes.
    Measured,
}

/// Runs the benchmark and prints the table.
pub fn run(options: &MeasureOptions, place: &Path) -> Result<()> {
    let texts = texts::read(options)?;
    let workload = texts.workload();
    eprintln!(
        "{}: {} pages, {} refreshes, {} words",
        texts.world,
        texts.first.len(),
        texts.refreshes.len(),
        workload.words().len()
    );
    let mut rows = [
        PairedTimes::new("first copies"),
        PairedTimes::new("refreshes"),
    ];
    for pair in 0..options.runs {
        // The second run of a pair may find warm caches or a busy disk, so the order alternates.
        let order = if pair % 2 == 0 {
            [false, true]
        } else {
            [true, false]
        };
        for measured in order {
            eprintln!("run {} of {}, {}", pair + 1, options.runs, name(measured));
            let times = index(&texts, measured.then_some(&workload), options.group, place)?;
            for (row, time) in rows.iter_mut().zip(times) {
                row.push(measured, time);
            }
        }
    }
    let instructions = match options.counted {
        0 => None,
        counted => count_instructions(&texts, counted, options.group, place)?,
    };
    let report = MeasureReport {
        world: texts.world.clone(),
        pages: texts.first.len(),
        refreshes: texts.refreshes.len(),
        text_bytes: texts.mean_length(),
        words: workload.words().len(),
        rows: rows.into(),
        instructions,
    };
    crate::report::print(&report, options.json)
}

/// Indexes texts once, in this process.
pub fn run_once(options: &MeasureRun, place: &Path) -> Result<()> {
    let texts: MeasuredTexts = serde_json::from_slice(&fs::read(&options.texts)?)?;
    // Every run does this, so that it does not count in the difference of two runs.
    let workload = texts.workload();
    let index = Index::open(&place.join("index"))?;
    let mut writer = index.writer(HEAP)?;
    put_all(&mut writer, &texts.first, options.group)?;
    if options.what == Indexing::Measured {
        writer.measure(&workload)?;
    }
    if options.what != Indexing::First {
        put_all(&mut writer, &texts.refreshes, options.group)?;
    }
    Ok(())
}

fn name(measured: bool) -> &'static str {
    if measured { "measured" } else { "plain" }
}

/// Indexes the first copies, then, as after a restart, the refreshes.
///
/// Returns the CPU time and the wall time of both.
fn index(
    texts: &MeasuredTexts,
    workload: Option<&Workload>,
    group: u32,
    place: &Path,
) -> Result<[(Duration, Duration); 2]> {
    let place = place.join("index");
    let times = [&texts.first, &texts.refreshes].map(|puts| -> Result<_> {
        rest();
        let (began, started) = (Instant::now(), process_time());
        let index = Index::open(&place)?;
        let mut writer = index.writer(HEAP)?;
        if let Some(workload) = workload {
            writer.measure(workload)?;
        }
        put_all(&mut writer, puts, group)?;
        let wall = began.elapsed();
        rest();
        Ok((process_time() - started, wall))
    });
    fs::remove_dir_all(&place)?;
    let [first, refreshes] = times;
    Ok([first?, refreshes?])
}

fn put_all(writer: &mut PageIndexWriter, puts: &[PageText], group: u32) -> Result<()> {
    for (number, put) in (1..).zip(puts) {
        let url = PageUrl::parse(&put.url)?;
        writer.put(&Document {
            title: &put.title,
            text: &put.text,
            ..Document::new(url.id(), url.as_str(), url.host_name())
        })?;
        if number % u64::from(group) == 0 {
            writer.commit(number)?;
        }
    }
    writer.commit(0)?;
    Ok(())
}

/// Counts instructions with callgrind. Returns `None` if valgrind is not installed.
fn count_instructions(
    texts: &MeasuredTexts,
    counted: u32,
    group: u32,
    place: &Path,
) -> Result<Option<Instructions>> {
    if !instructions::can_count() {
        return Ok(None);
    }
    let texts = texts.some(counted as usize);
    let file = place.join("texts.json");
    fs::write(&file, serde_json::to_vec(&texts)?)?;
    let count = |what: Indexing| -> Result<u64> {
        eprintln!("counting instructions: {what:?}");
        let options = MeasureRun {
            texts: file.clone(),
            what,
            group,
        };
        let command = child::part("measure-run", &options)?;
        instructions::count(&command, &place.join("errors.txt"))
    };
    let (first, plain) = (count(Indexing::First)?, count(Indexing::Plain)?);
    let measured = count(Indexing::Measured)?;
    ensure!(plain > first, "refreshes took no instructions");
    Ok(Some(Instructions {
        refreshes: texts.refreshes.len(),
        plain: plain - first,
        measured: measured.saturating_sub(first),
    }))
}
