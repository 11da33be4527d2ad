//! Options of `bench focus`.

use clap::Args;

/// Options of `bench focus`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench focus
  cargo xtask bench focus --world ../shared/data/webkb --target course --runs 5

Crawls a whole web over loopback, with archive and index: by an ordering without a topic, and by a method of focused
crawling whose topic is trained on some of the pages. The random order changes servers as often as the focused one.
Breadth-first stays longer on a server and opens half the connections, so it is cheaper for other reasons than judging.
The runs alternate; CPU time is that of the crawling process alone. If valgrind is installed, the instructions of one
crawl of each kind are counted as well; these do not depend on other load of the machine.")]
pub struct FocusOptions {
    /// A directory with labels and bodies, or invented:topics
    #[arg(long, value_name = "WORLD", default_value = "invented:topics")]
    pub world: String,
    /// The label to use as the topic [default: the first]
    #[arg(long, value_name = "LABEL")]
    pub target: Option<String>,
    /// The method of focused crawling
    #[arg(long, value_name = "METHOD", default_value = "learned")]
    pub focus: String,
    /// The ordering without a topic, for comparison
    #[arg(long, value_name = "ORDER", default_value = "random")]
    pub against: String,
    /// Pages of an invented world
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u32).range(100..=100_000))]
    pub pages: u32,
    /// Number of pairs of runs
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub runs: u32,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}
