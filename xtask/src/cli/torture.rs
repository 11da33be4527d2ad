//! Arguments of `cargo xtask torture`.

use clap::{Args, ValueEnum};

/// How long, and what.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask torture --minutes 60
  cargo xtask torture --scenario power --minutes 10 --seed 700
  cargo xtask torture --scenario kills --seed 712 --minutes 0   # one round again")]
pub struct Torture {
    /// Minutes in all; each test gets an equal share, and at least one round
    #[arg(long, default_value_t = 30, value_name = "N")]
    pub minutes: u64,
    /// The seed of the first round; later rounds count on [default: the seconds since 1970]
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// One scenario (repeatable) [default: all]
    #[arg(long, value_enum)]
    pub scenario: Vec<Scenario>,
}

/// What the program suffers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scenario {
    /// `kill -9` of every command at random instants
    Kills,
    /// Damage to each file of a store
    Damage,
    /// Loss of what was not synced
    Power,
    /// Syncs and writes that fail
    Faults,
    /// A wall clock that jumps
    Clocks,
}

impl Scenario {
    /// Its tests, by how their names begin, and how many there are.
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
