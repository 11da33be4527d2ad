//! Comparison of the published numbers on recency with the closed forms.

use policy::plan::{Weibull, age, allocation, currency, freshness, growth};

use super::formulas::{ALLOCATIONS, EXAMPLE, EXAMPLE_BUDGET, GROWTH, demands};
use super::monte_carlo::look;
use super::{CurrencyExperimentOptions, CurrencyQuestion};
use crate::experiment::PublishedClaim;

/// Tolerance in standard errors. Chance exceeds it in one of 16,000 comparisons; claim BK5 makes
/// at most 25.
const ERRORS: f64 = 4.0;

/// Pages drawn to check the closed forms, independent of the user's options.
pub(super) const DRAWS: u32 = 20_000;

/// Checks all claims at the published parameters, with `draws` random pages.
pub(super) fn all(draws: u32, seed: u64) -> Vec<PublishedClaim> {
    let mut claims = Vec::new();
    claims.extend(bk1());
    claims.extend(bk2());
    claims.extend(bk3());
    claims.extend(bk4());
    claims.extend(bk5_closed_forms(draws, seed));
    claims.push(bk5_example());
    claims
}

fn bk1() -> Option<PublishedClaim> {
    let lifetimes = Weibull::new(1.4, 152.2)?;
    let interval = currency::interval_for(&lifetimes, 0.95, 7.0)?;
    let at_18 = currency::of_collection(&lifetimes, 18.0, 7.0);
    Some(PublishedClaim {
        id: "BK1",
        says: "To keep 95 % of the web of 1999 current, with a grace period of a week, visit each page about every 18 days.".into(),
        published: "about 18 days".into(),
        found: format!("{interval:.2} days; at 18 days {at_18:.4}"),
        holds: interval.round() == 18.0,
    })
}

fn bk2() -> Option<PublishedClaim> {
    let lifetimes = Weibull::new(1.0, 100.0)?;
    let interval = currency::interval_for(&lifetimes, 0.8, 7.0)?;
    let fetches = currency::documents_per_second(2e9, interval);
    let megabits = currency::megabits_per_second(fetches, 10.0);
    let found = format!("{interval:.2} days, {fetches:.0} documents/s, {megabits:.1} Mbit/s");
    let published = "32.78 days, 706 documents/s, 56.5 Mbit/s";
    Some(PublishedClaim {
        id: "BK2",
        says: "Exercise 6.6 of Baldi, Frasconi & Smyth (2003): 2 billion documents of 10 kilobytes, mean lifetimes of 100 days, 80 % current with a grace period of a week. (The book prints no solution; this one is from docs/science/theory.md.)".into(),
        holds: found == published,
        published: published.into(),
        found,
    })
}

fn bk3() -> Option<PublishedClaim> {
    let lifetimes = Weibull::new(1.4, 152.2)?;
    let (mean, mode, median) = (lifetimes.mean(), lifetimes.mode(), lifetimes.median());
    let found = format!("{mean:.1}, {mode:.1} and {median:.1} days");
    let published = "138.7, 62.2 and 117.1 days";
    Some(PublishedClaim {
        id: "BK3",
        says: "Exercise 6.4 of Baldi, Frasconi & Smyth (2003): mean, mode and median of mean lifetimes, Weibull(1.4, 152.2 days). (The book prints no solution; this one is from docs/science/theory.md.)".into(),
        holds: found == published,
        published: published.into(),
        found,
    })
}

fn bk4() -> [PublishedClaim; 2] {
    let fitted = growth::doubling_time(GROWTH);
    let rate = growth::rate_between(320e6, 800e6, 426.0);
    let counted = growth::doubling_time(rate);
    [
        PublishedClaim {
            id: "BK4",
            says: "A web that grows by .00176 a day doubles in about 394 days.".into(),
            published: "394 days".into(),
            found: format!("{fitted:.0} days"),
            holds: fitted.round() == 394.0,
        },
        PublishedClaim {
            id: "BK4",
            says: "From 320 million pages to 800 million in 426 days is a growth of .022 a day, and doubling in 315 days.".into(),
            published: ".022 a day, 315 days".into(),
            found: format!("{rate:.5} a day, {counted:.0} days"),
            holds: (rate - 0.022).abs() < 5e-4 && counted.round() == 315.0,
        },
    ]
}

fn bk5_closed_forms(draws: u32, seed: u64) -> Option<PublishedClaim> {
    let options = CurrencyExperimentOptions {
        interval_days: vec![1.0, 7.0, 18.49, 60.0, 365.0],
        draws,
        ..CurrencyExperimentOptions::default()
    };
    let question = CurrencyQuestion::of(&options).ok()?;
    let mut errors: Vec<f64> = Vec::new();
    for &interval in &question.intervals {
        let seen = look(&question, interval, seed);
        let mut compare = |drawn: super::monte_carlo::SampleMean, expected: f64| {
            if drawn.error() > 0.0 {
                errors.push((drawn.mean() - expected).abs() / drawn.error());
            }
        };
        let lifetimes = &question.lifetimes;
        compare(
            seen.freshness,
            freshness::of_collection(lifetimes, interval),
        );
        compare(seen.age, age::of_collection(lifetimes, interval));
        for (&grace, &drawn) in question.graces.iter().zip(&seen.currency).skip(1) {
            compare(drawn, currency::of_collection(lifetimes, interval, grace));
        }
    }
    let most = errors.iter().copied().fold(0.0, f64::max);
    Some(PublishedClaim {
        id: "BK5",
        says: format!(
            "The closed forms of freshness, age and currency agree with the means over {draws} drawn pages, at intervals from a day to a year."
        ),
        published: format!("no difference beyond {ERRORS} standard errors"),
        found: format!(
            "at most {most:.1} standard errors in {} comparisons",
            errors.len()
        ),
        holds: !errors.is_empty() && most < ERRORS,
    })
}

fn bk5_example() -> PublishedClaim {
    let pages = demands();
    let plans = ALLOCATIONS.map(|(_, allocate)| allocate(&pages, EXAMPLE_BUDGET));
    let fresh = plans.each_ref().map(|plan| {
        let fresh = allocation::mean_freshness(&pages, plan);
        format!("{fresh:.4}").trim_start_matches('0').to_owned()
    });
    let visits: Vec<String> = plans[0].iter().map(|often| format!("{often:.3}")).collect();
    let found = format!("{}; visits {}", fresh.join(" / "), visits.join(", "));
    let published = ".3739 / .3651 / .3167; visits 1.150, 1.358, 1.354, 1.138, 0.000";
    PublishedClaim {
        id: "BK5",
        says: format!(
            "Pages that change {} to {} times a day, {EXAMPLE_BUDGET} visits a day: freshness of the optimal, the uniform and the proportional allocation.",
            EXAMPLE[0], EXAMPLE[4]
        ),
        holds: found == published,
        published: published.into(),
        found,
    }
}
