//! One file, one command.

mod crawl;
mod explain;
mod export;
mod import;
mod lab;
mod plan;
mod rebuild;
mod run;
mod search;
mod sources;
mod status;
mod verify;

use anyhow::Result;

use crate::cli::{Arguments, Command};

/// Does what the user asked for.
pub fn run(arguments: Arguments) -> Result<()> {
    let (store, json) = (arguments.store.as_path(), arguments.json);
    match arguments.command {
        Command::Crawl(wishes) => crawl::run(store, json, &wishes),
        Command::Run(wishes) => run::run(store, json, &wishes),
        Command::Plan(wishes) => plan::run(store, json, &wishes),
        Command::Search(wishes) => search::run(store, json, &wishes),
        Command::Sources(wishes) => sources::run(store, json, &wishes),
        Command::Status => status::run(store, json),
        Command::Explain(wishes) => explain::run(store, json, &wishes),
        Command::Export(wishes) => export::run(store, &wishes),
        Command::Import(wishes) => import::run(store, json, &wishes),
        Command::Rebuild => rebuild::run(store, json),
        Command::Verify => verify::run(store, json),
        Command::Lab(wishes) => lab::run(json, &wishes),
    }
}
