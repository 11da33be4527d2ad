//! The parameters of predicted gains that all pages share, fitted to samples of pages.
//!
//! A change of a page is predicted to gain `κ·v·d`, with the demand v for the page and the share d
//! of its text that the change replaces; s is the weight of this prediction (`gains.rs`).
//!
//! **Invariant:** κ, the prior demand and s are never negative and never NaN. Without evidence
//! the demand for a page is its importance, and gains are in the unit of importance.

use crate::Number;
use crate::estimate::{Demand, PageSample};
use crate::history::Measured;

/// Exponents that are tried for importance: no effect, a weak one, proportional.
const EXPONENTS: [f64; 3] = [0.0, 0.5, 1.0];
/// Residuals above this quantile count as this quantile (winsorising): the variance of a
/// heavy-tailed sample is otherwise that of its largest value.
const WINSOR: f64 = 0.98;
/// Degrees of freedom from which on the variances are used: measured changes beyond the first of
/// each page.
const ENOUGH: f64 = 20.0;
/// The smallest demand. A page without views and without importance must not have worth 0.
const LEAST: f64 = 1e-6;

/// The measured gains of a sampled page.
#[derive(Debug, Clone, Copy)]
pub struct SampledGains {
    pub measured: Measured,
    pub importance: f64,
    /// Share of the text that a change replaces.
    pub share: f64,
}

/// The copy of a sampled page.
#[derive(Debug, Clone, Copy)]
pub struct SampledCopy {
    pub importance: f64,
    pub first_gain: Option<f64>,
}

/// The demand that importance predicts: `importance^θ`, divided by its mean over pages.
#[derive(Debug, Clone, Copy)]
pub struct Prior {
    exponent: f64,
    mean: f64,
}

/// Predicts the gain of a change as `κ·v·d` (demand v, replaced share d), and says how much that
/// prediction counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GainModel {
    /// κ: the gain when the whole text of a page of mean demand is replaced.
    kappa: f64,
    /// μ: the mean of `√(ΔQ/predicted)`. It is below 1, because a few large gains hold most of
    /// the sum that κ comes from.
    pub mean_root: f64,
    /// s: the weight of the prediction against measured gains, as a pseudo-count of changes.
    /// Infinite if measured gains say nothing.
    pub strength: f64,
    /// Like κ, for pages that have no copy yet.
    first: f64,
}

impl Default for Prior {
    fn default() -> Self {
        Self {
            exponent: 1.0,
            mean: 1.0,
        }
    }
}

impl Default for GainModel {
    fn default() -> Self {
        Self {
            kappa: 1.0,
            mean_root: 1.0,
            strength: f64::INFINITY,
            first: 1.0,
        }
    }
}

impl Prior {
    /// Fits the exponent to the views of the sampled pages; 1 before any search.
    pub fn fit(copies: &PageSample<SampledCopy>, demand: &Demand) -> Self {
        let views = |page| demand.relative_views(page).unwrap_or_default();
        let rows = |exponent: f64| {
            let row = move |(page, copy): (Number, &SampledCopy)| Observation {
                weight: 1.0,
                value: views(page),
                predictor: power(copy.importance, exponent),
            };
            copies.iter().map(row)
        };
        let exponent = best_exponent(rows).unwrap_or(1.0);
        let powers = copies
            .iter()
            .map(|(_, copy)| power(copy.importance, exponent));
        let mean = powers.sum::<f64>() / copies.iter().count().max(1) as f64;
        Self {
            exponent,
            mean: if mean > 0.0 { mean } else { 1.0 },
        }
    }

    /// Returns the demand for a page of this importance.
    pub fn demand(&self, importance: f64) -> f64 {
        power(importance, self.exponent) / self.mean
    }
}

impl GainModel {
    /// Fits κ, μ and s to samples.
    pub fn fit(
        changed: &PageSample<SampledGains>,
        copies: &PageSample<SampledCopy>,
        prior: &Prior,
        demand: &Demand,
    ) -> Self {
        let rows = changed.iter().map(|(page, gains)| {
            let wanted = demand.of(page, prior.demand(gains.importance));
            Observation {
                weight: f64::from(gains.measured.changes),
                value: f64::from(gains.measured.gain).max(0.0),
                predictor: wanted.max(LEAST) * gains.share,
            }
        });
        let kappa = ratio(rows.clone());
        if kappa <= 0.0 {
            // Before any gain was measured, gains are in the unit of importance, unless importance
            // does not predict views: then they are in the unit of the mean page.
            let kappa = match prior.exponent {
                1.0 => prior.mean,
                _ => 1.0,
            };
            return Self {
                kappa,
                first: kappa,
                ..Self::default()
            };
        }
        let ratios = rows.zip(changed.iter()).map(|(row, (_, gains))| {
            let predicted = kappa * row.predictor;
            RootSums {
                changes: row.weight,
                sum: f64::from(gains.measured.roots) / predicted.sqrt(),
                squares: row.value / predicted,
            }
        });
        let (mean_root, strength) = strength(&ratios.collect::<Vec<_>>());
        let first = copies.iter().filter_map(|(_, copy)| {
            Some(Observation {
                weight: 1.0,
                value: copy.first_gain?.max(0.0),
                predictor: prior.demand(copy.importance).max(LEAST),
            })
        });
        let first = ratio(first);
        Self {
            kappa,
            mean_root,
            strength,
            // A missing copy is as bad as one that is completely outdated.
            first: if first > 0.0 { first } else { kappa },
        }
    }

    /// Returns what searchers lose per second while the copy of a page with this demand is
    /// completely outdated.
    pub fn complete(&self, demand: f64) -> f64 {
        self.kappa * demand.max(LEAST)
    }

    /// Returns what searchers lose per second while a page with this demand has no copy.
    pub fn missing(&self, demand: f64) -> f64 {
        self.first * demand.max(LEAST)
    }
}

/// A sum of values of a page, with its number of values and its predictor.
#[derive(Debug, Clone, Copy)]
struct Observation {
    weight: f64,
    value: f64,
    predictor: f64,
}

/// Returns `Σ value / Σ weight·predictor`, the quasi-likelihood estimate of the factor; 0 without
/// values.
fn ratio(rows: impl Iterator<Item = Observation>) -> f64 {
    let (values, predictors) = rows.fold((0.0, 0.0), |(values, predictors), row| {
        (values + row.value, predictors + row.weight * row.predictor)
    });
    if predictors > 0.0 {
        values / predictors
    } else {
        0.0
    }
}

/// Returns the exponent whose predictors fit best, by Poisson quasi-likelihood; `None` without
/// values.
///
/// The quasi-likelihood asks for the mean only, not for a distribution (McCullagh & Nelder,
/// "Generalized linear models", 1989, chapter 9). With the factor at its estimate it is
/// `Σ value·ln(predictor) − Σ value·ln(Σ weight·predictor)`. All exponents have one free factor,
/// so the comparison is fair. On a tie the larger exponent wins.
fn best_exponent<R: Iterator<Item = Observation>>(rows: impl Fn(f64) -> R) -> Option<f64> {
    let fit = |exponent: f64| {
        let (mut logs, mut values, mut predictors) = (0.0, 0.0, 0.0);
        for row in rows(exponent) {
            logs += row.value * row.predictor.ln();
            values += row.value;
            predictors += row.weight * row.predictor;
        }
        (values > 0.0).then(|| logs - values * predictors.ln())
    };
    let fits = EXPONENTS.map(|exponent| fit(exponent).map(|fit| (fit, exponent)));
    let fits = fits.into_iter().flatten();
    let best = fits.max_by(|one, other| one.0.total_cmp(&other.0));
    best.map(|(_, exponent)| exponent)
}

/// Sums of `√(ΔQ/predicted)` over the measured changes of a page.
struct RootSums {
    changes: f64,
    sum: f64,
    /// Sum of the squares.
    squares: f64,
}

/// Returns the mean of `√(ΔQ/predicted)` and s = σ²/τ², from its variance within pages and
/// between pages.
///
/// One-way random-effects model (Searle, Casella & McCulloch, "Variance components", 1992): the
/// best linear predictor of a page's next value gives the mean of all pages the weight of σ²/τ²
/// changes. Both variances are winsorised at [`WINSOR`]. s is infinite if pages do not differ
/// more than by chance.
fn strength(pages: &[RootSums]) -> (f64, f64) {
    let sum = |of: &dyn Fn(&RootSums) -> f64| pages.iter().map(of).sum::<f64>();
    let changes = sum(&|page| page.changes);
    let mean = sum(&|page| page.sum) / changes;
    let freedom = changes - pages.len() as f64;
    if freedom < ENOUGH || mean <= 0.0 {
        return (1.0, f64::INFINITY);
    }
    let within = pages.iter().map(|page| {
        let freedom = page.changes - 1.0;
        let apart = page.squares - page.sum * page.sum / page.changes;
        (apart.max(0.0) / freedom.max(1.0), freedom)
    });
    let within = winsorised(within.collect()) / freedom;
    let between = pages.iter().map(|page| {
        let apart = page.sum / page.changes - mean;
        (apart * apart, page.changes)
    });
    let between = winsorised(between.collect());
    let squares = sum(&|page| page.changes * page.changes);
    let apart = (between - (pages.len() as f64 - 1.0) * within) / (changes - squares / changes);
    let strength = if apart > 0.0 {
        within / apart
    } else {
        f64::INFINITY
    };
    (mean, strength)
}

/// Returns the weighted sum of values, after those above the quantile [`WINSOR`] were cut to it.
fn winsorised(mut rows: Vec<(f64, f64)>) -> f64 {
    rows.sort_by(|one, other| one.0.total_cmp(&other.0));
    let last = rows.len().saturating_sub(1) as f64;
    let most = rows
        .get((last * WINSOR) as usize)
        .map_or(0.0, |(value, _)| *value);
    rows.iter()
        .map(|(value, weight)| value.min(most) * weight)
        .sum()
}

/// Returns a power of an importance; the exponents are 0, ½ and 1.
fn power(importance: f64, exponent: f64) -> f64 {
    let importance = importance.max(LEAST);
    match exponent {
        0.0 => 1.0,
        1.0 => importance,
        0.5 => importance.sqrt(),
        _ => importance.powf(exponent),
    }
}
