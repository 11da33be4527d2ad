//! `avocet demo`: everything there is, on a machine without a network.
//!
//! An invented town is served on loopback, `avocet run` keeps a store of it fresh under a small budget, and people of the town search it. The town
//! knows the truth, so what is shown of freshness is not what the crawler believes. **Invariant:** nothing leaves the machine, and nothing stays on it unless
//! the user names a store.

mod judged;
mod noticed;
mod searching;
mod told;

use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use clap::Parser;
use tempfile::TempDir;
use testweb::site::{Clock, Serving, Town};

use super::run::keep;
use crate::cli::{Arguments, Command, Demo, Run};
use crate::progress::StatusLine;
use judged::judge;
use node::live::Live;
use node::settings::Settings;
use noticed::Noticed;
use searching::Searching;
use server::LISTEN;

/// Runs until it is interrupted, or the time is over.
pub fn run(store: Option<&Path>, json: bool, wishes: &Demo) -> Result<()> {
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
    let town = Town {
        seed: wishes.seed,
        speed: wishes.speed,
        epoch: SystemTime::now(),
    };
    let web = runtime.block_on(Serving::start(town.invent(), Clock::Running(1.0), None))?;
    let web = Arc::new(web);
    let place = place(wishes.listen)?;
    configure(root, wishes)?;
    let orders = orders(&web, wishes)?;
    let live = Live::of(root);
    let searching = Searching::start(&runtime, &live, &web, wishes);
    let noticed = Noticed::start(&runtime, root, &web);
    if !json {
        runtime.spawn(told::tell(
            live.clone(),
            web.clone(),
            searching.clone(),
            noticed.clone(),
            told::Setting::new(root, temporary.is_some(), wishes),
        ));
    }
    let summary = keep(root, &orders, &live, StatusLine::quiet, Some(place))?;
    searching.end();
    let judged = judge(&web, &searching, &noticed, &summary, wishes);
    if json {
        outln!("{}", serde_json::to_string(&judged)?);
    } else {
        told::end(&judged, root, temporary.is_some());
    }
    Ok(())
}

fn temporary_store() -> Result<TempDir> {
    let made = tempfile::Builder::new().prefix("avocet-demo-").tempdir();
    made.context("cannot make a temporary store: --store DIR names one")
}

/// What is in the store's configuration, unless it has one: what is small in the demo is so because the town lives fast.
fn configure(root: &Path, wishes: &Demo) -> Result<()> {
    let path = Settings::path(root);
    if path.exists() {
        return Ok(());
    }
    let budget = wishes.budget.per_second;
    let text = format!(
        "# Of `avocet demo`. It is looked at while the demo runs: change it and see.\n\
         [budget]\nfetches_per_second = {budget:?}\n\n\
         [refresh]\npolicy = \"{}\"\n# A town that lives fast writes its sitemaps and feeds anew all the time.\nlistings = \"5s\"\n\n\
         [source]\nreplan = \"10s\"\n\n\
         [crawl]\nconfirm_after = \"5s\"\n\n\
         [serve]\n# All searchers of the town are one client.\nrate = 0.0\n",
        wishes.refresh
    );
    std::fs::create_dir_all(root)
        .and_then(|()| std::fs::write(&path, text))
        .with_context(|| format!("cannot write {}", path.display()))
}

/// What `avocet run` is told.
fn orders(web: &Serving, wishes: &Demo) -> Result<Run> {
    let mut words = vec!["avocet".to_owned(), "run".into()];
    words.extend(web.homes());
    if let Some(time) = wishes.time {
        words.extend(["--time".into(), format!("{}ms", time.0.as_millis())]);
    }
    match Arguments::try_parse_from(words)?.command {
        Command::Run(run) => Ok(*run),
        _ => bail!("`avocet run` is no longer called so"),
    }
}

/// Takes the place to listen at: the one that the user names, else the usual one, else one that is free. It is ours from here on, so
/// that two demos that begin at the same moment do not choose the same.
fn place(listen: Option<SocketAddr>) -> Result<TcpListener> {
    let bound = match listen {
        Some(listen) => TcpListener::bind(listen),
        None => TcpListener::bind(LISTEN).or_else(|_| TcpListener::bind((LISTEN.ip(), 0))),
    };
    bound.with_context(|| server::taken(listen.unwrap_or(LISTEN)))
}
