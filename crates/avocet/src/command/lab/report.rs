//! `avocet lab report`: runs each experiment in the worlds that suit it and are available, and
//! writes one page.
//!
//! Each study can also be run alone; the page gives the command.

mod plan;
mod study_progress;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use lab::experiment::{ExperimentSetup, Study};
use lab::report::{Chapter, ReportInfo, claims_page, page};
use serde_json::{Value, json};

use super::reproduction::quoted;
use super::{threads, write};
use crate::cli::lab::ReportArguments;
use crate::progress_bar::Bar;
use plan::{PlannedStudy, ReportPlan};
use study_progress::StudyProgress;

/// Introduction of the report.
const ABOUT: &str = "\
All numbers come from the policies, the frontier and the bench that avocet crawl uses, in recorded or invented \
worlds. A policy sees only what a crawler could have fetched by then. Where a paper gives its policies more \
information, the notes say so.

Claims are tested against the numbers in the papers, on the means of the runs. UO2 compares orderings without a \
number; it holds only if the 95 % confidence interval of the paired differences supports it. A claim that did not hold \
is reported as such; the worlds were not tuned until it did. A claim that holds by construction is marked: it checks \
our code, and says nothing about the web.";

/// Runs the experiments, and writes the page and a folder for each study.
pub fn run(json: bool, arguments: &ReportArguments, bar: &Bar) -> Result<()> {
    let plan = ReportPlan::new(arguments);
    let progress = StudyProgress::new(bar, plan.studies().map(PlannedStudy::seconds).collect());
    let mut chapters = Vec::new();
    for chapter in &plan.chapters {
        let mut studies = Vec::new();
        for planned in &chapter.studies {
            progress.begin_study(&format!("{} in {}", planned.experiment(), planned.world));
            studies.push(planned.run(&setup(planned, arguments), &progress)?);
            progress.end_study();
        }
        chapters.push(Chapter {
            title: chapter.title.into(),
            source: chapter.source.into(),
            introduction: chapter.introduction.into(),
            studies,
        });
    }
    bar.finish();
    drop_repetitions(&mut chapters);
    let studies = || chapters.iter().flat_map(|chapter| &chapter.studies);
    for (number, study) in (1..).zip(studies()) {
        write(study, &arguments.out.join(folder(number, study)))?;
    }
    let about = ReportInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        text: ABOUT.to_owned(),
        seed: arguments.seed,
        command: command(arguments),
        left_out: plan.left_out,
    };
    let path = arguments.out.join("index.html");
    save(&path, &page(&chapters, &about))?;
    if let Some(claims) = &arguments.claims {
        save(claims, &claims_page(&chapters, &about))?;
    }
    let mut out = std::io::stdout().lock();
    if json {
        writeln!(out, "{}", summary(arguments, &path, &about, &chapters))?;
        return Ok(());
    }
    for study in studies() {
        let findings = &study.findings;
        writeln!(out, "{} in {}", findings.experiment, findings.world)?;
        for claim in &study.claims {
            writeln!(out, "  {claim}")?;
        }
    }
    writeln!(out, "wrote {}", path.display())?;
    Ok(())
}

/// Writes a page, and creates its directory if necessary.
fn save(path: &Path, text: &str) -> Result<()> {
    let directory = path.parent().unwrap_or(Path::new(""));
    fs::create_dir_all(directory)
        .and_then(|()| fs::write(path, text))
        .with_context(|| format!("cannot write {}", path.display()))
}

fn setup(planned: &PlannedStudy, arguments: &ReportArguments) -> ExperimentSetup {
    let (seed, runs) = (arguments.seed, planned.runs);
    ExperimentSetup {
        world: planned.world.clone(),
        knobs: planned.knobs.clone(),
        policies: planned.policies.clone(),
        against: None,
        seed,
        runs,
        threads: threads(arguments.threads),
        command: planned.command(seed),
    }
}

/// Returns the command that makes the report again.
fn command(arguments: &ReportArguments) -> String {
    let mut command = "avocet lab report --out DIR".to_owned();
    if let Some(data) = &arguments.data {
        command += &format!(" --data {}", quoted(&data.display().to_string()));
    }
    if arguments.full {
        command += " --full";
    }
    if let Some(runs) = arguments.runs {
        command += &format!(" --runs {runs}");
    }
    command + &format!(" --seed {}", arguments.seed)
}

/// Removes claims and figures that do not depend on the world from all studies but the first.
fn drop_repetitions(chapters: &mut [Chapter]) {
    let (mut said, mut shown) = (Vec::new(), Vec::new());
    let studies = chapters.iter_mut().flat_map(|chapter| &mut chapter.studies);
    let repeats = |study: &&mut Study| {
        ["servers", "currency", "refresh"].contains(&study.findings.experiment.as_str())
    };
    for study in studies.filter(repeats) {
        study.claims.retain(|claim| !said.contains(claim));
        said.extend(study.claims.iter().cloned());
        study.figures.retain(|(_, figure)| !shown.contains(figure));
        shown.extend(study.figures.iter().map(|(_, figure)| figure.clone()));
    }
}

/// Returns the folder for the figures and numbers of a study.
fn folder(number: u32, study: &Study) -> PathBuf {
    let world = study.findings.world.trim_end_matches('/');
    let name = Path::new(world).file_name().unwrap_or(world.as_ref());
    let name = name.to_string_lossy().replace(':', "-");
    PathBuf::from(format!("{number:02}-{}-{name}", study.findings.experiment))
}

fn summary(
    arguments: &ReportArguments,
    path: &Path,
    about: &ReportInfo,
    chapters: &[Chapter],
) -> Value {
    let studies = chapters.iter().flat_map(|chapter| &chapter.studies);
    let studies: Vec<Value> = studies
        .map(|study| {
            let claims = study.claims.iter().map(|claim| {
                json!({
                    "id": claim.id,
                    "claim": claim.says,
                    "published": claim.published,
                    "found": claim.found,
                    "held": claim.holds,
                    "by_construction": study.by_construction(claim),
                })
            });
            json!({ "findings": study.findings, "claims": claims.collect::<Vec<_>>() })
        })
        .collect();
    json!({
        "experiment": "report",
        "page": path,
        "seed": about.seed,
        "runs": arguments.runs,
        "command": about.command,
        "left_out": about.left_out,
        "studies": studies,
    })
}
