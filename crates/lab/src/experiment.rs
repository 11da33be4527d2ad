//! What is asked of the policies, and what came out? One file, one experiment.
//!
//! An experiment runs the production policies, through the crawl core ([`run`](crate::run)), in a
//! world that they cannot reach; it measures, judges the published claims and draws the figures of the papers.
//! **Invariant:** a [`Study`] is a pure function of the [`Setting`] and the experiment's own options.

pub mod currency;
pub mod ephemeral;
pub mod focus;
pub mod ordering;
pub mod partition;
pub mod refresh;
pub mod servers;
pub mod text;
pub mod world;

use figure::Figure;

use crate::LabError;
use crate::findings::Findings;
use crate::world::World;

/// What all experiments are told.
#[derive(Debug, Clone)]
pub struct Setting {
    /// A directory, or `invented:NAME`.
    pub world: String,
    /// What is set of an invented world: names and values.
    pub knobs: Vec<(String, String)>,
    /// The policies to compare, by name; none: all that fit.
    pub policies: Vec<String>,
    /// The policy that the others are compared with, run by run.
    pub against: Option<String>,
    /// Where all chance comes from.
    pub seed: u64,
    /// How often it is run, each time with other draws, the same for all policies.
    pub runs: u32,
    /// Threads to use.
    pub threads: usize,
    /// How the user asked for it.
    pub command: String,
}

/// What came out of an experiment.
#[derive(Debug, Clone)]
pub struct Study {
    /// The numbers.
    pub findings: Findings,
    /// Published claims and what became of them.
    pub claims: Vec<Claim>,
    /// Pictures, each with a name for its file.
    pub figures: Vec<(String, Figure)>,
    /// What a reader must know to judge the numbers: what was left out, and why.
    pub notes: Vec<String>,
}

/// A published claim and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    /// Its short name: `UO1`, `2L1`, `BK1`, …
    pub id: &'static str,
    /// What was claimed, in a sentence.
    pub says: String,
    /// The number as published, or what theory says.
    pub published: String,
    /// The number as found here.
    pub found: String,
    /// Whether it held.
    pub holds: bool,
}

/// A metric of an experiment and what it means, for the help.
pub type Metric = (&'static str, &'static str);

impl Setting {
    /// Whether every run has a world of its own, since another seed gives another one.
    pub fn is_invented(&self) -> bool {
        World::is_invented(&self.world)
    }

    /// Where the chance of a run, counted from 0, comes from.
    pub fn seed_of(&self, run: u64) -> u64 {
        self.seed.wrapping_add(run)
    }

    /// The world of a run.
    pub fn open(&self, run: u64) -> Result<World, LabError> {
        World::open(&self.world, &self.knobs, self.seed_of(run))
    }

    /// A setting with these findings' frame: everything but the rows.
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
