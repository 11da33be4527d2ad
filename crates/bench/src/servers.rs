//! `bench servers`: how fast each server strategy gains quality, on real sockets.
//!
//! It repeats the experiment of Cao, Jiang & Singh, "Scheduling web crawl for better performance
//! and quality" (2003), section 5.3, with `avocet` itself. `lab::experiment::servers` simulates
//! the same experiment; both use the same functions for the evaluation.
//!
//! **Invariant:** within a run all strategies crawl the same web completely, from the same seeds,
//! each with a new server process and a new store.

mod figures;
mod report;

use std::env;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use lab::experiment::servers::limits;
use lab::experiment::servers::quality::{pagerank, zipf};
use lab::measure::QualityGain;
use lab::run::servers::{SimulatedNetwork, SimulatedProtocol};
use testweb::site::Web;

use crate::cli::{QualityJudge, ServersOptions, WebKind, WebOptions};
use crate::machine::Machine;
use crate::program::AvocetProgram;
use crate::web::{self, WebProcess};
use report::{Experiment, ServersReport};

/// The four strategies of the paper, and ours; with whether the strategy gets the qualities of
/// pages.
pub const STRATEGIES: [(&str, bool); 5] = [
    ("breadth-first", false),
    ("performance", false),
    ("quality", true),
    ("crawl-ability", true),
    ("best-prefix", true),
];

/// The crawl of one strategy in one run.
#[derive(Debug, Clone)]
pub struct StrategyCrawl {
    pub strategy: &'static str,
    /// The number of the run, and of its web.
    pub run: u16,
    pub gain: QualityGain,
    /// Connections opened.
    pub connections: u64,
    /// CPU time of `avocet`.
    pub cpu: Duration,
}

/// Runs the benchmark, prints the tables and draws the figures.
pub fn run(options: &ServersOptions, place: &Path) -> Result<()> {
    let program = AvocetProgram::build()?;
    let judges: Vec<QualityJudge> = match options.quality {
        Some(judge) => vec![judge],
        None => vec![QualityJudge::Pagerank, QualityJudge::Zipf],
    };
    let mut experiments: Vec<Experiment> =
        judges.iter().map(|&judge| Experiment::new(judge)).collect();
    let mut notes = Vec::new();
    for run in 1..=options.runs {
        let web_options = WebOptions {
            web: WebKind::TwoLevel,
            seed: options.seed + u64::from(run) - 1,
            servers: options.servers,
            pages: options.pages,
            slowness: options.slowness,
        };
        let web = web::plan(&web_options).invent();
        let network = SimulatedNetwork::of_web(&web, 1.0);
        let note = limits(
            &network,
            web_options.seed,
            SimulatedProtocol::Http11,
            options.connections,
        );
        eprintln!("{note}");
        notes.push(note);
        let bench = ServersBench {
            options,
            place,
            program: &program,
            web_options,
            web,
            run,
        };
        for (strategy, uses_quality) in STRATEGIES {
            let mut blind = None;
            for experiment in &mut experiments {
                let qualities = bench.qualities(experiment.judge);
                eprintln!(
                    "run {run} of {}: {strategy}, {}",
                    options.runs, experiment.judge
                );
                let crawled = match &blind {
                    Some(crawled) => bench.judged(crawled, &qualities),
                    None => {
                        bench.crawl(strategy, uses_quality.then_some(&*qualities), &qualities)?
                    }
                };
                // A strategy without qualities crawls in the same way whatever they are.
                blind = (!uses_quality).then(|| crawled.clone());
                experiment.crawled.push(crawled);
            }
        }
    }
    let arguments = env::args().skip(1).collect::<Vec<_>>().join(" ");
    let report = ServersReport {
        command: format!("cargo xtask bench {arguments}"),
        machine: Machine::this(),
        notes,
        experiments,
    };
    if let Some(folder) = &options.out {
        figures::write(&report.experiments, options.connections, folder)?;
    }
    if options.json {
        println!("{}", serde_json::to_string(&report.json())?);
    } else {
        print!("{report}");
    }
    Ok(())
}

struct ServersBench<'a> {
    options: &'a ServersOptions,
    place: &'a Path,
    program: &'a AvocetProgram,
    web_options: WebOptions,
    web: Web,
    run: u16,
}

impl ServersBench<'_> {
    fn qualities(&self, judge: QualityJudge) -> Vec<f64> {
        match judge {
            QualityJudge::Pagerank => pagerank(&self.web),
            QualityJudge::Zipf => zipf(&self.web, self.web_options.seed),
        }
    }

    /// Crawls once. `known` are the qualities, if the strategy gets them.
    fn crawl(
        &self,
        strategy: &'static str,
        known: Option<&[f64]>,
        qualities: &[f64],
    ) -> Result<StrategyCrawl> {
        let server = WebProcess::start(&self.web_options)?;
        let seeds = self.place.join("seeds.txt");
        web::write_homes(&self.web, server.port, &seeds)?;
        let mut flags = vec!["--servers".to_owned(), strategy.to_owned()];
        flags.extend(["--connections".into(), self.options.connections.to_string()]);
        match known {
            Some(known) => {
                let scores = self.place.join("scores.tsv");
                let lines = self.web.urls(server.port).zip(known);
                let lines: String = lines
                    .map(|(url, score)| format!("{url}\t{score:e}\n"))
                    .collect();
                fs::write(&scores, lines).context("cannot write the scores")?;
                flags.extend(["--order".into(), "given".into(), "--scores".into()]);
                flags.push(scores.display().to_string());
            }
            None => flags.extend(["--order".into(), "breadth-first".into()]),
        }
        let (ended, summary) = self.program.crawl(self.place, &seeds, flags)?;
        let log = server.end()?;
        let pages = self.web.pages().count();
        ensure!(
            summary.queued == 0 && log.fetched.len() == pages,
            "{strategy} fetched {} pages of {pages} and left {}",
            log.fetched.len(),
            summary.queued
        );
        Ok(StrategyCrawl {
            strategy,
            run: self.run,
            gain: QualityGain::new(log.fetched, qualities),
            connections: log.connections,
            cpu: ended.cpu,
        })
    }

    /// Returns the same crawl, evaluated by other qualities.
    fn judged(&self, crawled: &StrategyCrawl, qualities: &[f64]) -> StrategyCrawl {
        StrategyCrawl {
            gain: crawled.gain.judged(qualities),
            ..crawled.clone()
        }
    }
}
