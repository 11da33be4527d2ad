//! The command line of `avocet lab ephemeral`.

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
pub struct Ephemeral {
    /// A directory with sources, articles, links and clicks (see docs/reference/worlds.md), or invented:sources
    #[arg(
        long,
        value_name = "DIR|invented:NAME",
        default_value = "invented:sources"
    )]
    pub world: String,
    #[command(flatten)]
    pub common: Common,
    /// Fetches a second, of polls and pages together, separated by commas [default: .05,.1,.2 for .229 new pages a second]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub rate: Vec<f64>,
    /// Polls that the printed estimate of new pages looks back on, separated by commas: the first for all, the others beside it at the middle rate
    #[arg(long, value_name = "T", value_delimiter = ',', default_values_t = ephemeral::Options::default().histories)]
    pub history: Vec<usize>,
    /// How often clicks become known, separated by commas, likewise
    #[arg(
        long,
        value_name = "TIME",
        value_delimiter = ',',
        default_value = "1h,12h,24h,7d"
    )]
    pub push: Vec<Time>,
    /// On which pages clicks become known
    #[arg(long, value_enum, default_value_t = Clicks::Known)]
    pub clicks: Clicks,
}

/// On which pages clicks become known.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Clicks {
    /// On all that were heard of: a search engine that has them by other ways, as in the paper
    Known,
    /// On those that were fetched, from then on: our own log
    Fetched,
}
