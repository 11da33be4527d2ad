//! Experiment on refresh policies: how good a repository stays for its searchers under a budget
//! of refreshes.
//!
//! Pandey & Olston, "User-centric web crawling" (WWW 2005), on page histories with texts and
//! queries. The refresh policies run under budgets of pages per step and are judged by exact
//! repository quality. Without queries the experiment measures only freshness and age.
//! In `invented:pages`, whose change rates the judge knows, policies are compared with the best
//! allocation of the budget.
//!
//! **Invariant:** policies run inside a production crawl and are those of the production catalog,
//! except for the baseline `linear`. They receive what their own visits and their searchers showed.
//! [`Protocol`] says what they know at the start.

mod claims;
mod comparison;
mod contestants;
mod examples;
mod figures;
mod forecast;
mod ground_truth;
mod linear;
mod pages;
mod quality_curve;

use std::path::PathBuf;
use std::time::Duration;

use policy::history::WINDOW;

use super::{ExperimentSetup, Metric, Study};
use crate::LabError;
use crate::findings::{self, Measured};
pub use crate::run::steps::Protocol;
use crate::run::steps::Snapshots;
pub use crate::text::Scorer;
use crate::workers::ExperimentProgress;
use crate::world::{Histories, Queries, World, WorldPart};
use contestants::RefreshContestants;
use ground_truth::GroundTruth;

/// The metrics of the experiment.
pub const METRICS: &[Metric] = &[
    (
        "quality",
        "repository quality, equation 5 of Pandey & Olston (2005): usefulness of the repository's answers to searchers, divided by that of a repository that equals the web; the mean over steps; x is the budget, in refreshes per step",
    ),
    (
        "freshness",
        "the share of copies whose page has not changed since the visit, averaged over time; x is the budget",
    ),
    (
        "age",
        "days since the first change that a copy lacks, 0 for a fresh copy, averaged over time; x is the budget",
    ),
    (
        "embarrassment",
        "the probability that a click, which falls on rank r in proportion to r^(-3/2), finds a page that is gone or has lost a word of the query; the mean over steps; x is the budget",
    ),
    (
        "refreshes",
        "refreshes made per step: the budget x, or all pages if there are fewer",
    ),
    (
        "budget_at_quality@Q",
        "refreshes per step at which quality reaches Q, by linear interpolation between the budgets tried; no row if none reaches it",
    ),
    (
        "budget_at_regained@R",
        "refreshes per step that regain the share R of the quality that is lost without any refresh, by linear interpolation",
    ),
    (
        "weighted_freshness",
        "in invented:pages: the expected share of copies that are fresh, weighted by importance; x is the fetches per day; `optimal` is the best allocation of visits",
    ),
    (
        "of_optimum",
        "weighted_freshness divided by that of the best allocation",
    ),
    ("fetches_per_day", "fetches made per day, to compare with x"),
    (
        "forecast",
        "how well past gains predict later ones: Spearman's rank correlation between a page's gain per day in the first and in the second half of the time, if every change is refreshed at once. Pages without any gain are left out as in the paper's figure 3 (parameter pages=moved), or included (pages=all)",
    ),
    (
        "forecast_distance@S",
        "figure 3 of the paper in numbers: the share S of the pages with a gain has a gain per day that differs between the halves by at most this factor, in powers of ten; no row if it has no gain in one half",
    ),
    (
        "forecast_one_sided",
        "of the pages with a gain, the share that has none in one of the halves: the points on the edges of figure 3",
    ),
];

/// Pages of a world that the experiment uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageSelection {
    /// All pages, also those that are born later or die.
    All,
    /// The pages that exist at every step, as in both data sets of Pandey & Olston (2005), §6.
    Persistent,
    /// Of these the pages that show different texts at two steps, as in their data set MDS.
    Changed,
}

impl PageSelection {
    /// Returns the name that the command line uses.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Persistent => "persistent",
            Self::Changed => "changed",
        }
    }

    /// Returns, for each page, whether it is used. `None` if all are.
    fn kept(self, snapshots: &Snapshots) -> Option<Vec<bool>> {
        let mut kept = match self {
            Self::All => return None,
            Self::Persistent | Self::Changed => snapshots.persistent(),
        };
        if self == Self::Changed {
            let changing = snapshots.changing();
            kept.iter_mut()
                .zip(changing)
                .for_each(|(kept, changing)| *kept &= changing);
        }
        Some(kept)
    }
}

/// Options of the experiment.
#[derive(Debug, Clone)]
pub struct RefreshExperimentOptions {
    /// The query log: a table (query, count), or a directory with queries.tsv. `None` for the
    /// world's own.
    pub queries: Option<PathBuf>,
    /// What search results are sorted by.
    pub scorer: Scorer,
    /// What policies know at the start.
    pub knowledge: Protocol,
    /// Pages of the world that are used.
    pub pages: PageSelection,
    /// Time between two steps. `None` for a week, as in the paper, or a day in `invented:pages`. In
    /// a recorded world it is the longest of week, day, hour, minute and second that fits 20 times
    /// into the history.
    pub step: Option<Duration>,
    /// Refreshes per step, as shares of the pages that exist at the start. Empty means nine from
    /// 0.002 to 0.7, or three from 0.002 to 0.05 in `invented:pages`.
    pub budgets: Vec<f64>,
    /// Greatest number of queries that are used.
    pub most_queries: usize,
    /// Estimator of change rates. `None` for the default of each policy.
    pub rate: Option<String>,
}

impl Default for RefreshExperimentOptions {
    /// As in the paper, results are sorted by tf-idf and a step is a week. Unlike there, policies
    /// know only what was seen before the start.
    fn default() -> Self {
        Self {
            queries: None,
            scorer: Scorer::TfIdf,
            knowledge: Protocol::Halves,
            pages: PageSelection::All,
            step: None,
            budgets: Vec::new(),
            most_queries: 2_000,
            rate: None,
        }
    }
}

/// Default budgets in refreshes per step, as shares of the pages.
const BUDGETS: [f64; 9] = [0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4, 0.7];

const DAY: Duration = Duration::from_secs(86_400);

const WEEK: Duration = Duration::from_secs(7 * 86_400);

/// Runs the experiment.
///
/// # Errors
/// If a policy is unknown, an option is out of range, the world or the query log cannot be read,
/// the pages of the world have no history, or the world lacks data for the scorer.
pub fn run(
    setting: &ExperimentSetup,
    options: &RefreshExperimentOptions,
    progress: &dyn ExperimentProgress,
) -> Result<Study, LabError> {
    let bounded = setting.world == pages::WORLD;
    let options = &RefreshExperimentOptions {
        step: options.step.or(match () {
            () if bounded => Some(DAY),
            () if setting.is_invented() => Some(WEEK),
            () => None,
        }),
        ..options.clone()
    };
    match bounded {
        true => run_pages(setting, options, progress),
        false => run_texts(setting, options, progress),
    }
}

fn run_texts(
    setting: &ExperimentSetup,
    options: &RefreshExperimentOptions,
    progress: &dyn ExperimentProgress,
) -> Result<Study, LabError> {
    let budgets = budgets(options, &BUDGETS)?;
    let contestants = RefreshContestants::of(setting, options)?;
    // A recorded world has no randomness, so one run is enough.
    let runs = match setting.is_invented() {
        true => setting.runs.max(1),
        false => 1,
    };
    let steps = contestants.tasks(&budgets).len() + 1;
    progress.begin("refresh", runs as usize * steps);
    let mut measured: Vec<Vec<Measured>> = Vec::new();
    let mut notes = notes(options);
    let mut scatter = None;
    let mut best = 0.0_f64;
    for run in 0..u64::from(runs) {
        let truth = GroundTruth::of(histories(setting, options, run)?, options)?;
        let comparison = comparison::PolicyComparison {
            contestants: &contestants,
            options,
            budgets: &budgets,
            threads: setting.threads,
        };
        let (mut rows, most) = comparison.rows(&truth, progress)?;
        best = best.max(most);
        let forecast = forecast::forecast(&truth);
        progress.step();
        rows.extend(forecast.iter().flat_map(forecast::Forecast::rows));
        measured.push(rows);
        if run == 0 {
            notes.extend(
                forecast
                    .iter()
                    .flat_map(|forecast| &forecast.examples)
                    .cloned(),
            );
            notes.extend(truth.notes);
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
    setting: &ExperimentSetup,
    options: &RefreshExperimentOptions,
    progress: &dyn ExperimentProgress,
) -> Result<Study, LabError> {
    if options.pages != PageSelection::All {
        let why = format!(
            "all pages of {} exist all the time: leave out --pages",
            pages::WORLD
        );
        return Err(LabError::Wish(why));
    }
    if options.queries.is_some() {
        let why = format!(
            "the pages of {} have no texts to search: leave out --queries",
            pages::WORLD
        );
        return Err(LabError::Wish(why));
    }
    let budgets = budgets(options, &pages::BUDGETS)?;
    let names = pages::contestants(setting, options)?;
    let steps = pages::tasks(&names, &budgets).len();
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

fn budgets(options: &RefreshExperimentOptions, otherwise: &[f64]) -> Result<Vec<f64>, LabError> {
    if options.step.is_some_and(|step| step.is_zero()) {
        return Err(LabError::Wish("the step is 0; it must be above 0".into()));
    }
    if options.most_queries == 0 {
        let why = "most-queries is 0; it must be at least 1";
        return Err(LabError::Wish(why.into()));
    }
    for share in &options.budgets {
        if !(*share > 0.0 && *share <= 1.0) {
            let why = format!(
                "a budget is {share}; it is a share of the pages and must be above 0 and at most 1"
            );
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

/// Opens the world and returns its page histories, with queries if there are any.
fn histories(
    setting: &ExperimentSetup,
    options: &RefreshExperimentOptions,
    run: u64,
) -> Result<(Histories, Option<Queries>), LabError> {
    let log = options.queries.as_deref().map(Queries::read_from);
    let log = log.transpose()?;
    match setting.open(run, WorldPart::Histories)? {
        World::Histories(histories) => Ok((histories, log)),
        World::Corpus(corpus) => Ok((corpus.histories, log.or(Some(corpus.queries)))),
        other => Err(LabError::Wish(format!(
            "a world of the kind {:?} has no history: use a world of histories or a corpus",
            other.kind()
        ))),
    }
}

fn notes(options: &RefreshExperimentOptions) -> Vec<String> {
    let known = match options.knowledge {
        Protocol::Halves => {
            "Policies start with what visits to every page at every step learn in the first half of the time. They are judged on the second half, where they learn from their own visits."
        }
        Protocol::Whole => {
            "Policies start with what visits to every page at every step learn over the whole time on which they are judged, as in the paper (§6.2), and learn no more. This is an upper bound: no crawler knows the future."
        }
        Protocol::Online => {
            "Policies start with the first copies only, and learn from their own visits."
        }
    };
    let used = match options.pages {
        PageSelection::All => {
            "All pages of the world are used, also those that are born later or die."
        }
        PageSelection::Persistent => {
            "Only pages that exist at every step are used, as in the paper."
        }
        PageSelection::Changed => {
            "Only pages that exist at every step and change are used, as in the paper's data set MDS."
        }
    };
    vec![
        known.into(),
        used.into(),
        "A step is a period in which the web does not change. At its beginning the crawl core refreshes exactly the budget of pages, those of the most worth to the policy, each at most once. Pages without worth come last, the one that has waited longest first. Then the repository is judged. The first copy of a new page is made at once and costs nothing. A page that is found gone leaves the repository.".into(),
        format!("A page's gains are stored for its last {WINDOW} revisits. After visits at every step that is a short time, in which a page that rarely changes has no gain. A page that alternates between two texts, because its server shows variants or errors, gains much at each refresh and is stale again at once. Policies that rank by gains alone waste budget on such pages. EBR receives how often searchers of its own repository saw each page. The thresholds of SBR and EBR are chosen afterwards, for each budget."),
        "Only a change of the text counts as a change, not one of the markup. Quality and embarrassment are judged at the steps, after the refreshes; freshness and age at all times between.".into(),
    ]
}

#[cfg(test)]
mod tests;
