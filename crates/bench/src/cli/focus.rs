//! What can be asked of `bench focus`?

use clap::Args;

/// What to crawl.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench focus
  cargo xtask bench focus --world ../shared/data/webkb --target course --runs 5

A web is crawled whole over loopback, in an order that judges nothing and by a method of focused crawling whose topic some
of its pages taught, with archive and index. A random order goes from server to server as the best link does; one by
breadth-first stays, opens half the connections, and so is cheaper for reasons that are not the judge's. The runs
alternate; CPU time is that of the crawling process alone. Where valgrind is installed the instructions of a crawl of
each kind are counted as well: others on the machine do not change these.")]
pub struct Focus {
    /// A directory with labels and bodies, or invented:topics
    #[arg(long, value_name = "WORLD", default_value = "invented:topics")]
    pub world: String,
    /// The label that is the topic [default: the first]
    #[arg(long, value_name = "LABEL")]
    pub target: Option<String>,
    /// The method
    #[arg(long, value_name = "METHOD", default_value = "learned")]
    pub focus: String,
    /// The ordering that judges nothing
    #[arg(long, value_name = "ORDER", default_value = "random")]
    pub against: String,
    /// Pages of an invented world
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u32).range(100..=100_000))]
    pub pages: u32,
    /// Pairs of runs
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub runs: u32,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}
