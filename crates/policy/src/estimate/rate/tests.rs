//! Tests of rate estimators: published numbers, and rates recovered from simulated visits.

use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::chance::TestDraws;
use crate::{Discovered, History, Moment, Outcome, Visit, VisitFact};

/// Returns the history of a page with a first copy and revisits, each with its gap and whether
/// it found a change.
fn visited(gaps: impl IntoIterator<Item = (f64, bool)>) -> History {
    let mut at = Moment::START;
    let first = History::discovered(at, 0).after(Visit::new(at, Outcome::Changed));
    gaps.into_iter().fold(first, |history, (gap, changed)| {
        at = at + Duration::from_secs_f64(gap);
        let outcome = match changed {
            true => Outcome::Changed,
            false => Outcome::Unchanged,
        };
        history.after(Visit::new(at, outcome))
    })
}

/// Simulates visits to a page that changes at this rate, with gaps drawn from a range.
fn watched(rate: f64, visits: usize, gaps: (f64, f64), draws: &mut TestDraws) -> History {
    let mut visit = || {
        let gap = gaps.0 + (gaps.1 - gaps.0) * draws.next();
        (gap, draws.next() < -(-rate * gap).exp_m1())
    };
    visited((0..visits).map(|_| visit()).collect::<Vec<_>>())
}

fn discover(rates: &mut Rates, page: u32, host: u32) {
    rates.observe(&Fact::Discovered(Discovered {
        page: Number(page),
        url: "",
        host,
        depth: 0,
        seed: false,
        at: crate::Moment::START,
        appeared: None,
    }));
}

fn observe_visits(rates: &mut Rates, page: u32, after: &History) {
    rates.observe(&Fact::Visited(VisitFact {
        page: Number(page),
        before: &History::discovered(Moment::START, 0),
        after,
    }));
}

fn estimated(estimator: Estimator, history: &History) -> f64 {
    let rates = Rates::new(estimator, Threshold::ANY);
    rates.rate(Page {
        number: Number(0),
        history,
    })
}

#[test]
fn formulas_give_the_published_numbers() {
    let ten = |changes: usize| {
        let history = visited((0..10).map(|n| (1.0, n < changes)));
        ObservedChanges::of(&history, Threshold::ANY)
    };
    for (changes, naive, corrected, likely) in [
        (0, 0.0, 0.0, Some(0.0)),
        // −ln(7.5/10.5), and −ln(.7).
        (
            3,
            0.3,
            0.336_472_236_621_212_9,
            Some(0.356_674_943_938_732_4),
        ),
        (10, 1.0, 3.044_522_437_723_423, None),
    ] {
        let observed = ten(changes);
        assert!((naive::rate(&observed) - naive).abs() < 1e-12, "{changes}");
        let found = bias_corrected::rate(&observed);
        assert!((found - corrected).abs() < 1e-12, "{changes}: {found}");
        let found = likelihood::most_likely(&observed);
        let close = match (found, likely) {
            (Some(found), Some(likely)) => (found - likely).abs() < 1e-9,
            (found, likely) => found == likely,
        };
        assert!(close, "{changes}: {found:?}");
    }
    // A change after 2 and none after 1: 2/(e^{2λ} − 1) = 1, λ = ln(3)/2.
    let two = ObservedChanges::of(&visited([(2.0, true), (1.0, false)]), Threshold::ANY);
    let found = likelihood::most_likely(&two).unwrap();
    assert!((found - 3_f64.ln() / 2.0).abs() < 1e-9, "{found}");
}

#[test]
fn no_rate_is_zero_or_infinite() {
    let never = visited([(DAY, false); 30]);
    let always = visited([(DAY, true); 30]);
    let at_once = visited([(0.0, true); 3]);
    for estimator in [
        Estimator::Naive,
        Estimator::BiasCorrected,
        Estimator::Mle,
        Estimator::Gamma,
        Estimator::Site,
        Estimator::Buckets,
    ] {
        for history in [&History::default(), &never, &always, &at_once] {
            let rate = estimated(estimator.clone(), history);
            assert!((SLOWEST..=FASTEST).contains(&rate), "{estimator:?}: {rate}");
        }
        let new = estimated(estimator.clone(), &History::default());
        let web = 1.0 / (138.7 * DAY);
        assert!((0.5..2.0).contains(&(new / web)), "{estimator:?}: {new}");
    }
}

#[test]
fn rates_are_recovered_from_regular_and_irregular_visits() {
    for (estimator, gaps, room) in [
        (Estimator::BiasCorrected, (1.0, 1.0), 0.03),
        // Maximum likelihood is biased upwards if few gaps are without change.
        (Estimator::Mle, (1.0, 1.0), 0.06),
        (Estimator::Gamma, (1.0, 1.0), 0.06),
        (Estimator::Mle, (0.1, 3.0), 0.06),
        // Gaps outside the window are replaced by their mean, which lowers the rates.
        (Estimator::Gamma, (0.1, 3.0), 0.08),
    ] {
        for rate in [0.1, 0.5, 1.5] {
            let mut draws = TestDraws(7);
            let mut rates = Rates::new(estimator.clone(), Threshold::ANY);
            let pages: Vec<History> = (0..200)
                .map(|_| watched(rate / DAY, 40, (gaps.0 * DAY, gaps.1 * DAY), &mut draws))
                .collect();
            for (page, history) in (0..).zip(&pages) {
                discover(&mut rates, page, 0);
                observe_visits(&mut rates, page, history);
            }
            let each = (0..).zip(&pages).map(|(page, history)| {
                let number = Number(page);
                rates.rate(Page { number, history }) * DAY
            });
            let mean = each.sum::<f64>() / pages.len() as f64;
            assert!(
                (mean / rate - 1.0).abs() < room,
                "{estimator:?} {gaps:?}: {mean}, not {rate}"
            );
        }
    }
    // The naive estimator misses the second change in a gap: 1 − e^{−1.5} instead of 1.5.
    let page = watched(1.5 / DAY, 4_000, (DAY, DAY), &mut TestDraws(7));
    let found = estimated(Estimator::Naive, &page) * DAY;
    assert!((found - 0.777).abs() < 0.02, "{found}");
}

#[test]
fn mean_rates_of_hosts_and_the_spread_of_pages_are_recovered() {
    // All pages of one host have a rate of 0.02 per day. Of the other host, half have 0.0001
    // and half 1.
    let mut rates = Rates::new(Estimator::Gamma, Threshold::ANY);
    let mut draws = TestDraws(1);
    for page in 0..400 {
        let host = page % 2;
        discover(&mut rates, page, host);
        let rate = match (host, page % 4) {
            (0, _) => 0.02,
            (_, 1) => 1e-4,
            _ => 1.0,
        };
        let history = watched(rate / DAY, 20, (DAY, DAY), &mut draws);
        observe_visits(&mut rates, page, &history);
    }
    discover(&mut rates, 400, 0);
    discover(&mut rates, 401, 1);
    discover(&mut rates, 402, 2);
    let [slow, fast, new] = [400, 401, 402].map(|page| rates.prior(Number(page)) * DAY);
    assert!((0.015..0.03).contains(&slow), "{slow}");
    assert!((0.3..1.0).contains(&fast), "{fast}");
    assert!(slow < new && new < fast, "{slow} {new} {fast}");
    // A day without a change says more about a page if pages differ.
    let quiet = visited([(DAY, false)]);
    let number = Number(401);
    let after = rates.rate(Page {
        number,
        history: &quiet,
    }) * DAY;
    assert!(after < 0.6 * fast, "{after} of {fast}");
}

/// A home page that changes every 15 seconds, among 70 articles that never do.
#[test]
fn a_living_page_among_quiet_pages_is_learned_in_a_few_visits() {
    let mut rates = Rates::new(Estimator::Gamma, Threshold::ANY);
    for page in 0..71 {
        discover(&mut rates, page, 0);
    }
    for page in 1..71 {
        observe_visits(&mut rates, page, &visited([(270.0, false); 2]));
    }
    let mut before = History::discovered(Moment::START, 0);
    for (visits, least, most) in [
        (1, 0.001, 1.0),
        (2, 1.0, 500.0),
        (3, 1_000.0, 6_000.0),
        (35, 5_760.0, 40_000.0),
    ] {
        let home = visited((0..visits).map(|_| (15.0, true)));
        rates.observe(&Fact::Visited(VisitFact {
            page: Number(0),
            before: &before,
            after: &home,
        }));
        let number = Number(0);
        let history = &home;
        let found = rates.rate(Page { number, history }) * DAY;
        assert!((least..most).contains(&found), "{visits}: {found}");
        before = home;
    }
    // The articles stay quiet.
    let quiet = visited([(270.0, false); 2]);
    let (number, history) = (Number(1), &quiet);
    let article = rates.rate(Page { number, history }) * DAY;
    assert!(article < 1.0, "{article}");
}

#[test]
fn the_most_likely_rate_is_the_mode_of_the_posterior() {
    let prior = likelihood::PriorTerm {
        changes: 0.7,
        time: 20.0,
        slack: 5.0,
    };
    for gaps in [
        vec![(3.0, true), (2.0, false), (0.1, true)],
        vec![(3.0, true); 4],
        vec![(50.0, false)],
        vec![(1e-3, true); 9],
    ] {
        let observed = ObservedChanges::of(&visited(gaps.clone()), Threshold::ANY);
        let density = |rate: f64| {
            let prior =
                prior.changes * rate.ln() - prior.time / prior.slack * (prior.slack * rate).ln_1p();
            let seen = gaps.iter().map(|&(gap, changed)| match changed {
                true => (-(-rate * gap).exp_m1()).ln(),
                false => -rate * gap,
            });
            prior + seen.sum::<f64>()
        };
        let found = likelihood::root(observed.gaps(), observed.quiet, prior);
        let rate = found.rate;
        for other in [0.5, 0.99, 1.01, 2.0] {
            assert!(density(rate) > density(rate * other), "{gaps:?}: {rate}");
        }
        let step = 1e-3_f64;
        let [below, above] = [-step, step].map(|step| density(rate * step.exp()));
        let curvature = (2.0 * density(rate) - below - above) / (step * step);
        let room = (found.certainty / curvature - 1.0).abs();
        assert!(room < 1e-4, "{gaps:?}: {} {curvature}", found.certainty);
    }
}

#[test]
fn given_rates_are_those_of_the_file() {
    let mut scores = Scores::default();
    scores.insert("a", 2.0);
    scores.insert("b", 0.0);
    let mut rates = Rates::new(Estimator::Given(Arc::new(scores)), Threshold::ANY);
    let history = visited([(DAY, true)]);
    for (page, (url, expected)) in
        (0..).zip([("a", 2.0 / DAY), ("b", SLOWEST), ("c", 1.0 / (138.7 * DAY))])
    {
        let number = Number(page);
        rates.observe(&Fact::Discovered(Discovered {
            page: number,
            url,
            host: 0,
            depth: 0,
            seed: false,
            at: crate::Moment::START,
            appeared: None,
        }));
        let found = rates.rate(Page {
            number,
            history: &history,
        });
        assert!((found / expected - 1.0).abs() < 1e-9, "{url}: {found}");
    }
    assert!(rates.needs().words);
}

#[test]
fn rates_are_rounded_to_the_nearest_bucket() {
    for (per_day, expected) in [
        (1e9, 24.0),
        (24.0, 24.0),
        (10.0, 8.0),
        (1e-9, 24.0 / 3_f64.powi(11)),
    ] {
        let found = buckets::rounded(per_day / DAY) * DAY;
        assert!((found / expected - 1.0).abs() < 1e-9, "{per_day}: {found}");
    }
}

/// Gaps of up to 23 days, in seconds, each with whether a change was found.
fn gaps() -> impl Strategy<Value = Vec<(f64, bool)>> {
    prop::collection::vec((1.0..2e6_f64, any::<bool>()), 1..20)
}

proptest! {
    #[test]
    fn a_rate_lies_between_the_mean_of_the_prior_and_the_likeliest_rate(gaps in gaps()) {
        let history = visited(gaps.iter().copied());
        let observed = ObservedChanges::of(&history, Threshold::ANY);
        let likely = likelihood::most_likely(&observed).unwrap_or(f64::INFINITY);
        let prior = RatePrior::WEB.mean();
        let found = RatePrior::WEB.most_likely(&observed).rate;
        let (low, high) = (likely.min(prior), likely.max(prior));
        prop_assert!(found >= low * (1.0 - 1e-9) && found <= high * (1.0 + 1e-9), "{low} {found} {high}");
    }

    #[test]
    fn one_more_change_never_lowers_a_rate(gaps in gaps(), place in any::<prop::sample::Index>()) {
        let place = place.index(gaps.len());
        let with = |changed| {
            let mut gaps = gaps.clone();
            gaps[place].1 = changed;
            visited(gaps)
        };
        let (less, more) = (with(false), with(true));
        for estimator in [Estimator::Naive, Estimator::BiasCorrected, Estimator::Gamma, Estimator::Buckets] {
            let [less, more] = [&less, &more].map(|history| estimated(estimator.clone(), history));
            prop_assert!(more >= less * (1.0 - 1e-9), "{:?}: {} after {}", estimator, more, less);
        }
    }

    #[test]
    fn visits_reported_at_once_equal_visits_reported_one_by_one(gaps in gaps(), share in 0.0..1.0_f64) {
        let cut = (gaps.len() as f64 * share) as usize;
        let (half, whole) = (visited(gaps[..cut].to_vec()), visited(gaps));
        let mut once = Rates::new(Estimator::Gamma, Threshold::ANY);
        discover(&mut once, 0, 0);
        let mut twice = once.clone();
        observe_visits(&mut once, 0, &whole);
        observe_visits(&mut twice, 0, &half);
        twice.observe(&Fact::Visited(VisitFact { page: Number(0), before: &half, after: &whole }));
        let [once, twice] = [once, twice].map(|rates| rates.prior(Number(0)));
        prop_assert!((once / twice - 1.0).abs() < 1e-9, "{} {}", once, twice);
    }
}

/// The search page and the crawler give the same rate once the revisits of a page outweigh the
/// prior.
#[test]
fn change_rate_agrees_with_the_crawler() {
    assert_eq!(change_rate(&visited([])), None);
    assert_eq!(change_rate(&visited([(1.0, false); 4])), Some(0.0));
    let mut draws = TestDraws(3);
    for rate in [0.1 / DAY, 1.0 / DAY, 10.0 / DAY] {
        let history = watched(rate, 3000, (0.2 / rate, 2.0 / rate), &mut draws);
        let alone = change_rate(&history).unwrap();
        let mut rates = Rates::new(Estimator::default(), Threshold::ANY);
        discover(&mut rates, 0, 0);
        observe_visits(&mut rates, 0, &history);
        let number = Number(0);
        let history = &history;
        let crawler = rates.rate(Page { number, history });
        assert!((alone / crawler - 1.0).abs() < 0.05, "{alone} {crawler}");
        assert!((alone / rate - 1.0).abs() < 0.15, "{alone} {rate}");
    }
    let every = visited([(DAY, true); 5]);
    assert_eq!(change_rate(&every), Some(11f64.ln() / DAY));
}
