//! The command line of `avocet topic`.

use clap::{Args, Subcommand};

/// What to do with a topic.
#[derive(Debug, Subcommand)]
pub enum Topic {
    /// Teach a topic by pages that are of it and pages that are not
    Train(Train),
    /// List the topics of the store
    #[command(after_help = "Example:\n  avocet topic list --store ./docs")]
    List,
    /// Show what was learned: the words that tell most
    #[command(after_help = "Example:\n  avocet topic show course --store ./docs")]
    Show(Name),
    /// Say how good it is, by cross-validation: accuracy, precision, recall, calibration, and what it is least sure of
    #[command(after_help = "Example:\n  avocet topic test course --store ./docs")]
    Test(Name),
    /// Forget a topic
    #[command(after_help = "Example:\n  avocet topic remove course --store ./docs")]
    Remove(Name),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet topic train course --positive ./courses/ --negative ./others/
  avocet topic train course --positive https://example.edu/cs101 https://example.edu/cs102 --sample 200
  avocet topic train course --positive saved/course-*.html --negative saved/other-*.html
  avocet topic train seminar --under course --positive https://example.edu/cs701
  avocet crawl https://example.edu/ --topic course")]
pub struct Train {
    /// What to call it: letters, digits, - and _
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Pages of the topic: files, directories of files, or URLs that the store has
    #[arg(long, value_name = "FILE|DIR|URL", required = true, num_args = 1..)]
    pub positive: Vec<String>,
    /// The topic that it is a part of: pages are then taken to be of that, and its pages that are not named here are of
    /// something else
    #[arg(long, value_name = "TOPIC")]
    pub under: Option<String>,
    /// Pages of something else
    #[arg(long, value_name = "FILE|DIR|URL", num_args = 1..)]
    pub negative: Vec<String>,
    /// Take so many pages of the store for pages of something else, evenly spread; those of --positive are left out
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub sample: usize,
}

#[derive(Debug, Args)]
pub struct Name {
    /// The topic
    #[arg(value_name = "NAME")]
    pub name: String,
}
