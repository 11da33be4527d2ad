//! How near does a policy come to the best that its budget can do, where the truth is known?
//!
//! `invented:pages`: the judge knows how often every page changes, and so the allocation of visits that no policy can beat on
//! average (Cho & Garcia-Molina's, weighted; [`policy::plan::allocation`]). Page n is 1/(n+1) as important as the first. Policies run
//! twice: with the true rates, which is a bound, and with those that they learn.
//!
//! **Invariant:** rates are drawn with the world, and told to a policy only under `rates known`.

use std::sync::Arc;
use std::time::Duration;

use policy::catalog::{Catalog, Upkeep as Wishes};
use policy::order::{Given, Scores};
use policy::plan::allocation::{Demand, mean_freshness, optimal};
use policy::{Crawl, Refresh};

use super::linear::Linear;
use super::{Options, Setting};
use crate::LabError;
use crate::findings::{Findings, Measured, Param, Params};
use crate::run::refresh::Lives;
use crate::run::upkeep::{Upheld, Upkeep, upkeep};
use crate::workers::{Progress, each};
use crate::world::World;
use crate::world::page_rates;

/// The world whose rates are known.
pub(super) const WORLD: &str = "invented:pages";

/// Policies of the lab's own: a bound and a temptation.
const OPTIMAL: &str = "optimal";
const LINEAR: &str = "linear";

/// Policies that are compared unless the user names some.
const POLICIES: [&str; 7] = [
    OPTIMAL,
    LINEAR,
    "uniform",
    "proportional",
    "freshness",
    "harmonic",
    "holistic",
];

/// Fetches a day, as shares of the pages, unless the user names some.
pub(super) const BUDGETS: [f64; 3] = [0.002, 0.01, 0.05];

/// Pages, unless the user wants others.
const PAGES: &str = "20000";

/// How often the budget could fetch every page, before and while it is measured.
const WARM_UP: f64 = 2.5;
const MEASURED: f64 = 1.0;

const DAY: f64 = 86_400.0;

/// A policy, whether it is told the rates, and fetches a step as a share of the pages.
type Piece = (String, bool, f64);

/// The policies that the user wants, or all.
///
/// # Errors
/// If the catalog does not know one.
pub(super) fn contestants(setting: &Setting, options: &Options) -> Result<Vec<String>, LabError> {
    let mut names = setting.policies.clone();
    if names.is_empty() {
        names = POLICIES.map(str::to_owned).to_vec();
    }
    names.extend(setting.against.clone());
    let mut seen = Vec::new();
    for name in names {
        if !seen.contains(&name) {
            seen.push(name);
        }
    }
    let wishes = Wishes {
        rate: options.rate.clone(),
        budget: Some(1.0),
        ..Wishes::default()
    };
    for name in seen.iter().filter(|name| *name != OPTIMAL) {
        refresh(name, &wishes)?;
    }
    Ok(seen)
}

/// How many runs there will be.
pub(super) fn pieces(names: &[String], budgets: &[f64]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for name in names.iter().filter(|name| *name != OPTIMAL) {
        for known in [true, false] {
            pieces.extend(budgets.iter().map(|&share| (name.clone(), known, share)));
        }
    }
    pieces
}

/// All numbers of a run.
pub(super) fn rows(
    setting: &Setting,
    options: &Options,
    names: &[String],
    budgets: &[f64],
    run: u64,
    progress: &dyn Progress,
) -> Result<Vec<Measured>, LabError> {
    let step = options.step().as_secs_f64() / DAY;
    let least = budgets.iter().copied().fold(1.0, f64::min) / step;
    let ground = Ground::of(setting, least, run)?;
    let per_day = |share: f64| share * ground.lives.pages() as f64 / step;
    let mut rows = Vec::new();
    let demands = ground.demands();
    let best = |share: f64| mean_freshness(&demands, &optimal(&demands, per_day(share)));
    if names.iter().any(|name| name == OPTIMAL) {
        for &share in budgets {
            rows.push(row(
                OPTIMAL,
                "weighted_freshness",
                true,
                per_day(share),
                best(share),
            ));
        }
    }
    let done = each(pieces(names, budgets), setting.threads, progress, |piece| {
        let upheld = ground.upheld(&piece.0, piece.1, per_day(piece.2), options);
        upheld.map(|upheld| (piece, upheld))
    });
    for one in done {
        let ((name, known, share), upheld) = one?;
        let Some(upheld) = upheld else { continue };
        let found = [
            ("weighted_freshness", upheld.freshness),
            ("of_optimum", upheld.freshness / best(share)),
            ("fetches_per_day", upheld.per_day),
        ];
        let of = |(metric, value)| row(&name, metric, known, per_day(share), value);
        rows.extend(found.map(of));
    }
    Ok(rows)
}

struct Ground {
    lives: Lives,
    /// Changes a day.
    rates: Vec<f64>,
    weights: Vec<f64>,
    scores: Arc<Scores>,
    by_url: Arc<Scores>,
}

impl Ground {
    /// A world that is watched for long enough for the least budget, in shares of the pages a day.
    fn of(setting: &Setting, least: f64, run: u64) -> Result<Self, LabError> {
        let mut setting = setting.clone();
        let span = ((WARM_UP + MEASURED) / least + 1.0).min(36_500.0);
        for (name, value) in [("pages", PAGES.to_owned()), ("span", span.to_string())] {
            if setting.knobs.iter().all(|(set, _)| set != name) {
                setting.knobs.push((name.to_owned(), value));
            }
        }
        let World::Histories(histories) = setting.open(run)? else {
            let why = format!("{WORLD} has no histories");
            return Err(LabError::Wish(why));
        };
        let rates = page_rates(&setting.knobs, setting.seed_of(run))?;
        let weights: Vec<f64> = (1..=rates.len()).map(|n| 1.0 / n as f64).collect();
        let (mut scores, mut by_url) = (Scores::default(), Scores::default());
        for (page, url) in histories.urls().iter().enumerate() {
            scores.insert(url.as_str(), weights[page]);
            by_url.insert(url.as_str(), rates[page]);
        }
        Ok(Self {
            lives: Lives::of_histories(&histories)?,
            rates,
            weights,
            scores: Arc::new(scores),
            by_url: Arc::new(by_url),
        })
    }

    fn demands(&self) -> Vec<Demand> {
        let pages = self.rates.iter().zip(&self.weights);
        pages
            .map(|(&rate, &weight)| Demand { rate, weight })
            .collect()
    }

    /// Keeps the pages by a policy; `None`: there is nothing to fetch with.
    fn upheld(
        &self,
        name: &str,
        known: bool,
        per_day: f64,
        options: &Options,
    ) -> Result<Option<Upheld>, LabError> {
        let Some((from, last)) = self.lives.span() else {
            return Ok(None);
        };
        let round = self.lives.pages() as f64 / per_day;
        let days = |days: f64| Duration::try_from_secs_f64(days * DAY).unwrap_or(Duration::MAX);
        let until = last.min(from + days(round * (WARM_UP + MEASURED)));
        let whole = until.since(from).as_secs_f64() / DAY;
        let wishes = Wishes {
            rate: known
                .then(|| "given".to_owned())
                .or_else(|| options.rate.clone()),
            rates: known.then(|| Arc::clone(&self.by_url)),
            budget: Some(per_day / DAY),
            ..Wishes::default()
        };
        let crawl = Crawl {
            order: Box::new(Given::new(Arc::clone(&self.scores))),
            refresh: Some(refresh(name, &wishes)?),
            ..Crawl::default()
        };
        let plan = Upkeep {
            lives: &self.lives,
            rates: &self.rates,
            weights: &self.weights,
            per_day,
            from,
            measured: from + days(whole * WARM_UP / (WARM_UP + MEASURED)),
            until,
        };
        Ok(upkeep(&plan, crawl))
    }
}

fn refresh(name: &str, wishes: &Wishes) -> Result<Box<dyn Refresh>, LabError> {
    let catalog = Catalog::standard();
    let wrong = |why: policy::CatalogError| LabError::Wish(why.to_string());
    match name {
        LINEAR => Ok(Box::new(Linear(catalog.rates(wishes).map_err(wrong)?))),
        name => catalog.refresh(name, wishes).map_err(wrong),
    }
}

fn row(policy: &str, metric: &str, known: bool, x: f64, value: f64) -> Measured {
    let rates = if known { "known" } else { "learned" };
    Measured {
        policy: policy.into(),
        params: Params::from([("rates".to_owned(), Param::from(rates))]),
        metric: metric.into(),
        x,
        value,
    }
}

/// What a reader must know.
pub(super) fn notes() -> Vec<String> {
    vec![
        format!("The frontier fetches under a budget and finds its own price. All pages are heard of at the beginning; after {WARM_UP} times as many fetches as there are pages it is measured, for {MEASURED} times as many."),
        "Freshness is the expected one, given when pages were visited and how often they truly change. Page n is 1/(n+1) as important as the first, and every policy knows importance; under rates known it is told the true rates too, which is a bound, under rates learned it sees its own visits. optimal is the allocation of visits that no policy beats on average, if copies could be refreshed evenly; linear is worth importance × rate × age, in the lab only.".into(),
    ]
}

/// What was found of a policy, by rising budget.
pub(super) fn found(
    findings: &Findings,
    policy: &str,
    metric: &str,
    rates: &str,
) -> Vec<(f64, f64)> {
    let rows = findings.rows.iter().filter(|row| {
        row.policy == policy
            && row.metric == metric
            && row.params.get("rates") == Some(&rates.into())
    });
    rows.map(|row| (row.x, row.value)).collect()
}
