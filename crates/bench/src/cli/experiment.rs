//! Options of `bench servers` and `bench http`, and of the process that serves their webs.
//!
//! **Invariant:** `Display` writes the names that clap parses.

use std::fmt;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Options of `bench servers`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench servers --runs 3 --out docs/figures
  cargo xtask bench servers --quality zipf --pages 3000 --servers 100

The web is that of the two-level scheduling paper: 500 servers, 30,000 pages. Every strategy crawls all of it.
With 64 connections, as in the paper, most of the time is spent on the few servers that are large and slow.
With 16 connections, connections are scarce until the end, and the strategies differ more clearly.")]
pub struct ServersOptions {
    /// How the quality of a page is defined [default: both]
    #[arg(long, value_enum)]
    pub quality: Option<QualityJudge>,
    /// Number of webs to crawl; the table shows the medians
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
    /// Seed of the first web; each further run adds one
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,
    /// Factor on all latencies: 1 means a median of 30 ms to connect and 80 ms to answer
    #[arg(long, value_name = "FACTOR", default_value_t = 0.2)]
    pub slowness: f64,
    /// Draw the curves of the first run into this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON document instead of the tables
    #[arg(long)]
    pub json: bool,
}

/// Options of `bench http`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench http --connections 8,16,32,64,96 --pages 5000 --out docs/figures

Two webs: the 500 servers of `bench servers`, and 20 fast servers that serve 100 requests per connection.")]
pub struct HttpOptions {
    /// Connections at the same time, to the 500 servers
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [8, 16, 32, 64, 96],
        value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub connections: Vec<u16>,
    /// Connections at the same time, to the 20 fast servers
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [2, 4, 8, 14, 20],
        value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub fast_connections: Vec<u16>,
    /// Pages to fetch, of 30,000
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u64).range(1..=30_000))]
    pub pages: u64,
    /// Seed of the webs
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,
    /// Factor on all latencies: 1 means a median of 30 ms to connect and 80 ms to answer
    #[arg(long, value_name = "FACTOR", default_value_t = 0.2)]
    pub slowness: f64,
    /// Draw the figures into this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON document instead of the tables
    #[arg(long)]
    pub json: bool,
}

/// How the quality of a page is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum QualityJudge {
    /// PageRank over all links of the web
    Pagerank,
    /// Random, by Zipf's law: the i-th best page has quality 1/i
    Zipf,
}

/// Options of `bench serve-web`: the web to generate.
#[derive(Debug, Clone, Args)]
pub struct WebOptions {
    /// The kind of web.
    #[arg(long, value_enum, default_value = "two-level")]
    pub web: WebKind,
    /// The seed of all random numbers.
    #[arg(long)]
    pub seed: u64,
    /// The number of servers, if not the default.
    #[arg(long)]
    pub servers: Option<usize>,
    /// The number of pages, if not the default.
    #[arg(long)]
    pub pages: Option<usize>,
    /// The factor on all latencies.
    #[arg(long)]
    pub slowness: f64,
}

/// A kind of web.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WebKind {
    /// The web of the two-level scheduling paper.
    TwoLevel,
    /// The second web of that paper: 20 fast servers.
    Fast,
}

impl fmt::Display for QualityJudge {
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
