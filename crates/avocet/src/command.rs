//! One file, one command.

mod config;
mod crawl;
mod demo;
mod explain;
mod export;
mod import;
mod lab;
mod mcp;
mod pause;
mod plan;
mod rebuild;
mod run;
mod search;
mod serve;
mod sources;
mod status;
mod topic;
mod verify;

use std::path::Path;

use anyhow::Result;

use crate::cli::{Arguments, Command};

/// The store, where the user names none.
const STORE: &str = "avocet-data";

/// Does what the user asked for.
pub fn run(arguments: Arguments) -> Result<()> {
    let (named, json) = (arguments.store.as_deref(), arguments.json);
    let store = named.unwrap_or(Path::new(STORE));
    match arguments.command {
        Command::Crawl(wishes) => crawl::run(store, json, &wishes),
        Command::Run(wishes) => run::run(store, json, &wishes),
        Command::Plan(wishes) => plan::run(store, json, &wishes),
        Command::Search(wishes) => search::run(store, json, &wishes),
        Command::Serve(wishes) => serve::run(store, json, &wishes),
        Command::Mcp => mcp::run(store),
        Command::Sources(wishes) => sources::run(store, json, &wishes),
        Command::Pause => pause::pause(store, json),
        Command::Resume => pause::resume(store, json),
        Command::Topic(wishes) => topic::run(store, json, &wishes),
        Command::Status => status::run(store, json),
        Command::Explain(wishes) => explain::run(store, json, &wishes),
        Command::Export(wishes) => export::run(store, json, &wishes),
        Command::Import(wishes) => import::run(store, json, &wishes),
        Command::Rebuild(wishes) => rebuild::run(store, json, &wishes),
        Command::Verify => verify::run(store, json),
        Command::Demo(wishes) => demo::run(named, json, &wishes),
        Command::Config(action) => config::run(store, json, &action),
        Command::Lab(wishes) => lab::run(json, &wishes),
    }
}
