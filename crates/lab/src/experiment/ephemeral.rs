//! Experiment on ephemeral pages: which scheduler finds and fetches new pages while people still
//! read them.
//!
//! Lefortier et al., "Timely crawling of high-quality ephemeral new content" (2013). Sources
//! name new pages. A budget of fetches a second pays for polls of sources and for the pages that
//! polls find. Clicks say what pages are worth. Every scheduler of the catalog is judged by the
//! profit a second that it earns. The upper bound is a crawler that fetches every page as it
//! appears.
//!
//! **Invariant:** schedulers are those of the production catalog, and the crawl core chooses by
//! the worths that they give ([`run::ephemeral`](crate::run::ephemeral)). They receive what
//! their own polls showed and which clicks were logged. All of them crawl the same world in the
//! same period.

mod claims;
mod crawls;
mod figures;
mod interest;

use std::time::Duration;

use policy::catalog::Catalog;
pub use policy::source::{Credit, Seen};

use super::{ExperimentSetup, Metric, Study};
use crate::LabError;
use crate::findings::{self, Measured, Params};
use crate::run::ephemeral::NewsTimeline;
use crate::workers::ExperimentProgress;
use crate::world::{News, World, WorldPart};
use crawls::Crawls;

/// The metrics of the experiment.
pub const METRICS: &[Metric] = &[
    (
        "profit",
        "clicks per second that pages get after they were fetched (Table 1). It is the dynamic profit with a window of a week, averaged over the last week. x is N, the fetches per second. In rows with the parameter `by`, x is the push period L in hours, or the history T",
    ),
    (
        "deviation",
        "the standard deviation of the dynamic profit over that week",
    ),
    (
        "bound",
        "the profit of a crawler that fetches every page as it appears",
    ),
    ("of_bound", "profit divided by bound; x is N"),
    ("overall", "profit averaged over the whole time; x is N"),
    (
        "of_bound@own",
        "of_bound for the new pages of the last week, as the crawl itself estimates it at the end; the dashboard shows this estimate; no row without clicks; x is N",
    ),
    (
        "delay",
        "median hours from the first link to a new page until the crawl finds it, over the pages found; x is N",
    ),
    (
        "missed",
        "the share of new pages that were never found and whose last link has disappeared; x is N",
    ),
    (
        "missed_clicks",
        "the share of all clicks on new pages that went to missed pages; x is N",
    ),
    (
        "polls",
        "the share of fetches that were polls of sources; x is N",
    ),
    (
        "lost",
        "the share of the allowed fetches that the crawl did not make, because no page and no poll had any worth; x is N",
    ),
    (
        "polls_of_least@0.7",
        "the share of the last week's polls that went to the least polled 70 % of the sources; x is N",
    ),
    (
        "dynamic@week",
        "dynamic profit with a window of one week, for each push period of the logs (in hours); x is days since the start",
    ),
    (
        "dynamic@5h",
        "dynamic profit with a window of five hours, in the last week; x is days since the start",
    ),
    (
        "rate_at_bound@0.99",
        "the least N at which of_bound reaches .99, with an error of up to 10 %. The search goes from a sixteenth of the largest N tried to 16 times that N; there is no row if it fails, or if only one N is tried",
    ),
    (
        "new_pages",
        "new pages per second, hour by hour; x is days since the start",
    ),
    (
        "ephemeral",
        "the share of clicked pages of the first week whose cluster loses interest: its second week has less than half of the clicks of its first",
    ),
    (
        "interest",
        "the centres of six clusters (k-means) of daily clicks over two weeks, each page scaled to a maximum of 1; x is the day",
    ),
    (
        "cluster",
        "the share of these pages in a cluster; x is the number of the cluster",
    ),
    (
        "cover",
        "the share of new pages of the first week that greedily chosen sources link to; x is the chosen sources per host",
    ),
    (
        "cover_at@0.8",
        "the number of greedily chosen sources per host that link to 80 % of these pages",
    ),
];

/// Options of the experiment.
#[derive(Debug, Clone)]
pub struct EphemeralExperimentOptions {
    /// Rates N, in fetches a second. If empty, those of the paper (.05, .1 and .2 for .229 new
    /// pages a second), scaled to the new pages of the world.
    pub rates: Vec<f64>,
    /// Numbers of polls T that the published estimate of λ uses, 1 to 10. The first one is used
    /// for Table 1, and the others are compared with it.
    pub histories: Vec<usize>,
    /// Periods L between two pushes of the logs. The first one is used for Table 1, and the
    /// others are compared with it.
    pub pushes: Vec<Duration>,
    /// Pages whose clicks are logged.
    pub seen: Seen,
    /// Sources that a new page counts for.
    pub credit: Credit,
}

impl Default for EphemeralExperimentOptions {
    /// The values of the paper, §5.3, except `credit`.
    fn default() -> Self {
        Self {
            rates: Vec::new(),
            histories: vec![7, 3, 5, 10],
            pushes: [1, 12, 24, 168].map(|hours| hours * HOUR).to_vec(),
            seen: Seen::Known,
            credit: Credit::First,
        }
    }
}

const HOUR: Duration = Duration::from_secs(3_600);

const WEEK: Duration = Duration::from_secs(7 * 86_400);

/// The paper's rates, and the new pages a second of its world: 415,000 in three weeks.
const PUBLISHED: ([f64; 3], f64) = ([0.05, 0.1, 0.2], 0.2287);

/// Runs the experiment.
///
/// # Errors
/// If a scheduler is unknown, an option is out of range, or the world has no sources and clicks.
pub fn run(
    setting: &ExperimentSetup,
    options: &EphemeralExperimentOptions,
    progress: &dyn ExperimentProgress,
) -> Result<Study, LabError> {
    check(options)?;
    let names = contestants(setting)?;
    // In a recorded world, runs differ only in what the seed decides: the order of the first
    // polls and the random trials of young sources.
    let runs = setting.runs.max(1);
    let mut measured: Vec<Vec<Measured>> = Vec::new();
    let mut rates = options.rates.clone();
    let mut notes = notes(options);
    for run in 0..u64::from(runs) {
        let news = sources(setting, run)?;
        let Some(timeline) = NewsTimeline::new(&news) else {
            let why = "no new page appears in this world: choose a world in which sources link to new pages";
            return Err(LabError::Wish(why.into()));
        };
        if rates.is_empty() {
            rates = usual_rates(&timeline);
        }
        let crawls = Crawls::new(&timeline, options, &rates, setting.seed_of(run));
        let tasks = crawls.tasks(&names);
        if run == 0 {
            progress.begin("ephemeral", runs as usize * (tasks.len() + 1));
            notes.extend(crawls.notes());
        }
        let mut rows = crawls.rows(tasks, setting.threads, progress)?;
        rows.extend(interest::rows(&timeline, setting.seed_of(run)));
        progress.step();
        measured.push(rows);
    }
    let rows = findings::rows(&measured, setting.against.as_deref());
    let findings = setting.findings("ephemeral", rows);
    Ok(Study {
        claims: claims::all(&findings, &measured, &rates),
        figures: figures::all(&findings),
        findings,
        notes,
    })
}

fn check(options: &EphemeralExperimentOptions) -> Result<(), LabError> {
    let wrong = |why: String| Err(LabError::Wish(why));
    for rate in &options.rates {
        if !(*rate > 0.0 && *rate <= 1_000.0) {
            return wrong(format!(
                "a rate is {rate}; it must be above 0 and at most 1000 fetches a second"
            ));
        }
    }
    for history in &options.histories {
        if !(1..=10).contains(history) {
            return wrong(format!(
                "a history is {history}; it is a number of past polls and must be from 1 to 10"
            ));
        }
    }
    if options.pushes.iter().any(Duration::is_zero) {
        return wrong("a push period of the logs is 0; it must be above 0".into());
    }
    if options.histories.is_empty() || options.pushes.is_empty() {
        return wrong(
            "there is no history or no push period to try: give at least one of each".into(),
        );
    }
    Ok(())
}

/// Returns the schedulers that the user named, or all, without duplicates.
fn contestants(setting: &ExperimentSetup) -> Result<Vec<String>, LabError> {
    let catalog = Catalog::standard();
    let mut wanted = setting.policies.clone();
    if wanted.is_empty() {
        let all = catalog.schedulers().iter();
        wanted.extend(all.map(|scheduler| scheduler.name.to_owned()));
    }
    wanted.extend(setting.against.clone());
    let mut names: Vec<String> = Vec::new();
    for name in wanted {
        let known = catalog.scheduler(&name);
        known.map_err(|why| LabError::Wish(why.to_string()))?;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Ok(names)
}

fn sources(setting: &ExperimentSetup, run: u64) -> Result<News, LabError> {
    match setting.open(run, WorldPart::Sources)? {
        World::News(news) => Ok(news),
        other => Err(LabError::Wish(format!(
            "a world of the kind {:?} has no sources that name new pages: use a news world",
            other.kind()
        ))),
    }
}

/// Returns the paper's rates, scaled to the new pages a second of this world, to one digit.
fn usual_rates(timeline: &NewsTimeline<'_>) -> Vec<f64> {
    let articles = 0..timeline.news().articles().len();
    let new = articles.filter(|&article| timeline.appeared(article).is_some());
    let a_second = new.count() as f64 / timeline.until.since(timeline.from).as_secs_f64();
    let (rates, published) = PUBLISHED;
    let rate = |rate: f64| {
        let scaled = rate * a_second / published;
        // Parses the printed digit, so that the number equals the one that a user would type.
        format!("{scaled:.0e}").parse().unwrap_or(scaled)
    };
    rates.map(rate).to_vec()
}

fn number(policy: &str, metric: &str, x: f64, value: f64) -> Measured {
    Measured {
        policy: policy.into(),
        params: Params::new(),
        metric: metric.into(),
        x,
        value,
    }
}

fn notes(options: &EphemeralExperimentOptions) -> Vec<String> {
    let logs = match options.seen {
        Seen::Known => {
            "The logs contain all clicks on every page that the crawler has discovered, fetched or not, as in the paper: they come from a search engine that has the pages from elsewhere."
        }
        Seen::Fetched => {
            "The logs contain only clicks on pages that the crawler has fetched, after the fetch: the crawler has no log but its own."
        }
    };
    let credit = match options.credit {
        Credit::All => {
            "A new page and its clicks count for every source that links to it, as in the paper's §4.2.1."
        }
        Credit::First => "A new page and its clicks count for the source whose poll discovered it.",
    };
    vec![
        logs.into(),
        credit.into(),
        "A crawl starts with a free visit to every source at the first moment. What the sources show then is old and earns nothing. Then every source is polled once, in a random order that all schedulers of a run share. The profit of the published schedulers depends on this order, so use several runs. Servers answer at once and need no delay. A poll and a page cost one fetch each.".into(),
        "The scheduler says what polls and pages are worth. The crawl core chooses under its budget, at a price that it finds. Sources are evaluated and plans renewed every half hour. Clicks are counted by age in bins of 20 minutes. P is .01 for a source without data.".into(),
    ]
}

#[cfg(test)]
mod tests;
