//! The benchmarks behind `cargo xtask bench`.
//!
//! **Invariant:** what is measured runs in a process of its own, optimised; whoever serves it pages
//! runs in another. Whatever a benchmark writes is gone when it ends, also when it is interrupted.

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
use cli::{Bench, BenchArguments};

// The allocator of `avocet`, so that memory is counted as its users would see it.
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

fn run(bench: Bench) -> Result<()> {
    match bench {
        Bench::Crawl(wishes) => workplace::with(|place| crawl::run(&wishes, place)),
        Bench::Frontier(wishes) => workplace::with(|place| frontier::run(&wishes, place)),
        Bench::Order(wishes) => workplace::with(|place| order::run(&wishes, place)),
        Bench::Servers(wishes) => workplace::with(|place| servers::run(&wishes, place)),
        Bench::Http(wishes) => workplace::with(|place| http::run(&wishes, place)),
        Bench::Lab(wishes) => workplace::with(|place| lab::run(&wishes, place)),
        Bench::Refresh(wishes) => workplace::with(|place| refresh::run(&wishes, place)),
        Bench::Sources(wishes) => workplace::with(|place| sources::run(&wishes, place)),
        Bench::Focus(wishes) => workplace::with(|place| focus::run(&wishes, place)),
        Bench::Measure(wishes) => workplace::with(|place| measure::run(&wishes, place)),
        Bench::Search(wishes) => workplace::with(|place| search::run(&wishes, place)),
        Bench::Relevance(wishes) => workplace::with(|place| relevance::run(&wishes, place)),
        Bench::Extraction(wishes) => extraction::run(&wishes),
        Bench::Gate(wishes) => workplace::with(|place| gate::run(&wishes, place)),
        Bench::GateWorkload(asked) => asked.workload.run(&asked.place, asked.only_set_up),
        Bench::Serve(wishes) => crawl::serve::run(&wishes.directories),
        Bench::Bare(wishes) => crawl::bare::run(&wishes.list),
        Bench::Reopen(wishes) => frontier::reopen::run(&wishes.ledger),
        Bench::ServeWeb(wishes) => web::run(&wishes),
        Bench::OrderCell(cell) => order::cell::run(&cell),
        Bench::OrderUpkeep(asked) => order::upkeep::run(&asked),
        Bench::LabOrdering(asked) => lab::run_ordering(&asked),
        Bench::RefreshCell(asked) => refresh::run_cell(&asked),
        Bench::SourcesCell(asked) => sources::run_cell(&asked),
        Bench::LabRefresh(asked) => lab::run_refresh(&asked),
        Bench::MeasureRun(asked) => workplace::with(|place| measure::run_once(&asked, place)),
    }
}
