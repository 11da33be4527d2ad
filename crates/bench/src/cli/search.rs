//! Options of `bench search`.

use clap::Args;

/// Options of `bench search`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench search
  cargo xtask bench search --searchers 200 --pause 2000 --seconds 60

`avocet serve` serves an index of invented pages in its own process. Searchers send requests over HTTP, while this process
puts pages into the same index and commits twice a second, as a crawl does. The time of a search is from the first byte of
the request to the last byte of the answer.")]
pub struct SearchOptions {
    /// Pages in the index
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u32).range(100..=10_000_000))]
    pub pages: u32,
    /// Mean number of words per page
    #[arg(long, value_name = "N", default_value_t = 400, value_parser = clap::value_parser!(u32).range(10..=10_000))]
    pub words: u32,
    /// Searchers at the same time
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u32).range(1..=900))]
    pub searchers: u32,
    /// Mean pause of a searcher between two searches, in milliseconds
    #[arg(long, value_name = "MS", default_value_t = 100)]
    pub pause: u64,
    /// Duration of the benchmark
    #[arg(long, value_name = "SECONDS", default_value_t = 30)]
    pub seconds: u64,
    /// Pages per second that are indexed meanwhile
    #[arg(long, value_name = "N", default_value_t = 40, value_parser = clap::value_parser!(u32).range(0..=1000))]
    pub crawled: u32,
    /// Request the search page instead of the API
    #[arg(long)]
    pub html: bool,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}
