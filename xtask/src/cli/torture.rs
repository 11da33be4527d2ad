//! Arguments of `cargo xtask torture`.

use clap::{Args, ValueEnum};

/// Options of the torture tests: how long they run, and which.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask torture --minutes 60
  cargo xtask torture --scenario power --minutes 10 --seed 700
  cargo xtask torture --scenario kills --seed 712 --minutes 0   # repeat one round")]
pub struct Torture {
    /// Minutes in total; each test gets an equal share, and runs at least one round
    #[arg(long, default_value_t = 30, value_name = "N")]
    pub minutes: u64,
    /// Seed of the first round; each later round adds one [default: the seconds since 1970]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// A scenario to run (repeatable) [default: all]
    #[arg(long, value_enum)]
    pub scenario: Vec<Scenario>,
}

/// A kind of fault that the tests inject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scenario {
    /// Kill every command with SIGKILL at random instants
    Kills,
    /// Damage each file of a store
    Damage,
    /// Cut the power: lose all writes that were not synced
    Power,
    /// Let syncs and writes fail
    Faults,
    /// Let the wall clock jump
    Clocks,
}

impl Scenario {
    /// Returns the prefix of the names of its tests, and the number of these tests.
    pub fn tests(self) -> (&'static str, u64) {
        match self {
            Self::Kills => ("kills::", 3),
            Self::Damage => ("damage::", 1),
            Self::Power => ("power::", 1),
            Self::Faults => ("faults::", 1),
            Self::Clocks => ("clocks::", 1),
        }
    }
}
