//! The command line of `avocet`: commands, flags and help texts.

pub mod cluster;
#[cfg(test)]
mod documents;
mod exchange;
mod forget;
mod init;
pub mod lab;
mod overview;
mod plan;
mod report;
mod search;
mod serve;
mod settings;
mod shell;
pub mod topic;

use std::path::PathBuf;

use clap::{Args, FromArgMatches, Parser, Subcommand, ValueEnum};
use node::settings::{Layer, ListenAddress, Rate, Time};

pub use exchange::{
    ExportArguments, ExportKind, ImportArguments, ImportKind, PageFormat, RebuildArguments,
};
pub use forget::ForgetArguments;
pub use init::{CheckArguments, InitArguments};
pub use overview::command;
pub use plan::PlanArguments;
pub use report::{LinksArguments, ReportArguments};
pub use search::{SearchArguments, SearchOrder};
pub use serve::ServeArguments;
use settings::{OfCrawl, OfRun, SettingFlags};
pub use shell::{CompletionsArguments, ManArguments};

/// The heading of the options that every command has.
const GLOBAL: &str = "Options of every command";

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
pub struct CommandLine {
    /// Directory that holds all data of a crawl [default: avocet-data]
    #[arg(long, global = true, value_name = "DIR", help_heading = GLOBAL)]
    pub store: Option<PathBuf>,
    /// Print JSON on standard output instead of text
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub json: bool,
    /// Format of log events on standard error
    #[arg(
        long,
        global = true,
        value_enum,
        default_value_t = LogFormat::Text,
        value_name = "FORMAT",
        help_heading = GLOBAL
    )]
    pub log_format: LogFormat,
    /// Minimum severity of log events: error, warn, info, debug or trace; also per crate, such as
    /// node=debug,fetch=warn [default: AVOCET_LOG, or
    /// warn,avocet=info,cluster=info,node=info,server=info]
    #[arg(long, global = true, value_name = "LEVEL", help_heading = GLOBAL)]
    pub log_level: Option<String>,
    #[command(subcommand)]
    pub command: Command,
}

impl CommandLine {
    /// Parses the command line of this process. Ends the process after help, and after an error.
    pub fn read() -> Self {
        let matches = command().get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Write an avocet.toml with comments, from flags or questions
    Init(Box<InitArguments>),
    /// Show what a crawl would do with one page, without a store: robots.txt, scope, links, text,
    /// and why search would not find it
    Check(Box<CheckArguments>),
    /// Crawl from seeds until nothing is left or a limit is reached; run it again to resume
    Crawl(Box<CrawlArguments>),
    /// Crawl and refresh continuously within a budget of fetches, until interrupted
    Run(Box<RunArguments>),
    /// Estimate how many fetches a freshness goal needs, or what a budget achieves
    Plan(PlanArguments),
    /// Search the crawled pages
    Search(SearchArguments),
    /// Serve the search page, the dashboard and the API
    Serve(ServeArguments),
    /// Offer search, fetch_page and explain to an AI agent, by the Model Context Protocol over
    /// standard input and output
    #[command(
        after_help = "Example:\n  avocet mcp --store ./docs        (an agent's configuration starts this)"
    )]
    Mcp,
    /// Train topics from examples, for `crawl --topic`: train, list, show, test, remove
    #[command(subcommand)]
    Topic(topic::TopicCommand),
    /// List the sources, pages that name new pages: what they yield, how often they are polled,
    /// and why
    Sources(SourcesArguments),
    /// Show what the store holds and what a running crawl does
    Status(StatusArguments),
    /// Pause the running crawl: requests under way finish and are committed, and none is started
    #[command(
        after_help = "Example:\n  avocet pause --store ./docs && cp -a ./docs ./backup; avocet resume --store ./docs"
    )]
    Pause,
    /// Resume a paused crawl
    #[command(after_help = "Example:\n  avocet resume --store ./docs")]
    Resume,
    /// Explain why a URL was or was not fetched, what happens next, and what a fetch is worth
    Explain(ExplainArguments),
    /// List links: the broken ones, or the pages to which only a sitemap links
    Links(LinksArguments),
    /// Make a report: duplicates, slow servers, what people search for
    Report(ReportArguments),
    /// Export URLs, links, pages or WARC files
    Export(ExportArguments),
    /// Import WARC files, URLs, search queries or clicks
    Import(ImportArguments),
    /// Rebuild ledger, index and CDXJ files from the archive
    Rebuild(RebuildArguments),
    /// Remove pages for good from index, ledger and archive, and never fetch them again
    Forget(ForgetArguments),
    /// Check that archive, ledger and index agree
    #[command(after_help = "Example:\n  avocet verify --store ./docs")]
    Verify,
    /// Show and steer a crawl on several machines: status, drain, move, verify
    #[command(subcommand)]
    Cluster(cluster::ClusterCommand),
    /// Demonstrate crawl, search and dashboard on an invented web on this machine
    Demo(DemoArguments),
    /// Print the configuration reference, show the settings in force, or check a file
    #[command(
        subcommand,
        after_help = "Example:\n  avocet config reference > avocet.toml\n  avocet config show --store ./docs\n  avocet config check avocet.toml"
    )]
    Config(ConfigAction),
    /// Print a script that completes commands and flags in a shell: bash, zsh or fish
    Completions(CompletionsArguments),
    /// Print a manual page, or write those of all commands
    Man(ManArguments),
    /// Compare policies by simulation, in recorded or invented worlds
    #[command(
        subcommand,
        after_help = "Example:\n  avocet lab ordering --world invented:graph --runs 5\n  avocet lab report --out report"
    )]
    Lab(lab::LabCommand),
}

/// Format of log events.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Text lines
    Text,
    /// JSON Lines
    Json,
}

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Example:
  avocet demo
  avocet demo --time 2m --seed 7 --budget 4/s --json
  avocet demo --nodes 3

Without --store, the demo uses a temporary directory and deletes it at the end.")]
pub struct DemoArguments {
    /// Stop after this time (30s, 10m) [default: no limit; Ctrl-C stops it]
    #[arg(long, value_name = "TIME")]
    pub time: Option<Time>,
    /// Time after which the final measurement of freshness begins [default: half of the time]
    #[arg(long, value_name = "TIME")]
    pub measure_from: Option<Time>,
    /// Random seed of the invented web (a town): the same seed gives the same web
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
    /// Factor on the speed at which the town changes, 0.01 to 100; at 1, an article appears every 8
    /// seconds
    #[arg(long, default_value = "1", value_name = "FACTOR", value_parser = speed)]
    pub speed: f64,
    /// Maximum rate of fetches
    #[arg(long, default_value = "8/s", value_name = "RATE")]
    pub budget: Rate,
    /// Refresh policy, as for `avocet run`: which known pages to fetch again, and when
    #[arg(long, default_value = "holistic", value_name = "POLICY")]
    pub refresh: String,
    /// Refresh policy of the baseline: another crawl of the same town with the same budget, which
    /// the demo is compared with; `none` for no baseline (with --nodes there is none)
    #[arg(long, default_value = "uniform", value_name = "POLICY")]
    pub baseline: String,
    /// Searches per second by simulated users, 0 to 10; at 0 only you search
    #[arg(long, default_value = "2", value_name = "RATE", value_parser = searches)]
    pub searches: f64,
    /// Address to listen on [default: 127.0.0.1:8321, or a free port if that one is taken]; with
    /// --nodes, that of the first node [default: a free port]
    #[arg(long, value_name = "ADDRESS")]
    pub listen: Option<ListenAddress>,
    /// Crawl with this number of processes and one NATS server on this machine, 2 or 3, and kill
    /// one of them. Needs the program nats-server on the PATH
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(2..=3))]
    pub nodes: Option<u8>,
    /// With --nodes: time after which one node is killed [default: 40s, or a third of --time]
    #[arg(long, value_name = "TIME", requires = "nodes")]
    pub kill_after: Option<Time>,
}

fn speed(text: &str) -> Result<f64, String> {
    let speed = text
        .parse()
        .ok()
        .filter(|speed| (0.01..=100.0).contains(speed));
    speed.ok_or_else(|| format!("{text:?} is not a speed: write a number from 0.01 to 100"))
}

fn searches(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (0.0..=10.0).contains(rate));
    rate.ok_or_else(|| format!("{text:?} is not a rate: write a number from 0 to 10"))
}

#[derive(Debug, Subcommand)]
pub enum ConfigAction {
    /// Print an avocet.toml that lists and explains every setting
    Reference,
    /// Show every setting, its value, and where the value comes from
    Show {
        /// Configuration file [default: avocet.toml in the store]
        file: Option<PathBuf>,
    },
    /// Check a file and list its errors
    Check {
        /// Configuration file [default: avocet.toml in the store]
        file: Option<PathBuf>,
    },
}

#[derive(Debug, Clone, Default, Args)]
#[command(after_long_help = catalog(), after_help = "\
Example:
  avocet crawl https://docs.example.org/guide/ --scope prefix --pages 1000 --contact mailto:me@example.org")]
pub struct CrawlArguments {
    /// Seeds: the URLs at which the crawl starts
    #[arg(value_name = "URL")]
    pub urls: Vec<String>,
    /// File of seeds, one URL per line ('-' reads standard input)
    #[arg(long, value_name = "FILE")]
    pub seeds: Option<PathBuf>,
    /// Stop after this many pages
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub pages: Option<u64>,
    /// Stop after this time (30s, 10m, 2h)
    #[arg(long, value_name = "TIME", help_heading = "Limits")]
    pub time: Option<Time>,
    /// Stop when the fetched pages hold this share of all importance, from 0 to 1 (only `avocet
    /// crawl`; needs --order rankmass, the default)
    #[arg(long, value_name = "SHARE", help_heading = "Limits")]
    pub stop_coverage: Option<f64>,
    /// Stop after N pages that match the topic or predicate (only `avocet crawl`)
    #[arg(long, value_name = "N", help_heading = "Limits")]
    pub until_found: Option<u64>,
    /// Fetch a page again if its last fetch is older than this (only `avocet crawl`; `avocet run`
    /// uses --refresh)
    #[arg(long, value_name = "TIME", help_heading = "Limits")]
    pub refresh_after: Option<Time>,
    /// Configuration file [default: avocet.toml in the store, if it exists]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Make a store in a directory that has other files
    #[arg(long)]
    pub force: bool,
    #[command(flatten)]
    pub settings: SettingFlags<OfCrawl>,
}

#[derive(Debug, Clone, Args)]
#[command(after_long_help = refresh_catalog(), after_help = "\
Example:
  avocet run https://docs.example.org/ --budget 5000/day --store ./docs
  avocet run --store ./docs        (without seeds here and in avocet.toml: seeds, scope and contact of the last crawl)")]
pub struct RunArguments {
    #[command(flatten)]
    pub crawl: CrawlArguments,
    /// Serve no search page, dashboard or API
    #[arg(long, conflicts_with = "listen")]
    pub no_serve: bool,
    #[command(flatten)]
    pub settings: SettingFlags<OfRun>,
}

impl RunArguments {
    /// Returns the settings that the flags give.
    pub fn layer(&self) -> Layer {
        self.settings.layer.over(&self.crawl.settings.layer)
    }
}

/// Returns the end of the long help of `run`: an example, a note about `avocet.toml`, and the
/// refresh policies, schedulers and orderings by name.
fn refresh_catalog() -> String {
    let catalog = policy::catalog::Catalog::standard();
    format!(
        "\
Example:
  avocet run https://docs.example.org/ --budget 5000/day --refresh holistic --store ./docs

A running crawl reads avocet.toml again when the file changes. Changes take effect without a restart, except those of
[serve] and [search].

{}
{}
{}",
        catalog.refresh_help(),
        catalog.scheduler_help(),
        catalog.help()
    )
}

/// Returns the end of the long help of `crawl`: an example and the orderings by name.
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
pub struct SourcesArguments {
    /// Also list pages that are not polled and never linked to a new page
    #[arg(long)]
    pub all: bool,
    /// Maximum number of sources to list
    #[arg(long, default_value_t = 100, value_name = "N")]
    pub limit: usize,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet status --store ./docs
  avocet status --store ./docs --running || systemctl restart avocet")]
pub struct StatusArguments {
    /// Fail with exit code 1 unless a crawl runs on the store and answers: a health check
    #[arg(long)]
    pub running: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet explain https://docs.example.org/guide/ --store ./docs")]
pub struct ExplainArguments {
    /// URL of the page
    pub url: String,
}
