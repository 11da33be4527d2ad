//! Arguments of `avocet lab ephemeral`.

use clap::{Args, ValueEnum};
use lab::experiment::ephemeral;

use super::{Common, help};
use node::settings::Time;

#[derive(Debug, Args)]
#[command(
    after_help = "\
Example:
  avocet lab ephemeral --runs 3 --rate 0.05 --policies echo-newpages,echo-greedy,priced
  avocet lab ephemeral --world ./my-news --runs 10 --against echo-newpages",
    after_long_help = help(
        "avocet lab ephemeral --world ./my-news --rate 0.01,0.02 --history 7,3,10 --push 1h,1d --against echo-newpages",
        ephemeral::METRICS,
        &policy::catalog::Catalog::standard().scheduler_help(),
    )
)]
pub struct EphemeralArguments {
    /// A directory with sources, articles, links and clicks (see docs/reference/worlds.md), or
    /// invented:sources
    #[arg(long, value_name = "WORLD", default_value = "invented:sources")]
    pub world: String,
    #[command(flatten)]
    pub common: Common,
    /// Budgets in fetches per second, polls and pages together, separated by commas [default: those
    /// of the paper (.05, .1 and .2 for .229 new pages per second), scaled to the new pages of the
    /// world]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub rate: Vec<f64>,
    /// Numbers of past polls from which the published schedulers estimate the rate of new pages,
    /// separated by commas; the first applies to all values of --rate, the others are tried at the
    /// middle one
    #[arg(long, value_name = "T", value_delimiter = ',', default_values_t = ephemeral::EphemeralExperimentOptions::default().histories)]
    pub history: Vec<usize>,
    /// Intervals at which clicks become known to the schedulers, separated by commas; the first
    /// applies to all values of --rate, the others are tried at the middle one
    #[arg(
        long,
        value_name = "TIME",
        value_delimiter = ',',
        default_value = "1h,12h,24h,7d"
    )]
    pub push: Vec<Time>,
    /// Pages whose clicks become known
    #[arg(long, value_enum, default_value_t = ClickScope::Known)]
    pub clicks: ClickScope,
    /// Sources that a new page counts for, if several link to it
    #[arg(long, value_enum, default_value_t = CreditScope::First)]
    pub credit: CreditScope,
}

/// Sources that a new page counts for.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum CreditScope {
    /// The one whose poll discovered it
    First,
    /// All that link to it (as in the paper)
    All,
}

/// Pages whose clicks become known.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ClickScope {
    /// All discovered pages, fetched or not, as in the paper: a search engine can know clicks from
    /// other data
    Known,
    /// Fetched pages, from their fetch on, as in the click log of a store
    Fetched,
}
