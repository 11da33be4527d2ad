//! The command line: the contract that users and checks rely on.

mod exchange;
pub mod lab;
mod plan;
mod search;
mod serve;
mod settings;
pub mod topic;

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use node::settings::{Layer, Rate, Time};

pub use exchange::{Export, Exported, Import, Imported, PageFormat, Rebuild};
pub use plan::Plan;
pub use search::{Order, Search};
pub use serve::Serve;
use settings::{OfCrawl, OfRun, SettingFlags};

/// A web crawler and search repository that spends every fetch where it pays most.
#[derive(Debug, Parser)]
#[command(
    name = "avocet",
    version,
    arg_required_else_help = true,
    after_help = "\
Example:
  avocet crawl https://www.rust-lang.org/ --pages 500
  avocet search 'memory safety'"
)]
pub struct Arguments {
    /// The directory that holds everything [default: avocet-data]
    #[arg(long, global = true, value_name = "DIR")]
    pub store: Option<PathBuf>,
    /// Print JSON on standard output, and nothing else there
    #[arg(long, global = true)]
    pub json: bool,
    /// How events are written on standard error
    #[arg(long, global = true, value_enum, default_value_t = LogFormat::Text, value_name = "FORMAT")]
    pub log_format: LogFormat,
    /// Which events: error, warn, info, debug, trace, or by part (node=debug,fetch=warn) [default: AVOCET_LOG, or warn,avocet=info,node=info,server=info]
    #[arg(long, global = true, value_name = "LEVEL")]
    pub log_level: Option<String>,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Crawl from these seeds until done or a limit is reached; the same command again goes on
    Crawl(Box<Crawl>),
    /// Crawl and refresh continuously, within a budget of fetches, until interrupted
    Run(Box<Run>),
    /// Say how many fetches a goal needs, or what a budget reaches, by the store's own estimates
    Plan(Plan),
    /// Search what was crawled
    Search(Search),
    /// Serve the search page and the API
    Serve(Serve),
    /// Offer search, fetch_page and explain to an agent, by the Model Context Protocol over standard input and output
    #[command(
        after_help = "Example:\n  avocet mcp --store ./docs        (an agent's configuration starts this)"
    )]
    Mcp,
    /// Teach a topic by examples, for `crawl --topic`: train, list, show, test, remove
    #[command(subcommand)]
    Topic(topic::Topic),
    /// Show the pages that are polled for new ones: how much they name, what it is worth, how often they are polled, and why
    Sources(Sources),
    /// Show what the store holds and what the crawl is doing
    #[command(after_help = "Example:\n  avocet status --store ./docs")]
    Status,
    /// Have the crawl of a store rest: nothing new is fetched, what is under way ends and is committed
    #[command(
        after_help = "Example:\n  avocet pause --store ./docs && cp -a ./docs ./backup; avocet resume --store ./docs"
    )]
    Pause,
    /// Have a paused crawl go on
    #[command(after_help = "Example:\n  avocet resume --store ./docs")]
    Resume,
    /// Say what is known of a URL, what it is worth now and why, and when it falls due
    Explain(Explain),
    /// Write data out
    Export(Export),
    /// Take data in
    Import(Import),
    /// Make ledger, index and CDXJ files again from the archive
    Rebuild(Rebuild),
    /// Prove that archive, ledger and index agree
    #[command(after_help = "Example:\n  avocet verify --store ./docs")]
    Verify,
    /// Show everything on an invented web on this machine: crawl it, search it, watch it
    Demo(Demo),
    /// Explain avocet.toml, show the settings in force, or check a file
    #[command(
        subcommand,
        after_help = "Example:\n  avocet config reference > avocet.toml\n  avocet config show --store ./docs\n  avocet config check avocet.toml"
    )]
    Config(ConfigAction),
    /// Compare policies in worlds that were recorded or invented, by simulation
    #[command(
        subcommand,
        after_help = "Example:\n  avocet lab ordering --world invented:graph --runs 5\n  avocet lab report --out report"
    )]
    Lab(lab::Lab),
}

/// How events are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// A line for people
    Text,
    /// JSON Lines for machines
    Json,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet demo
  avocet demo --time 2m --seed 7 --budget 4/s --json")]
pub struct Demo {
    /// End after this time (30s, 10m) [default: on Ctrl-C]
    #[arg(long, value_name = "TIME")]
    pub time: Option<Time>,
    /// Which town: the same seed is the same web
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// How fast the town lives; at 1 an article appears every eight seconds
    #[arg(long, default_value = "1", value_name = "FACTOR", value_parser = speed)]
    pub speed: f64,
    /// Fetches over time, at most
    #[arg(long, default_value = "8/s", value_name = "RATE")]
    pub budget: Rate,
    /// Which known pages to fetch again, and when: a policy, as for `avocet run`
    #[arg(long, default_value = "holistic", value_name = "POLICY")]
    pub refresh: String,
    /// Searches a second by people of the town; 0: only you search
    #[arg(long, default_value = "2", value_name = "RATE", value_parser = searches)]
    pub searches: f64,
    /// Where to listen [default: 127.0.0.1:8321, or another port if that is taken]
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<SocketAddr>,
}

fn speed(text: &str) -> Result<f64, String> {
    let speed = text
        .parse()
        .ok()
        .filter(|speed| (0.01..=100.0).contains(speed));
    speed.ok_or_else(|| format!("{text:?} is no speed: write a number from 0.01 to 100"))
}

fn searches(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (0.0..=10.0).contains(rate));
    rate.ok_or_else(|| format!("{text:?} is no rate: write a number from 0 to 10"))
}

#[derive(Debug, Subcommand)]
pub enum ConfigAction {
    /// Print an avocet.toml with everything that can be set, explained
    Reference,
    /// Show every setting, the value in force and where it comes from
    Show {
        /// The file [default: avocet.toml in the store]
        file: Option<PathBuf>,
    },
    /// Say whether a file is right, and where it is not
    Check {
        /// The file [default: avocet.toml in the store]
        file: Option<PathBuf>,
    },
}

#[derive(Debug, Clone, Args)]
#[command(after_long_help = catalog(), after_help = "\
Example:
  avocet crawl https://docs.example.org/guide/ --scope prefix --pages 1000 --contact mailto:me@example.org")]
pub struct Crawl {
    /// Where to begin
    #[arg(value_name = "URL")]
    pub urls: Vec<String>,
    /// A file of seeds, one URL a line ('-' reads standard input)
    #[arg(long, value_name = "FILE")]
    pub seeds: Option<PathBuf>,
    /// Stop after this many pages
    #[arg(long, value_name = "N")]
    pub pages: Option<u64>,
    /// Stop after this time (30s, 10m, 2h)
    #[arg(long, value_name = "TIME")]
    pub time: Option<Time>,
    /// Stop when the fetched pages hold this share of all importance (needs --order rankmass)
    #[arg(long, value_name = "SHARE")]
    pub stop_coverage: Option<f64>,
    /// Stop after N pages that match the topic or predicate
    #[arg(long, value_name = "N")]
    pub until_found: Option<u64>,
    /// Fetch pages again whose last fetch is older than this
    #[arg(long, value_name = "TIME")]
    pub refresh_after: Option<Time>,
    /// The configuration [default: avocet.toml in the store, if there]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    #[command(flatten)]
    pub settings: SettingFlags<OfCrawl>,
}

#[derive(Debug, Clone, Args)]
#[command(after_long_help = refresh_catalog(), after_help = "\
Example:
  avocet run https://docs.example.org/ --budget 5000/day --store ./docs
  avocet run --store ./docs        (seeds, budget and policies of avocet.toml, or of the last crawl)")]
pub struct Run {
    #[command(flatten)]
    pub crawl: Crawl,
    /// Serve nothing
    #[arg(long, conflicts_with = "listen")]
    pub no_serve: bool,
    #[command(flatten)]
    pub settings: SettingFlags<OfRun>,
}

impl Run {
    /// Returns the settings that the flags give.
    pub fn layer(&self) -> Layer {
        self.settings.layer.over(&self.crawl.settings.layer)
    }
}

/// The example, and the refresh policies by name.
fn refresh_catalog() -> String {
    let catalog = policy::catalog::Catalog::standard();
    format!(
        "\
Example:
  avocet run https://docs.example.org/ --budget 5000/day --refresh holistic --store ./docs

avocet.toml is looked at while it runs: change [budget], [refresh] or [source] and it goes on by that.

{}
{}
{}",
        catalog.refresh_help(),
        catalog.scheduler_help(),
        catalog.help()
    )
}

/// The example, and the policies by name.
fn catalog() -> String {
    format!(
        "\
Example:
  avocet crawl https://docs.example.org/ --order 'pagerank*0.7 + similarity*0.3' --query 'type system'

{}",
        policy::catalog::Catalog::standard().help()
    )
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet sources --store ./news
  avocet sources --all --json | jq '.sources[] | select(.on | not) | .why'")]
pub struct Sources {
    /// Also pages that are not polled and never named a new page
    #[arg(long)]
    pub all: bool,
    /// How many
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub limit: usize,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet explain https://docs.example.org/guide/ --store ./docs")]
pub struct Explain {
    /// The page
    pub url: String,
}
