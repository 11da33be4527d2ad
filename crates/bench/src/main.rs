//! The benchmarks behind `cargo xtask bench`.
//!
//! **Invariant:** the measured code runs in its own process, optimised; the server of its pages
//! runs in another. A benchmark removes its files when it ends, also when it is interrupted.

mod child;
mod choosing;
mod cli;
mod crawl;
mod extraction;
mod focus;
mod frontier;
mod gate;
mod http;
mod instructions;
mod lab;
mod machine;
mod measure;
mod order;
mod program;
mod refresh;
mod relevance;
mod search;
mod servers;
mod sources;
mod speed;
mod urls;
mod web;
mod workplace;

use std::process::ExitCode;

use anyhow::Result;
use clap::Parser;
use cli::{BenchArguments, BenchCommand};

// The allocator of `avocet`, so that memory figures are those of its users.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    match run(BenchArguments::parse().bench) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("bench: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(bench: BenchCommand) -> Result<()> {
    match bench {
        BenchCommand::Crawl(options) => workplace::with(|place| crawl::run(&options, place)),
        BenchCommand::Frontier(options) => workplace::with(|place| frontier::run(&options, place)),
        BenchCommand::Order(options) => workplace::with(|place| order::run(&options, place)),
        BenchCommand::Servers(options) => workplace::with(|place| servers::run(&options, place)),
        BenchCommand::Http(options) => workplace::with(|place| http::run(&options, place)),
        BenchCommand::Lab(options) => workplace::with(|place| lab::run(&options, place)),
        BenchCommand::Refresh(options) => workplace::with(|place| refresh::run(&options, place)),
        BenchCommand::Sources(options) => workplace::with(|place| sources::run(&options, place)),
        BenchCommand::Focus(options) => workplace::with(|place| focus::run(&options, place)),
        BenchCommand::Measure(options) => workplace::with(|place| measure::run(&options, place)),
        BenchCommand::Search(options) => workplace::with(|place| search::run(&options, place)),
        BenchCommand::Relevance(options) => {
            workplace::with(|place| relevance::run(&options, place))
        }
        BenchCommand::Extraction(options) => extraction::run(&options),
        BenchCommand::Gate(options) => workplace::with(|place| gate::run(&options, place)),
        BenchCommand::GateWorkload(options) => {
            options.workload.run(&options.place, options.only_set_up)
        }
        BenchCommand::Serve(options) => crawl::serve::run(&options.directories),
        BenchCommand::Bare(options) => crawl::bare::run(&options.list),
        BenchCommand::Reopen(options) => frontier::reopen::run(&options.ledger),
        BenchCommand::ServeWeb(options) => web::run(&options),
        BenchCommand::OrderCell(cell) => order::cell::run(&cell),
        BenchCommand::OrderUpkeep(options) => order::upkeep::run(&options),
        BenchCommand::LabOrdering(options) => lab::run_ordering(&options),
        BenchCommand::RefreshCell(options) => refresh::run_cell(&options),
        BenchCommand::SourcesCell(options) => sources::run_cell(&options),
        BenchCommand::LabRefresh(options) => lab::run_refresh(&options),
        BenchCommand::MeasureRun(options) => {
            workplace::with(|place| measure::run_once(&options, place))
        }
    }
}
