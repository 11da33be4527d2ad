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

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};
use lab::experiment::servers::limits;
use lab::experiment::servers::quality::{pagerank, zipf};
use lab::measure::QualityGain;
use lab::run::servers::{SimulatedNetwork, SimulatedProtocol};
use testweb::site::Web;

use crate::program::AvocetProgram;
use crate::web::{self, WebKind, WebOptions, WebProcess};
use report::{Experiment, ServersReport};

/// The four strategies of the paper, and ours. The flag says whether the strategy gets the
/// qualities of pages.
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

/// Options of `bench servers`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench servers --runs 3 --out docs/figures
  cargo xtask bench servers --quality zipf --pages 3000 --servers 100

The web is that of the two-level scheduling paper: 500 servers, 30,000 pages. Every strategy crawls all of it.
With 64 connections, as in the paper, most of the time is spent on the few servers that are large and slow.
With 16 connections, connections are scarce until the end, and the strategies differ more clearly.")]
pub struct ServersOptions {
    /// How the quality of a page is defined [default: both]
    #[arg(long, value_enum)]
    pub quality: Option<QualityJudge>,
    /// Number of webs to crawl; the table shows the medians
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u16).range(1..=99))]
    pub runs: u16,
    /// Pages of the web [default: 30000]
    #[arg(long, value_name = "N")]
    pub pages: Option<usize>,
    /// Servers of the web [default: 500]
    #[arg(long, value_name = "N")]
    pub servers: Option<usize>,
    /// Connections of the crawler
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    pub connections: u16,
    /// Seed of the first web; each further run adds one
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    pub seed: u64,
    /// Factor on all latencies: 1 means a median of 30 ms to connect and 80 ms to answer
    #[arg(long, value_name = "FACTOR", default_value_t = 0.2)]
    pub slowness: f64,
    /// Draw the curves of the first run into this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print one JSON document instead of the tables
    #[arg(long)]
    pub json: bool,
}

/// How the quality of a page is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum QualityJudge {
    /// PageRank over all links of the web
    Pagerank,
    /// Random, by Zipf's law: the i-th best page has quality 1/i
    Zipf,
}

impl fmt::Display for QualityJudge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Pagerank => "pagerank",
            Self::Zipf => "zipf",
        })
    }
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
    let report = ServersReport { notes, experiments };
    if let Some(folder) = &options.out {
        figures::write(&report.experiments, options.connections, folder)?;
    }
    crate::report::print(&report, options.json)
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
