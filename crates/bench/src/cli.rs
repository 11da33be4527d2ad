//! The command line of the benchmarks.

mod crawl;
mod experiment;
mod extraction;
mod focus;
mod frontier;
mod gate;
mod lab;
mod measure;
mod order;
mod refresh;
mod relevance;
mod search;
mod sources;

use clap::{Parser, Subcommand};

pub use crawl::{BareOptions, CrawlOptions, ServeOptions};
pub use experiment::{HttpOptions, QualityJudge, ServersOptions, WebKind, WebOptions};
pub use extraction::ExtractionOptions;
pub use focus::FocusOptions;
pub use frontier::{FrontierOptions, ReopenOptions};
pub use gate::{GateOptions, GateWorkload, WorkloadName};
pub use lab::{LabOptions, LabOrdering, LabRefresh};
pub use measure::{Indexing, MeasureOptions, MeasureRun};
pub use order::{OrderCell, OrderOptions, OrderUpkeep};
pub use refresh::{RefreshCell, RefreshOptions};
pub use relevance::RelevanceOptions;
pub use search::SearchOptions;
pub use sources::{SourcesCell, SourcesOptions};

/// The command line of the benchmark program.
#[derive(Debug, Parser)]
#[command(name = "bench", bin_name = "cargo xtask bench")]
pub struct BenchArguments {
    /// The benchmark to run.
    #[command(subcommand)]
    pub bench: BenchCommand,
}

/// A benchmark, or a process that one starts.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Crawl real pages on loopback, with and without archive and index, beside a bare client
    Crawl(CrawlOptions),
    /// Drive the frontier and its ledger at the size of a large crawl
    Frontier(FrontierOptions),
    /// Choose pages by every ordering and server strategy, in memory, at several sizes
    Order(OrderOptions),
    /// Crawl an invented web on loopback by every server strategy, and report quality over time
    Servers(ServersOptions),
    /// Crawl an invented web on loopback with every HTTP version and number of connections
    Http(HttpOptions),
    /// Simulate crawls and a year of refreshes, and report the speed of the lab
    Lab(LabOptions),
    /// Choose which of many known pages to fetch again, and report time and memory per page
    Refresh(RefreshOptions),
    /// Plan polls of sources; or publish articles live, and report how soon search finds them
    Sources(SourcesOptions),
    /// Crawl a web with and without a topic, and report the cost of judging pages
    Focus(FocusOptions),
    /// Index changing texts with and without measuring ΔQ, and report the cost of the measurement
    Measure(MeasureOptions),
    /// Search over HTTP while pages are indexed, and report the latency of searches
    Search(SearchOptions),
    /// Search for known answers, and report the rank of the right page (MRR, success at k)
    Relevance(RelevanceOptions),
    /// Extract the main text of labelled pages, and report precision, recall and kept code blocks
    Extraction(ExtractionOptions),
    /// Count the instructions of six fixed workloads and compare them with the accepted counts
    Gate(GateOptions),
    /// Run one workload of `gate`
    #[command(hide = true)]
    GateWorkload(GateWorkload),
    /// Serve directories until standard input ends; started by `crawl`
    #[command(hide = true)]
    Serve(ServeOptions),
    /// Fetch a list of URLs and do nothing else; started by `crawl` for comparison
    #[command(hide = true)]
    Bare(BareOptions),
    /// Open a ledger and rebuild the frontier from it; started by `frontier`
    #[command(hide = true)]
    Reopen(ReopenOptions),
    /// Serve an invented web until standard input ends; started by `servers` and `http`
    #[command(hide = true)]
    ServeWeb(WebOptions),
    /// Measure one ordering and strategy at one size; started by `order`
    #[command(hide = true)]
    OrderCell(OrderCell),
    /// Measure the cost of keeping one ordering up to date; started by `order`
    #[command(hide = true)]
    OrderUpkeep(OrderUpkeep),
    /// Simulate crawls by one ordering; started by `lab`
    #[command(hide = true)]
    LabOrdering(LabOrdering),
    /// Choose among a given number of pages; started by `refresh`
    #[command(hide = true)]
    RefreshCell(RefreshCell),
    /// Plan polls of a given number of sources; started by `sources`
    #[command(hide = true)]
    SourcesCell(SourcesCell),
    /// Simulate a year of refreshes; started by `lab`
    #[command(hide = true)]
    LabRefresh(LabRefresh),
    /// Index texts once, to count instructions; started by `measure`
    #[command(hide = true)]
    MeasureRun(MeasureRun),
}
