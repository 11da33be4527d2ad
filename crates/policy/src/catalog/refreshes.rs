//! The catalog entries for refresh policies and estimators.

use std::sync::Arc;
use std::time::Duration;

use super::argument::{Allowed, numbers};
use super::expression::REFRESH;
use super::{CatalogError, PolicyArgument, RateName, RefreshName, Upkeep, Wish};
use crate::moment::DAY;
use crate::published::refresh::{
    Adaptive, Age, Freshness, Horizon, Objective, Proportional, SiteSampling, Slotted, UserCentric,
    WindowMean,
};
use crate::refresh::{ByRate, Currency, Harmonic, Holistic, Refresh, Uniform, UserCentricMarginal};
use crate::{Curve, Estimator, Rates, Threshold};

type Built = Result<Box<dyn Refresh>, CatalogError>;

const HOLISTIC: PolicyArgument = PolicyArgument::optional(
    "DAYS",
    "the half-life of measured gains in days, above zero: holistic(90)",
    "90",
);
const CURRENCY: PolicyArgument = PolicyArgument::optional(
    "[ALPHA,] DAYS",
    "days, or a goal below 1 and days: currency(0.95, 7)",
    "0.95, 7",
);
const UNIFORM: PolicyArgument =
    PolicyArgument::optional("DAYS", "a number of days above zero: uniform(7)", "7");
const SITE_SAMPLING: PolicyArgument = PolicyArgument::optional(
    "N, DAYS",
    "the pages of a site that are sampled, 1 to 1000 (5), and the days of a round, at least a second (7): \
     site-sampling(3, 1)",
    "3, 1",
);
const SBR: PolicyArgument = PolicyArgument::optional(
    "TAU",
    "a share of the text in tenths, 0 to 1: sbr(0.3)",
    "0.3",
);
const EBR: PolicyArgument = PolicyArgument::optional(
    "TAU",
    "a share of the text in tenths, 0 to 1: ebr(0.3)",
    "0.3",
);
const USER_CENTRIC: PolicyArgument = PolicyArgument::optional(
    "printed",
    "`printed`, for the mean of ratios, or nothing: user-centric(printed)",
    "printed",
);

/// The refresh policies: the default first, the published baselines last.
pub const REFRESHES: &[RefreshName] = &[
    RefreshName {
        name: "holistic",
        argument: Some(HOLISTIC),
        summary: "least outdated text shown to searchers, by demand (ours)",
        scale: "(A∞/λd)·g(λdτ)",
        wish: None,
        published: false,
        build: |rate, _, argument| {
            let days = numbers(argument, [f64::INFINITY], [|days| days > 0.0]);
            let [days] = days.ok_or_else(|| HOLISTIC.wrong(REFRESH, "holistic"))?;
            boxed(Holistic::new(Rates::new(rate, Threshold::ANY), days * DAY))
        },
    },
    RefreshName {
        name: "user-centric-marginal",
        argument: None,
        summary: "most gain, judged by past gains of page and host (ours)",
        scale: "(A/λ)·g(λτ)",
        wish: None,
        published: false,
        build: |rate, _, _| boxed(UserCentricMarginal::new(Rates::new(rate, Threshold::ANY))),
    },
    RefreshName {
        name: "harmonic",
        argument: None,
        summary: "fewest missed changes (LambdaCrawl)",
        scale: "w(τ − (1 − e^−λτ)/λ)",
        wish: None,
        published: false,
        build: |rate, _, _| by_rate(rate, Harmonic::new),
    },
    RefreshName {
        name: "currency",
        argument: Some(CURRENCY),
        summary: "a share ALPHA of copies outdated for at most DAYS (7)",
        scale: "w[β(1 − e^−λs) + g(λs)/λ], s = τ − β",
        wish: None,
        published: false,
        build: |rate, _, argument| {
            let wrong = || CURRENCY.wrong(REFRESH, "currency");
            let any: Allowed = |_| true;
            let two = argument.is_some_and(|argument| argument.contains(','));
            let (goal, days) = if two {
                let both = numbers(argument, [f64::NAN; 2], [any; 2]);
                let [goal, days] = both.ok_or_else(wrong)?;
                (Some(goal), days)
            } else {
                let [days] = numbers(argument, [7.0], [any]).ok_or_else(wrong)?;
                (None, days)
            };
            let currency = Currency::new(days * DAY, goal).ok_or_else(wrong)?;
            by_rate(rate, move |rate, importance| {
                currency.curve(rate, importance)
            })
        },
    },
    RefreshName {
        name: "uniform",
        argument: Some(UNIFORM),
        summary: "every page equally often",
        scale: "age in days, or age / DAYS",
        wish: None,
        published: false,
        build: |_, _, argument| {
            let wrong = || UNIFORM.wrong(REFRESH, "uniform");
            let [days] = numbers(argument, [1.0], [|days| days > 0.0]).ok_or_else(wrong)?;
            let every = Duration::try_from_secs_f64(days * DAY).ok();
            let every = every.filter(|every| !every.is_zero());
            boxed(Uniform::every(every.ok_or_else(wrong)?))
        },
    },
    RefreshName {
        name: "proportional",
        argument: None,
        summary: "pages as often as they change",
        scale: "expected changes",
        wish: None,
        published: true,
        build: |rate, _, _| by_rate(rate, Proportional::new),
    },
    RefreshName {
        name: "adaptive",
        argument: None,
        summary: "intervals × 1.4 if unchanged, × 0.8 if changed (Nutch)",
        scale: "age / interval",
        wish: None,
        published: true,
        build: |_, _, _| boxed(Adaptive),
    },
    RefreshName {
        name: "site-sampling",
        argument: Some(SITE_SAMPLING),
        summary: "samples of sites, then sites that changed (Cho & Ntoulas)",
        scale: "1 + τ/T for a sample, else ρ(1 − 2^(−τ/T))",
        wish: None,
        published: true,
        build: |_, _, argument| {
            let wrong = || SITE_SAMPLING.wrong(REFRESH, "site-sampling");
            let allowed: [Allowed; 2] = [
                |samples| (1.0..=1_000.0).contains(&samples) && samples.fract() == 0.0,
                |days| days > 0.0,
            ];
            let defaults = [f64::from(SiteSampling::SAMPLES), SiteSampling::DAYS];
            let [samples, days] = numbers(argument, defaults, allowed).ok_or_else(wrong)?;
            let round = Duration::try_from_secs_f64(days * DAY).ok();
            let round = round.filter(|round| *round >= Duration::from_secs(1));
            let round = round.ok_or_else(wrong)?;
            boxed(SiteSampling::new(samples as usize, round))
        },
    },
    RefreshName {
        name: "freshness",
        argument: None,
        summary: "most copies equal to their pages (Cho & Garcia-Molina)",
        scale: "(w/λ)·g(λτ)",
        wish: None,
        published: true,
        build: |rate, _, _| boxed(Freshness::new(Rates::new(rate, Threshold::ANY))),
    },
    RefreshName {
        name: "age",
        argument: None,
        summary: "least time since copies became outdated",
        scale: "w(τ²/2 − g(λτ)/λ²)",
        wish: None,
        published: true,
        build: |rate, _, _| by_rate(rate, Age::new),
    },
    RefreshName {
        name: "sbr",
        argument: Some(SBR),
        summary: "fewest outdated copies, by a plan (Cho & Garcia-Molina)",
        scale: "0 or the maximum",
        wish: Some(Wish::Budget),
        published: true,
        build: |rate, upkeep, argument| {
            let wrong = || SBR.wrong(REFRESH, "sbr");
            slotted(Objective::Staleness, (rate, upkeep, argument), wrong)
        },
    },
    RefreshName {
        name: "ebr",
        argument: Some(EBR),
        summary: "fewest searches misled by a copy, by a plan (Wolf et al.)",
        scale: "0 or the maximum",
        wish: Some(Wish::Budget),
        published: true,
        build: |rate, upkeep, argument| {
            let wrong = || EBR.wrong(REFRESH, "ebr");
            slotted(Objective::Embarrassment, (rate, upkeep, argument), wrong)
        },
    },
    RefreshName {
        name: "user-centric",
        argument: Some(USER_CENTRIC),
        summary: "pages whose refreshes gained most (Pandey & Olston)",
        scale: "δQ·τ",
        wish: None,
        published: true,
        build: |_, _, argument| match argument {
            None => boxed(UserCentric::new(WindowMean::Robust)),
            Some("printed") => boxed(UserCentric::new(WindowMean::Printed)),
            Some(_) => Err(USER_CENTRIC.wrong(REFRESH, "user-centric")),
        },
    },
];

/// The estimators of change rates: the default first, the published baselines last.
pub const ESTIMATORS: &[RateName] = &[
    RateName {
        name: "gamma",
        summary: "maximum a posteriori, prior from the pages of the host (default)",
        wish: None,
        published: false,
        build: |_| Estimator::Gamma,
    },
    RateName {
        name: "given",
        summary: "by URL, from a file, in changes per day",
        wish: Some(Wish::Rates),
        published: false,
        build: |upkeep| Estimator::Given(upkeep.rates.as_ref().map(Arc::clone).unwrap_or_default()),
    },
    RateName {
        name: "naive",
        summary: "observed changes per observed time",
        wish: None,
        published: true,
        build: |_| Estimator::Naive,
    },
    RateName {
        name: "bias-corrected",
        summary: "Cho & Garcia-Molina, for regular gaps",
        wish: None,
        published: true,
        build: |_| Estimator::BiasCorrected,
    },
    RateName {
        name: "mle",
        summary: "maximum likelihood, for gaps of any length",
        wish: None,
        published: true,
        build: |_| Estimator::Mle,
    },
    RateName {
        name: "site",
        summary: "one rate for all pages of a host",
        wish: None,
        published: true,
        build: |_| Estimator::Site,
    },
    RateName {
        name: "buckets",
        summary: "one of twelve rates (WebFountain)",
        wish: None,
        published: true,
        build: |_| Estimator::Buckets,
    },
];

fn boxed(refresh: impl Refresh + 'static) -> Built {
    Ok(Box::new(refresh))
}

fn by_rate<C: Curve + 'static>(
    rate: Estimator,
    shape: impl Fn(f64, f64) -> C + Send + 'static,
) -> Built {
    boxed(ByRate::new(Rates::new(rate, Threshold::ANY), shape))
}

fn slotted(
    objective: Objective,
    (rate, upkeep, argument): (Estimator, &Upkeep, Option<&str>),
    wrong: impl Fn() -> CatalogError,
) -> Built {
    let [share] = numbers(argument, [0.1], [|_| true]).ok_or_else(&wrong)?;
    let threshold = Threshold::new(share).ok_or_else(wrong)?;
    let horizon = Horizon {
        // The catalog has checked that there is a budget.
        budget: upkeep.budget.unwrap_or(0.0),
        step: upkeep.step,
        slots: upkeep.slots,
        since: upkeep.since,
    };
    boxed(Slotted::new(objective, threshold, rate, horizon))
}
