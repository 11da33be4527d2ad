//! The commands: one module each.

mod check;
mod cluster;
mod completions;
mod config;
mod crawl;
mod demo;
mod explain;
mod export;
mod forget;
mod import;
mod init;
mod lab;
mod man;
mod mcp;
mod pause;
mod plan;
mod rebuild;
mod report;
mod run;
mod search;
mod serve;
mod sources;
mod status;
mod topic;
mod verify;

use std::path::Path;

use anyhow::Result;
use node::documents;
use node::settings::Settings;

use crate::cli::{Command, CommandLine};

/// Store directory if the user names none.
const STORE: &str = "avocet-data";

/// Runs the command that the command line names.
pub fn run(arguments: CommandLine) -> Result<()> {
    let store = arguments.store.clone().unwrap_or_else(|| STORE.into());
    // A command that takes flags configures the reader again. A file with an error is an error of
    // the commands that use it.
    let settings = Settings::load(None, &store).unwrap_or_default();
    documents::install(&settings.documents);
    // A command that was killed may have left files of another user.
    adopt(&store);
    let done = dispatch(arguments);
    adopt(&store);
    done
}

/// Gives files that this command has made in the store of another user to that user.
fn adopt(store: &Path) {
    if let Err(error) = node::store::adopt(store) {
        tracing::warn!(%error, "files in {} keep another owner than the store", store.display());
    }
}

fn dispatch(arguments: CommandLine) -> Result<()> {
    let (named, json) = (arguments.store.as_deref(), arguments.json);
    let store = named.unwrap_or(Path::new(STORE));
    match arguments.command {
        Command::Init(arguments) => init::run(store, json, &arguments),
        Command::Check(arguments) => check::run(store, json, &arguments),
        Command::Crawl(arguments) => crawl::run(store, json, &arguments),
        Command::Run(arguments) => run::run(store, json, &arguments),
        Command::Plan(arguments) => plan::run(store, json, &arguments),
        Command::Search(arguments) => search::run(store, json, &arguments),
        Command::Serve(arguments) => serve::run(store, json, &arguments),
        Command::Mcp => mcp::run(store),
        Command::Sources(arguments) => sources::run(store, json, &arguments),
        Command::Pause => pause::pause(store, json),
        Command::Resume => pause::resume(store, json),
        Command::Topic(arguments) => topic::run(store, json, &arguments),
        Command::Status(arguments) => status::run(store, json, &arguments),
        Command::Explain(arguments) => explain::run(store, json, &arguments),
        Command::Links(arguments) => report::run(store, json, arguments.csv, arguments.report()),
        Command::Report(arguments) => {
            report::run(store, json, arguments.csv, arguments.kind.into())
        }
        Command::Export(arguments) => export::run(store, json, &arguments),
        Command::Import(arguments) => import::run(store, json, &arguments),
        Command::Rebuild(arguments) => rebuild::run(store, json, &arguments),
        Command::Forget(arguments) => forget::run(store, json, &arguments),
        Command::Verify => verify::run(store, json),
        Command::Cluster(command) => cluster::run(store, json, &command),
        Command::Demo(arguments) => demo::run(named, json, &arguments),
        Command::Config(action) => config::run(store, json, &action),
        Command::Completions(arguments) => {
            completions::run(&arguments);
            Ok(())
        }
        Command::Man(arguments) => man::run(&arguments),
        Command::Lab(arguments) => lab::run(json, &arguments),
    }
}
