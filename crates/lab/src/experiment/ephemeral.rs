//! Which scheduler finds and fetches new pages while people still care?
//!
//! Lefortier et al., "Timely crawling of high-quality ephemeral new content" (2013): sources that name new pages, a budget of fetches a second for polls of sources and for the pages that polls find, and clicks that say
//! what pages are worth. Every scheduler of the catalog is judged by the profit a second that it earns, and held against a crawler that fetches every page as it appears.
//!
//! **Invariant:** schedulers are those of the production catalog, and the crawl core chooses by what they say ([`run::ephemeral`](crate::run::ephemeral)). They are told what their own polls showed and which clicks were logged.
//! All of them crawl the same world in the same time.

mod claims;
mod crawls;
mod figures;
mod interest;

use std::time::Duration;

use policy::catalog::Catalog;
pub use policy::source::Seen;

use super::{Metric, Setting, Study};
use crate::LabError;
use crate::findings::{self, Measured, Params};
use crate::run::ephemeral::Stage;
use crate::workers::Progress;
use crate::world::{News, World};
use crawls::Crawls;

/// What is measured.
pub const METRICS: &[Metric] = &[
    (
        "profit",
        "clicks that pages get after they are fetched, a second: dynamic profit with a window of a week, the mean over the last week (Table 1); x is the fetches a second, N; with push or history at other L (hours) or T",
    ),
    (
        "deviation",
        "the deviation of the dynamic profit over that week",
    ),
    (
        "bound",
        "the profit of a crawler that fetches every page as it appears",
    ),
    ("of_bound", "profit over bound; x is N"),
    ("overall", "profit over all of the time; x is N"),
    (
        "delay",
        "hours from when a new page is first linked to until it is found, the median of those found; x is N",
    ),
    (
        "missed",
        "the share of new pages that were never found, and whose links are all gone; x is N",
    ),
    (
        "missed_clicks",
        "the share of all clicks that are on such pages; x is N",
    ),
    (
        "polls",
        "the share of fetches that were polls of sources; x is N",
    ),
    (
        "lost",
        "the share of fetches that the budget paid for and the crawl did not make, since nothing paid; x is N",
    ),
    (
        "polls_of_least@0.7",
        "the share of the last week's polls that went to the 70 % of sources polled least; x is N",
    ),
    (
        "dynamic@week",
        "dynamic profit, window one week, by the push period of logs (hours); x is days since the beginning",
    ),
    (
        "dynamic@5h",
        "dynamic profit, window five hours, in the last week; x is days since the beginning",
    ),
    (
        "rate_at_bound@0.99",
        "the least N at which of_bound is .99, to a tenth; no row if one N only is tried, or it is not at 16 times the largest N tried",
    ),
    (
        "new_pages",
        "new pages a second, by the hour; x is days since the beginning",
    ),
    (
        "ephemeral",
        "the share of clicked pages of the first week whose cluster's interest is gone after a week",
    ),
    (
        "interest",
        "the centres of six clusters (k-means) of daily clicks over two weeks, the most of a page scaled to 1; x is the day",
    ),
    (
        "cluster",
        "the share of these pages that are in a cluster; x is its number",
    ),
    (
        "cover",
        "the share of new pages of the first week that a greedy choice of sources reaches; x is the sources taken per host",
    ),
    (
        "cover_at@0.8",
        "the sources per host that reach 80 % of them",
    ),
];

/// What can be set.
#[derive(Debug, Clone)]
pub struct Options {
    /// Fetches a second, N; none: as in the paper, .05, .1 and .2 for .229 new pages a second.
    pub rates: Vec<f64>,
    /// Polls that the printed estimate of λ looks back on, T. The first is that of the table; the others are tried beside it.
    pub histories: Vec<usize>,
    /// How often logs are pushed, L, likewise.
    pub pushes: Vec<Duration>,
    /// On which pages clicks are logged.
    pub seen: Seen,
}

impl Default for Options {
    /// As in the paper's §5.3.
    fn default() -> Self {
        Self {
            rates: Vec::new(),
            histories: vec![7, 3, 5, 10],
            pushes: [1, 12, 24, 168].map(|hours| hours * HOUR).to_vec(),
            seen: Seen::Known,
        }
    }
}

const HOUR: Duration = Duration::from_secs(3_600);

const WEEK: Duration = Duration::from_secs(7 * 86_400);

/// The paper's rates, and the new pages a second of its world: 415,000 in three weeks.
const PUBLISHED: ([f64; 3], f64) = ([0.05, 0.1, 0.2], 0.2287);

/// Runs it.
///
/// # Errors
/// If a wish cannot be met: an unknown scheduler, a number that makes no sense, a world without sources and clicks.
pub fn run(
    setting: &Setting,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Study, LabError> {
    check(options)?;
    let names = contestants(setting)?;
    // In a recorded world runs differ in the order of the first polls, and in what young sources are tried by.
    let runs = setting.runs.max(1);
    let mut measured: Vec<Vec<Measured>> = Vec::new();
    let mut rates = options.rates.clone();
    let mut notes = notes(options);
    for run in 0..u64::from(runs) {
        let news = sources(setting, run)?;
        let Some(stage) = Stage::new(&news) else {
            let why = "nothing new appears in this world: there is nothing to find";
            return Err(LabError::Wish(why.into()));
        };
        if rates.is_empty() {
            rates = usual_rates(&stage);
        }
        let crawls = Crawls::new(&stage, options, &rates, setting.seed_of(run));
        let pieces = crawls.pieces(&names);
        if run == 0 {
            progress.begin("ephemeral", runs as usize * (pieces.len() + 1));
            notes.extend(crawls.notes());
        }
        let mut rows = crawls.rows(pieces, setting.threads, progress)?;
        rows.extend(interest::rows(&stage, setting.seed_of(run)));
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

fn check(options: &Options) -> Result<(), LabError> {
    let wrong = |why: String| Err(LabError::Wish(why));
    for rate in &options.rates {
        if !(*rate > 0.0 && *rate <= 1_000.0) {
            return wrong(format!(
                "a rate is {rate}; it is fetches a second, above 0 and at most 1000"
            ));
        }
    }
    for history in &options.histories {
        if !(1..=10).contains(history) {
            return wrong(format!(
                "a history is {history}; it is the number of polls looked back on, from 1 to 10"
            ));
        }
    }
    if options.pushes.iter().any(Duration::is_zero) {
        return wrong(
            "logs are pushed all the time; the time between two pushes must be above 0".into(),
        );
    }
    if options.histories.is_empty() || options.pushes.is_empty() {
        return wrong("there is no history, or no push period, to try".into());
    }
    Ok(())
}

/// The schedulers that the user named, or all; each once.
fn contestants(setting: &Setting) -> Result<Vec<String>, LabError> {
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

fn sources(setting: &Setting, run: u64) -> Result<News, LabError> {
    match setting.open(run)? {
        World::News(news) => Ok(news),
        other => Err(LabError::Wish(format!(
            "a world of the kind {:?} has no sources that name new pages: take a news world",
            other.kind()
        ))),
    }
}

/// The paper's rates, for as many new pages a second as there are here, to one digit.
fn usual_rates(stage: &Stage<'_>) -> Vec<f64> {
    let articles = 0..stage.news().articles().len();
    let new = articles.filter(|&article| stage.appeared(article).is_some());
    let a_second = new.count() as f64 / stage.until.since(stage.from).as_secs_f64();
    let (rates, published) = PUBLISHED;
    let rate = |rate: f64| {
        let scaled = rate * a_second / published;
        // One digit as it is written, so that the number is the one that a user would type.
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

fn notes(options: &Options) -> Vec<String> {
    let logs = match options.seen {
        Seen::Known => {
            "Clicks are logged for every page that the crawler has heard of, fetched or not and from the page's first on, as in the paper: a search engine that has the pages by other ways."
        }
        Seen::Fetched => {
            "Clicks are logged for pages that the crawler has fetched, from then on: its own log is all that it has."
        }
    };
    vec![
        logs.into(),
        "The ledger that a crawl begins with has a visit to every source in the first moment, at no cost; what is there then is old, and earns nothing. Then every source is polled once, in an order drawn by lot that all schedulers of a run share: what the printed ones earn depends on it, so ask for several runs. Servers answer at once and want no delay, a poll and a page cost one fetch each.".into(),
        "The crawl core chooses under its budget, at a price that it finds: the scheduler says what polls and pages are worth. Sources are judged and plans made anew every half hour; clicks are counted by age in bins of 20 minutes; P is .01 where nothing is known.".into(),
    ]
}

#[cfg(test)]
mod tests;
