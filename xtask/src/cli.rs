//! What can be asked of `cargo xtask`, and of the benchmarks it builds?
//!
//! **Invariant:** a benchmark's arguments are declared once. `xtask` reads them to refuse wrong ones
//! and to answer `--help` without building anything, and the benchmark reads them again.

use std::fmt;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// The tools of this workspace
#[derive(Debug, Parser)]
#[command(
    name = "cargo xtask",
    bin_name = "cargo xtask",
    after_help = "\
Example:
  cargo xtask ci
  cargo xtask bench crawl --site /usr/share/doc/python3/html
  cargo xtask bench frontier --urls 1000000"
)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub task: Task,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Task {
    /// Run every check that a change must pass
    Ci(Ci),
    /// Check the rules of the house that no compiler knows
    #[command(after_help = "Example:\n  cargo xtask tidy")]
    Tidy,
    /// Measure, optimised, and print a table
    #[command(subcommand)]
    Bench(Bench),
}

/// Which checks.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask ci
  cargo xtask ci --without-tests   # what .ci/run calls before `cargo nextest run --workspace`")]
pub struct Ci {
    /// All but `cargo nextest run --workspace`
    #[arg(long)]
    pub without_tests: bool,
}

/// The command line of the benchmark program.
#[derive(Debug, Parser)]
#[command(name = "bench", bin_name = "cargo xtask bench")]
pub struct BenchArguments {
    /// What to measure.
    #[command(subcommand)]
    pub bench: Bench,
}

/// What to measure.
#[derive(Debug, Subcommand)]
pub enum Bench {
    /// Crawl real pages on loopback, with and without archive and index, beside a bare client
    Crawl(Crawl),
    /// Drive the frontier and its ledger at the size of a large crawl
    Frontier(Frontier),
    /// Choose pages by every ordering and server strategy, in memory, at several sizes
    Order(Order),
    /// Crawl an invented web on loopback by every server strategy: what quality is gained by when
    Servers(Servers),
    /// Crawl an invented web on loopback by every HTTP and number of connections
    Http(Http),
    /// Serve directories until standard input ends: the other process of `crawl`
    #[command(hide = true)]
    Serve(Serve),
    /// Fetch a list of URLs and do nothing else: what `crawl` compares with
    #[command(hide = true)]
    Bare(Bare),
    /// Open a ledger and recall it: the last measurement of `frontier`
    #[command(hide = true)]
    Reopen(Reopen),
    /// Serve an invented web until standard input ends: the other process of `servers` and `http`
    #[command(hide = true)]
    ServeWeb(WebWishes),
    /// Measure one ordering and strategy at one size: a row of `order`
    #[command(hide = true)]
    OrderCell(OrderCell),
    /// Measure what it costs to keep one ordering up to date: a row of `order`
    #[command(hide = true)]
    OrderUpkeep(OrderUpkeep),
}

/// What to crawl.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench crawl --site /usr/share/doc/python3/html --site /usr/share/doc/git/html --runs 3
  cargo xtask bench crawl --url http://127.0.0.2:8080/ --url http://127.0.0.3:8080/   # nginx, say

CPU and memory are those of the crawler process alone. Wall time shares the cores with the server.")]
pub struct Crawl {
    /// A directory of HTML, served at a loopback address of its own (repeatable)
    #[arg(long, value_name = "DIR", required_unless_present = "url")]
    pub site: Vec<PathBuf>,
    /// The start page of a site that is served already (repeatable)
    #[arg(long, value_name = "URL")]
    pub url: Vec<String>,
    /// How often each variant runs; the table shows the medians
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u16).range(1..=99))]
    pub runs: u16,
    /// Connections of the crawler to one server at once
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=64))]
    pub per_server: u8,
    /// Ends a crawl that takes longer
    #[arg(long, value_name = "TIME", default_value = "10m")]
    pub time: String,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// How large.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench frontier --urls 20000000 --servers 100000

Needs about 200 MB, and 50 bytes of memory and 200 of disk (under target/) for each URL, while it runs.")]
pub struct Frontier {
    /// URLs known in the end
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1000..=1_000_000_000))]
    pub urls: u64,
    /// Servers they are on; the n-th has about 1/n of what the first has
    #[arg(long, value_name = "N", default_value_t = 100_000, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub servers: u64,
    /// Claims to settle; by default one URL in twenty
    #[arg(long, value_name = "N")]
    pub claims: Option<u64>,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// What to choose by, and among how much.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench order --urls 1000000 --servers 1,1000,100000 --order pagerank --order opic
  cargo xtask bench order --strategy quality

All orderings with the default strategy and all strategies with the default ordering, unless some are named.
Twenty million URLs need 2 GB of memory and a minute each.")]
pub struct Order {
    /// URLs queued
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [1_000_000, 10_000_000, 20_000_000],
        value_parser = clap::value_parser!(u64).range(1000..=1_000_000_000))]
    pub urls: Vec<u64>,
    /// Servers they are on; the n-th has about 1/n of what the first has
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [1, 1000, 100_000],
        value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub servers: Vec<u64>,
    /// Only this ordering, with the default strategy (repeatable)
    #[arg(long, value_name = "ORDER")]
    pub order: Vec<String>,
    /// Only this strategy, with the default ordering (repeatable)
    #[arg(long, value_name = "STRATEGY")]
    pub strategy: Vec<String>,
    /// Pages that orderings by links are kept up to date over
    #[arg(long, value_name = "N", default_value_t = 1_000_000, value_parser = clap::value_parser!(u64).range(1000..=1_000_000_000))]
    pub pages: u64,
    /// Print one JSON document instead of the tables
    #[arg(long)]
    pub json: bool,
}

/// One row of `order`.
#[derive(Debug, Args)]
pub struct OrderCell {
    /// The ordering.
    pub order: String,
    /// The server strategy.
    pub strategy: String,
    /// URLs queued.
    pub urls: u64,
    /// Servers they are on.
    pub servers: u64,
}

/// One row of the second table of `order`.
#[derive(Debug, Args)]
pub struct OrderUpkeep {
    /// The ordering.
    pub order: String,
    /// Pages of the web.
    pub pages: u64,
}

/// Which web to crawl, how often.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench servers --runs 3 --out docs/figures
  cargo xtask bench servers --quality zipf --pages 3000 --servers 100

The web is that of the two-level scheduling paper: 500 servers, 30,000 pages. Every strategy crawls all of it.")]
pub struct Servers {
    /// Who says what a page is worth [default: both]
    #[arg(long, value_enum)]
    pub quality: Option<Judge>,
    /// Webs to crawl; the table shows the medians
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=99))]
    pub runs: u16,
    /// Pages of the web [default: 30000]
    #[arg(long, value_name = "N")]
    pub pages: Option<usize>,
    /// Servers of the web [default: 500]
    #[arg(long, value_name = "N")]
    pub servers: Option<usize>,
    /// Connections of the crawler
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub connections: u16,
    /// The seed of the first web; the next run has the next one
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,
    /// How far away and how slow servers are: 1 is round trips of 30 ms and answers in 80 ms, at the median
    #[arg(long, value_name = "FACTOR", default_value_t = 0.25)]
    pub slowness: f64,
    /// Draw the curves of the first run into this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON document instead of the tables
    #[arg(long)]
    pub json: bool,
}

/// How to fetch.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench http --connections 8,16,32,64,96 --pages 5000 --out docs/figures

Two webs: the 500 servers of `bench servers`, and 20 that are all fast and serve 100 requests a connection.")]
pub struct Http {
    /// Connections open at once, to the 500 servers
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [8, 16, 32, 64, 96],
        value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub connections: Vec<u16>,
    /// The same, to the 20 fast servers
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [2, 4, 8, 14, 20],
        value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub fast_connections: Vec<u16>,
    /// Pages to fetch of the 30,000
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u64).range(1..=30_000))]
    pub pages: u64,
    /// The seed of the webs
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,
    /// How far away and how slow servers are: 1 is round trips of 30 ms and answers in 80 ms, at the median
    #[arg(long, value_name = "FACTOR", default_value_t = 0.25)]
    pub slowness: f64,
    /// Draw the figures into this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON document instead of the tables
    #[arg(long)]
    pub json: bool,
}

/// Who says what a page is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Judge {
    /// The links of the whole web
    Pagerank,
    /// Chance: the i-th best page is worth 1/i
    Zipf,
}

/// A web to invent.
#[derive(Debug, Clone, Args)]
pub struct WebWishes {
    /// Which one.
    #[arg(long, value_enum, default_value = "two-level")]
    pub web: WebKind,
    /// Where all chance comes from.
    #[arg(long)]
    pub seed: u64,
    /// Servers, if not as many as usual.
    #[arg(long)]
    pub servers: Option<usize>,
    /// Pages, if not as many as usual.
    #[arg(long)]
    pub pages: Option<usize>,
    /// What all latencies are multiplied by.
    #[arg(long)]
    pub slowness: f64,
}

/// A kind of web.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WebKind {
    /// The web of the two-level scheduling paper.
    TwoLevel,
    /// Its second one: a few servers, all fast.
    Fast,
}

impl fmt::Display for Judge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pagerank => "pagerank",
            Self::Zipf => "zipf",
        })
    }
}

impl fmt::Display for WebKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TwoLevel => "two-level",
            Self::Fast => "fast",
        })
    }
}

/// What to serve.
#[derive(Debug, Args)]
pub struct Serve {
    /// The directories.
    #[arg(required = true)]
    pub directories: Vec<PathBuf>,
}

/// What to fetch.
#[derive(Debug, Args)]
pub struct Bare {
    /// A file of URLs, one a line.
    pub list: PathBuf,
}

/// What to open.
#[derive(Debug, Args)]
pub struct Reopen {
    /// The directory of the ledger.
    pub ledger: PathBuf,
}
