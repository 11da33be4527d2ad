//! What can be asked of `bench search`?

use clap::Args;

/// How many pages, and who searches them.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench search
  cargo xtask bench search --searchers 200 --pause 2000 --seconds 60

An index of invented pages, served by `avocet serve` in a process of its own and searched over HTTP, while this process puts
pages into the same index and commits twice a second, as a crawl does. What is timed is a search from the first byte of the
request to the last of the answer.")]
pub struct Search {
    /// Pages in the index
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    pub pages: u32,
    /// Words of a page, on average
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(10..=10_000))]
    pub words: u32,
    /// Searchers at once
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=900))]
    pub searchers: u32,
    /// Milliseconds that a searcher reads before searching again, on average
    #[arg(long, value_name = "MS", default_value_t = 100)]
    pub pause: u64,
    /// How long they search
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub seconds: u64,
    /// Pages a second that are put in meanwhile
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub crawled: u32,
    /// Ask for the search page instead of the API
    #[arg(long)]
    pub html: bool,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}
