//! The command line of the benchmarks.

use clap::{Args, Parser, Subcommand};

use crate::cluster::ClusterOptions;
use crate::crawl::CrawlOptions;
use crate::documents::DocumentsOptions;
use crate::extraction::ExtractionOptions;
use crate::focus::FocusOptions;
use crate::frontier::FrontierOptions;
use crate::gate::GateOptions;
use crate::http::HttpOptions;
use crate::lab::LabOptions;
use crate::live::LiveOptions;
use crate::measure::MeasureOptions;
use crate::order::OrderOptions;
use crate::peers::PeersOptions;
use crate::refresh::RefreshOptions;
use crate::relevance::RelevanceOptions;
use crate::search::SearchOptions;
use crate::servers::ServersOptions;
use crate::sources::SourcesOptions;
use crate::start::StartOptions;
use crate::steps::StepsOptions;

/// The command line of the benchmark program.
#[derive(Debug, Parser)]
#[command(name = "bench", bin_name = "cargo xtask bench")]
pub struct BenchArguments {
    /// The benchmark to run.
    #[command(subcommand)]
    pub bench: BenchCommand,
}

/// A benchmark, or a part that a benchmark starts as a process.
#[derive(Debug, Subcommand)]
pub enum BenchCommand {
    /// Crawl real pages on loopback, with and without archive and index, beside a bare client
    Crawl(CrawlOptions),
    /// Crawl real pages that nginx serves, beside wget2, and compare the cost
    Peers(PeersOptions),
    /// Crawl on several nodes over NATS servers, with and without kills, and report the cost
    Cluster(ClusterOptions),
    /// Drive the frontier and its ledger at the size of a large crawl
    Frontier(FrontierOptions),
    /// Run the crawl core alone on a site of a million URLs, and report the time of its steps
    Steps(StepsOptions),
    /// Open a large store, with and without a checkpoint, and report the time to the first request
    Start(StartOptions),
    /// Choose pages by every ordering and server strategy, in memory, at several sizes
    Order(OrderOptions),
    /// Crawl an invented web on loopback by every server strategy, and report quality over time
    Servers(ServersOptions),
    /// Crawl an invented web on loopback with every HTTP version and number of connections
    Http(HttpOptions),
    /// Simulate crawls and a year of refreshes, and report the speed of the lab
    Lab(LabOptions),
    /// Run demos with the default refresh policy and a uniform one, and compare freshness
    Live(LiveOptions),
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
    /// Read PDF files; report the share of pdftotext's words in order, failures, time and memory
    Documents(DocumentsOptions),
    /// Count the instructions of eight fixed workloads and compare them with the accepted counts
    Gate(GateOptions),
    /// Run one part of a benchmark in this process; benchmarks start it
    #[command(hide = true)]
    Part(PartOptions),
}

/// One part of a benchmark.
#[derive(Debug, Args)]
pub struct PartOptions {
    /// The part.
    pub name: String,
    /// Its options, as JSON.
    pub options: String,
}
