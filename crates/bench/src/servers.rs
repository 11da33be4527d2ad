//! Which server strategy gains quality fastest, on real sockets?
//!
//! The experiment of Cao, Jiang & Singh, "Scheduling web crawl for better performance and quality" (2003),
//! §5.3, with the program itself; what is simulated is `lab::experiment::servers`, and both are judged by the same
//! functions. **Invariant:** within a run all strategies crawl the same web, to its
//! end, from the same seeds, each with a new server process and a new store.

mod figures;
mod report;

use std::env;
use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use lab::experiment::servers::limits;
use lab::experiment::servers::quality::{pagerank, zipf};
use lab::measure::Gain;
use lab::run::servers::{Http, Network};
use testweb::site::Web;

use crate::cli::{Judge, Servers, WebKind, WebWishes};
use crate::machine::Machine;
use crate::program::Program;
use crate::web::{self, Server};
use report::{Experiment, Report};

/// The paper's four strategies, and ours. Those that look at quality are told it.
pub const STRATEGIES: [(&str, bool); 5] = [
    ("breadth-first", false),
    ("performance", false),
    ("quality", true),
    ("crawl-ability", true),
    ("best-prefix", true),
];

/// What one strategy did in one run.
#[derive(Debug, Clone)]
pub struct Crawled {
    pub strategy: &'static str,
    /// The web it crawled.
    pub run: u16,
    pub gain: Gain,
    /// Connections it made.
    pub connections: u64,
    /// CPU time of the program.
    pub cpu: Duration,
}

/// Measures, prints the tables and draws the figures.
pub fn run(wishes: &Servers, place: &Path) -> Result<()> {
    let program = Program::build()?;
    let judges: Vec<Judge> = match wishes.quality {
        Some(judge) => vec![judge],
        None => vec![Judge::Pagerank, Judge::Zipf],
    };
    let mut experiments: Vec<Experiment> =
        judges.iter().map(|&judge| Experiment::new(judge)).collect();
    let mut notes = Vec::new();
    for run in 1..=wishes.runs {
        let web_wishes = WebWishes {
            web: WebKind::TwoLevel,
            seed: wishes.seed + u64::from(run) - 1,
            servers: wishes.servers,
            pages: wishes.pages,
            slowness: wishes.slowness,
        };
        let web = web::plan(&web_wishes).invent();
        let network = Network::of_web(&web, 1.0);
        let note = limits(&network, web_wishes.seed, Http::Http11, wishes.connections);
        eprintln!("{note}");
        notes.push(note);
        let bench = Bench {
            wishes,
            place,
            program: &program,
            web_wishes,
            web,
            run,
        };
        for (strategy, told) in STRATEGIES {
            let mut blind = None;
            for experiment in &mut experiments {
                let qualities = bench.qualities(experiment.judge);
                eprintln!(
                    "run {run} of {}: {strategy}, {}",
                    wishes.runs, experiment.judge
                );
                let crawled = match &blind {
                    Some(crawled) => bench.judged(crawled, &qualities),
                    None => bench.crawl(strategy, told.then_some(&*qualities), &qualities)?,
                };
                // Whoever does not look at quality crawls alike under any.
                blind = (!told).then(|| crawled.clone());
                experiment.crawled.push(crawled);
            }
        }
    }
    let arguments = env::args().skip(1).collect::<Vec<_>>().join(" ");
    let report = Report {
        command: format!("cargo xtask bench {arguments}"),
        machine: Machine::this(),
        notes,
        experiments,
    };
    if let Some(folder) = &wishes.out {
        figures::write(&report.experiments, wishes.connections, folder)?;
    }
    if wishes.json {
        println!("{}", serde_json::to_string(&report.json())?);
    } else {
        print!("{report}");
    }
    Ok(())
}

struct Bench<'a> {
    wishes: &'a Servers,
    place: &'a Path,
    program: &'a Program,
    web_wishes: WebWishes,
    web: Web,
    run: u16,
}

impl Bench<'_> {
    fn qualities(&self, judge: Judge) -> Vec<f64> {
        match judge {
            Judge::Pagerank => pagerank(&self.web),
            Judge::Zipf => zipf(&self.web, self.web_wishes.seed),
        }
    }

    /// Crawls once. `told` are the qualities, if the strategy is to know them.
    fn crawl(
        &self,
        strategy: &'static str,
        told: Option<&[f64]>,
        qualities: &[f64],
    ) -> Result<Crawled> {
        let server = Server::start(&self.web_wishes)?;
        let seeds = self.place.join("seeds.txt");
        web::write_homes(&self.web, server.port, &seeds)?;
        let mut flags = vec!["--servers".to_owned(), strategy.to_owned()];
        flags.extend(["--connections".into(), self.wishes.connections.to_string()]);
        match told {
            Some(told) => {
                let scores = self.place.join("scores.tsv");
                let lines = self.web.urls(server.port).zip(told);
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
        let seen = server.end()?;
        let pages = self.web.pages().count();
        ensure!(
            summary.queued == 0 && seen.fetched.len() == pages,
            "{strategy} fetched {} pages of {pages} and left {}",
            seen.fetched.len(),
            summary.queued
        );
        Ok(Crawled {
            strategy,
            run: self.run,
            gain: Gain::new(seen.fetched, qualities),
            connections: seen.connections,
            cpu: ended.cpu,
        })
    }

    /// The same crawl by another judge.
    fn judged(&self, crawled: &Crawled, qualities: &[f64]) -> Crawled {
        Crawled {
            gain: crawled.gain.judged(qualities),
            ..crawled.clone()
        }
    }
}
