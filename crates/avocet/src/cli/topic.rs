//! Arguments of `avocet topic`.

use clap::{Args, Subcommand};

/// Subcommands of `avocet topic`.
#[derive(Debug, Subcommand)]
pub enum TopicCommand {
    /// Train a topic from pages that belong to it and pages that do not
    Train(TrainArguments),
    /// List the topics of the store
    #[command(after_help = "Example:\n  avocet topic list --store ./docs")]
    List,
    /// Show the words that distinguish a topic best
    #[command(after_help = "Example:\n  avocet topic show course --store ./docs")]
    Show(TopicName),
    /// Cross-validate a topic: accuracy, precision, recall, calibration, and the least certain
    /// examples
    #[command(after_help = "Example:\n  avocet topic test course --store ./docs")]
    Test(TopicName),
    /// Delete a topic
    #[command(after_help = "Example:\n  avocet topic remove course --store ./docs")]
    Remove(TopicName),
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet topic train course --positive ./courses/ --negative ./others/
  avocet topic train course --positive https://example.edu/cs101 https://example.edu/cs102 --sample 200
  avocet topic train course --positive saved/course-*.html --negative saved/other-*.html
  avocet topic train seminar --under course --positive https://example.edu/cs701
  avocet crawl https://example.edu/ --topic course")]
pub struct TrainArguments {
    /// Name of the topic: letters, digits, - and _
    #[arg(value_name = "NAME")]
    pub name: String,
    /// Pages of the topic: files, directories of files, or URLs whose copies are in the store
    #[arg(long, value_name = "FILE|DIR|URL", required = true, num_args = 1..)]
    pub positive: Vec<String>,
    /// Parent topic, of which this topic is a part; the parent's other positive examples become
    /// negative examples
    #[arg(long, value_name = "TOPIC")]
    pub under: Option<String>,
    /// Pages that are not of the topic: files, directories of files, or URLs whose copies are in
    /// the store
    #[arg(long, value_name = "FILE|DIR|URL", num_args = 1..)]
    pub negative: Vec<String>,
    /// Also use N further pages of the store as negative examples, evenly spread over the order of
    /// discovery
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub sample: usize,
    /// Train up to N layers of pages that lead to the topic over 1 to N links, for `--focus
    /// context-graph`; layer 1 is used by `--focus learned`, too
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u8).range(0..=4))]
    pub layers: u8,
    /// Make a store in a directory that has other files
    #[arg(long)]
    pub force: bool,
}

#[derive(Debug, Args)]
pub struct TopicName {
    /// Name of the topic
    #[arg(value_name = "NAME")]
    pub name: String,
}
