//! The benchmarks behind `cargo xtask bench`.
//!
//! **Invariant:** code that is timed does not share its process with the server of its pages. A
//! benchmark removes its files when it ends, also when it is interrupted.

mod child;
mod choosing;
mod cli;
mod cluster;
mod crawl;
mod documents;
mod extraction;
mod focus;
mod frontier;
mod gate;
mod http;
mod instructions;
mod lab;
mod live;
mod machine;
mod measure;
mod order;
mod peers;
mod program;
mod refresh;
mod relevance;
mod report;
mod search;
mod servers;
mod sources;
mod speed;
mod start;
mod steps;
mod urls;
mod web;
mod workplace;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Parser;
use cli::{BenchArguments, BenchCommand};
use serde::de::DeserializeOwned;

// The allocator of `avocet`, so that memory figures are those of its users.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if let Some(code) = node::documents::child::run_if_asked() {
        return code;
    }
    node::memory::use_small_pages();
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
        BenchCommand::Cluster(options) => workplace::with(|place| cluster::run(&options, place)),
        BenchCommand::Frontier(options) => workplace::with(|place| frontier::run(&options, place)),
        BenchCommand::Order(options) => workplace::with(|place| order::run(&options, place)),
        BenchCommand::Servers(options) => workplace::with(|place| servers::run(&options, place)),
        BenchCommand::Http(options) => workplace::with(|place| http::run(&options, place)),
        BenchCommand::Lab(options) => workplace::with(|place| lab::run(&options, place)),
        BenchCommand::Live(options) => live::run(&options),
        BenchCommand::Refresh(options) => workplace::with(|place| refresh::run(&options, place)),
        BenchCommand::Sources(options) => workplace::with(|place| sources::run(&options, place)),
        BenchCommand::Focus(options) => workplace::with(|place| focus::run(&options, place)),
        BenchCommand::Measure(options) => workplace::with(|place| measure::run(&options, place)),
        BenchCommand::Steps(options) => steps::run(&options),
        BenchCommand::Start(options) => workplace::with(|place| start::run(&options, place)),
        BenchCommand::Peers(options) => workplace::with(|place| peers::run(&options, place)),
        BenchCommand::Search(options) => workplace::with(|place| search::run(&options, place)),
        BenchCommand::Relevance(options) => {
            workplace::with(|place| relevance::run(&options, place))
        }
        BenchCommand::Extraction(options) => extraction::run(&options),
        BenchCommand::Documents(options) => documents::run(&options),
        BenchCommand::Gate(options) => workplace::with(|place| gate::run(&options, place)),
        BenchCommand::Part(part) => run_part(&part.name, &part.options),
    }
}

/// Runs one part of a benchmark in this process. A benchmark starts this program again for each
/// part, with the name of the part and its options as JSON.
fn run_part(name: &str, options: &str) -> Result<()> {
    match name {
        "gate-workload" => gate::run_workload(&from_json(options)?),
        "serve" => crawl::serve::run(&from_json::<Vec<PathBuf>>(options)?),
        "bare" => crawl::bare::run(&from_json::<PathBuf>(options)?),
        "reopen" => frontier::reopen::run(&from_json::<PathBuf>(options)?),
        "serve-web" => web::run(&from_json(options)?),
        "start-cell" => start::run_cell(&from_json(options)?),
        "order-cell" => order::cell::run(&from_json(options)?),
        "order-upkeep" => order::upkeep::run(&from_json(options)?),
        "lab-ordering" => lab::run_ordering(&from_json(options)?),
        "lab-refresh" => lab::run_refresh(&from_json(options)?),
        "refresh-cell" => refresh::run_cell(&from_json(options)?),
        "sources-cell" => sources::run_cell(&from_json(options)?),
        "measure-run" => {
            let options = from_json(options)?;
            workplace::with(|place| measure::run_once(&options, place))
        }
        _ => bail!("no benchmark has a part {name}"),
    }
}

fn from_json<T: DeserializeOwned>(options: &str) -> Result<T> {
    serde_json::from_str(options).context("cannot parse the options")
}
