//! `avocet demo`: crawl, search and dashboard on an invented web, without a network.
//!
//! The invented web is a town, served on loopback. `avocet run` keeps a store of it fresh within
//! a small budget, and simulated users search it. The town knows when its pages change, so
//! freshness is measured and not estimated.
//!
//! **Invariant:** the crawl sends no request to another machine. Without `--store`, the store is
//! temporary and is deleted at the end.

mod baseline;
mod evaluation;
mod messages;
mod nodes;
mod publication_delays;
mod search_traffic;

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, bail};
use clap::Parser;
use tempfile::TempDir;
use testweb::site::{ServedWeb, Town, WebClock};

use super::run::keep;
use crate::cli::{Command, CommandLine, DemoArguments, RunArguments};
use crate::progress::StatusLine;
use baseline::Baseline;
use evaluation::evaluate;
use node::live::Live;
use node::settings::Settings;
use publication_delays::PublicationDelays;
use search_traffic::SearchTraffic;
use server::LISTEN;

/// Time between two checks whether the server is up.
const CHECK_EVERY: Duration = Duration::from_millis(100);

/// Runs the demo until it is interrupted or its time is over.
pub fn run(store: Option<&Path>, json: bool, arguments: &DemoArguments) -> Result<()> {
    if let Some(count) = arguments.nodes {
        return nodes::run(store, json, arguments, count.into());
    }
    let temporary = match store {
        Some(_) => None,
        None => Some(temporary_store()?),
    };
    let root = store.or(temporary.as_ref().map(TempDir::path));
    let root = root.context("there is no store")?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    let epoch = SystemTime::now();
    let web = runtime.block_on(serve_town(arguments, epoch))?;
    let baseline = match arguments.baseline.as_str() {
        baseline::NONE => None,
        policy => {
            policy::catalog::Catalog::standard()
                .refresh(policy, &policy::catalog::Upkeep::default())
                .context("--baseline")?;
            let copy = runtime.block_on(serve_town(arguments, epoch))?;
            Some(Arc::new(Baseline::start(arguments, copy)?))
        }
    };
    let listener = bind(arguments.listen.map(|listen| listen.0))?;
    configure(root, arguments, "")?;
    let run_arguments = run_arguments(&web, arguments)?;
    let live = Live::of(root);
    let (addressed, served) = (live.clone(), web.clone());
    let address = move || addressed.address();
    let traffic = SearchTraffic::start(runtime.handle(), address, &served, arguments);
    let delays = PublicationDelays::start(&runtime, root, &web);
    if !json {
        runtime.spawn(messages::report_progress(
            live.clone(),
            web.clone(),
            traffic.clone(),
            delays.clone(),
            baseline.clone(),
            messages::Introduction {
                root: root.to_owned(),
                temporary: temporary.is_some(),
                arguments: arguments.clone(),
            },
        ));
    }
    let summary = keep(
        root,
        &run_arguments,
        &live,
        StatusLine::quiet,
        Some(listener),
    )?;
    traffic.counts().over = true;
    let evaluation = evaluate(
        &web,
        baseline.as_deref(),
        &traffic,
        &delays,
        &summary,
        arguments,
    );
    if json {
        outln!("{}", serde_json::to_string(&evaluation)?);
    } else {
        messages::print_evaluation(&evaluation, root, temporary.is_some());
    }
    Ok(())
}

/// Waits until the server of the crawl is up. Returns its address.
async fn address(live: &Live) -> String {
    loop {
        match live.address() {
            Some(address) => return address,
            None => tokio::time::sleep(CHECK_EVERY).await,
        }
    }
}

fn temporary_store() -> Result<TempDir> {
    let made = tempfile::Builder::new().prefix("avocet-demo-").tempdir();
    made.context("cannot create a temporary store: name a directory with --store DIR")
}

/// Serves the invented town on loopback.
async fn serve_town(arguments: &DemoArguments, epoch: SystemTime) -> Result<Arc<ServedWeb>> {
    let town = Town {
        seed: arguments.seed,
        speed: arguments.speed,
        epoch,
    };
    let web = ServedWeb::start(town.invent(), WebClock::Running(1.0), None);
    Ok(Arc::new(web.await?))
}

/// Writes the configuration of the demo, with further sections. Its intervals are short
/// because the town changes fast.
///
/// A store that has a configuration keeps it: `--budget` and `--refresh` then have no effect.
fn configure(root: &Path, arguments: &DemoArguments, more: &str) -> Result<()> {
    let path = Settings::path(root);
    if path.exists() {
        return Ok(());
    }
    let budget = arguments.budget.per_second;
    let text = format!(
        "# Written by `avocet demo`. Changes take effect while the demo runs, except those of [serve].\n\
         [budget]\nfetches_per_second = {budget:?}\n\n\
         [refresh]\npolicy = \"{}\"\n# Sitemaps and feeds of the town change all the time.\nlistings = \"5s\"\n\n\
         [source]\nreplan = \"10s\"\n# New pages become searchable every 15 s; polls every second would only take requests from refreshes.\nleast = \"5s\"\n\n\
         [crawl]\nconfirm_after = \"5s\"\n\n\
         [serve]\n# All simulated users have one address, so there is no limit per client.\nrate = 0.0\n{more}",
        arguments.refresh
    );
    std::fs::create_dir_all(root)
        .and_then(|()| std::fs::write(&path, text))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Returns the arguments for `avocet run`: the home pages of the town, and the time limit.
fn run_arguments(web: &ServedWeb, arguments: &DemoArguments) -> Result<RunArguments> {
    let mut words = vec!["avocet".to_owned(), "run".into()];
    words.extend(web.homes());
    if let Some(time) = arguments.time {
        words.extend(["--time".into(), format!("{}ms", time.0.as_millis())]);
    }
    match CommandLine::try_parse_from(words)?.command {
        Command::Run(run) => Ok(*run),
        _ => bail!("the command line of `avocet run` has changed"),
    }
}

/// Binds the address that the user names, or else the default one, or else a free port.
///
/// The listener stays bound, so that two demos that start together do not choose the same port.
fn bind(listen: Option<SocketAddr>) -> Result<TcpListener> {
    let bound = match listen {
        Some(listen) => TcpListener::bind(listen),
        None => TcpListener::bind(LISTEN).or_else(|_| TcpListener::bind((LISTEN.ip(), 0))),
    };
    bound.with_context(|| server::taken(listen.unwrap_or(LISTEN)))
}
