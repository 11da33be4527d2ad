//! `avocet lab report`: runs each experiment in the worlds that suit it and are available, and
//! writes one page.
//!
//! Each study can also be run alone; the page gives the command.

mod topics;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use lab::LabError;
use lab::experiment::{
    ExperimentSetup, Study, currency, ephemeral, ordering, partition, refresh, servers,
};
use lab::report::{Chapter, ReportInfo, page};
use lab::workers::ExperimentProgress;
use serde_json::{Value, json};

use super::reproduction::quoted;
use super::{threads, write};
use crate::cli::lab::ReportArguments;
use crate::progress_bar::Bar;

/// Introduction of the report.
const ABOUT: &str = "\
All numbers come from the policies, the frontier and the bench that avocet crawl uses, in recorded or invented \
worlds. A policy sees only what a crawler could have fetched by then. Where a paper gives its policies more \
information, the notes say so.

Claims are tested against the numbers in the papers, on the means of the runs. UO2 compares orderings without a \
number; it holds only if the 95 % confidence interval of the paired differences supports it. A claim that did not hold \
is reported as such; the worlds were not tuned until it did.";

// Limits of the experiments on refresh and ephemeral pages, so that the report takes minutes only.

/// Refreshes per step, as shares of the pages.
const BUDGETS: [f64; 3] = [0.01, 0.05, 0.2];
/// Maximum number of queries.
const QUERIES: usize = 300;
/// Maximum number of runs.
const RUNS: u32 = 2;

/// Runs the experiments, and writes the page and a folder for each study.
pub fn run(json: bool, arguments: &ReportArguments, bar: &Bar) -> Result<()> {
    let mut author = ReportAuthor {
        arguments,
        bar,
        left_out: Vec::new(),
    };
    let chapters = author.chapters()?;
    bar.finish();
    let studies = || chapters.iter().flat_map(|chapter| &chapter.studies);
    for (number, study) in (1..).zip(studies()) {
        write(study, &arguments.out.join(folder(number, study)))?;
    }
    let data = arguments.data.as_ref();
    let data = data.map(|data| format!(" --data {}", quoted(&data.display().to_string())));
    let about = ReportInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        text: ABOUT.to_owned(),
        seed: arguments.seed,
        command: format!(
            "avocet lab report --out DIR{} --seed {} --runs {}",
            data.unwrap_or_default(),
            arguments.seed,
            arguments.runs
        ),
        left_out: author.left_out,
    };
    let path = arguments.out.join("index.html");
    fs::create_dir_all(&arguments.out)
        .and_then(|()| fs::write(&path, page(&chapters, &about)))
        .with_context(|| format!("cannot write {}", path.display()))?;
    let mut out = std::io::stdout().lock();
    if json {
        writeln!(out, "{}", summary(arguments, &path, &about, &chapters))?;
        return Ok(());
    }
    for study in studies() {
        let findings = &study.findings;
        writeln!(out, "{} in {}", findings.experiment, findings.world)?;
        for claim in &study.claims {
            writeln!(out, "  {claim}")?;
        }
    }
    writeln!(out, "wrote {}", path.display())?;
    Ok(())
}

struct ReportAuthor<'a> {
    arguments: &'a ReportArguments,
    bar: &'a Bar,
    left_out: Vec<String>,
}

impl ReportAuthor<'_> {
    fn chapters(&mut self) -> Result<Vec<Chapter>> {
        let mut chapters = vec![
            self.orderings()?,
            self.servers()?,
            self.dynamics()?,
            self.refreshes()?,
            self.ephemeral()?,
            self.topics()?,
            self.distribution()?,
        ];
        // Claims and figures that do not depend on the world appear once.
        let (mut said, mut shown) = (Vec::new(), Vec::new());
        let studies = chapters.iter_mut().flat_map(|chapter| &mut chapter.studies);
        let repeats = |study: &&mut Study| {
            ["servers", "currency", "refresh"].contains(&study.findings.experiment.as_str())
        };
        for study in studies.filter(repeats) {
            study.claims.retain(|claim| !said.contains(claim));
            said.extend(study.claims.iter().cloned());
            study.figures.retain(|(_, figure)| !shown.contains(figure));
            shown.extend(study.figures.iter().map(|(_, figure)| figure.clone()));
        }
        Ok(chapters)
    }

    fn orderings(&mut self) -> Result<Chapter> {
        let mut studies = vec![self.ordering("invented:graph", None)?];
        for name in ["cs-stanford", "hollins", "chameleon"] {
            if let Some(world) = self.recorded(name) {
                studies.push(self.ordering(&world, None)?);
            }
        }
        if let Some(world) = self.recorded("webkb") {
            studies.push(self.ordering(&world, Some("computer"))?);
        }
        Ok(chapter(
            studies,
            "URL ordering",
            "Cho, Garcia-Molina & Page, Efficient crawling through URL ordering (1998)",
            "A crawl from one start page fetches all reachable pages, in the order of a policy that knows only \
             the pages fetched before. The metrics say how soon it holds the important pages.",
        ))
    }

    fn ordering(&self, world: &str, query: Option<&str>) -> Result<Study, LabError> {
        let options = ordering::OrderingExperimentOptions {
            query: query.map(str::to_owned),
            ..ordering::OrderingExperimentOptions::default()
        };
        let more = query.map_or(String::new(), |query| format!(" --query {query}"));
        let setting = self.setting("ordering", world, &more);
        ordering::run(&setting, &options, self.bar)
    }

    fn servers(&mut self) -> Result<Chapter> {
        let mut studies = Vec::new();
        for connections in [64, 16] {
            let options = servers::ServersExperimentOptions {
                connections,
                ..servers::ServersExperimentOptions::default()
            };
            let more = format!(" --connections {connections}");
            let setting = self.setting("servers", "invented:servers", &more);
            studies.push(servers::run(&setting, &options, self.bar)?);
        }
        Ok(chapter(
            studies,
            "Server scheduling",
            "Cao, Jiang & Singh, Scheduling web crawl for better performance and quality (2003)",
            "Opening a connection costs time, and servers differ in speed and in the value of their pages. This \
             is a simulation of connections, with the production bench and strategies.",
        ))
    }

    fn dynamics(&mut self) -> Result<Chapter> {
        let mut worlds = vec!["invented:pages".to_owned()];
        worlds.extend(
            ["telegram-web", "ota-terms"]
                .iter()
                .filter_map(|name| self.recorded(name)),
        );
        let mut studies = Vec::new();
        for world in worlds {
            let setting = self.setting("currency", &world, "");
            let options = currency::CurrencyExperimentOptions::default();
            studies.push(currency::run(&setting, &options, self.bar)?);
        }
        Ok(chapter(
            studies,
            "Revisit frequency",
            "Baldi, Frasconi & Smyth, Modeling the Internet and the Web, chapter 6.4 (2003)",
            "Pages change between visits. The experiment computes how often each must be visited so that the \
             copies stay current.",
        ))
    }

    fn refreshes(&mut self) -> Result<Chapter> {
        use refresh::{Protocol, Scorer};
        let mut studies = vec![
            self.refresh("invented:pages", None, Scorer::TfIdf, Protocol::Halves)?,
            self.refresh("invented:corpus", None, Scorer::TfIdf, Protocol::Halves)?,
        ];
        let asked = [
            ("telegram-web", Scorer::TfIdf, Protocol::Halves),
            ("telegram-web", Scorer::Inlinks, Protocol::Halves),
            ("ota-terms", Scorer::TfIdf, Protocol::Halves),
            ("ota-terms", Scorer::Bm25, Protocol::Halves),
        ];
        let queries = self.recorded("queries");
        for (name, scorer, knowledge) in asked {
            if let (Some(world), Some(queries)) = (self.recorded(name), &queries) {
                studies.push(self.refresh(&world, Some(queries), scorer, knowledge)?);
            }
        }
        self.left_out.push(
            "UC1 and figure 2, the overhead of measuring the gain of a refresh: it depends on the index and the machine; \
             see cargo xtask bench measure"
                .into(),
        );
        let more = [
            "figure 4 by in-links on ota-terms: its texts have no links",
            "results of policies that know the scored period in advance, as in the paper: this doubles the running time; see \
             avocet lab refresh --knowledge whole",
        ];
        self.left_out.extend(more.map(str::to_owned));
        Ok(chapter(
            studies,
            "Refresh policies",
            "Pandey & Olston, User-centric web crawling (2005)",
            "Copies become outdated. A policy may refresh a fixed number of pages per week, and should keep \
             search results as good as possible. Quality is computed exactly, from the results that searchers \
             get. The policies learn from the gain of each refresh, measured as a crawler can measure it.",
        ))
    }

    fn refresh(
        &self,
        world: &str,
        queries: Option<&str>,
        scorer: refresh::Scorer,
        knowledge: refresh::Protocol,
    ) -> Result<Study, LabError> {
        let mut more = queries.map_or(String::new(), |queries| {
            format!(" --queries {}", quoted(queries))
        });
        let mut options = refresh::RefreshExperimentOptions {
            queries: queries.map(PathBuf::from),
            scorer,
            knowledge,
            ..refresh::RefreshExperimentOptions::default()
        };
        if world != "invented:pages" {
            options.budgets = BUDGETS.to_vec();
            options.most_queries = QUERIES;
            more += &format!(
                " --scorer {} --knowledge {} --budget {} --most-queries {QUERIES}",
                scorer.name(),
                knowledge.name(),
                BUDGETS.map(|share| share.to_string()).join(","),
            );
        }
        let setting = self.with_at_most(self.setting("refresh", world, &more), RUNS);
        refresh::run(&setting, &options, self.bar)
    }

    fn ephemeral(&mut self) -> Result<Chapter> {
        let mut worlds = vec!["invented:sources".to_owned()];
        worlds.extend(self.recorded("news"));
        let mut studies = Vec::new();
        for world in worlds {
            let setting = self.with_at_most(self.setting("ephemeral", &world, ""), RUNS);
            let options = ephemeral::EphemeralExperimentOptions::default();
            studies.push(ephemeral::run(&setting, &options, self.bar)?);
        }
        let more = "figures 2, 5 and 6 of the paper on ephemeral pages: two sites of its own, the function g, and a picture of its architecture";
        self.left_out.push(more.into());
        Ok(chapter(
            studies,
            "Ephemeral pages",
            "Lefortier, Ostroumova, Samosvat & Serdyukov, Timely crawling of high-quality ephemeral new content \
             (2013)",
            "News and posts are read for days and then forgotten. Within a rate of fetches, a scheduler chooses \
             which sources to poll for links to new pages, and which of these pages to fetch. The gain of a page \
             is the number of clicks that it gets after the fetch.",
        ))
    }

    /// Limits the number of runs of a setting, because these runs take long and differ little from
    /// each other.
    fn with_at_most(&self, mut setting: ExperimentSetup, most: u32) -> ExperimentSetup {
        let asked = format!("--runs {}", setting.runs);
        setting.runs = setting.runs.min(most);
        let fewer = format!("--runs {}", setting.runs);
        setting.command = setting.command.replace(&asked, &fewer);
        setting
    }

    fn distribution(&mut self) -> Result<Chapter> {
        let mut worlds = vec!["invented:graph".to_owned()];
        worlds.extend(self.recorded("cs-stanford"));
        let mut studies = Vec::new();
        for world in worlds {
            let setting = self.setting("partition", &world, "");
            let options = partition::PartitionExperimentOptions::default();
            studies.push(partition::run(&setting, &options, self.bar)?);
        }
        Ok(chapter(
            studies,
            "Parallel crawlers",
            "Baldi, Frasconi & Smyth, Modeling the Internet and the Web, chapter 6.3 (2003), after Cho & \
             Garcia-Molina, Parallel crawlers (2002)",
            "Several crawlers divide the hosts of the web between them. The metrics are pages fetched twice, \
             pages missed, and messages between crawlers.",
        ))
    }

    /// Returns the path of a recorded world, or notes that it is left out.
    fn recorded(&mut self, name: &str) -> Option<String> {
        let path = self.arguments.data.as_ref().map(|data| data.join(name));
        let why = match path {
            None => format!("{name}: no --data DIR was given"),
            Some(path) if path.is_dir() => return Some(path.display().to_string()),
            Some(path) => format!("{name}: there is no {}", path.display()),
        };
        if !self.left_out.contains(&why) {
            self.left_out.push(why);
        }
        None
    }

    fn setting(&self, experiment: &str, world: &str, more: &str) -> ExperimentSetup {
        let ReportArguments { seed, runs, .. } = *self.arguments;
        self.bar.begin(&format!("{experiment} in {world}"), 0);
        ExperimentSetup {
            world: world.to_owned(),
            knobs: Vec::new(),
            policies: Vec::new(),
            against: None,
            seed,
            runs,
            threads: threads(self.arguments.threads),
            command: format!(
                "avocet lab {experiment} --world {}{more} --seed {seed} --runs {runs}",
                quoted(world)
            ),
        }
    }
}

fn chapter(studies: Vec<Study>, title: &str, source: &str, introduction: &str) -> Chapter {
    Chapter {
        title: title.into(),
        source: source.into(),
        introduction: introduction.into(),
        studies,
    }
}

/// Returns the folder for the figures and numbers of a study.
fn folder(number: u32, study: &Study) -> PathBuf {
    let world = study.findings.world.trim_end_matches('/');
    let name = Path::new(world).file_name().unwrap_or(world.as_ref());
    let name = name.to_string_lossy().replace(':', "-");
    PathBuf::from(format!("{number:02}-{}-{name}", study.findings.experiment))
}

fn summary(
    arguments: &ReportArguments,
    path: &Path,
    about: &ReportInfo,
    chapters: &[Chapter],
) -> Value {
    let studies = chapters.iter().flat_map(|chapter| &chapter.studies);
    let studies: Vec<Value> = studies
        .map(|study| {
            let claims = study.claims.iter().map(|claim| {
                json!({
                    "id": claim.id,
                    "claim": claim.says,
                    "published": claim.published,
                    "found": claim.found,
                    "held": claim.holds,
                })
            });
            json!({ "findings": study.findings, "claims": claims.collect::<Vec<_>>() })
        })
        .collect();
    json!({
        "experiment": "report",
        "page": path,
        "seed": about.seed,
        "runs": arguments.runs,
        "command": about.command,
        "left_out": about.left_out,
        "studies": studies,
    })
}
