//! The studies of the report: which experiment runs in which world, and how often.
//!
//! The numbers of runs, budgets and queries were chosen by cost, so that a report with all recorded
//! worlds ends within ten minutes on two cores. `--full` runs everything more often.

use std::path::PathBuf;

use lab::LabError;
use lab::experiment::{
    ExperimentSetup, Study, currency, ephemeral, focus, joint, ordering, partition, refresh,
    servers, world,
};
use lab::run::servers::SimulatedProtocol;
use lab::workers::ExperimentProgress;
use refresh::{PageSelection, Protocol, Scorer};

use crate::cli::lab::ReportArguments;
use crate::command::lab::reproduction::quoted;

/// Runs of a study with `--full`.
const FULL_RUNS: u32 = 10;

/// Refreshes per step, as shares of the pages. With `--full`, the default of `lab refresh`.
const BUDGETS: [f64; 3] = [0.01, 0.05, 0.2];
/// Maximum number of queries. With `--full`, the default of `lab refresh`.
const QUERIES: usize = 300;

/// A fifth of the default pages, as in `lab currency`. With `--full`, the default.
const FEWER_PAGES: [(&str, &str); 1] = [("pages", "20000")];

/// A tenth of the default sources, with as many articles and clicks per source. With `--full`, the
/// default number, which is that of the paper. A fifth takes 200 s, a third of the whole report.
const SMALL_PRESS: [(&str, &str); 4] = [
    ("sources", "300"),
    ("sites", "15"),
    ("articles", "0.0229"),
    ("profit", "0.072"),
];

/// Round trips of invented:servers as in the paper, which crawled one university on the other coast
/// of North America: about 75 ms, almost the same for all servers.
const OTHER_COAST: [(&str, &str); 2] = [("connect", "0.075"), ("connect_sigma", "0.1")];

/// Contestants of the studies of refresh policies as the paper made them: its own, and ours.
const AS_PUBLISHED: [&str; 6] = [
    "none",
    "sbr",
    "ebr",
    "user-centric",
    "user-centric-marginal",
    "holistic",
];

/// Contestants of the study of one price. With `--full` there are also the fixed quotas, which take
/// most of its time.
const CONTESTANTS: [&str; 4] = [
    "one-price",
    "old-new-ratio",
    "discovery-first",
    "refresh-first",
];

/// Recorded worlds whose pages have labels, and the labels that are used as topics.
const TOPICS: [(&str, &[&str]); 2] = [
    ("webkb", &["course", "faculty", "project"]),
    (
        "wikispeedia",
        &["Science", "Geography", "People", "History", "Music"],
    ),
];
/// Number of start pages in the comparison of hard and soft focusing: the published crawls had many
/// start pages.
const STARTS: u32 = 20;
/// Worlds with enough pages of a topic for [`STARTS`] start pages; `webkb` has too few.
const MANY_STARTS: [&str; 2] = ["invented:topics", "wikispeedia"];

/// What the report runs.
pub(super) struct ReportPlan {
    pub chapters: Vec<PlannedChapter>,
    /// What is left out, each with the reason.
    pub left_out: Vec<String>,
}

/// A chapter of the report.
pub(super) struct PlannedChapter {
    pub title: &'static str,
    pub source: &'static str,
    pub introduction: &'static str,
    pub studies: Vec<PlannedStudy>,
}

/// A study of the report.
pub(super) struct PlannedStudy {
    pub world: String,
    /// Parameters of an invented world.
    pub knobs: Vec<(String, String)>,
    /// Flags of its command besides world, parameters, seed and runs.
    pub flags: String,
    /// Policies to compare; empty means all.
    pub policies: Vec<String>,
    pub runs: u32,
    /// Seconds that a run takes on two cores: half of the processor time in a release build.
    cost: f64,
    options: StudyOptions,
}

/// An experiment with its options.
enum StudyOptions {
    Ordering(ordering::OrderingExperimentOptions),
    Servers(servers::ServersExperimentOptions),
    Currency(currency::CurrencyExperimentOptions),
    Refresh(refresh::RefreshExperimentOptions),
    Ephemeral(ephemeral::EphemeralExperimentOptions),
    Joint(joint::JointExperimentOptions),
    Focus(focus::FocusExperimentOptions),
    Partition(partition::PartitionExperimentOptions),
    World,
}

impl PlannedStudy {
    fn new(world: &str, options: StudyOptions, runs: u32, cost: f64) -> Self {
        Self {
            world: world.to_owned(),
            knobs: Vec::new(),
            flags: String::new(),
            policies: Vec::new(),
            runs,
            cost,
            options,
        }
    }

    /// Returns the study in an invented world with these parameters.
    fn set(self, knobs: &[(&str, &str)]) -> Self {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        Self {
            knobs: knobs.iter().map(owned).collect(),
            ..self
        }
    }

    /// Returns the refresh study as the paper made it: policies know the scored time in advance,
    /// and only pages that exist at every step and change are used.
    fn with_whole_knowledge(mut self) -> Self {
        if let StudyOptions::Refresh(options) = &mut self.options {
            options.knowledge = Protocol::Whole;
            options.pages = PageSelection::Changed;
            let halves = format!(" --knowledge {}", Protocol::Halves.name());
            let whole = format!(
                " --knowledge {} --pages {} --policies {}",
                Protocol::Whole.name(),
                PageSelection::Changed.name(),
                AS_PUBLISHED.join(","),
            );
            self.flags = self.flags.replace(&halves, &whole);
            self.policies = AS_PUBLISHED.map(str::to_owned).into();
        }
        self
    }

    /// Returns the command that repeats the study.
    pub fn command(&self, seed: u64) -> String {
        let set = |(name, value): &(String, String)| format!(" --set {name}={value}");
        format!(
            "avocet lab {} --world {}{}{} --seed {seed} --runs {}",
            self.experiment(),
            quoted(&self.world),
            self.knobs.iter().map(set).collect::<String>(),
            self.flags,
            self.runs,
        )
    }

    /// Returns the name of the experiment, which is that of its command.
    pub fn experiment(&self) -> &'static str {
        match self.options {
            StudyOptions::Ordering(_) => "ordering",
            StudyOptions::Servers(_) => "servers",
            StudyOptions::Currency(_) => "currency",
            StudyOptions::Refresh(_) => "refresh",
            StudyOptions::Ephemeral(_) => "ephemeral",
            StudyOptions::Joint(_) => "joint",
            StudyOptions::Focus(_) => "focus",
            StudyOptions::Partition(_) => "partition",
            StudyOptions::World => "world",
        }
    }

    /// Returns the expected time in seconds.
    pub fn seconds(&self) -> f64 {
        self.cost * f64::from(self.runs)
    }

    /// Runs the study.
    pub fn run(
        &self,
        setup: &ExperimentSetup,
        progress: &dyn ExperimentProgress,
    ) -> Result<Study, LabError> {
        match &self.options {
            StudyOptions::Ordering(options) => ordering::run(setup, options, progress),
            StudyOptions::Servers(options) => servers::run(setup, options, progress),
            StudyOptions::Currency(options) => currency::run(setup, options, progress),
            StudyOptions::Refresh(options) => refresh::run(setup, options, progress),
            StudyOptions::Ephemeral(options) => ephemeral::run(setup, options, progress),
            StudyOptions::Joint(options) => joint::run(setup, options, progress),
            StudyOptions::Focus(options) => focus::run(setup, options, progress),
            StudyOptions::Partition(options) => partition::run(setup, options, progress),
            StudyOptions::World => world::run(setup, progress),
        }
    }
}

impl ReportPlan {
    /// Plans the studies of all worlds that are available.
    pub fn new(arguments: &ReportArguments) -> Self {
        let mut planner = ReportPlanner {
            arguments,
            left_out: Vec::new(),
        };
        let mut chapters = vec![
            planner.worlds(),
            planner.orderings(),
            planner.servers(),
            planner.dynamics(),
            planner.refreshes(),
            planner.ephemeral(),
            planner.joint(),
            planner.topics(),
            planner.distribution(),
        ];
        let runs = arguments.runs.or(arguments.full.then_some(FULL_RUNS));
        let studies = chapters.iter_mut().flat_map(|chapter| &mut chapter.studies);
        for study in studies {
            study.runs = runs.unwrap_or(study.runs);
        }
        Self {
            chapters,
            left_out: planner.left_out,
        }
    }

    /// Returns all studies, in their order.
    pub fn studies(&self) -> impl Iterator<Item = &PlannedStudy> {
        self.chapters.iter().flat_map(|chapter| &chapter.studies)
    }
}

struct ReportPlanner<'a> {
    arguments: &'a ReportArguments,
    left_out: Vec<String>,
}

impl ReportPlanner<'_> {
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

    /// Returns the invented world and the recorded ones that are available, each with the number of
    /// runs and the seconds of a run.
    fn available(&mut self, worlds: &[(&str, u32, f64)]) -> Vec<(String, u32, f64)> {
        let mut found = Vec::new();
        for &(name, runs, cost) in worlds {
            let world = match name.starts_with("invented:") {
                true => Some(name.to_owned()),
                false => self.recorded(name),
            };
            found.extend(world.map(|world| (world, runs, cost)));
        }
        found
    }

    fn worlds(&mut self) -> PlannedChapter {
        let worlds = self.available(&[
            ("invented:graph", 1, 1.0),
            ("invented:sources", 1, 2.0),
            ("invented:corpus", 1, 2.0),
            ("invented:topics", 1, 1.0),
            ("cs-stanford", 1, 0.2),
            ("news", 1, 1.0),
            ("ota-terms", 1, 4.0),
        ]);
        let studies = worlds
            .iter()
            .map(|(world, runs, cost)| PlannedStudy::new(world, StudyOptions::World, *runs, *cost));
        PlannedChapter {
            title: "Worlds",
            source: "Invented webs, and recorded ones (docs/science/data.md)",
            introduction: "What is in the webs that the following chapters use.",
            studies: studies.collect(),
        }
    }

    fn orderings(&mut self) -> PlannedChapter {
        let mut studies = Vec::new();
        let worlds = [
            ("invented:graph", 5, 1.8),
            ("cs-stanford", 5, 0.2),
            ("hollins", 5, 0.1),
            ("chameleon", 5, 0.1),
        ];
        for (world, runs, cost) in self.available(&worlds) {
            let options = ordering::OrderingExperimentOptions::default();
            let options = StudyOptions::Ordering(options);
            studies.push(PlannedStudy::new(&world, options, runs, cost));
        }
        if let Some(world) = self.recorded("webkb") {
            let options = ordering::OrderingExperimentOptions {
                query: Some("computer".into()),
                ..ordering::OrderingExperimentOptions::default()
            };
            let options = StudyOptions::Ordering(options);
            studies.push(PlannedStudy {
                flags: " --query computer".into(),
                ..PlannedStudy::new(&world, options, 5, 0.4)
            });
        }
        PlannedChapter {
            title: "URL ordering",
            source: "Cho, Garcia-Molina & Page, Efficient crawling through URL ordering (1998)",
            introduction: "A crawl from one start page fetches all reachable pages, in the order of a policy that knows \
                           only the pages fetched before. The metrics say how soon it holds the important pages.",
            studies,
        }
    }

    fn servers(&mut self) -> PlannedChapter {
        // With 64 connections, as in the paper, and with so few that strategies have to choose.
        let studies = [
            (64, None),
            (16, Some(SimulatedProtocol::Http11)),
            (4, Some(SimulatedProtocol::Http11)),
        ]
        .map(|(connections, http)| {
            let options = StudyOptions::Servers(servers::ServersExperimentOptions {
                connections,
                http,
                ..servers::ServersExperimentOptions::default()
            });
            let version = http.map_or("", |_| " --http 1.1");
            PlannedStudy {
                flags: format!(" --connections {connections}{version}"),
                ..PlannedStudy::new("invented:servers", options, 3, 1.4)
            }
            .set(&OTHER_COAST)
        });
        PlannedChapter {
            title: "Server scheduling",
            source: "Cao, Jiang & Singh, Scheduling web crawl for better performance and quality (2003)",
            introduction: "Opening a connection costs time, and servers differ in speed and in the value of their pages. \
                           This is a simulation of connections, with the production bench and strategies. Its servers are \
                           75 ms away, as those of the paper were on the other coast of the continent.",
            studies: studies.into(),
        }
    }

    fn dynamics(&mut self) -> PlannedChapter {
        let worlds = self.available(&[
            ("invented:pages", 1, 8.5),
            ("telegram-web", 1, 3.6),
            ("ota-terms", 1, 1.1),
        ]);
        let studies = worlds.iter().map(|(world, runs, cost)| {
            let options = currency::CurrencyExperimentOptions::default();
            PlannedStudy::new(world, StudyOptions::Currency(options), *runs, *cost)
        });
        PlannedChapter {
            title: "Revisit frequency",
            source: "Baldi, Frasconi & Smyth, Modeling the Internet and the Web, chapter 6.4 (2003)",
            introduction: "Pages change between visits. The experiment computes how often each must be visited so that \
                           the copies stay current.",
            studies: studies.collect(),
        }
    }

    fn refreshes(&mut self) -> PlannedChapter {
        let full = self.arguments.full;
        let pages = self.refresh("invented:pages", None, Scorer::TfIdf, 1, 20.0);
        let mut studies = vec![
            match full {
                true => pages,
                false => pages.set(&FEWER_PAGES),
            },
            self.refresh("invented:corpus", None, Scorer::TfIdf, 1, 6.0),
        ];
        if full {
            let study = self.refresh("invented:corpus", None, Scorer::TfIdf, 1, 6.0);
            studies.push(study.with_whole_knowledge());
        } else {
            self.left_out.push(
                "refresh policies that know the scored period in advance, on persistent pages that change, as in the paper: \
                 see --full, or avocet lab refresh --knowledge whole --pages changed"
                    .into(),
            );
        }
        let asked = [
            ("telegram-web", Scorer::TfIdf, 45.0),
            ("ota-terms", Scorer::TfIdf, 20.0),
            ("telegram-web", Scorer::Inlinks, 45.0),
            ("ota-terms", Scorer::Bm25, 20.0),
        ];
        let queries = self.recorded("queries");
        for (name, scorer, cost) in asked {
            if scorer != Scorer::TfIdf && !full {
                self.left_out.push(format!(
                    "figure 4 on {name} with the scorer {}: it takes as long as with tf-idf; see --full",
                    scorer.name()
                ));
                continue;
            }
            if let (Some(world), Some(queries)) = (self.recorded(name), &queries) {
                let study = |cost| self.refresh(&world, Some(queries), scorer, 1, cost);
                studies.push(study(cost));
                if full && scorer == Scorer::TfIdf {
                    studies.push(study(cost * 0.6).with_whole_knowledge());
                }
            }
        }
        let left_out = [
            "UC1 and figure 2, the overhead of measuring the gain of a refresh: it depends on the index and the machine; \
             see cargo xtask bench measure",
            "figure 4 by in-links on ota-terms: its texts have no links",
        ];
        self.left_out.extend(left_out.map(str::to_owned));
        PlannedChapter {
            title: "Refresh policies",
            source: "Pandey & Olston, User-centric web crawling (2005)",
            introduction: "Copies become outdated. A policy may refresh a fixed number of pages per week, and should keep \
                           search results as good as possible. Quality is computed exactly, from the results that \
                           searchers get. The policies learn from the gain of each refresh, measured as a crawler can \
                           measure it. In the studies with --knowledge whole they know the gains of the whole time in \
                           advance, and only pages that exist all the time and change are used, as in the paper.",
            studies,
        }
    }

    fn refresh(
        &self,
        world: &str,
        queries: Option<&str>,
        scorer: Scorer,
        runs: u32,
        cost: f64,
    ) -> PlannedStudy {
        let mut flags = queries.map_or(String::new(), |queries| {
            format!(" --queries {}", quoted(queries))
        });
        let mut options = refresh::RefreshExperimentOptions {
            queries: queries.map(PathBuf::from),
            scorer,
            ..refresh::RefreshExperimentOptions::default()
        };
        if world != "invented:pages" {
            flags += &format!(
                " --scorer {} --knowledge {}",
                scorer.name(),
                Protocol::Halves.name()
            );
            if !self.arguments.full {
                options.budgets = BUDGETS.to_vec();
                options.most_queries = QUERIES;
                let budgets = BUDGETS.map(|share| share.to_string()).join(",");
                flags += &format!(" --budget {budgets} --most-queries {QUERIES}");
            }
        }
        PlannedStudy {
            flags,
            ..PlannedStudy::new(world, StudyOptions::Refresh(options), runs, cost)
        }
    }

    fn ephemeral(&mut self) -> PlannedChapter {
        let full = self.arguments.full;
        let cost = if full { 1_000.0 } else { 100.0 };
        let worlds = self.available(&[("invented:sources", 1, cost), ("news", 1, 105.0)]);
        let studies = worlds.iter().map(|(world, runs, cost)| {
            let options = ephemeral::EphemeralExperimentOptions::default();
            let options = StudyOptions::Ephemeral(options);
            let study = PlannedStudy::new(world, options, *runs, *cost);
            match world == "invented:sources" && !full {
                true => study.set(&SMALL_PRESS),
                false => study,
            }
        });
        let left_out = "figures 2, 5 and 6 of the paper on ephemeral pages: two sites of its own, the function g, and a \
                        picture of its architecture";
        self.left_out.push(left_out.into());
        PlannedChapter {
            title: "Ephemeral pages",
            source: "Lefortier, Ostroumova, Samosvat & Serdyukov, Timely crawling of high-quality ephemeral new content \
                     (2013)",
            introduction: "News and posts are read for days and then forgotten. Within a rate of fetches, a scheduler \
                           chooses which sources to poll for links to new pages, and which of these pages to fetch. The \
                           gain of a page is the number of clicks that it gets after the fetch.",
            studies: studies.collect(),
        }
    }

    fn topics(&mut self) -> PlannedChapter {
        let mut worlds: Vec<(&str, String, &[&str])> =
            vec![("invented:topics", "invented:topics".into(), &[])];
        for (name, targets) in TOPICS {
            worlds.extend(self.recorded(name).map(|world| (name, world, targets)));
        }
        let all = worlds.iter().map(|(name, world, targets)| {
            // One run for each of the four universities in the world `webkb`.
            let (runs, cost) = match *name {
                "webkb" => (4, 3.6),
                "wikispeedia" => (1, 60.0),
                _ => (1, 16.0),
            };
            PlannedStudy {
                runs,
                cost,
                ..focus_study(world, targets, 1, &[])
            }
        });
        let many = worlds
            .iter()
            .filter(|(name, ..)| MANY_STARTS.contains(name));
        let compared = ["hard", "soft", "breadth-first"];
        let many = many.map(|(_, world, targets)| focus_study(world, targets, STARTS, &compared));
        PlannedChapter {
            title: "Focused crawling",
            source: "Baldi, Frasconi & Smyth, Modeling the Internet and the Web, chapter 6.2 (2003), after Chakrabarti, \
                     van den Berg & Dom, Focused crawling (1999), and others",
            introduction: "A crawl looks for the pages of one topic. A classifier that was trained on other pages judges \
                           fetched pages; a policy chooses the links that lead to more of them.",
            studies: all.chain(many).collect(),
        }
    }

    fn joint(&mut self) -> PlannedChapter {
        let options = joint::JointExperimentOptions::default();
        let town = StudyOptions::Joint(options.clone());
        let mut studies = vec![PlannedStudy::new("invented:town", town, 2, 30.0)];
        let recorded = (self.recorded("news"), self.recorded("ota-terms"));
        match recorded {
            _ if !self.arguments.full => {
                let town = &mut studies[0];
                town.flags = format!(" --policies {}", CONTESTANTS.join(","));
                town.policies = CONTESTANTS.map(str::to_owned).into();
                self.left_out.push(
                    "fixed quotas, and one price on recorded news and histories: they take long; see --full".into(),
                );
            }
            (Some(news), Some(pages)) => studies.push(PlannedStudy {
                flags: format!(" --pages {}", quoted(&pages)),
                ..PlannedStudy::new(
                    &news,
                    StudyOptions::Joint(joint::JointExperimentOptions {
                        pages: Some(pages),
                        ..options
                    }),
                    1,
                    200.0,
                )
            }),
            _ => {}
        }
        PlannedChapter {
            title: "One price",
            source: "Our own question; Pandey & Olston (2005), Lefortier et al. (2013) and Edwards, McCurley & Tomlin \
                     (2001) leave it open or answer it with a ratio",
            introduction: "First copies of new pages, refreshes of known pages and polls of sources compete for one \
                           budget. Avocet fetches what is worth most, at one price. The experiment compares this with \
                           fixed shares of the budget.",
            studies,
        }
    }

    fn distribution(&mut self) -> PlannedChapter {
        let worlds = self.available(&[("invented:graph", 1, 28.0), ("cs-stanford", 3, 3.6)]);
        let studies = worlds.iter().map(|(world, runs, cost)| {
            let options = partition::PartitionExperimentOptions::default();
            PlannedStudy::new(world, StudyOptions::Partition(options), *runs, *cost)
        });
        PlannedChapter {
            title: "Parallel crawlers",
            source: "Baldi, Frasconi & Smyth, Modeling the Internet and the Web, chapter 6.3 (2003), after Cho & \
                     Garcia-Molina, Parallel crawlers (2002)",
            introduction: "Several crawlers divide the hosts of the web between them. The metrics are pages fetched \
                           twice, pages missed, and messages between crawlers.",
            studies: studies.collect(),
        }
    }
}

/// Returns the focus study from `starts` pages, by these policies, or by all if none is given.
fn focus_study(world: &str, targets: &[&str], starts: u32, policies: &[&str]) -> PlannedStudy {
    let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
    let mut flags: String = targets
        .iter()
        .map(|target| format!(" --target {target}"))
        .collect();
    if !policies.is_empty() {
        flags += &format!(" --starts {starts} --policies {}", policies.join(","));
    }
    let options = focus::FocusExperimentOptions {
        targets: owned(targets),
        starts,
        ..focus::FocusExperimentOptions::default()
    };
    PlannedStudy {
        flags,
        policies: owned(policies),
        ..PlannedStudy::new(world, StudyOptions::Focus(options), 1, 10.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::CommandFactory;

    use super::*;
    use crate::cli::CommandLine;

    /// Subcommands of `avocet lab` that are no studies.
    const TOOLS: [&str; 3] = ["help", "serve", "report"];

    fn arguments(full: bool) -> ReportArguments {
        ReportArguments {
            out: PathBuf::from("report"),
            data: None,
            seed: 1,
            runs: None,
            full,
            threads: None,
            claims: None,
        }
    }

    #[test]
    fn every_study_that_has_a_command_is_in_the_report() {
        let program = CommandLine::command();
        let lab = program.find_subcommand("lab").unwrap();
        let commands: BTreeSet<&str> = lab
            .get_subcommands()
            .map(clap::Command::get_name)
            .filter(|name| !TOOLS.contains(name))
            .collect();
        for full in [false, true] {
            let plan = ReportPlan::new(&arguments(full));
            let planned: BTreeSet<&str> = plan.studies().map(PlannedStudy::experiment).collect();
            assert_eq!(planned, commands);
        }
    }

    #[test]
    fn the_command_of_a_study_is_valid() {
        use clap::Parser;

        for full in [false, true] {
            for study in ReportPlan::new(&arguments(full)).studies() {
                CommandLine::try_parse_from(study.command(1).split(' ')).unwrap();
            }
        }
    }
}
