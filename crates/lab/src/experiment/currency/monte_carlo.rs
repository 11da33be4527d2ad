//! Monte Carlo estimates of freshness, age and currency, without formulas or a crawler.
//!
//! A page is visited at time 0 and again after the interval. It is observed at a random time in
//! between.
//!
//! **Invariant:** the draws of a page do not depend on the number of pages.

use rand::RngExt;
use rand_distr::{Distribution, Exp1};
use testweb::chance::{For, stream};

use super::{CurrencyQuestion, currency_at, number};
use crate::findings::Measured;

/// Sums for a sample mean and its standard error.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct SampleMean {
    count: f64,
    sum: f64,
    squares: f64,
}

impl SampleMean {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        self.sum += value;
        self.squares += value * value;
    }

    pub fn mean(&self) -> f64 {
        self.sum / self.count
    }

    /// Returns the standard error of the mean.
    pub fn error(&self) -> f64 {
        let variance = self.squares / self.count - self.mean().powi(2);
        (variance.max(0.0) / self.count).sqrt()
    }
}

/// Estimates at one revisit interval.
pub(super) struct IntervalEstimates {
    pub freshness: SampleMean,
    pub age: SampleMean,
    /// One per grace period.
    pub currency: Vec<SampleMean>,
}

pub(super) fn rows(question: &CurrencyQuestion, interval: f64, seed: u64) -> Vec<Measured> {
    let seen = look(question, interval, seed);
    let row =
        |metric: String, drawn: SampleMean| number("monte-carlo", metric, interval, drawn.mean());
    let mut rows = vec![
        row("freshness".into(), seen.freshness),
        row("age".into(), seen.age),
    ];
    for (&grace, drawn) in question.graces.iter().zip(seen.currency) {
        rows.push(row(currency_at(grace), drawn));
    }
    rows
}

/// Draws pages and observes each once, at a random time within the interval.
pub(super) fn look(question: &CurrencyQuestion, interval: f64, seed: u64) -> IntervalEstimates {
    let mut seen = IntervalEstimates {
        freshness: SampleMean::default(),
        age: SampleMean::default(),
        currency: vec![SampleMean::default(); question.graces.len()],
    };
    for page in 0..u64::from(question.draws) {
        let mut chance = stream(seed, For::Looks, page, interval.to_bits());
        let lifetime = question.lifetimes.quantile(chance.random());
        let until_change: f64 = Exp1.sample(&mut chance);
        let changed = lifetime * until_change;
        let now = interval * chance.random::<f64>();
        seen.freshness.add(share(changed > now));
        seen.age.add((now - changed).max(0.0));
        for (grace, drawn) in question.graces.iter().zip(&mut seen.currency) {
            drawn.add(share(changed > now - grace));
        }
    }
    seen
}

fn share(is: bool) -> f64 {
    f64::from(u8::from(is))
}
