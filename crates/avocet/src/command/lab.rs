//! `avocet lab`: runs experiments in recorded or invented worlds.
//!
//! **Invariant:** the output depends on the arguments and the seed only, to the byte. The number of
//! threads and the directory of the figures have no effect on it.

mod report;
mod reproduction;
mod serve;

use std::fs;
use std::io::Write;
use std::num::NonZero;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use lab::LabError;
use lab::experiment::{
    ExperimentSetup, Study, currency, ephemeral, focus, joint, ordering, partition, refresh,
    servers, world,
};
use lab::run::servers::{CrawlerCosts, SimulatedDepth, SimulatedProtocol};
use lab::world::World;

use crate::cli::lab::{self as cli, Common, LabCommand, SetupArguments};
use crate::progress_bar::Bar;
use node::settings::policies::read_scores;

/// Largest processor time of a page or connection that the simulation accepts.
const MOST_PROCESSOR_TIME: Duration = Duration::from_secs(60);

/// Runs an experiment and prints its findings.
pub fn run(json: bool, arguments: &LabCommand) -> Result<()> {
    let bar = Bar::new();
    let study = match arguments {
        LabCommand::Ordering(arguments) => run_ordering(arguments, &bar)?,
        LabCommand::Servers(arguments) => run_servers(arguments, &bar)?,
        LabCommand::Currency(arguments) => run_currency(arguments, &bar)?,
        LabCommand::Refresh(arguments) => run_refresh(arguments, &bar)?,
        LabCommand::Ephemeral(arguments) => run_ephemeral(arguments, &bar)?,
        LabCommand::Joint(arguments) => run_joint(arguments, &bar)?,
        LabCommand::Focus(arguments) => run_focus(arguments, &bar)?,
        LabCommand::Partition(arguments) => run_partition(arguments, &bar)?,
        LabCommand::World(arguments) => run_world(arguments, &bar)?,
        LabCommand::Serve(arguments) => return serve::run(json, arguments),
        LabCommand::Report(arguments) => return report::run(json, arguments, &bar),
    };
    bar.finish();
    // A closed pipe is an error here, and not a panic.
    let mut out = std::io::stdout().lock();
    if json {
        writeln!(out, "{}", serde_json::to_string(&study.findings)?)?;
    } else {
        write!(out, "{study}")?;
    }
    Ok(())
}

fn run_ordering(arguments: &cli::OrderingArguments, bar: &Bar) -> Result<Study> {
    let scores = arguments.scores.as_deref().map(read_scores).transpose()?;
    let options = ordering::OrderingExperimentOptions {
        query: arguments.query.clone(),
        location: arguments.location.clone(),
        scores: scores.map(std::sync::Arc::new),
        starts: arguments.start.clone(),
        buffer: arguments.buffer,
    };
    study(&arguments.world, &arguments.common, |setup| {
        ordering::run(setup, &options, bar)
    })
}

fn run_servers(arguments: &cli::ServersArguments, bar: &Bar) -> Result<Study> {
    let options = servers::ServersExperimentOptions {
        connections: arguments.connections,
        quality: match arguments.quality {
            Some(cli::PageQuality::Pagerank) => vec![servers::Judge::Pagerank],
            Some(cli::PageQuality::Zipf) => vec![servers::Judge::Zipf],
            None => servers::Judge::ALL.to_vec(),
        },
        http: arguments.http.map(|http| match http {
            cli::SimulatedHttp::Http10 => SimulatedProtocol::Http10,
            cli::SimulatedHttp::Http11 => SimulatedProtocol::Http11,
            cli::SimulatedHttp::Pipelined => SimulatedProtocol::Pipelined(SimulatedDepth::DEFAULT),
        }),
        slowness: arguments.slowness,
        costs: CrawlerCosts {
            tcp: !arguments.ideal_tcp,
            per_page: processor_time("--cpu-page", arguments.cpu_page)?,
            per_connection: processor_time("--cpu-connection", arguments.cpu_connection)?,
        },
        loopback: arguments.loopback,
    };
    study(&arguments.world, &arguments.common, |setup| {
        servers::run(setup, &options, bar)
    })
}

/// Returns a processor time that a flag gives in milliseconds.
fn processor_time(flag: &str, milliseconds: f64) -> Result<Duration> {
    let time = Duration::try_from_secs_f64(milliseconds / 1e3).ok();
    let time = time.filter(|time| *time <= MOST_PROCESSOR_TIME);
    time.with_context(|| {
        format!("{flag} is {milliseconds}; it must be from 0 to 60000 milliseconds")
    })
}

fn run_currency(arguments: &cli::CurrencyArguments, bar: &Bar) -> Result<Study> {
    let options = currency::CurrencyExperimentOptions {
        alpha: arguments.alpha,
        beta_days: arguments.beta,
        shape: arguments.shape,
        scale_days: arguments.scale,
        interval_days: arguments.interval.clone(),
        documents: arguments.documents,
        kilobytes: arguments.kilobytes,
        draws: arguments.draws,
    };
    study(&arguments.world, &arguments.common, |setup| {
        currency::run(setup, &options, bar)
    })
}

fn run_refresh(arguments: &cli::RefreshArguments, bar: &Bar) -> Result<Study> {
    let options = refresh::RefreshExperimentOptions {
        queries: arguments.queries.clone(),
        scorer: match arguments.scorer {
            cli::ScorerChoice::TfIdf => refresh::Scorer::TfIdf,
            cli::ScorerChoice::Inlinks => refresh::Scorer::Inlinks,
            cli::ScorerChoice::Bm25 => refresh::Scorer::Bm25,
        },
        knowledge: match arguments.knowledge {
            cli::PriorKnowledge::Halves => refresh::Protocol::Halves,
            cli::PriorKnowledge::Whole => refresh::Protocol::Whole,
            cli::PriorKnowledge::Online => refresh::Protocol::Online,
        },
        pages: match arguments.pages {
            cli::UsedPages::All => refresh::PageSelection::All,
            cli::UsedPages::Persistent => refresh::PageSelection::Persistent,
            cli::UsedPages::Changed => refresh::PageSelection::Changed,
        },
        step: arguments.step.map(|step| step.0),
        budgets: arguments.budget.clone(),
        most_queries: arguments.most_queries,
        rate: arguments.rate.clone(),
    };
    study(&arguments.world, &arguments.common, |setup| {
        refresh::run(setup, &options, bar)
    })
}

fn run_ephemeral(arguments: &cli::EphemeralArguments, bar: &Bar) -> Result<Study> {
    let options = ephemeral::EphemeralExperimentOptions {
        rates: arguments.rate.clone(),
        histories: arguments.history.clone(),
        pushes: arguments.push.iter().map(|push| push.0).collect(),
        seen: match arguments.clicks {
            cli::ClickScope::Known => ephemeral::Seen::Known,
            cli::ClickScope::Fetched => ephemeral::Seen::Fetched,
        },
        credit: match arguments.credit {
            cli::CreditScope::All => ephemeral::Credit::All,
            cli::CreditScope::First => ephemeral::Credit::First,
        },
    };
    study(&arguments.world, &arguments.common, |setup| {
        ephemeral::run(setup, &options, bar)
    })
}

fn run_joint(arguments: &cli::JointArguments, bar: &Bar) -> Result<Study> {
    let options = joint::JointExperimentOptions {
        pages: arguments.pages.clone(),
        rates: arguments.rate.clone(),
        connections: arguments.connections.clone(),
        listings: arguments.listings.0,
        order: arguments.order.clone(),
        refresh: arguments.refresh.clone(),
        scheduler: arguments.scheduler.clone(),
        ..joint::JointExperimentOptions::default()
    };
    study(&arguments.world, &arguments.common, |setup| {
        joint::run(setup, &options, bar)
    })
}

fn run_focus(arguments: &cli::focus::FocusArguments, bar: &Bar) -> Result<Study> {
    let options = focus::FocusExperimentOptions {
        targets: arguments.target.clone(),
        starts: arguments.starts,
        experienced: arguments.experienced,
    };
    study(&arguments.world, &arguments.common, |setup| {
        focus::run(setup, &options, bar)
    })
}

fn run_partition(arguments: &cli::PartitionArguments, bar: &Bar) -> Result<Study> {
    let options = partition::PartitionExperimentOptions {
        crawlers: arguments.crawlers.clone(),
        order: arguments.order.clone(),
        budget: arguments.budget,
        batch: arguments.batch,
        hosts_per_address: arguments.hosts_per_address,
        kilobytes: arguments.kilobytes,
    };
    study(&arguments.world, &arguments.common, |setup| {
        partition::run(setup, &options, bar)
    })
}

fn run_world(arguments: &cli::WorldArguments, bar: &Bar) -> Result<Study> {
    run_study(
        &arguments.world,
        &arguments.setup,
        Vec::new(),
        None,
        |setup| {
            if let Some(directory) = &arguments.write {
                let parts = World::open_all(&setup.world, &setup.knobs, setup.seed)?;
                World::write_all(&parts, directory)?;
            }
            world::run(setup, bar)
        },
    )
}

/// Runs an experiment that compares policies.
fn study(
    world: &str,
    common: &Common,
    run: impl FnOnce(&ExperimentSetup) -> Result<Study, LabError>,
) -> Result<Study> {
    let Common {
        setup,
        policies,
        against,
    } = common;
    let policies = policies.iter().flat_map(|names| names.0.clone()).collect();
    run_study(world, setup, policies, against.as_deref(), run)
}

/// Runs an experiment. Also writes the study to the directory of `--out`, if given.
fn run_study(
    world: &str,
    setup: &SetupArguments,
    policies: Vec<String>,
    against: Option<&str>,
    run: impl FnOnce(&ExperimentSetup) -> Result<Study, LabError>,
) -> Result<Study> {
    let study = run(&ExperimentSetup {
        world: world.to_owned(),
        knobs: setup.knobs.clone(),
        policies,
        against: against.map(|name| name.trim().to_owned()),
        seed: setup.seed,
        runs: setup.runs,
        threads: threads(setup.threads),
        command: reproduction::command(setup.seed),
    })?;
    if let Some(directory) = &setup.out {
        write(&study, directory)?;
    }
    Ok(study)
}

/// Returns the number of threads: the given one, or the number of cores.
fn threads(wanted: Option<u16>) -> usize {
    let cores = || thread::available_parallelism().map_or(1, NonZero::get);
    wanted.map_or_else(cores, usize::from)
}

/// Writes the figures and numbers of a study to a directory.
fn write(study: &Study, directory: &Path) -> Result<()> {
    fs::create_dir_all(directory)
        .with_context(|| format!("cannot create the directory {}", directory.display()))?;
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
