//! Arguments of `avocet plan`.

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
pub struct PlanArguments {
    /// Goal: the share of copies that equal their page (90% or 0.9)
    #[arg(long, value_name = "SHARE")]
    pub freshness: Option<Share>,
    /// Goal: the share of copies that equalled their page at some time in the last --within (95% or
    /// 0.95)
    #[arg(long, value_name = "SHARE")]
    pub current: Option<Share>,
    /// How far --current looks back [default: 7d]
    #[arg(long, value_name = "TIME")]
    pub within: Option<Time>,
    /// Goal: the search quality, as a share of that of a store without outdated copies (99%); needs
    /// a query log
    #[arg(long, value_name = "SHARE")]
    pub quality: Option<Share>,
    /// Show what this budget achieves, instead of what a goal needs (2/s, 500/h, 50000/day)
    #[arg(long, value_name = "RATE")]
    pub budget: Option<Rate>,
    /// Refresh policy to compare with uniform [default: the one made for the goal]
    #[arg(long, value_name = "POLICY")]
    pub refresh: Option<String>,
    /// Estimator of change rates [default: gamma]
    #[arg(long, value_name = "ESTIMATOR")]
    pub rate: Option<String>,
    /// Write the curve to this SVG file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
}
