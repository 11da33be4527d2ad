//! What can be asked of the live experiments, and of the process that serves their webs?
//!
//! **Invariant:** the names that `Display` writes are those that are parsed.

use std::fmt;
use std::path::PathBuf;

use clap::{Args, ValueEnum};

/// Which web to crawl, how often.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench servers --runs 3 --out docs/figures
  cargo xtask bench servers --quality zipf --pages 3000 --servers 100

The web is that of the two-level scheduling paper: 500 servers, 30,000 pages. Every strategy crawls all of it.
With 64 connections, as in the paper, most of the time is spent on the few servers that are large and slow;
with 16 connections are scarce to the end, and the strategies are easier to tell apart.")]
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
    #[arg(long, value_name = "FACTOR", default_value_t = 0.2)]
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
    #[arg(long, value_name = "FACTOR", default_value_t = 0.2)]
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
