//! How good can a repository be kept for its searchers, with so many refreshes?
//!
//! Pandey & Olston, "User-centric web crawling" (WWW 2005), on histories with texts and queries: every refresh policy of the
//! catalog under a budget of pages a step, judged by exact repository quality. Without queries what is left is freshness
//! and age. In `invented:pages`, whose change rates are known to the judge, policies are held against the best that any
//! allocation of the budget could reach.
//!
//! **Invariant:** policies are those of the production catalog inside of a production crawl; they are told what their own
//! visits and searchers showed. What else a run is given says [`Protocol`].

mod claims;
mod contestants;
mod curve;
mod figures;
mod forecast;
mod ground;
mod kept;
mod linear;
mod pages;

use std::path::PathBuf;
use std::time::Duration;

use policy::history::WINDOW;

use super::{Metric, Setting, Study};
use crate::LabError;
use crate::findings::{self, Measured};
pub use crate::run::steps::Protocol;
pub use crate::text::Scorer;
use crate::workers::Progress;
use crate::world::{Histories, Queries, World};
use contestants::Contestants;
use ground::Ground;

/// What is measured.
pub const METRICS: &[Metric] = &[
    (
        "quality",
        "repository quality, equation 5: what searchers get from the repository's answers, over what they would get if it equalled the web; the mean over steps; x is the budget, in refreshes a step",
    ),
    (
        "freshness",
        "the share of copies whose page has not changed since, over time; x is the budget",
    ),
    (
        "age",
        "days since the first change that a copy does not show, 0 if there is none, over time; x is the budget",
    ),
    (
        "embarrassment",
        "the probability that a click, which falls on rank r with r^(-3/2), finds a page that is gone or has lost a word of the query; the mean over steps; x is the budget",
    ),
    (
        "refreshes",
        "refreshes made a step, to be held against x: a crawl makes none that is worth nothing to its policy",
    ),
    (
        "budget_at_quality@Q",
        "refreshes a step at which quality is Q, between the budgets that were tried on a straight line; no row if it never is",
    ),
    (
        "budget_at_regained@R",
        "refreshes a step that regain the share R of the quality that is lost without any refresh, interpolated likewise",
    ),
    (
        "weighted_freshness",
        "in invented:pages: the expected share of copies that are fresh, weighted by importance; x is the fetches a day; optimal is what the best allocation of visits would give",
    ),
    ("of_optimum", "the same over that of the best allocation"),
    ("fetches_per_day", "what was fetched, to be held against x"),
    (
        "forecast",
        "Spearman's rank correlation of what the refreshes of a page gave by the day, in the first and in the second half, if every change is refreshed at once; pages where both are 0 are left out, as in the paper's figure 3, or not (pages all)",
    ),
];

/// What can be set.
#[derive(Debug, Clone)]
pub struct Options {
    /// The query log: a table (query, count), or a directory with queries.tsv; `None`: the world's own.
    pub queries: Option<PathBuf>,
    /// What answers are sorted by.
    pub scorer: Scorer,
    /// What policies know when they begin.
    pub knowledge: Protocol,
    /// The time between two steps; `None`: a week, as in the paper, and a day in `invented:pages`.
    pub step: Option<Duration>,
    /// Refreshes a step, as shares of the pages that there are at the beginning; none: a few from small to large.
    pub budgets: Vec<f64>,
    /// Queries that are asked at most.
    pub most_queries: usize,
    /// The estimator of change rates; `None`: the policies' own.
    pub rate: Option<String>,
}

impl Default for Options {
    /// As in the paper, but honest: what is known when a policy begins is what was seen by then.
    fn default() -> Self {
        Self {
            queries: None,
            scorer: Scorer::TfIdf,
            knowledge: Protocol::Halves,
            step: None,
            budgets: Vec::new(),
            most_queries: 2_000,
            rate: None,
        }
    }
}

/// Budgets that are tried unless the user names some: shares of the pages, a step.
const BUDGETS: [f64; 9] = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7];

const DAY: Duration = Duration::from_secs(86_400);

/// Runs it.
///
/// # Errors
/// If a wish cannot be met: an unknown policy, a number that makes no sense, a world whose pages have no history, a scorer
/// that the world has no data for.
pub fn run(
    setting: &Setting,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Study, LabError> {
    let bounded = setting.world == pages::WORLD;
    let options = &Options {
        step: options.step.or(bounded.then_some(DAY)),
        ..options.clone()
    };
    match bounded {
        true => run_pages(setting, options, progress),
        false => run_texts(setting, options, progress),
    }
}

fn run_texts(
    setting: &Setting,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Study, LabError> {
    let budgets = budgets(options, &BUDGETS)?;
    let contestants = Contestants::of(setting, options)?;
    // Nothing is drawn in a recorded world: all runs are the first.
    let runs = match setting.is_invented() {
        true => setting.runs.max(1),
        false => 1,
    };
    let steps = contestants.pieces(&budgets).len() + 1;
    progress.begin("refresh", runs as usize * steps);
    let mut measured: Vec<Vec<Measured>> = Vec::new();
    let mut notes = notes(options);
    let mut scatter = None;
    let mut best = 0.0_f64;
    for run in 0..u64::from(runs) {
        let ground = Ground::of(histories(setting, options, run)?, options)?;
        let work = kept::Work {
            contestants: &contestants,
            options,
            budgets: &budgets,
            threads: setting.threads,
        };
        let (mut rows, most) = work.rows(&ground, progress)?;
        best = best.max(most);
        let forecast = forecast::forecast(&ground);
        progress.step();
        rows.extend(forecast.iter().flat_map(forecast::Forecast::rows));
        measured.push(rows);
        if run == 0 {
            notes.extend(ground.notes);
            scatter = forecast;
        }
    }
    let rows = findings::rows(&measured, setting.against.as_deref());
    let findings = setting.findings("refresh", rows);
    Ok(Study {
        claims: claims::all(&findings, options, best),
        figures: figures::all(&findings, options, scatter.as_ref()),
        findings,
        notes,
    })
}

fn run_pages(
    setting: &Setting,
    options: &Options,
    progress: &dyn Progress,
) -> Result<Study, LabError> {
    if options.queries.is_some() {
        let why = format!(
            "the pages of {} have no texts: no query can be asked",
            pages::WORLD
        );
        return Err(LabError::Wish(why));
    }
    let budgets = budgets(options, &pages::BUDGETS)?;
    let names = pages::contestants(setting, options)?;
    let steps = pages::pieces(&names, &budgets).len();
    progress.begin("refresh", setting.runs.max(1) as usize * steps);
    let runs = (0..u64::from(setting.runs.max(1)))
        .map(|run| pages::rows(setting, options, &names, &budgets, run, progress));
    let measured: Result<Vec<Vec<Measured>>, LabError> = runs.collect();
    let rows = findings::rows(&measured?, setting.against.as_deref());
    let findings = setting.findings("refresh", rows);
    Ok(Study {
        claims: claims::of_pages(&findings),
        figures: figures::of_pages(&findings),
        findings,
        notes: pages::notes(),
    })
}

fn budgets(options: &Options, otherwise: &[f64]) -> Result<Vec<f64>, LabError> {
    if options.step().is_zero() {
        return Err(LabError::Wish("a step is no time at all".into()));
    }
    if options.most_queries == 0 {
        let why = "most-queries is 0; it must be 1 at least";
        return Err(LabError::Wish(why.into()));
    }
    for share in &options.budgets {
        if !(*share > 0.0 && *share <= 1.0) {
            let why =
                format!("a budget is {share}; it is a share of the pages, above 0 and at most 1");
            return Err(LabError::Wish(why));
        }
    }
    let mut budgets = match options.budgets.is_empty() {
        true => otherwise.to_vec(),
        false => options.budgets.clone(),
    };
    budgets.sort_unstable_by(f64::total_cmp);
    budgets.dedup();
    Ok(budgets)
}

impl Options {
    /// The time between two steps.
    fn step(&self) -> Duration {
        self.step.unwrap_or(7 * DAY)
    }
}

/// Pages with a history, and queries if there are any.
fn histories(
    setting: &Setting,
    options: &Options,
    run: u64,
) -> Result<(Histories, Option<Queries>), LabError> {
    let log = options.queries.as_deref().map(Queries::read_from);
    let log = log.transpose()?;
    match setting.open(run)? {
        World::Histories(histories) => Ok((histories, log)),
        World::Corpus(corpus) => Ok((corpus.histories, log.or(Some(corpus.queries)))),
        other => Err(LabError::Wish(format!(
            "a world of the kind {:?} has no history: take histories or a corpus",
            other.kind()
        ))),
    }
}

fn notes(options: &Options) -> Vec<String> {
    let known = match options.knowledge {
        Protocol::Halves => {
            "In the first half of the time every page was visited at every step; policies know what was learned then, are judged on the second half, and learn from their own visits there."
        }
        Protocol::Whole => {
            "Policies know what visits to every page at every step learn over the whole time that they are judged on, as in the paper (§6.2), and learn no more. That is a bound: no crawler knows what is to come."
        }
        Protocol::Online => {
            "Policies know nothing but the first copies when they begin, and learn from their own visits."
        }
    };
    vec![
        known.into(),
        "A step is a period in which the web stands still. The crawl core spends the budget over it, at a price that it finds, and makes no refresh that is worth nothing to the policy; then the repository is judged. When it begins all copies have the same age, so a policy that goes by age leaves a small budget unspent at first. A page that is born raises the budget of its step by one fetch, for its first copy. A page that is found gone leaves the repository.".into(),
        format!("A page's gains are remembered for its last {WINDOW} revisits: after visits at every step that is a short time, in which a page that rarely changes has given nothing. Pages that flip between two texts, as where a server shows variants or errors, give much at each refresh and are stale again at once: policies that go by gains alone spend on them what others need. EBR is told how often searchers of its own repository saw each page; thresholds of SBR and EBR are chosen after the fact, for each budget."),
        "A change is one of the text: markup alone is none. Quality and embarrassment are judged at the steps, after the refreshes; freshness and age at all times between.".into(),
    ]
}

#[cfg(test)]
mod tests;
