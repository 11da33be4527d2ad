//! Experiment on one price: first copies, refreshes and polls compete for one budget.
//!
//! By docs/science/theory.md, §1, discovery and refresh need no quota if the worth of both has the
//! same unit. The experiment crawls a town with the production policies. It compares the one price
//! with fixed quotas, with WebFountain's optimized ratio, and with rules that put one kind first. A
//! second part makes connections scarce instead of fetches, and compares a price per fetch with a
//! price per second of server time.
//!
//! **Invariant:** all contestants use the same policies and the same draws of the same town. They
//! differ only in how they divide the budget ([`Split`](crate::run::joint::Split)) or rank servers
//! ([`RankBy`](crate::run::joint::RankBy)).

mod claims;
mod contestants;
mod figures;
mod tasks;

use std::time::Duration;

use super::{ExperimentSetup, Metric, Study};
use crate::LabError;
use crate::findings::{self, Measured};
use crate::invent::town::TownPlan;
use crate::invent::tuned;
use crate::kinds::{Lives, News, Town};
use crate::workers::ExperimentProgress;
use crate::world::{World, WorldPart};
use contestants::Contestants;
use tasks::{TownRun, best_quotas};

/// The metrics of the experiment.
pub const METRICS: &[Metric] = &[
    (
        "served",
        "clicks per second that are served: at the time of the click, the crawl has a copy that equals the page. Only the measured period counts. x is the fetches per second; in rows with the parameter `scarce`, x is the number of connections",
    ),
    ("of_clicks", "served, as a share of all clicks"),
    (
        "served_old",
        "served clicks per second on pages that exist at the start",
    ),
    (
        "served_new",
        "served clicks per second on pages that are born later",
    ),
    (
        "discovery",
        "the share of fetches that are first copies or polls of sources and sitemaps",
    ),
    ("firsts", "the share of fetches that are first copies"),
    (
        "polls",
        "the share of fetches that are polls of sources and sitemaps",
    ),
    ("fetches", "fetches made per second"),
    (
        "quota_firsts",
        "the share of first copies in the fixed quota that serves most clicks at this budget, known only in hindsight",
    ),
    (
        "quota_polls",
        "the share of polls in the fixed quota that serves most clicks at this budget, known only in hindsight",
    ),
];

/// Options of the experiment.
#[derive(Debug, Clone)]
pub struct JointExperimentOptions {
    /// A world of histories: its pages become the old pages of the town. The world of the setup
    /// must then be a news world. `None` for an invented town.
    pub pages: Option<String>,
    /// Budgets, in fetches a second. If empty, several multiples of the births a second.
    pub rates: Vec<f64>,
    /// Numbers of connections of the second part. If empty, it is left out.
    pub connections: Vec<usize>,
    /// The share of the time that is not measured, at the start.
    pub warm_up: f64,
    /// Interval of the polls of sitemaps.
    pub listings: Duration,
    /// The ordering, which gives importance.
    pub order: String,
    /// The refresh policy.
    pub refresh: String,
    /// The scheduler of sources.
    pub scheduler: String,
}

impl Default for JointExperimentOptions {
    /// The production policies and settings.
    fn default() -> Self {
        Self {
            pages: None,
            rates: Vec::new(),
            connections: vec![1, 2, 4],
            warm_up: 1.0 / 3.0,
            listings: Duration::from_secs(86_400),
            order: "rankmass".into(),
            refresh: "holistic".into(),
            scheduler: "priced".into(),
        }
    }
}

/// Default budgets, as multiples of the births a second.
const RATES: [f64; 3] = [1.0, 3.0, 9.0];

/// Runs the experiment.
///
/// # Errors
/// If a contestant or policy is unknown, an option is out of range, or the world is no town.
pub fn run(
    setting: &ExperimentSetup,
    options: &JointExperimentOptions,
    progress: &dyn ExperimentProgress,
) -> Result<Study, LabError> {
    check(options)?;
    let contestants = Contestants::of(setting)?;
    let towns = Towns::open(setting, options)?;
    let runs = setting.runs.max(1);
    let mut rates = options.rates.clone();
    let mut notes = notes(options);
    let mut done: Vec<TownRun> = Vec::new();
    for run in 0..u64::from(runs) {
        let town = towns.of(setting, run)?;
        if rates.is_empty() {
            rates = usual_rates(&town);
        }
        let tasks = contestants.tasks(&rates, &options.connections);
        if run == 0 {
            progress.begin("joint", runs as usize * tasks.len());
            notes.push(describe(&town, options));
        }
        let seed = setting.seed_of(run);
        done.push(TownRun::of(
            &town,
            options,
            tasks,
            seed,
            setting.threads,
            progress,
        )?);
    }
    let best = best_quotas(&done, &rates);
    let measured: Vec<Vec<Measured>> = done
        .iter()
        .map(|run| run.rows(&best, contestants.has_best_quota()))
        .collect();
    let rows = findings::rows(&measured, setting.against.as_deref());
    let findings = setting.findings("joint", rows);
    Ok(Study {
        claims: claims::all(&measured),
        figures: figures::all(&findings),
        findings,
        notes,
    })
}

/// Lists the contestants, for the help.
pub fn contestants_help() -> String {
    let lines = contestants::ALL.iter();
    let lines = lines.map(|(name, about)| format!("  {name:16} {about}"));
    format!("Policies:\n{}", lines.collect::<Vec<_>>().join("\n"))
}

fn check(options: &JointExperimentOptions) -> Result<(), LabError> {
    let wrong = |why: String| Err(LabError::Wish(why));
    for rate in &options.rates {
        if !(*rate > 0.0 && *rate <= 1_000.0) {
            return wrong(format!(
                "a rate is {rate}; it must be above 0 and at most 1000 fetches a second"
            ));
        }
    }
    if let Some(wrong_count) = options
        .connections
        .iter()
        .find(|count| !(1..=1_000).contains(*count))
    {
        return wrong(format!(
            "a number of connections is {wrong_count}; it must be from 1 to 1000"
        ));
    }
    if !(0.0..1.0).contains(&options.warm_up) {
        return wrong(format!(
            "the warm-up is {}; it is a share of the time and must be at least 0 and below 1",
            options.warm_up
        ));
    }
    if options.listings.is_zero() {
        return wrong("the interval of sitemaps is 0; it must be above 0".into());
    }
    tasks::policies(options).map(drop)
}

/// Where the towns of the runs come from.
enum Towns {
    Invented,
    /// Recorded parts, which are read once. Each run draws the rest.
    Recorded {
        news: Box<News>,
        lives: Box<Lives>,
        plan: Box<TownPlan>,
    },
}

impl Towns {
    fn open(setting: &ExperimentSetup, options: &JointExperimentOptions) -> Result<Self, LabError> {
        let Some(pages) = &options.pages else {
            return Ok(Self::Invented);
        };
        let World::News(news) =
            World::open_part(&setting.world, &[], setting.seed, WorldPart::Sources)?
        else {
            let why = "with --pages the world must be a news world: its sources name the new pages";
            return Err(LabError::Wish(why.into()));
        };
        let lives = match World::open_part(pages, &[], setting.seed, WorldPart::Histories)? {
            World::Histories(histories) => Lives::of_histories(&histories)?,
            World::Corpus(corpus) => Lives::of_histories(&corpus.histories)?,
            other => {
                return Err(LabError::Wish(format!(
                    "a world of the kind {:?} has no history: --pages takes a world of histories",
                    other.kind()
                )));
            }
        };
        Ok(Self::Recorded {
            news: Box::new(news),
            lives: Box::new(lives),
            plan: Box::new(tuned("town", &setting.knobs)?),
        })
    }

    /// Returns the town of a run.
    fn of(&self, setting: &ExperimentSetup, run: u64) -> Result<Town, LabError> {
        match self {
            Self::Recorded { news, lives, plan } => plan.join(news, lives, setting.seed_of(run)),
            Self::Invented => match setting.open(run, WorldPart::Sources)? {
                World::Town(town) => Ok(*town),
                other => Err(LabError::Wish(format!(
                    "a world of the kind {:?} is no town: use invented:town, or a news world with --pages",
                    other.kind()
                ))),
            },
        }
    }
}

/// Returns budgets that fit the births of the town, to one digit.
fn usual_rates(town: &Town) -> Vec<f64> {
    let births = (town.pages.len() - town.old) as f64 / town.seconds();
    let rate = |times: f64| {
        let rate = times * births;
        // Parses the printed digit, so that the number equals the one that a user would type.
        format!("{rate:.0e}").parse().unwrap_or(rate)
    };
    RATES.map(rate).to_vec()
}

fn describe(town: &Town, options: &JointExperimentOptions) -> String {
    let clicks = |pages: &[crate::kinds::TownPage]| -> f64 {
        let clicks = pages.iter().map(|page| page.clicks.len());
        clicks.sum::<usize>() as f64 / town.seconds()
    };
    let (old, new) = town.pages.split_at(town.old);
    let changes: usize = old.iter().map(|page| page.changes.len()).sum();
    let days = town.seconds() / 86_400.0;
    format!(
        "The town of the first run: {} old pages with {:.0} changes a day and {:.3} clicks a second, {:.0} new pages a day with {:.3} clicks a second, {} sources, {} sitemaps; {:.1} days, of which the first {:.1} are not measured.",
        old.len(),
        changes as f64 / days,
        clicks(old),
        new.len() as f64 / days,
        clicks(new),
        town.sources.len(),
        town.sitemaps.len(),
        days,
        days * options.warm_up,
    )
}

fn notes(options: &JointExperimentOptions) -> Vec<String> {
    let mut notes = vec![
        format!(
            "All contestants use the ordering {}, the refresh policy {} and the scheduler {}. The crawl core chooses, under its budget, at a price that it finds. A crawl starts with a copy of every old page. Searchers do not click on sources, so that copies of sources are worth nothing.",
            options.order, options.refresh, options.scheduler
        ),
        "A quota is kept on average over about one round of fetches of all pages, by a factor on the worth of refreshes; within a round the better kind may go first, which favours quotas. The best quota is chosen in hindsight, for each budget: discovery has a share of 0, .1, .2, .3, .4, .6, .8 or 1, and polls have .3, .5 or .7 of that. WebFountain's ratio is computed every day from change rates and births as the crawler has seen them.".into(),
        "Refresh first: a page of which one change is expected since its last visit comes before any discovery. Discovery first: new pages, and sources that are expected to name one, come before any refresh. The rest of the budget is at one price.".into(),
    ];
    if !options.connections.is_empty() {
        notes.push("With scarce connections every site takes its own time over a request, and the budget allows more fetches than the connections can make. A price per fetch takes the page of most worth; a price per second takes that of most worth per second of connection time, as the crawl measures it.".into());
    }
    if options.pages.is_some() {
        notes.push("New pages, the links to them and the clicks on them are recorded, and so are the changes of old pages. Clicks on old pages, links between them, edits of new pages, hints and server times are drawn.".into());
    }
    notes
}

#[cfg(test)]
mod tests;
