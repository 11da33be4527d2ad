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

pub use crawl::{Bare, Crawl, Serve};
pub use experiment::{Http, Judge, Servers, WebKind, WebWishes};
pub use extraction::ExtractionWishes;
pub use focus::Focus;
pub use frontier::{Frontier, Reopen};
pub use gate::{Gate, GateWorkload, Workload};
pub use lab::{Lab, LabOrdering, LabRefresh};
pub use measure::{Indexing, Measure, MeasureRun};
pub use order::{Order, OrderCell, OrderUpkeep};
pub use refresh::{Refresh, RefreshCell};
pub use relevance::Relevance;
pub use search::Search;
pub use sources::{Sources, SourcesCell};

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
    /// Simulate crawls and a year of refreshing: how fast is the lab?
    Lab(Lab),
    /// Choose which of many known pages to fetch again: time and memory a page
    Refresh(Refresh),
    /// Plan polls of content sources; or let a press publish, and see how soon articles are found
    Sources(Sources),
    /// Crawl a web by a topic and without one: what does judging cost?
    Focus(Focus),
    /// Index texts that change, with and without measuring what that is worth to searchers
    Measure(Measure),
    /// Search over HTTP while pages are put in: how long does a searcher wait?
    Search(Search),
    /// Ask questions whose answers are known: how early is the right page?
    Relevance(Relevance),
    /// Extract the main text of labelled pages: precision, recall, and whether all code is kept
    Extraction(ExtractionWishes),
    /// Count the instructions of six fixed workloads and compare them with the accepted counts
    Gate(Gate),
    /// Run one workload: a row of `gate`
    #[command(hide = true)]
    GateWorkload(GateWorkload),
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
    /// Simulate crawls by one ordering: a row of `lab`
    #[command(hide = true)]
    LabOrdering(LabOrdering),
    /// Choose among a given number of pages: a row of `refresh`
    #[command(hide = true)]
    RefreshCell(RefreshCell),
    /// Plan polls of a given number of sources: a row of `sources`
    #[command(hide = true)]
    SourcesCell(SourcesCell),
    /// Simulate a year of refreshing: the last row of `lab`
    #[command(hide = true)]
    LabRefresh(LabRefresh),
    /// Index texts once: a count of instructions of `measure`
    #[command(hide = true)]
    MeasureRun(MeasureRun),
}
