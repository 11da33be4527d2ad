//! Arguments of `avocet lab`.

mod ephemeral;
pub mod focus;
mod joint;
mod serve;

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use lab::experiment::{Metric, currency, ordering, partition, refresh, servers, world};

pub use ephemeral::{ClickScope, CreditScope, EphemeralArguments};
pub use joint::JointArguments;
pub use serve::LabServeArguments;

use node::settings::Time;

/// Subcommands of `avocet lab`: one per experiment, and a few tools.
#[derive(Debug, Subcommand)]
pub enum LabCommand {
    /// Compare URL orderings by how soon they fetch the important pages of a graph
    Ordering(OrderingArguments),
    /// Compare server strategies in a simulation of connections
    Servers(ServersArguments),
    /// Compute how often pages must be visited: currency, freshness and age by formula, by Monte
    /// Carlo and by simulated crawls
    Currency(CurrencyArguments),
    /// Compare refresh policies under a budget by the quality of search results
    Refresh(RefreshArguments),
    /// Compare schedulers that poll sources for new pages, by the clicks on these pages
    Ephemeral(EphemeralArguments),
    /// Compare one price for discovery and refresh with quotas, by the clicks on fresh copies
    Joint(JointArguments),
    /// Compare methods of focused crawling on webs whose pages have labels
    Focus(focus::FocusArguments),
    /// Compare ways to coordinate several crawlers: overlap, coverage and messages
    Partition(PartitionArguments),
    /// Check and describe a world, or write an invented one as tables
    World(WorldArguments),
    /// Serve a world on loopback behind an HTTP proxy, for any crawler
    Serve(LabServeArguments),
    /// Run every experiment and write one page with figures, claims and commands
    Report(ReportArguments),
}

/// Options of every experiment that compares policies.
#[derive(Debug, Args)]
pub struct Common {
    #[command(flatten)]
    pub setup: SetupArguments,
    /// Policies to compare, separated by commas [default: all that apply]
    #[arg(long, value_name = "A,B", value_parser = PolicyNames::parse)]
    pub policies: Vec<PolicyNames>,
    /// Also report, in rows METRIC-gain, by how much each policy exceeds this one in the same run
    #[arg(long, value_name = "POLICY")]
    pub against: Option<String>,
}

/// Names of policies, as one value of `--policies` gives them.
#[derive(Debug, Clone, PartialEq)]
pub struct PolicyNames(pub Vec<String>);

impl PolicyNames {
    /// Splits a list at its commas, except those in parentheses: `laser(0.5, 2),soft` has two
    /// names.
    fn parse(list: &str) -> Result<Self, String> {
        let mut names = vec![String::new()];
        let mut open = 0;
        for letter in list.chars() {
            match letter {
                '(' => open += 1,
                ')' if open == 0 => return Err("a ) has no ( before it".into()),
                ')' => open -= 1,
                ',' if open == 0 => {
                    names.push(String::new());
                    continue;
                }
                _ => {}
            }
            if let Some(name) = names.last_mut() {
                name.push(letter);
            }
        }
        match open {
            0 => Ok(Self(
                names.iter().map(|name| name.trim().to_owned()).collect(),
            )),
            _ => Err("a ( has no ) after it".into()),
        }
    }
}

/// Options of every experiment.
#[derive(Debug, Args)]
pub struct SetupArguments {
    /// Set a parameter of an invented world: NAME=VALUE (repeatable; the names are listed below)
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = knob)]
    pub knobs: Vec<(String, String)>,
    /// Random seed
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Number of runs. Each run has its own random draws, the same for all policies. Two or more
    /// runs give confidence intervals
    #[arg(long, value_name = "R", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub runs: u32,
    /// Threads to use; the result does not depend on it [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Also write the figures (SVG) and the numbers (JSON) to this directory
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
pub struct OrderingArguments {
    /// A directory with edges.tsv (see docs/reference/worlds.md), or invented:NAME
    #[arg(long, value_name = "WORLD", default_value = "invented:graph")]
    pub world: String,
    #[command(flatten)]
    pub common: Common,
    /// Page at which crawls start, by id or URL (repeatable: one per run) [default: random]
    #[arg(long, value_name = "PAGE")]
    pub start: Vec<String>,
    /// Query for the importance IS (similarity of a page to the query) and for the orderings
    /// similarity, hot-anchor and hot-page
    #[arg(long, value_name = "WORDS")]
    pub query: Option<String>,
    /// Rule for the ordering `location`: host:.edu=2, path:/docs/=3, depth=0.8 (repeatable)
    #[arg(long, value_name = "RULE")]
    pub location: Vec<String>,
    /// Scores for the ordering `given`: a file of lines URL<tab>number
    #[arg(long, value_name = "FILE")]
    pub scores: Option<PathBuf>,
    /// Size of the limited buffer of the metric p_bc, as a share of the web
    #[arg(long, value_name = "SHARE", default_value_t = ordering::OrderingExperimentOptions::default().buffer)]
    pub buffer: f64,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  avocet lab servers --connections 16 --runs 5",
    after_long_help = help(
        "avocet lab servers --connections 16 --quality zipf --runs 5 --out figures",
        servers::METRICS,
        "The servers of the paper were on the other coast of the continent, at one place: --set connect=0.075 --set connect_sigma=0.1",

    )
)]
pub struct ServersArguments {
    /// invented:servers, or a directory with links, whose hosts get random latencies
    #[arg(long, value_name = "WORLD", default_value = "invented:servers")]
    pub world: String,
    #[command(flatten)]
    pub common: Common,
    /// The most connections that are open at once, to all servers together
    #[arg(long, value_name = "N", default_value_t = servers::ServersExperimentOptions::default().connections, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub connections: u16,
    /// How the quality of pages is assigned [default: both]
    #[arg(long, value_enum)]
    pub quality: Option<PageQuality>,
    /// HTTP version to simulate [default: 1.1, with the others for comparison]
    #[arg(long, value_enum)]
    pub http: Option<SimulatedHttp>,
    /// Multiply the round-trip and response times of all servers by this factor
    #[arg(long, value_name = "FACTOR", default_value_t = servers::ServersExperimentOptions::default().slowness)]
    pub slowness: f64,
    /// Milliseconds that the crawler's processor takes for an answer [with the default, the
    /// processor is fully busy at 8.4 Mbit/s, as in the paper]
    #[arg(long, value_name = "MS", default_value_t = milliseconds(servers::ServersExperimentOptions::default().costs.per_page))]
    pub cpu_page: f64,
    /// Milliseconds that the crawler's processor takes for a connection
    #[arg(long, value_name = "MS", default_value_t = milliseconds(servers::ServersExperimentOptions::default().costs.per_connection))]
    pub cpu_connection: f64,
    /// Simulate connections that close in no time and transfer answers of any size at once, without
    /// slow start
    #[arg(long)]
    pub ideal_tcp: bool,
    /// Simulate connections that open in no time, as on loopback, to compare with `cargo xtask
    /// bench servers`; the three options before do not apply
    #[arg(long)]
    pub loopback: bool,
}

/// An HTTP version of the simulation.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SimulatedHttp {
    /// One connection per page
    #[value(name = "1.0")]
    Http10,
    /// One page after another over a persistent connection
    #[value(name = "1.1")]
    Http11,
    /// Up to eight requests before the first response
    Pipelined,
}

/// How the quality of pages is assigned.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum PageQuality {
    /// PageRank: pages of one server have similar quality
    Pagerank,
    /// Zipf's law, assigned to pages at random
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
pub struct CurrencyArguments {
    /// A directory with versions.tsv (see docs/reference/worlds.md), or invented:pages, which here
    /// has 20000 pages unless --set gives another number
    #[arg(long, value_name = "WORLD", default_value = "invented:pages")]
    pub world: String,
    #[command(flatten)]
    pub common: Common,
    /// Share of copies that must be current
    #[arg(long, value_name = "SHARE", default_value_t = currency::CurrencyExperimentOptions::default().alpha)]
    pub alpha: f64,
    /// Grace period: a copy is current if its page did not change between the visit and this many
    /// days ago
    #[arg(long, value_name = "DAYS", default_value_t = currency::CurrencyExperimentOptions::default().beta_days)]
    pub beta: f64,
    /// Shape of the Weibull distribution of the mean time between changes of a page, for the
    /// formulas, for monte-carlo and, unless --set gives another, for invented:pages
    #[arg(long, value_name = "NUMBER", default_value_t = currency::CurrencyExperimentOptions::default().shape)]
    pub shape: f64,
    /// Scale of this distribution, in days
    #[arg(long, value_name = "DAYS", default_value_t = currency::CurrencyExperimentOptions::default().scale_days)]
    pub scale: f64,
    /// Intervals between visits to try, separated by commas [default: five from 7 to 90, and the
    /// longest that meets --alpha and --beta]
    #[arg(long, value_name = "DAYS", value_delimiter = ',')]
    pub interval: Vec<f64>,
    /// Number of documents in the collection, for the bandwidth
    #[arg(long, value_name = "N", default_value_t = currency::CurrencyExperimentOptions::default().documents)]
    pub documents: f64,
    /// Size of a document, in kilobytes of 1000 bytes
    #[arg(long, value_name = "KB", default_value_t = currency::CurrencyExperimentOptions::default().kilobytes)]
    pub kilobytes: f64,
    /// Pages that monte-carlo draws for each interval
    #[arg(long, value_name = "N", default_value_t = currency::CurrencyExperimentOptions::default().draws)]
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
            "Policies: none (no refresh), and any refresh policy. sbr and ebr without an argument run with every threshold \
             from .1 to 1 (rows with tau); the best threshold for each budget represents them.\n{}",
            policy::catalog::Catalog::standard().refresh_help()
        ),
    )
)]
pub struct RefreshArguments {
    /// A directory with versions.tsv and, for quality, bodies.ndjson (see
    /// docs/reference/worlds.md), or invented:NAME
    #[arg(long, value_name = "WORLD", default_value = "invented:corpus")]
    pub world: String,
    #[command(flatten)]
    pub common: Common,
    /// Query log: a table (query, count), or a directory with queries.tsv [default: the world's
    /// own]
    #[arg(long, value_name = "FILE")]
    pub queries: Option<PathBuf>,
    /// Scoring function that ranks results and measures what a page is worth to a searcher
    #[arg(long, value_enum, default_value_t = ScorerChoice::TfIdf)]
    pub scorer: ScorerChoice,
    /// What policies know at the start
    #[arg(long, value_enum, default_value_t = PriorKnowledge::Halves)]
    pub knowledge: PriorKnowledge,
    /// Pages of the world to use
    #[arg(long, value_enum, default_value_t = UsedPages::All)]
    pub pages: UsedPages,
    /// Time between two steps [default: 7d; in invented:pages 1d; in a recorded world the longest
    /// of 7d, 1d, 1h, 1m and 1s that fits 20 times into its history]
    #[arg(long, value_name = "TIME")]
    pub step: Option<Time>,
    /// Refreshes per step, as shares of the initial number of pages, separated by commas [default:
    /// nine from .002 to .7; in invented:pages .002, .01 and .05]
    #[arg(long, value_name = "SHARE", value_delimiter = ',')]
    pub budget: Vec<f64>,
    /// Maximum number of queries: the most frequent ones that match pages of the world
    #[arg(long, value_name = "N", default_value_t = refresh::RefreshExperimentOptions::default().most_queries)]
    pub most_queries: usize,
    /// Estimator of change rates [default: the policies' own]
    #[arg(long, value_name = "NAME")]
    pub rate: Option<String>,
}

/// Pages of the world that are used.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum UsedPages {
    /// All, also those that are born later or die
    All,
    /// Those that exist at every step, as in the paper
    Persistent,
    /// Those that exist at every step and change, as in one data set of the paper
    Changed,
}

/// Scoring function of the search engine.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum ScorerChoice {
    /// tf-idf, as in Lucene's classic similarity
    TfIdf,
    /// One plus the number of in-links from other pages of the world
    Inlinks,
    /// Okapi BM25
    Bm25,
}

/// What policies know at the start.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum PriorKnowledge {
    /// All that happened in the first half of the time, as if every page had been visited at every
    /// step; only the second half is scored
    Halves,
    /// All that happens in the whole time, seen in the same way; all of it is scored, as in the
    /// paper. This is an upper bound
    Whole,
    /// Only the copies of the first moment
    Online,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  avocet lab partition --crawlers 2,4,8 --runs 5",
    after_long_help = help(
        "avocet lab partition --world ./my-graph --crawlers 4 --order pagerank --policies static-exchange,static-firewall",
        partition::METRICS,
        partition::help(),
    )
)]
pub struct PartitionArguments {
    /// A directory with edges.tsv (see docs/reference/worlds.md), or invented:NAME
    #[arg(long, value_name = "WORLD", default_value = "invented:graph")]
    pub world: String,
    #[command(flatten)]
    pub common: Common,
    /// Numbers of crawlers to compare, separated by commas
    #[arg(long, value_name = "K", value_delimiter = ',', default_values_t = partition::PartitionExperimentOptions::default().crawlers)]
    pub crawlers: Vec<u32>,
    /// Ordering that every crawler uses, as for `avocet crawl`
    #[arg(long, value_name = "ORDER", default_value_t = partition::PartitionExperimentOptions::default().order)]
    pub order: String,
    /// Fetches of all crawlers together, as a share of the reachable pages [default: no limit]
    #[arg(long, value_name = "SHARE")]
    pub budget: Option<f64>,
    /// Send links to other crawlers after every N fetches
    #[arg(long, value_name = "N", default_value_t = partition::PartitionExperimentOptions::default().batch)]
    pub batch: usize,
    /// Mean number of hosts that share an IP address, for the teams address-MODE; addresses are
    /// drawn at random, since worlds have none
    #[arg(long, value_name = "N", default_value_t = partition::PartitionExperimentOptions::default().hosts_per_address)]
    pub hosts_per_address: f64,
    /// Size of a page, in kilobytes of 1000 bytes, for the metric communication
    #[arg(long, value_name = "KB", default_value_t = partition::PartitionExperimentOptions::default().kilobytes)]
    pub kilobytes: f64,
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
pub struct WorldArguments {
    /// A directory (see docs/reference/worlds.md), invented:NAME, or files:DIR for the times of the
    /// files of a directory
    #[arg(long, value_name = "WORLD")]
    pub world: String,
    #[command(flatten)]
    pub setup: SetupArguments,
    /// Write the tables of the world to this directory
    #[arg(long, value_name = "DIR")]
    pub write: Option<PathBuf>,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  avocet lab report --out report && xdg-open report/index.html
  avocet lab report --out report --data ../shared/data --claims claims.md")]
pub struct ReportArguments {
    /// Directory to write: index.html, and the figures and numbers of each experiment
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Directory of recorded worlds, to use in addition to the invented ones
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Random seed
    #[arg(long, value_name = "S", default_value_t = 1)]
    pub seed: u64,
    /// Number of runs of each study [default: 1 to 5, by the time that a run takes; with --full
    /// 10]
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: Option<u32>,
    /// Run studies more often, and with more budgets and queries; this takes hours instead of
    /// minutes
    #[arg(long)]
    pub full: bool,
    /// Also write all claims, with what was found, as a Markdown page to this file
    #[arg(long, value_name = "FILE")]
    pub claims: Option<PathBuf>,
    /// Threads to use [default: all cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
}

fn milliseconds(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

fn knob(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("write it as NAME=VALUE")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

/// Returns the end of a long help: example, metrics, `more`, and the invented worlds.
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

#[cfg(test)]
mod tests {
    use super::PolicyNames;

    #[test]
    fn a_list_of_policies_is_split_outside_parentheses() {
        for (list, names) in [
            ("soft", vec!["soft"]),
            ("soft, hard", vec!["soft", "hard"]),
            ("laser(0.5, 2),soft", vec!["laser(0.5, 2)", "soft"]),
            (
                "a*0.5 + b, currency(0.95, 7)",
                vec!["a*0.5 + b", "currency(0.95, 7)"],
            ),
        ] {
            let found = PolicyNames::parse(list).map(|names| names.0);
            assert_eq!(
                found,
                Ok(names.into_iter().map(str::to_owned).collect()),
                "{list}"
            );
        }
        for wrong in ["laser(0.5", "laser)0.5(", "soft),hard"] {
            assert!(PolicyNames::parse(wrong).is_err(), "{wrong}");
        }
    }
}
