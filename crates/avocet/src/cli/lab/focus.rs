//! Arguments of `avocet lab focus`.

use clap::Args;
use lab::experiment::focus;
use policy::catalog::{Catalog, PUBLISHED_HEADING};

use super::{Common, help};

#[derive(Debug, Args)]
#[command(
    after_help = "\
Example:
  avocet lab focus --world invented:topics --runs 5
  avocet lab focus --world ./my-topics --target course --target faculty --runs 8 --against breadth-first",
    after_long_help = help(
        "avocet lab focus --world ./my-topics --target course --policies learned,soft,anchor,breadth-first,omniscient --runs 8",
        focus::METRICS,
        &format!("Policies: omniscient, told-ahead and told-links (upper bounds: they use information that no crawler has), any ordering, and the methods of focused crawling:\n{}", methods()),
    )
)]
pub struct FocusArguments {
    /// A directory with labels.tsv and bodies.ndjson (see docs/reference/worlds.md), or
    /// invented:topics
    #[arg(long, value_name = "WORLD", default_value = "invented:topics")]
    pub world: String,
    #[command(flatten)]
    pub common: Common,
    /// Label that is the topic (repeatable) [default: the five most common ones that 20 pages or
    /// more have, except `other`]
    #[arg(long, value_name = "LABEL")]
    pub target: Vec<String>,
    /// Start each crawl from up to N pages of the topic; start pages do not count as found
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub starts: u32,
    /// Let every policy crawl the training pages first, as in a store that already has them (only
    /// for a world with several large sites, of which each run crawls one)
    #[arg(long)]
    pub experienced: bool,
}

/// Returns the methods of focused crawling, one per line, and their arguments.
pub fn methods() -> String {
    let catalog = Catalog::standard();
    let lines = |published: bool| -> String {
        let methods = catalog.focuses().filter(|one| one.published == published);
        let lines = methods.map(|order| format!("  {:25} {}\n", order.form(), order.summary));
        lines.collect()
    };
    format!(
        "{}\n {PUBLISHED_HEADING}:\n{}\nArguments:\n{}",
        lines(false),
        lines(true),
        catalog.focus_arguments()
    )
}
