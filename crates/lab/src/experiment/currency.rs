//! Experiment on how the revisit interval decides how recent copies are.
//!
//! It computes the currency of a collection (Baldi, Frasconi & Smyth 2003, §6.4) in three
//! independent ways:
//!
//! - `closed-form`: the formulas of [`policy::plan`].
//! - `monte-carlo`: random pages, changes and observation times, without formulas or a crawler.
//! - `uniform`: the production policy that visits every page equally often, run through the
//!   production frontier in the world.
//!
//! `model` is the prediction of the formulas for that world, fitted only to the changes that
//! this crawler saw. `optimal`, `uniform` and `proportional` are compared as allocations of a
//! visit budget to pages.
//!
//! **Invariant:** the policy does not know when pages change, and the model does not know the
//! changes that the crawler missed.

mod claims;
mod contestants;
mod figures;
mod formulas;
mod monte_carlo;
mod world;

use policy::plan::Weibull;

use super::{ExperimentSetup, Metric, Study};
use crate::LabError;
use crate::findings::{self, Measured, Param, Params};
use crate::workers::{ExperimentProgress, each};
use contestants::CurrencyContestants;

/// Metrics of this experiment.
pub const METRICS: &[Metric] = &[
    (
        "currency@B",
        "the share of copies whose page did not change between the visit and B days ago, mean over time; x is the interval between visits in days",
    ),
    (
        "freshness",
        "the share of copies whose page has not changed since the visit, mean over time; x is the interval in days, or the visits per day that an allocation distributes",
    ),
    (
        "age",
        "days since the first change that a copy does not show, 0 if there is none, mean over time; x is the interval in days",
    ),
    (
        "interval",
        "the longest interval in days at which the share of current copies is alpha, with a grace period of beta days; x is alpha",
    ),
    (
        "documents_per_second",
        "fetches per second that visit all documents once per longest interval; x is alpha",
    ),
    (
        "megabits_per_second",
        "bandwidth of these fetches, in 10^6 bits per second; x is alpha",
    ),
    (
        "lifetime_mean",
        "mean over the pages of the mean days between changes; x is the shape of the Weibull distribution",
    ),
    (
        "lifetime_mode",
        "most frequent value over the pages of the mean days between changes; x is the shape",
    ),
    (
        "lifetime_median",
        "median over the pages of the mean days between changes; x is the shape",
    ),
    (
        "doubling_days",
        "days in which the number of pages doubles; x is the growth per day",
    ),
    (
        "frequency",
        "visits per day that an allocation gives a page; x is the page's changes per day",
    ),
    (
        "visits_per_day",
        "visits per day that the crawler makes to each existing page, as a mean; x is the interval in days",
    ),
    (
        "missed_changes",
        "aliasing: the share of the changes between a page's first and last visit that no visit saw, because the page had changed again before; x is the interval in days",
    ),
    (
        "model_shape",
        "the shape of the Weibull distribution of mean days between changes, fitted to the changes that the crawler saw; x is the interval in days",
    ),
    (
        "model_scale",
        "the scale of this fitted distribution, in days; x is the interval in days",
    ),
];

/// Options of this experiment.
#[derive(Debug, Clone)]
pub struct CurrencyExperimentOptions {
    /// α: the share of copies that must be current.
    pub alpha: f64,
    /// β: the grace period, in days. A copy is current if its page did not change between the
    /// visit and β days ago.
    pub beta_days: f64,
    /// The shape of the Weibull distribution of the mean time between changes of a page.
    pub shape: f64,
    /// The scale of this distribution, in days.
    pub scale_days: f64,
    /// Revisit intervals to try, in days. Empty means five from 7 to 90 days and the longest one
    /// at which the share α of the copies is current.
    pub interval_days: Vec<f64>,
    /// Number of documents in the collection.
    pub documents: f64,
    /// The size of a document, in kilobytes of 1000 bytes.
    pub kilobytes: f64,
    /// Pages that `monte-carlo` draws for each interval.
    pub draws: u32,
}

impl Default for CurrencyExperimentOptions {
    /// Brewington & Cybenko (2000): keep 95 % of 800 million pages current, with a grace period
    /// of a week. They give no document size; 10 kilobytes is the size in exercise 6.6 of Baldi,
    /// Frasconi & Smyth (2003).
    fn default() -> Self {
        Self {
            alpha: 0.95,
            beta_days: 7.0,
            shape: 1.4,
            scale_days: 152.2,
            interval_days: Vec::new(),
            documents: 800e6,
            kilobytes: 10.0,
            draws: 100_000,
        }
    }
}

/// Runs the experiment.
///
/// # Errors
/// If an option is out of range, a policy is unknown, or the world cannot be opened or has no
/// page histories. The world is opened only if `uniform` or `model` is to be reported.
pub fn run(
    setting: &ExperimentSetup,
    options: &CurrencyExperimentOptions,
    progress: &dyn ExperimentProgress,
) -> Result<Study, LabError> {
    let question = CurrencyQuestion::of(options)?;
    let contestants = CurrencyContestants::of(setting)?;
    let runs = u64::from(setting.runs.max(1));
    let kinds = usize::from(contestants.draw()) + usize::from(contestants.crawl());
    let steps = runs as usize * kinds * question.intervals.len();
    progress.begin("currency", steps);
    let mut notes = Vec::new();
    let mut measured = Vec::new();
    let mut lives = world::OpenedWorld::default();
    for run in 0..runs {
        let seed = setting.seed_of(run);
        // The closed forms are repeated in every run, so that they can be compared run by run.
        let mut rows = formulas::rows(&question);
        if contestants.draw() {
            let pieces = question.intervals.clone();
            let drawn = each(pieces, setting.threads, progress, |interval| {
                monte_carlo::rows(&question, interval, seed)
            });
            rows.extend(drawn.into_iter().flatten());
        }
        if contestants.crawl() {
            let lives = lives.of(setting, options, run)?;
            let pieces = question.intervals.clone();
            let crawled = each(pieces, setting.threads, progress, |interval| {
                world::rows(&question, lives, interval, seed)
            });
            for (found, said) in crawled {
                rows.extend(found);
                notes.extend(said.map(|said| format!("Run {}: {said}", run + 1)));
            }
        }
        rows.retain(|row| contestants.wants(&row.policy));
        measured.push(rows);
    }
    notes.splice(0..0, question.notes(&contestants));
    let rows = findings::rows(&measured, setting.against.as_deref());
    let findings = setting.findings("currency", rows);
    Ok(Study {
        claims: claims::all(claims::DRAWS, setting.seed),
        figures: figures::all(&question, &findings),
        findings,
        notes,
    })
}

/// Validated options.
struct CurrencyQuestion {
    lifetimes: Weibull,
    alpha: f64,
    beta: f64,
    /// Grace periods that currency is measured with, in days, sorted: β and [`GRACES`].
    graces: Vec<f64>,
    /// Revisit intervals in days, sorted.
    intervals: Vec<f64>,
    /// The longest interval at which the collection is (α, β)-current, in days.
    needed: f64,
    documents: f64,
    kilobytes: f64,
    draws: u32,
}

/// Grace periods of the figure, in days.
const GRACES: [f64; 4] = [0.0, 1.0, 7.0, 30.0];
/// Minimum interval that can be tried, in days: about a quarter of an hour. For 20,000 pages that
/// is 730 million visits in a year of simulated time.
const SHORTEST: f64 = 0.01;
/// Default revisit intervals, in days.
const INTERVALS: [f64; 5] = [7.0, 14.0, 30.0, 60.0, 90.0];

impl CurrencyQuestion {
    fn of(options: &CurrencyExperimentOptions) -> Result<Self, LabError> {
        let positive = |name: &str, number: f64| {
            let good = number > 0.0 && number.is_finite();
            let why = format!("{name} is {number}; it must be a number above 0");
            good.then_some(number).ok_or(LabError::Wish(why))
        };
        let beta = options.beta_days;
        if !(0.0..=1e6).contains(&beta) {
            let why = format!("beta is {beta}; it must be from 0 to 1000000 days");
            return Err(LabError::Wish(why));
        }
        let shape = positive("shape", options.shape)?;
        let scale = positive("scale", options.scale_days)?;
        let lifetimes = Weibull::new(shape, scale);
        let alpha = options.alpha;
        if !(alpha > 0.0 && alpha < 1.0) {
            let why = format!("alpha is {alpha}; it must be above 0 and below 1");
            return Err(LabError::Wish(why));
        }
        let needed = lifetimes
            .and_then(|lifetimes| policy::plan::currency::interval_for(&lifetimes, alpha, beta));
        let (Some(lifetimes), Some(needed)) = (lifetimes, needed) else {
            let why = format!(
                "with lifetimes of shape {shape} and scale {scale}, there is no longest interval at which {alpha} of \
                 the pages are current"
            );
            return Err(LabError::Wish(why));
        };
        let mut intervals = Vec::new();
        for &interval in &options.interval_days {
            if !(SHORTEST..=1e6).contains(&interval) {
                let why = format!(
                    "an interval is {interval}; it must be from {SHORTEST} to 1000000 days"
                );
                return Err(LabError::Wish(why));
            }
            intervals.push(interval);
        }
        if intervals.is_empty() {
            intervals.extend(INTERVALS);
            intervals.push(needed);
        }
        let mut graces = GRACES.to_vec();
        graces.push(beta);
        for numbers in [&mut intervals, &mut graces] {
            numbers.sort_unstable_by(f64::total_cmp);
            numbers.dedup();
        }
        if options.draws == 0 {
            return Err(LabError::Wish("draws is 0; it must be 1 at least".into()));
        }
        Ok(Self {
            lifetimes,
            alpha: options.alpha,
            beta,
            graces,
            intervals,
            needed,
            documents: positive("documents", options.documents)?,
            kilobytes: positive("kilobytes", options.kilobytes)?,
            draws: options.draws,
        })
    }

    fn notes(&self, contestants: &CurrencyContestants) -> Vec<String> {
        let mut notes = vec![
            "Formula (6.21) of Baldi, Frasconi & Smyth (2003) is corrected: as printed, its exponent and its divisor are not those of (6.20).".into(),
            "A kilobyte is 1000 bytes. The 10 Kb of exercise 6.6 are read as 10 kilobytes. Read as kilobits, they would need an eighth of the bandwidth; with kilobytes of 1024 bytes, 2.4 % more.".into(),
        ];
        if contestants.crawl() {
            notes.push("Servers answer at once and need no delay, so the policy alone chooses the times of visits. A page is discovered at its birth. Pages that exist at the start are discovered one after another, evenly spaced over the first revisit interval, which is not measured.".into());
            notes.push("A change is a change of the text if the world has texts, and of the body otherwise. A return to an earlier text is a change. The model is fitted to all revisits of the same run, that is, to the period on which it is compared. It shows what Poisson changes with Weibull lifetimes can and cannot describe, not a forecast. The model counts every page once; the measurement weights a page by the time for which it existed.".into());
        }
        notes
    }
}

/// Returns a measured value without parameters. The metric decides what `x` is (see [`METRICS`]).
fn number(policy: &str, metric: impl Into<String>, x: f64, value: f64) -> Measured {
    Measured {
        policy: policy.into(),
        params: Params::new(),
        metric: metric.into(),
        x,
        value,
    }
}

impl Measured {
    fn with(mut self, name: &str, value: impl Into<Param>) -> Self {
        self.params.insert(name.into(), value.into());
        self
    }
}

/// Returns the metric name of the currency with a grace period of `days`.
fn currency_at(days: f64) -> String {
    format!("currency@{days}")
}

#[cfg(test)]
mod tests;
