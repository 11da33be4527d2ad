//! `avocet lab`: experiments in worlds that were recorded or invented.
//!
//! **Invariant:** what is printed depends on the wishes and the seed alone, to the byte: not on the number of
//! threads, nor on where figures are written.

mod asked;
mod bar;
mod report;
mod serve;

use std::fs;
use std::io::Write;
use std::num::NonZero;
use std::path::Path;
use std::thread;

use anyhow::{Context, Result};
use lab::experiment::{
    Setting, Study, currency, ephemeral, focus, ordering, partition, refresh, servers, world,
};
use lab::run::servers::{Depth, Http};
use lab::world::World;

use crate::cli::lab::{self as cli, Common, Lab};
use bar::Bar;
use node::settings::policies::read_scores;

/// Runs an experiment.
pub fn run(json: bool, wishes: &Lab) -> Result<()> {
    let bar = Bar::new();
    let study = match wishes {
        Lab::Ordering(wishes) => run_ordering(wishes, &bar)?,
        Lab::Servers(wishes) => run_servers(wishes, &bar)?,
        Lab::Currency(wishes) => run_currency(wishes, &bar)?,
        Lab::Refresh(wishes) => run_refresh(wishes, &bar)?,
        Lab::Ephemeral(wishes) => run_ephemeral(wishes, &bar)?,
        Lab::Focus(wishes) => run_focus(wishes, &bar)?,
        Lab::Partition(wishes) => run_partition(wishes, &bar)?,
        Lab::World(wishes) => run_world(wishes, &bar)?,
        Lab::Serve(wishes) => return serve::run(json, wishes),
        Lab::Report(wishes) => return report::run(json, wishes, &bar),
    };
    bar.finish();
    // Who reads may have read enough: that is an error like others, and no panic.
    let mut out = std::io::stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::to_string(&study.findings)?)?;
    } else {
        write!(out, "{study}")?;
    }
    Ok(())
}

fn run_ordering(wishes: &cli::Ordering, bar: &Bar) -> Result<Study> {
    let scores = wishes.scores.as_deref().map(read_scores).transpose()?;
    let options = ordering::Options {
        query: wishes.query.clone(),
        location: wishes.location.clone(),
        scores: scores.map(std::sync::Arc::new),
        starts: wishes.start.clone(),
        buffer: wishes.buffer,
    };
    let setting = setting(&wishes.world, &wishes.common);
    kept(ordering::run(&setting, &options, bar)?, &wishes.common)
}

fn run_servers(wishes: &cli::Servers, bar: &Bar) -> Result<Study> {
    let options = servers::Options {
        connections: wishes.connections,
        quality: match wishes.quality {
            Some(cli::Quality::Pagerank) => vec![servers::Judge::Pagerank],
            Some(cli::Quality::Zipf) => vec![servers::Judge::Zipf],
            None => servers::Judge::ALL.to_vec(),
        },
        http: wishes.http.map(|http| match http {
            cli::SimulatedHttp::Http10 => Http::Http10,
            cli::SimulatedHttp::Http11 => Http::Http11,
            cli::SimulatedHttp::Pipelined => Http::Pipelined(Depth::DEFAULT),
        }),
        slowness: wishes.slowness,
        loopback: wishes.loopback,
    };
    let setting = setting(&wishes.world, &wishes.common);
    kept(servers::run(&setting, &options, bar)?, &wishes.common)
}

fn run_currency(wishes: &cli::Currency, bar: &Bar) -> Result<Study> {
    let options = currency::Options {
        alpha: wishes.alpha,
        beta_days: wishes.beta,
        shape: wishes.shape,
        scale_days: wishes.scale,
        interval_days: wishes.interval.clone(),
        documents: wishes.documents,
        kilobytes: wishes.kilobytes,
        draws: wishes.draws,
    };
    let setting = setting(&wishes.world, &wishes.common);
    kept(currency::run(&setting, &options, bar)?, &wishes.common)
}

fn run_refresh(wishes: &cli::Refresh, bar: &Bar) -> Result<Study> {
    let options = refresh::Options {
        queries: wishes.queries.clone(),
        scorer: match wishes.scorer {
            cli::Scorer::TfIdf => refresh::Scorer::TfIdf,
            cli::Scorer::Inlinks => refresh::Scorer::Inlinks,
            cli::Scorer::Bm25 => refresh::Scorer::Bm25,
        },
        knowledge: match wishes.knowledge {
            cli::Knowledge::Halves => refresh::Protocol::Halves,
            cli::Knowledge::Whole => refresh::Protocol::Whole,
            cli::Knowledge::Online => refresh::Protocol::Online,
        },
        step: wishes.step.map(|step| step.0),
        budgets: wishes.budget.clone(),
        most_queries: wishes.most_queries,
        rate: wishes.rate.clone(),
    };
    let setting = setting(&wishes.world, &wishes.common);
    kept(refresh::run(&setting, &options, bar)?, &wishes.common)
}

fn run_ephemeral(wishes: &cli::Ephemeral, bar: &Bar) -> Result<Study> {
    let options = ephemeral::Options {
        rates: wishes.rate.clone(),
        histories: wishes.history.clone(),
        pushes: wishes.push.iter().map(|push| push.0).collect(),
        seen: match wishes.clicks {
            cli::Clicks::Known => ephemeral::Seen::Known,
            cli::Clicks::Fetched => ephemeral::Seen::Fetched,
        },
    };
    let setting = setting(&wishes.world, &wishes.common);
    kept(ephemeral::run(&setting, &options, bar)?, &wishes.common)
}

fn run_focus(wishes: &cli::focus::Focus, bar: &Bar) -> Result<Study> {
    let options = focus::Options {
        targets: wishes.target.clone(),
        starts: wishes.starts,
        experienced: wishes.experienced,
    };
    let setting = setting(&wishes.world, &wishes.common);
    kept(focus::run(&setting, &options, bar)?, &wishes.common)
}

fn run_partition(wishes: &cli::Partition, bar: &Bar) -> Result<Study> {
    let options = partition::Options {
        crawlers: wishes.crawlers.clone(),
        order: wishes.order.clone(),
        budget: wishes.budget,
        batch: wishes.batch,
    };
    let setting = setting(&wishes.world, &wishes.common);
    kept(partition::run(&setting, &options, bar)?, &wishes.common)
}

fn run_world(wishes: &cli::World, bar: &Bar) -> Result<Study> {
    let setting = setting(&wishes.world, &wishes.common);
    if let Some(directory) = &wishes.write {
        let world = World::open(&setting.world, &setting.knobs, setting.seed)?;
        world.write(directory)?;
    }
    kept(world::run(&setting, bar)?, &wishes.common)
}

fn setting(world: &str, common: &Common) -> Setting {
    Setting {
        world: world.to_owned(),
        knobs: common.knobs.clone(),
        policies: common.policies.iter().map(|name| trimmed(name)).collect(),
        against: common.against.as_deref().map(trimmed),
        seed: common.seed,
        runs: common.runs,
        threads: threads(common.threads),
        command: asked::command(common.seed),
    }
}

/// A name without the white space around it, which a list after commas may have.
fn trimmed(name: &str) -> String {
    name.trim().to_owned()
}

/// As many threads as the user wants, or as there are cores.
fn threads(wanted: Option<u16>) -> usize {
    let cores = || thread::available_parallelism().map_or(1, NonZero::get);
    wanted.map_or_else(cores, usize::from)
}

/// Writes the study where the user wants it, too.
fn kept(study: Study, common: &Common) -> Result<Study> {
    if let Some(directory) = &common.out {
        write(&study, directory)?;
    }
    Ok(study)
}

/// Writes figures and numbers into a directory.
fn write(study: &Study, directory: &Path) -> Result<()> {
    fs::create_dir_all(directory)
        .with_context(|| format!("cannot make the directory {}", directory.display()))?;
    let write = |name: &str, content: String| {
        let path = directory.join(name);
        fs::write(&path, content).with_context(|| format!("cannot write {}", path.display()))
    };
    for (name, figure) in &study.figures {
        write(&format!("{name}.svg"), figure.svg())?;
    }
    let name = format!("{}.json", study.findings.experiment);
    write(&name, serde_json::to_string(&study.findings)? + "\n")
}
