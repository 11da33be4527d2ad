//! `avocet lab report`: every experiment, in every world at hand, on one page.
//!
//! Each study is one that a user can run alone; the page says by which command.

mod topics;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use lab::LabError;
use lab::experiment::{Setting, Study, currency, ephemeral, ordering, partition, refresh, servers};
use lab::report::{About, Chapter, page};
use lab::workers::Progress;
use serde_json::{Value, json};

use super::asked::quoted;
use super::bar::Bar;
use super::{threads, write};
use crate::cli::lab::Report;

/// What a reader should know of all experiments.
const ABOUT: &str = "\
Every number here was made by the policies, the frontier and the bench that avocet crawl uses, in worlds that \
were recorded or invented. A policy is told what a crawler would have seen by then, and nothing else; where a \
paper tells its policies more, the notes say so.

Claims are judged by the numbers that the papers print, on the means of the runs; UO2, which compares orderings \
without a number, held only if the 95 % interval of the paired differences says so. Where a claim did not hold, that \
is what we found in these worlds, and no reason to tune them until it does.";

/// Of the experiments with refreshes and with ephemeral pages the report shows less than they can do: the whole page is to take minutes. Refreshes a step
/// as shares of the pages, queries that are asked, and runs, at most.
const BUDGETS: [f64; 3] = [0.01, 0.05, 0.2];
const QUERIES: usize = 300;
const RUNS: u32 = 2;

/// Runs everything and writes the page.
pub fn run(json: bool, wishes: &Report, bar: &Bar) -> Result<()> {
    let mut author = Author {
        wishes,
        bar,
        left_out: Vec::new(),
    };
    let chapters = author.chapters()?;
    bar.finish();
    let studies = || chapters.iter().flat_map(|chapter| &chapter.studies);
    for (number, study) in (1..).zip(studies()) {
        write(study, &wishes.out.join(folder(number, study)))?;
    }
    let data = wishes.data.as_ref();
    let data = data.map(|data| format!(" --data {}", quoted(&data.display().to_string())));
    let about = About {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        text: ABOUT.to_owned(),
        seed: wishes.seed,
        command: format!(
            "avocet lab report --out DIR{} --seed {} --runs {}",
            data.unwrap_or_default(),
            wishes.seed,
            wishes.runs
        ),
        left_out: author.left_out,
    };
    let path = wishes.out.join("index.html");
    fs::create_dir_all(&wishes.out)
        .and_then(|()| fs::write(&path, page(&chapters, &about)))
        .with_context(|| format!("cannot write {}", path.display()))?;
    let mut out = std::io::stdout().lock();
    if json {
        writeln!(out, "{}", summary(wishes, &path, &about, &chapters))?;
        return Ok(());
    }
    for study in studies() {
        let findings = &study.findings;
        writeln!(out, "{} in {}", findings.experiment, findings.world)?;
        for claim in &study.claims {
            writeln!(out, "  {claim}")?;
        }
    }
    writeln!(out, "look at it: {}", path.display())?;
    Ok(())
}

struct Author<'a> {
    wishes: &'a Report,
    bar: &'a Bar,
    left_out: Vec<String>,
}

impl Author<'_> {
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
        // What does not depend on the world is said once.
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
        Ok(Chapter {
            title: "Which pages first?".into(),
            source: "Cho, Garcia-Molina & Page, Efficient crawling through URL ordering (1998)".into(),
            introduction: "A crawl from one start fetches all that it can reach, in the order of a policy \
                that knows only what was fetched before. How soon does it hold the pages that matter?"
                .into(),
            studies,
        })
    }

    fn ordering(&self, world: &str, query: Option<&str>) -> Result<Study, LabError> {
        let options = ordering::Options {
            query: query.map(str::to_owned),
            ..ordering::Options::default()
        };
        let more = query.map_or(String::new(), |query| format!(" --query {query}"));
        let setting = self.setting("ordering", world, &more);
        ordering::run(&setting, &options, self.bar)
    }

    fn servers(&mut self) -> Result<Chapter> {
        let mut studies = Vec::new();
        for connections in [64, 16] {
            let options = servers::Options {
                connections,
                ..servers::Options::default()
            };
            let more = format!(" --connections {connections}");
            let setting = self.setting("servers", "invented:servers", &more);
            studies.push(servers::run(&setting, &options, self.bar)?);
        }
        Ok(Chapter {
            title: "Which servers first?".into(),
            source:
                "Cao, Jiang & Singh, Scheduling web crawl for better performance and quality (2003)"
                    .into(),
            introduction:
                "Connections cost time, and servers differ in what an open one is good for. A \
                simulation of connections, with the production bench and strategies."
                    .into(),
            studies,
        })
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
            let options = currency::Options::default();
            studies.push(currency::run(&setting, &options, self.bar)?);
        }
        Ok(Chapter {
            title: "How often?".into(),
            source:
                "Baldi, Frasconi & Smyth, Modeling the Internet and the Web, chapter 6.4 (2003)"
                    .into(),
            introduction:
                "Pages change while nobody looks. How often must each be visited so that the \
                copies are current?"
                    .into(),
            studies,
        })
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
            "UC1 and figure 2, the overhead of measuring what a refresh gave: that is a matter of the index, and of the \
             machine; cargo xtask bench measure"
                .into(),
        );
        let more = [
            "figure 4 by in-links on ota-terms: its texts have no links",
            "what policies reach that know the whole time beforehand, as in the paper: that takes as long again; avocet \
             lab refresh --knowledge whole",
        ];
        self.left_out.extend(more.map(str::to_owned));
        Ok(Chapter {
            title: "Which pages again?".into(),
            source: "Pandey & Olston, User-centric web crawling (2005)".into(),
            introduction: "A repository ages. With so many refreshes a week, which pages keep it as good for its \
                searchers as can be? Quality is exact, by what searchers get from the repository’s answers; what a \
                refresh gave is measured as a crawler can, and the policies learn from that."
                .into(),
            studies,
        })
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
        let mut options = refresh::Options {
            queries: queries.map(PathBuf::from),
            scorer,
            knowledge,
            ..refresh::Options::default()
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
        let setting = self.fewer(self.setting("refresh", world, &more), RUNS);
        refresh::run(&setting, &options, self.bar)
    }

    fn ephemeral(&mut self) -> Result<Chapter> {
        let mut worlds = vec!["invented:sources".to_owned()];
        worlds.extend(self.recorded("news"));
        let mut studies = Vec::new();
        for world in worlds {
            let setting = self.fewer(self.setting("ephemeral", &world, ""), RUNS);
            let options = ephemeral::Options::default();
            studies.push(ephemeral::run(&setting, &options, self.bar)?);
        }
        let more = "figures 2, 5 and 6 of the paper on ephemeral pages: two sites of its own, the function g, and a picture of its architecture";
        self.left_out.push(more.into());
        Ok(Chapter {
            title: "Which pages while they are read?".into(),
            source: "Lefortier, Ostroumova, Samosvat & Serdyukov, Timely crawling of high-quality ephemeral new content (2013)".into(),
            introduction: "News and posts are read for days and then forgotten. With so many fetches a second, which sources \
                are polled for links to new pages, and which of these are fetched, so that people find them while they care? \
                What a page gives is the clicks that it gets after it was fetched."
                .into(),
            studies,
        })
    }

    /// A setting of so many runs, at most: what is drawn differs little from run to run, and a run takes long.
    fn fewer(&self, mut setting: Setting, most: u32) -> Setting {
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
            let options = partition::Options::default();
            studies.push(partition::run(&setting, &options, self.bar)?);
        }
        Ok(Chapter {
            title: "How many crawlers?".into(),
            source: "The same, chapter 6.3, after Cho & Garcia-Molina, Parallel crawlers (2002)"
                .into(),
            introduction:
                "Several crawlers share the web by its hosts. What do they fetch twice, what do \
                they miss, and what must they tell each other?"
                    .into(),
            studies,
        })
    }

    /// A recorded world, if it is at hand.
    fn recorded(&mut self, name: &str) -> Option<String> {
        let path = self.wishes.data.as_ref().map(|data| data.join(name));
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

    fn setting(&self, experiment: &str, world: &str, more: &str) -> Setting {
        let Report { seed, runs, .. } = *self.wishes;
        self.bar.begin(&format!("{experiment} in {world}"), 0);
        Setting {
            world: world.to_owned(),
            knobs: Vec::new(),
            policies: Vec::new(),
            against: None,
            seed,
            runs,
            threads: threads(self.wishes.threads),
            command: format!(
                "avocet lab {experiment} --world {}{more} --seed {seed} --runs {runs}",
                quoted(world)
            ),
        }
    }
}

/// Where the figures and numbers of a study go.
fn folder(number: u32, study: &Study) -> PathBuf {
    let world = study.findings.world.trim_end_matches('/');
    let name = Path::new(world).file_name().unwrap_or(world.as_ref());
    let name = name.to_string_lossy().replace(':', "-");
    PathBuf::from(format!("{number:02}-{}-{name}", study.findings.experiment))
}

fn summary(wishes: &Report, path: &Path, about: &About, chapters: &[Chapter]) -> Value {
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
        "runs": wishes.runs,
        "command": about.command,
        "left_out": about.left_out,
        "studies": studies,
    })
}
