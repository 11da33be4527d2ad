//! Compares plans with exhaustive search over all plans.

use proptest::prelude::*;

use super::improve::deviation;
use super::*;

/// Returns all choices of `count` steps from `from` on.
fn choices(from: u32, steps: u32, count: u32) -> Vec<Vec<u32>> {
    if count == 0 {
        return vec![Vec::new()];
    }
    let first = (from..steps).flat_map(|step| {
        let rest = choices(step + 1, steps, count - 1).into_iter();
        rest.map(move |rest| [vec![step], rest].concat())
    });
    first.collect()
}

/// Returns the least total distance of any valid plan with these visits.
fn least(visits: &[u32], steps: &Steps, page: usize, room: &mut [u32]) -> f64 {
    let Some((&often, rest)) = visits.split_first() else {
        return 0.0;
    };
    let mut best = f64::INFINITY;
    for places in choices(0, room.len() as u32, often) {
        if places.iter().any(|&step| room[step as usize] == 0) {
            continue;
        }
        places.iter().for_each(|&step| room[step as usize] -= 1);
        let here = steps.deviation(page, &places) + least(rest, steps, page + 1, room);
        places.iter().for_each(|&step| room[step as usize] += 1);
        best = best.min(here);
    }
    best
}

/// Returns the greatest weighted freshness with at most `left` visits.
fn greatest(pages: &[Demand], steps: f64, left: u32) -> f64 {
    let Some((page, rest)) = pages.split_first() else {
        return 0.0;
    };
    let here = (0..=left.min(steps as u32)).map(|visits| {
        let fresh = freshness::at_frequency(page.rate, f64::from(visits) / steps);
        page.weight * fresh + greatest(rest, steps, left - visits)
    });
    here.fold(0.0, f64::max)
}

fn demands() -> impl Strategy<Value = Vec<Demand>> {
    let page = (-2.0..1.0_f64, -3.0..3.0_f64);
    let page = page.prop_map(|(rate, weight)| Demand {
        rate: 10_f64.powf(rate),
        weight: 10_f64.powf(weight),
    });
    prop::collection::vec(page, 1..5)
}

proptest! {
    #[test]
    fn no_numbers_of_visits_are_fresher_than_the_greedy_ones(pages in demands(), count in 1u32..5, budget in 0.0..4.0_f64) {
        let steps = Steps::new(0, count, budget, pages.len());
        let visits = visits(&pages, &steps);
        let used: u32 = visits.iter().sum();
        prop_assert_eq!(u64::from(used), steps.total(), "all are used");
        let fresh = pages.iter().zip(&visits).map(|(page, &visits)| {
            page.weight * freshness::at_frequency(page.rate, f64::from(visits) / f64::from(count))
        });
        let (found, best) = (fresh.sum::<f64>(), greatest(&pages, f64::from(count), used));
        prop_assert!((found - best).abs() < 1e-9, "{} of {}", found, best);
    }

    #[test]
    fn plans_are_full_and_nearest_to_the_ideal_times(pages in demands(), count in 1u32..7, budget in 0.0..4.0_f64, before in 0u64..9) {
        let steps = Steps::new(before, count, budget, pages.len());
        let visits = visits(&pages, &steps);
        let plan = schedule(&visits, &steps);
        let mut taken = vec![0; count as usize];
        for (places, &visits) in plan.iter().zip(&visits) {
            prop_assert_eq!(places.len(), visits as usize);
            prop_assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "no page twice");
            places.iter().for_each(|&step| taken[step as usize] += 1);
        }
        prop_assert_eq!(&taken, steps.rooms(), "every step is full");
        let best = least(&visits, &steps, 0, &mut taken);
        let found = deviation(&plan, &steps);
        prop_assert!((found - best).abs() < 1e-6, "{} for {:?} in {:?}, not {}", found, plan, steps, best);
    }

    #[test]
    fn large_plans_are_full_and_visit_no_page_twice_in_a_step(count in 1u32..60, budget in 0.0..40.0_f64, pages in 1usize..300, before in 0u64..500) {
        let rate = |page: usize| ((page * 37) % 101) as f64 / 20.0;
        let pages: Vec<_> = (0..pages).map(|page| Demand { rate: rate(page), weight: 1.0 }).collect();
        let steps = Steps::new(before, count, budget, pages.len());
        let visits = visits(&pages, &steps);
        let plan = schedule(&visits, &steps);
        let mut taken = vec![0; count as usize];
        for places in &plan {
            prop_assert!(places.windows(2).all(|pair| pair[0] < pair[1]), "no page twice");
            places.iter().for_each(|&step| taken[step as usize] += 1);
        }
        prop_assert_eq!(&taken, steps.rooms(), "every step is full");
    }
}

#[test]
fn a_page_keeps_its_ideal_times_from_plan_to_plan() {
    let first = Steps::new(0, 12, 1.0, 12);
    let later = Steps::new(3, 12, 1.0, 12);
    for (page, visits) in [(0, 1), (5, 3), (9, 4)] {
        let shifted: Vec<f64> = first
            .ideal(page, visits)
            .map(|time| (time + 9.0) % 12.0)
            .collect();
        let mut found: Vec<f64> = later.ideal(page, visits).collect();
        found.sort_by(f64::total_cmp);
        let mut shifted = shifted;
        shifted.sort_by(f64::total_cmp);
        for (found, expected) in found.iter().zip(&shifted) {
            assert!((found - expected).abs() < 1e-9, "{found}, not {expected}");
        }
    }
    assert_eq!(Steps::new(1, 4, 0.5, 9).rooms(), [1, 0, 1, 0]);
    assert_eq!(Steps::new(0, 2, 7.0, 3).rooms(), [3, 3]);
    assert_eq!(Steps::new(0, 2, f64::NAN, 3).rooms(), [0, 0]);
}
