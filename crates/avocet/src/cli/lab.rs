//! The command line of `avocet lab`.

mod ephemeral;
pub mod focus;
mod serve;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use lab::experiment::{Metric, currency, ordering, partition, refresh, servers, world};

pub use ephemeral::{Clicks, Ephemeral};
pub use serve::Serve;

use node::settings::Time;

/// Which experiment.
#[derive(Debug, Subcommand)]
pub enum Lab {
    /// Which pages first? URL orderings against importance, on any graph
    Ordering(Ordering),
    /// Which servers first? Server strategies in a simulation of connections
    Servers(Servers),
    /// How often must pages be visited? Currency, freshness and age: formulas, draws and crawls
    Currency(Currency),
    /// Which pages again? Refresh policies under a budget, judged by what searchers get
    Refresh(Refresh),
    /// Which sources, and which new pages? Schedulers of polls, judged by clicks
    Ephemeral(Ephemeral),
    /// Which pages of a topic? Methods of focused crawling, on webs whose pages have labels
    Focus(focus::Focus),
    /// What do several crawlers cost each other? Coordination and confinement
    Partition(Partition),
    /// Look at a world: check its tables, count, draw; or write an invented one as tables
    World(World),
    /// Serve a world on loopback, as an HTTP proxy that a crawler can be told of
    Serve(Serve),
    /// Run every experiment and write one page with figures, claims and commands
    Report(Report),
}

/// What all experiments take.
#[derive(Debug, Args)]
pub struct Common {
    /// Calibrate an invented world: NAME=VALUE (repeatable; the names are below)
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = knob)]
    pub knobs: Vec<(String, String)>,
    /// Which policies to compare, separated by commas [default: all that fit]
    #[arg(long, value_name = "A,B", value_delimiter = ',')]
    pub policies: Vec<String>,
    /// Also say by how much each policy is above this one, run by run: rows METRIC-gain
    #[arg(long, value_name = "POLICY")]
    pub against: Option<String>,
    /// Where all chance comes from
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// How often to run, each time with other draws that all policies share; intervals from two on
    #[arg(long, value_name = "R", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub runs: u32,
    /// Threads to use; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Also write the figures (SVG) and the numbers (JSON) into this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "\
Example:
  avocet lab ordering --world invented:graph --runs 5 --policies pagerank,backlink,random
  avocet lab ordering --world ./my-graph --json",
    after_long_help = help(
        "avocet lab ordering --world ./my-graph --policies pagerank,'backlink*0.5 + opic',ideal,random --runs 5 --against random",
        ordering::METRICS,
        &format!("Policies: ideal and random (closed forms), and any ordering:\n{}", policy::catalog::Catalog::standard().help()),
    )
)]
pub struct Ordering {
    /// A directory with edges.tsv (see docs/reference/worlds.md), or invented:NAME
    #[arg(
        long,
        value_name = "DIR|invented:NAME",
        default_value = "invented:graph"
    )]
    pub world: String,
    #[command(flatten)]
    pub common: Common,
    /// Where crawls begin: the id or URL of a page (repeatable: one for each run) [default: drawn]
    #[arg(long, value_name = "PAGE")]
    pub start: Vec<String>,
    /// Words that pages are to be like: importance IS, and the orderings similarity, hot-anchor, hot-page
    #[arg(long, value_name = "WORDS")]
    pub query: Option<String>,
    /// A rule for the ordering location: host:.edu=2, path:/docs/=3, depth=0.8 (repeatable)
    #[arg(long, value_name = "RULE")]
    pub location: Vec<String>,
    /// Scores for the ordering given: a file of lines URL<tab>number
    #[arg(long, value_name = "FILE")]
    pub scores: Option<PathBuf>,
    /// The share of the web that the limited buffer (p_bc) holds
    #[arg(long, value_name = "SHARE", default_value_t = ordering::Options::default().buffer)]
    pub buffer: f64,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  avocet lab servers --connections 16 --runs 5",
    after_long_help = help(
        "avocet lab servers --connections 16 --quality zipf --runs 5 --out figures",
        servers::METRICS,
        "",
    )
)]
pub struct Servers {
    /// invented:servers, or a directory with links, whose hosts get latencies by the seed
    #[arg(
        long,
        value_name = "DIR|invented:NAME",
        default_value = "invented:servers"
    )]
    pub world: String,
    #[command(flatten)]
    pub common: Common,
    /// Connections open at once
    #[arg(long, value_name = "N", default_value_t = servers::Options::default().connections, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub connections: u16,
    /// What pages are worth [default: both]
    #[arg(long, value_enum)]
    pub quality: Option<Quality>,
    /// Which HTTP [default: 1.1, and the others beside it]
    #[arg(long, value_enum)]
    pub http: Option<SimulatedHttp>,
    /// Multiply all times of the servers by this
    #[arg(long, value_name = "FACTOR", default_value_t = servers::Options::default().slowness)]
    pub slowness: f64,
    /// Let connections open at once, as on loopback: to compare with `cargo xtask bench servers`
    #[arg(long)]
    pub loopback: bool,
}

/// A HTTP that can be simulated.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SimulatedHttp {
    /// A connection for every page
    #[value(name = "1.0")]
    Http10,
    /// One page after another over a kept connection
    #[value(name = "1.1")]
    Http11,
    /// Eight requests before the first answer
    Pipelined,
}

/// Who says what a page is worth.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Quality {
    /// PageRank: the pages of a server are alike
    Pagerank,
    /// Zipf's law, dealt out at random
    Zipf,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  avocet lab currency --alpha 0.8 --beta 7 --shape 1 --scale 100 --documents 2e9 --kilobytes 10",
    after_long_help = help(
        "avocet lab currency --world ./my-history --interval 1,7,30",
        currency::METRICS,
        "",
    )
)]
pub struct Currency {
    /// A directory with versions.tsv (see docs/reference/worlds.md), or invented:pages
    #[arg(
        long,
        value_name = "DIR|invented:NAME",
        default_value = "invented:pages"
    )]
    pub world: String,
    #[command(flatten)]
    pub common: Common,
    /// The share of copies that must be current
    #[arg(long, value_name = "SHARE", default_value_t = currency::Options::default().alpha)]
    pub alpha: f64,
    /// The grace period: a copy is current if its page had not changed so many days ago
    #[arg(long, value_name = "DAYS", default_value_t = currency::Options::default().beta_days)]
    pub beta: f64,
    /// The shape of the Weibull distribution of mean lifetimes, for the formulas
    #[arg(long, value_name = "NUMBER", default_value_t = currency::Options::default().shape)]
    pub shape: f64,
    /// Its scale
    #[arg(long, value_name = "DAYS", default_value_t = currency::Options::default().scale_days)]
    pub scale: f64,
    /// Intervals between visits to try, separated by commas [default: a few, and the one that is needed]
    #[arg(long, value_name = "DAYS", value_delimiter = ',')]
    pub interval: Vec<f64>,
    /// Documents of the collection, for the bandwidth
    #[arg(long, value_name = "N", default_value_t = currency::Options::default().documents)]
    pub documents: f64,
    /// The size of a document, in kilobytes of 1000 bytes
    #[arg(long, value_name = "KB", default_value_t = currency::Options::default().kilobytes)]
    pub kilobytes: f64,
    /// Pages that monte-carlo draws for each interval
    #[arg(long, value_name = "N", default_value_t = currency::Options::default().draws)]
    pub draws: u32,
}

#[derive(Debug, Args)]
#[command(
    after_help = "\
Example:
  avocet lab refresh --runs 3 --policies sbr,ebr,user-centric,holistic
  avocet lab refresh --world ./my-history --queries ./my-queries.tsv --scorer bm25",
    after_long_help = help(
        "avocet lab refresh --world ./my-history --queries ./my-queries.tsv --policies user-centric,holistic,'sbr(0.3)' --budget 0.01,0.05",
        refresh::METRICS,
        &format!(
            "Policies: none (nothing is refreshed), and any refresh policy; sbr and ebr without an argument are tried with \
             every threshold from .1 to 1 (rows with tau), and the best for each budget stands for them.\n{}",
            policy::catalog::Catalog::standard().refresh_help()
        ),
    )
)]
pub struct Refresh {
    /// A directory with versions.tsv and, for quality, bodies.ndjson (see docs/reference/worlds.md), or invented:NAME
    #[arg(
        long,
        value_name = "DIR|invented:NAME",
        default_value = "invented:corpus"
    )]
    pub world: String,
    #[command(flatten)]
    pub common: Common,
    /// The query log: a table (query, count), or a directory with queries.tsv [default: the world's own]
    #[arg(long, value_name = "FILE")]
    pub queries: Option<PathBuf>,
    /// What answers are sorted by, and what a page is worth to who finds it
    #[arg(long, value_enum, default_value_t = Scorer::TfIdf)]
    pub scorer: Scorer,
    /// What policies know when they begin
    #[arg(long, value_enum, default_value_t = Knowledge::Halves)]
    pub knowledge: Knowledge,
    /// The time between two steps [default: 7d; in invented:pages 1d]
    #[arg(long, value_name = "TIME")]
    pub step: Option<Time>,
    /// Refreshes a step, as shares of the pages that there are at the beginning, separated by commas [default: .002 to .7]
    #[arg(long, value_name = "SHARE", value_delimiter = ',')]
    pub budget: Vec<f64>,
    /// Queries that are asked, at most: the most frequent that have to do with the pages
    #[arg(long, value_name = "N", default_value_t = refresh::Options::default().most_queries)]
    pub most_queries: usize,
    /// The estimator of change rates [default: the policies' own]
    #[arg(long, value_name = "NAME")]
    pub rate: Option<String>,
}

/// A scoring function.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Scorer {
    /// As in Lucene's classic similarity
    TfIdf,
    /// One more than the in-links from other pages of the world
    Inlinks,
    /// Okapi BM25
    Bm25,
}

/// What policies know when they begin.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum Knowledge {
    /// What visits to every page at every step of the first half showed; judged on the second
    Halves,
    /// The same of all of the time that they are judged on, as in the paper: a bound
    Whole,
    /// Nothing but the first copies
    Online,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  avocet lab partition --crawlers 2,4,8 --runs 5",
    after_long_help = help(
        "avocet lab partition --world ./my-graph --crawlers 4 --order pagerank --policies static-exchange,static-firewall",
        partition::METRICS,
        "",
    )
)]
pub struct Partition {
    /// A directory with edges.tsv (see docs/reference/worlds.md), or invented:NAME
    #[arg(
        long,
        value_name = "DIR|invented:NAME",
        default_value = "invented:graph"
    )]
    pub world: String,
    #[command(flatten)]
    pub common: Common,
    /// How many crawlers, separated by commas
    #[arg(long, value_name = "K", value_delimiter = ',', default_values_t = partition::Options::default().crawlers)]
    pub crawlers: Vec<u32>,
    /// The ordering of every crawler, as for `avocet crawl`
    #[arg(long, value_name = "ORDER", default_value_t = partition::Options::default().order)]
    pub order: String,
    /// Fetches of all crawlers together, as a share of the pages that can be reached [default: to the end]
    #[arg(long, value_name = "SHARE")]
    pub budget: Option<f64>,
    /// Send links to other crawlers after so many fetches
    #[arg(long, value_name = "N", default_value_t = partition::Options::default().batch)]
    pub batch: usize,
}

#[derive(Debug, Args)]
#[command(
    after_help = "\
Example:
  avocet lab world --world ./my-graph
  avocet lab world --world invented:sources --set sources=50 --write ./my-news",
    after_long_help = help(
        "avocet lab world --world invented:graph --set pages=325000 --write ./big",
        world::METRICS,
        "",
    )
)]
pub struct World {
    /// A directory (see docs/reference/worlds.md), or invented:NAME
    #[arg(long, value_name = "DIR|invented:NAME")]
    pub world: String,
    #[command(flatten)]
    pub common: Common,
    /// Write its tables into this directory
    #[arg(long, value_name = "DIR")]
    pub write: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet lab report --out report && xdg-open report/index.html
  avocet lab report --out report --data ../shared/data --runs 5")]
pub struct Report {
    /// The directory to write: index.html, and the figures and numbers of each experiment
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// A directory of recorded worlds; those that are there are used beside the invented ones
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Where all chance comes from
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// How often to run each experiment
    #[arg(long, value_name = "R", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// Threads to use [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

fn knob(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// An example, the metrics, what else there is to say, and the invented worlds.
fn help(example: &str, metrics: &[Metric], more: &str) -> String {
    let width = metrics
        .iter()
        .map(|(name, _)| name.len())
        .max()
        .unwrap_or(0);
    let metrics: Vec<String> = metrics
        .iter()
        .map(|(name, meaning)| format!("  {name:width$}  {meaning}"))
        .collect();
    let more = if more.is_empty() {
        String::new()
    } else {
        format!("{more}\n\n")
    };
    format!(
        "Example:\n  {example}\n\nMetrics:\n{}\n\n{more}{}",
        metrics.join("\n"),
        lab::world::catalog()
    )
}
