//! The command line of `avocet lab focus`.

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
        &format!("Policies: omniscient, told-ahead and told-links (bounds: they know what nobody can know), any ordering, and the methods of focused crawling:\n{}", methods()),
    )
)]
pub struct Focus {
    /// A directory with labels.tsv and bodies.ndjson (see docs/reference/worlds.md), or invented:topics
    #[arg(
        long,
        value_name = "DIR|invented:NAME",
        default_value = "invented:topics"
    )]
    pub world: String,
    #[command(flatten)]
    pub common: Common,
    /// The label that is the topic (repeatable) [default: the five commonest that are not `other`]
    #[arg(long, value_name = "LABEL")]
    pub target: Vec<String>,
    /// Pages of the topic that every crawl begins at; none of them counts as found
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub starts: u32,
    /// Every policy has crawled the pages that are to learn from before, as in a store that has them (only where sites are crawled one by one)
    #[arg(long)]
    pub experienced: bool,
}

/// The methods of focused crawling, a line each.
pub fn methods() -> String {
    let catalog = Catalog::standard();
    let lines = |published: bool| -> String {
        let methods = catalog.focuses().filter(|one| one.published == published);
        let lines = methods.map(|order| format!("  {:14} {}\n", order.name, order.summary));
        lines.collect()
    };
    format!("{}\n {PUBLISHED_HEADING}:\n{}", lines(false), lines(true))
}
