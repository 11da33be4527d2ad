//! Tests of the formula's limits, and of the freshness that it achieves in a simulation.

use proptest::prelude::*;

use super::*;
use crate::chance::TestDraws;

/// Returns the worth by the series of the paper with 400 terms, so that no tail is needed.
fn printed(page: &Signalled, age: f64) -> f64 {
    let jump = page.jump.unwrap();
    let all = page.rate + page.wrong;
    let (mut passage, mut first) = (0.0, 0.0);
    for term in 0..400 {
        let left = (age - jump * f64::from(term)).max(0.0);
        passage += more_than(term, page.signals * left) / page.signals;
        let share = (page.wrong / all).powf(f64::from(term));
        first += share * more_than(term, all * left) / all;
    }
    first - (-page.silent * age).exp() * passage
}

#[test]
fn the_tail_continues_the_series() {
    for (recall, wrong) in [
        (0.95, 0.6),
        (0.95, 2.0),
        (0.5, 0.3),
        (0.3, 5.0),
        (0.05, 1.0),
    ] {
        let page = Signalled::new(1.0, recall, wrong);
        let end = page.jump.unwrap() * f64::from(TERMS);
        for times in [0.3, 0.99, 1.01, 1.5, 4.0] {
            let (found, expected) = (page.worth(end * times), printed(&page, end * times));
            assert!(
                (found - expected).abs() < 1e-6 * expected,
                "{recall} {wrong} at {times}: {found}, not {expected}"
            );
        }
    }
}

proptest! {
    #[test]
    fn signals_without_information_leave_the_worth_of_freshness(rate in 1e-3..1e3_f64, wrong in 1e-3..1e3_f64, age in 1e-3..1e2_f64) {
        let (age, plain) = (age / rate, gain(age) / rate);
        let close = |found: f64| (found / plain - 1.0).abs() < 2e-3;
        let silent = Signalled::new(rate, 0.0, wrong);
        prop_assert!(close(silent.worth(silent.age(age, 9))));
        // A recall of almost 0, and a page with very many signals.
        let deaf = Signalled::new(rate, 1e-5, rate);
        prop_assert!(close(deaf.worth(deaf.age(age, 0))), "{}", deaf.worth(age));
        let noisy = Signalled::new(rate, 0.5, 1e4 * rate);
        let expected = (1e4 * rate * age).round() as u64;
        // With fewer signals, rounding to a whole number matters; more do not fit into the
        // counter.
        if (1_000..60_000).contains(&expected) {
            let found = noisy.worth(noisy.age(age, expected as u16));
            prop_assert!((found / plain - 1.0).abs() < 2e-2, "{} {}", found, plain);
        }
    }

    #[test]
    fn without_false_signals_one_signal_gives_the_full_worth(rate in 1e-3..1e3_f64, recall in 0.1..0.9_f64, age in 1e-3..10.0_f64) {
        for wrong in [0.0, 1e-300] {
            let page = Signalled::new(rate, recall, wrong);
            let found = page.worth(page.age(age / rate, 1));
            prop_assert!((found * rate - 1.0).abs() < 1e-9, "{} {}", found, rate.recip());
            // Without a signal, only unsignalled changes age the copy.
            let quiet = page.worth(page.age(age / rate, 0));
            prop_assert!(quiet < gain(age) / rate);
        }
    }

    #[test]
    fn worth_rises_to_its_limit(
        recall in 0.0..1.0_f64, wrong in 0.0..20.0_f64, age in 0.0..200.0_f64, more in 1e-6..1.0_f64, signals in 0u16..9,
    ) {
        let page = Signalled::new(1.0, recall, wrong);
        let (now, later) = (page.worth(page.age(age, signals)), page.worth(page.age(age + more, signals)));
        prop_assert!(later >= now - 1e-12 && now >= -1e-12 && later <= 1.0 + 1e-9, "{} then {}", now, later);
        prop_assert!(page.worth(page.age(age, signals + 1)) >= now - 1e-12, "a signal never delays");
    }
}

/// Returns the mean freshness of 100 pages over 200 days with ten visits per day. Each visit
/// goes to the page of greatest `worth`, a function of page, age and signals. `truth[i]` is the
/// change rate of page i, the recall of its signals, and its rate of false signals, per day.
fn freshness(truth: &[(f64, f64, f64)], worth: impl Fn(usize, f64, u16) -> f64) -> f64 {
    const STEPS: usize = 2_000;
    let mut draws = TestDraws(3);
    let step = 0.1;
    let mut pages = vec![(0.0, 0_u16, true); truth.len()];
    let mut fresh = 0_usize;
    for _ in 0..STEPS {
        for (page, &(rate, recall, wrong)) in pages.iter_mut().zip(truth) {
            let changed = draws.next() < -(-rate * step).exp_m1();
            let signalled = draws.next() < recall && changed;
            let falsely_signalled = draws.next() < -(-wrong * step).exp_m1();
            page.0 += step;
            page.1 += u16::from(signalled) + u16::from(falsely_signalled);
            page.2 &= !changed;
        }
        let value = |n: usize| worth(n, pages[n].0, pages[n].1);
        let best = (0..pages.len()).max_by(|&a, &b| value(a).total_cmp(&value(b)));
        pages[best.unwrap()] = (0.0, 0, true);
        fresh += pages.iter().filter(|page| page.2).count();
    }
    fresh as f64 / (STEPS * truth.len()) as f64
}

#[test]
fn the_rule_beats_ignoring_signals_and_trusting_all() {
    let mut draws = TestDraws(11);
    let truth: Vec<_> = (0..100)
        .map(|_| {
            let rate = 0.05 + 0.5 * draws.next();
            (rate, 0.1 + 0.8 * draws.next(), 0.6 * draws.next())
        })
        .collect();
    let pages = |trust: fn(&(f64, f64, f64)) -> (f64, f64)| -> Vec<Signalled> {
        let page = |truth: &(f64, f64, f64)| {
            let (recall, wrong) = trust(truth);
            Signalled::new(truth.0, recall, wrong)
        };
        truth.iter().map(page).collect()
    };
    let score = |pages: Vec<Signalled>| {
        freshness(&truth, |n, age, signals| {
            pages[n].worth(pages[n].age(age, signals))
        })
    };
    let ours = score(pages(|&(_, recall, wrong)| (recall, wrong)));
    let deaf = score(pages(|_| (0.0, 1.0)));
    let blind = score(pages(|_| (MOST, 1e-9)));
    assert!(
        ours > deaf + 0.01 && deaf > blind + 0.01,
        "{ours} {deaf} {blind}"
    );
}
