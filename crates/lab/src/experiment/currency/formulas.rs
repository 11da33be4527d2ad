//! Numbers that need no random draws: freshness, age and currency in closed form, properties of
//! the lifetimes, growth of the web, and the allocation example.

use policy::plan::allocation::{self, Demand};
use policy::plan::{Weibull, age, aliasing, currency, freshness, growth};

use super::{CurrencyQuestion, currency_at, number};
use crate::findings::Measured;

const CLOSED: &str = "closed-form";

/// Growth rate of the web per day, as fitted by Brewington & Cybenko.
pub(super) const GROWTH: f64 = 0.00176;

/// Cho & Garcia-Molina's example: the changes per day of five pages.
pub(super) const EXAMPLE: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];
/// Visits per day in that example.
pub(super) const EXAMPLE_BUDGET: f64 = 5.0;
/// Budgets that the example is tried with, in visits per day.
const BUDGETS: [f64; 9] = [0.5, 1.0, 2.0, 3.5, 5.0, 7.5, 10.0, 15.0, 20.0];

/// Distributes a budget of visits per day over pages, and returns the visits per day of each.
type Allocate = fn(&[Demand], f64) -> Vec<f64>;

pub(super) const ALLOCATIONS: [(&str, Allocate); 3] = [
    ("optimal", allocation::optimal),
    ("uniform", allocation::uniform),
    ("proportional", allocation::proportional),
];

/// Returns all numbers that need no random draws.
pub(super) fn rows(question: &CurrencyQuestion) -> Vec<Measured> {
    let mut rows = Vec::new();
    for &interval in &question.intervals {
        rows.extend(recency(
            CLOSED,
            &question.lifetimes,
            &question.graces,
            interval,
        ));
    }
    let fetches = currency::documents_per_second(question.documents, question.needed);
    let megabits = currency::megabits_per_second(fetches, question.kilobytes);
    for (metric, value) in [
        ("interval", question.needed),
        ("documents_per_second", fetches),
        ("megabits_per_second", megabits),
    ] {
        let row = number(CLOSED, metric, question.alpha, value);
        rows.push(row.with("beta_days", question.beta));
    }
    let lifetimes = &question.lifetimes;
    for (metric, value) in [
        ("lifetime_mean", lifetimes.mean()),
        ("lifetime_mode", lifetimes.mode()),
        ("lifetime_median", lifetimes.median()),
    ] {
        rows.push(number(CLOSED, metric, lifetimes.shape(), value));
    }
    let doubling = growth::doubling_time(GROWTH);
    rows.push(number(CLOSED, "doubling_days", GROWTH, doubling));
    rows.extend(example());
    rows
}

/// Returns freshness, age and currency of a collection in closed form. `graces` and `interval`
/// are in days.
pub(super) fn recency(
    policy: &str,
    lifetimes: &Weibull,
    graces: &[f64],
    interval: f64,
) -> Vec<Measured> {
    let mut rows = vec![
        number(
            policy,
            "freshness",
            interval,
            freshness::of_collection(lifetimes, interval),
        ),
        number(
            policy,
            "age",
            interval,
            age::of_collection(lifetimes, interval),
        ),
    ];
    let missed = aliasing::missed_of_collection(lifetimes, interval);
    rows.extend(missed.map(|missed| number(policy, "missed_changes", interval, missed)));
    for &grace in graces {
        let current = currency::of_collection(lifetimes, interval, grace);
        rows.push(number(policy, currency_at(grace), interval, current));
    }
    rows
}

/// Returns the numbers of Cho & Garcia-Molina's example with every allocation.
fn example() -> Vec<Measured> {
    let pages = demands();
    let mut rows = Vec::new();
    for (name, allocate) in ALLOCATIONS {
        for budget in BUDGETS {
            let fresh = allocation::mean_freshness(&pages, &allocate(&pages, budget));
            rows.push(number(name, "freshness", budget, fresh).with("example", "allocation"));
        }
        let frequencies = allocate(&pages, EXAMPLE_BUDGET);
        for (rate, frequency) in EXAMPLE.into_iter().zip(frequencies) {
            rows.push(number(name, "frequency", rate, frequency).with("example", "allocation"));
        }
    }
    rows
}

pub(super) fn demands() -> Vec<Demand> {
    let page = |rate| Demand { rate, weight: 1.0 };
    EXAMPLE.map(page).to_vec()
}
