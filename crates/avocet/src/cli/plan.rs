//! What can be asked of `avocet plan`?

use std::path::PathBuf;

use clap::Args;

use node::settings::Time;
use node::settings::{Rate, Share};

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet plan --current 95% --within 7d --store ./docs
  avocet plan --freshness 90% --svg curve.svg
  avocet plan --budget 5000/day --refresh holistic")]
pub struct Plan {
    /// How much of the store is to be fresh (90% or 0.9)
    #[arg(long, value_name = "SHARE")]
    pub freshness: Option<Share>,
    /// How much of the store is to have been fresh lately (95% or 0.95; see --within)
    #[arg(long, value_name = "SHARE")]
    pub current: Option<Share>,
    /// How lately, for --current [default: 7d]
    #[arg(long, value_name = "TIME")]
    pub within: Option<Time>,
    /// How much of the quality of a fresh store searches are to have (99%); needs a query log
    #[arg(long, value_name = "SHARE")]
    pub quality: Option<Share>,
    /// Instead: what this many fetches reach (2/s, 500/h, 50000/day)
    #[arg(long, value_name = "RATE")]
    pub budget: Option<Rate>,
    /// By which refresh policy, beside uniform [default: the one made for the goal]
    #[arg(long, value_name = "POLICY")]
    pub refresh: Option<String>,
    /// How the change rates of pages are estimated [default: gamma]
    #[arg(long, value_name = "ESTIMATOR")]
    pub rate: Option<String>,
    /// Draw the curve into this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}
