//! `bench measure`: the cost of measuring what a refresh is worth to searchers (ΔQ).
//!
//! **Invariant:** plain and measured runs alternate. Both put the same texts in the same order
//! with the same commits. The background work of a run is waited for and charged to it.

mod report;
mod texts;

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use page::PageUrl;
use repository::index::{Document, HEAP, Index, PageIndexWriter, Workload};

use crate::cli::{Indexing, MeasureOptions, MeasureRun};
use crate::instructions;
use crate::machine::{Machine, process_time, rest};
use report::{Instructions, MeasureReport, PairedTimes};
use texts::{MeasuredTexts, PageText};

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
    let arguments = env::args().skip(1).collect::<Vec<_>>().join(" ");
    let report = MeasureReport {
        command: format!("cargo xtask bench {arguments}"),
        machine: Machine::this(),
        world: texts.world.clone(),
        pages: texts.first.len(),
        refreshes: texts.refreshes.len(),
        text_bytes: texts.mean_length(),
        words: workload.words().len(),
        rows: rows.into(),
        instructions,
    };
    if options.json {
        println!("{}", serde_json::to_string(&report)?);
    } else {
        print!("{report}");
    }
    Ok(())
}

/// Indexes texts once, in this process.
pub fn run_once(options: &MeasureRun, place: &Path) -> Result<()> {
    let texts: MeasuredTexts = serde_json::from_slice(&fs::read(&options.texts)?)?;
    // Done in every run, measured or not: reading the queries is not part of indexing.
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
    let count = |what: &str| -> Result<u64> {
        eprintln!("counting instructions: {what}");
        let mut command = Command::new(env::current_exe()?);
        command.arg("measure-run").arg(&file);
        command.args([what, &group.to_string()]);
        instructions::count(&command, &place.join("errors"))
    };
    let (first, plain, measured) = (count("first")?, count("plain")?, count("measured")?);
    ensure!(plain > first, "refreshes took no instructions");
    Ok(Some(Instructions {
        refreshes: texts.refreshes.len(),
        plain: plain - first,
        measured: measured.saturating_sub(first),
    }))
}
