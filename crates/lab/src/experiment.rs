//! The experiments of the laboratory, one module each. [`world`] describes a world and runs no
//! policy; [`text`] formats a study for the terminal.
//!
//! An experiment runs the production policies in a world that they cannot see, through the crawl
//! core ([`run`](crate::run)). It measures the outcome, checks published claims against it and
//! draws the figures of the papers.
//!
//! Several experiments repeat those of chapter 6 of Baldi, Frasconi & Smyth, "Modeling the Internet
//! and the Web" (2003).
//!
//! **Invariant:** a [`Study`] depends only on the [`ExperimentSetup`], the experiment's own options
//! and the files that they name. The number of threads does not change it.

mod construction;
pub mod currency;
pub mod ephemeral;
pub mod focus;
pub mod joint;
pub mod ordering;
pub mod partition;
pub mod refresh;
pub mod servers;
pub mod text;
pub mod world;

use figure::{Figure, Series};

use crate::LabError;
use crate::findings::Findings;
use crate::world::{World, WorldPart};

/// Returns figures of lines. Each is given by the stem of its file name, its title, its axes and
/// its lines. A figure without lines is omitted.
fn line_figures<const N: usize>(
    figures: [(&str, &str, &str, &str, Vec<Series>); N],
) -> Vec<(String, Figure)> {
    let drawn = figures.into_iter().filter(|figure| !figure.4.is_empty());
    drawn
        .map(|(name, title, x_label, y_label, series)| {
            let figure = Figure {
                title: title.into(),
                x_label: x_label.into(),
                y_label: y_label.into(),
                series,
                ..Figure::default()
            };
            (name.to_owned(), figure)
        })
        .collect()
}

/// Settings that all experiments share.
#[derive(Debug, Clone)]
pub struct ExperimentSetup {
    /// Directory of a recorded world, or `invented:NAME`.
    pub world: String,
    /// Settings of an invented world, as pairs of name and value.
    pub knobs: Vec<(String, String)>,
    /// Names of the policies to compare. Empty means all policies that fit the experiment.
    pub policies: Vec<String>,
    /// The policy that the others are compared with, run by run.
    pub against: Option<String>,
    /// Seed from which every run derives its random draws.
    pub seed: u64,
    /// Number of repetitions; 0 counts as 1. Each has its own random draws, which are the same
    /// for all policies.
    pub runs: u32,
    /// Number of worker threads.
    pub threads: usize,
    /// The command line, for the report.
    pub command: String,
}

/// The result of an experiment.
#[derive(Debug, Clone)]
pub struct Study {
    /// The measured numbers.
    pub findings: Findings,
    /// Published claims and whether they held.
    pub claims: Vec<PublishedClaim>,
    /// Figures, each with the stem of its file name.
    pub figures: Vec<(String, Figure)>,
    /// Remarks a reader needs to judge the numbers, such as what was left out and why.
    pub notes: Vec<String>,
}

/// A published claim and whether it held.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedClaim {
    /// Short identifier, as in `docs/science/claims.md`: `UO1`, `2L1`, `BK1`, …
    pub id: &'static str,
    /// The claim in one sentence.
    pub says: String,
    /// The published number, or the value that theory predicts.
    pub published: String,
    /// The number that this experiment found.
    pub found: String,
    /// Whether the claim held.
    pub holds: bool,
}

/// Name and meaning of a metric, for `--help`.
pub type Metric = (&'static str, &'static str);

impl ExperimentSetup {
    /// Returns whether the world is invented, so that each run gets a world of its own.
    pub fn is_invented(&self) -> bool {
        World::is_invented(&self.world)
    }

    /// Returns the random seed of a run; runs count from 0.
    pub fn seed_of(&self, run: u64) -> u64 {
        self.seed.wrapping_add(run)
    }

    /// Opens the world of a run, or this part of it if a directory has several.
    pub fn open(&self, run: u64, part: WorldPart) -> Result<World, LabError> {
        World::open_part(&self.world, &self.knobs, self.seed_of(run), part)
    }

    /// Returns findings with these rows and the metadata of this setup.
    pub fn findings(&self, experiment: &str, rows: Vec<crate::findings::Row>) -> Findings {
        Findings {
            experiment: experiment.to_owned(),
            world: self.world.clone(),
            seed: self.seed,
            runs: self.runs,
            command: self.command.clone(),
            rows,
        }
    }
}
