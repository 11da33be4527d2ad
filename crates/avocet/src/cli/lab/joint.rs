//! Arguments of `avocet lab joint`.

use clap::Args;
use lab::experiment::joint;

use super::{Common, help};
use node::settings::Time;

#[derive(Debug, Args)]
#[command(
    after_help = "\
Example:
  avocet lab joint --runs 5 --policies one-price,best-quota
  avocet lab joint --world ./my-news --pages ./my-histories --runs 5",
    after_long_help = help(
        "avocet lab joint --rate 0.005,0.02 --runs 5 --against best-quota --out figures",
        joint::METRICS,
        &joint::contestants_help(),
    )
)]
pub struct JointArguments {
    /// invented:town, or with --pages a directory with sources, articles, links and clicks (see
    /// docs/reference/worlds.md)
    #[arg(
        long,
        value_name = "DIR|invented:NAME",
        default_value = "invented:town"
    )]
    pub world: String,
    #[command(flatten)]
    pub common: Common,
    /// A directory with page histories: its pages become the old pages of the town. Parameters of
    /// invented:town then apply only to what is still drawn at random
    #[arg(long, value_name = "DIR")]
    pub pages: Option<String>,
    /// Fetches per second, separated by commas [default: 1, 3 and 9 times the new pages per
    /// second]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    pub rate: Vec<f64>,
    /// Numbers of connections for the part in which connections are scarce, separated by commas
    #[arg(long, value_name = "C", value_delimiter = ',', default_values_t = joint::JointExperimentOptions::default().connections)]
    pub connections: Vec<usize>,
    /// Interval of the polls of sitemaps
    #[arg(long, value_name = "TIME", default_value = "1d")]
    pub listings: Time,
    /// Ordering, which gives the importance of pages
    #[arg(long, value_name = "POLICY", default_value_t = joint::JointExperimentOptions::default().order)]
    pub order: String,
    /// Refresh policy
    #[arg(long, value_name = "POLICY", default_value_t = joint::JointExperimentOptions::default().refresh)]
    pub refresh: String,
    /// Scheduler of sources
    #[arg(long, value_name = "POLICY", default_value_t = joint::JointExperimentOptions::default().scheduler)]
    pub scheduler: String,
}
