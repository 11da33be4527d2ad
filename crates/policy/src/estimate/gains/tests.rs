//! Tests of predicted gains and of what measured gains add to them.

use super::*;
use crate::history::Measured;
use crate::{Discovered, Moment, Number, Outcome, Shown, Visit};

/// One page: its views, the share that a change replaces, its measured gains, its importance.
struct TestPage {
    views: f64,
    share: f64,
    gains: Vec<f32>,
    importance: f64,
}

fn learned(pages: &[TestPage]) -> (Gains, Demand) {
    let (mut gains, mut demand) = (Gains::new(f64::INFINITY), Demand::default());
    for (number, page) in (0..).zip(pages) {
        let number = Number(number);
        demand.discovered(&Discovered::bare(number));
        demand.copied();
        demand.shown(&Shown {
            page: number,
            at: Moment::START,
            views: page.views,
            clicks: 0.0,
        });
    }
    for (number, page) in (0..).zip(pages) {
        let day = std::time::Duration::from_secs(86_400);
        let before = History::discovered(Moment::START, 0);
        let mut at = Moment::START + day;
        let mut after = before.after(Visit::new(at, Outcome::Changed)).gained(3.0);
        for gain in &page.gains {
            at = at + day;
            after = after.after(Visit::new(at, Outcome::Changed)).gained(*gain);
        }
        let visited = VisitFact {
            page: Number(number),
            before: &before,
            after: &after,
        };
        gains.visited(&visited, page.importance, page.share, &demand);
    }
    (gains, demand)
}

/// Pages whose gains are exactly `κ·v·d`, times the factors of each page.
fn exact(kappa: f64, factors: &[f64]) -> Vec<TestPage> {
    let pages = (0..120).map(|number| {
        let views = f64::from(1 + number % 7);
        let share = f64::from(1 + number % 3) / 4.0;
        let factor = factors[number as usize % factors.len()];
        // The mean page has 3.975 views; the prior demand of 1 counts as a quarter of its views.
        let demand = (views / 3.975 + 0.25) / 1.25;
        let gain = kappa * demand * share * factor;
        TestPage {
            views,
            share,
            gains: vec![gain as f32; 3],
            importance: 1.0,
        }
    });
    pages.collect()
}

#[test]
fn measured_gains_count_more_the_more_pages_differ() {
    // No difference beyond the prediction: measured gains say nothing.
    let (same, _) = learned(&exact(2.0, &[1.0]));
    let measured = History {
        measured: Measured {
            gain: 40.0,
            roots: 4.0 * 10f32.sqrt(),
            changes: 4,
            ..Measured::default()
        },
        ..History::default()
    };
    let none = History::default();
    let (told, plain) = (
        same.amplitude(&measured, 1.0, 0.5),
        same.amplitude(&none, 1.0, 0.5),
    );
    // κ is the gain of one change that replaces the whole text: half of 2 for half of it.
    assert!((plain - 1.0).abs() < 1e-6, "{plain}");
    assert!(told <= plain * 1.5, "{told} {plain}");
    // Pages that always gain 0.25 or 1.75 times the prediction: measured gains decide alone.
    let (apart, _) = learned(&exact(2.0, &[0.25, 1.75]));
    let strength = apart.model().strength;
    assert!(strength < 0.1, "{strength}");
    let found = apart.amplitude(&measured, 1.0, 0.5);
    // The mean root of the two kinds of pages: (0.5 + 1.323) / 2.
    assert!((found - 10.0 / 0.911f64.powi(2)).abs() < 0.5, "{found}");
}

#[test]
fn one_event_does_not_make_pages_seem_to_differ() {
    // Every page gained once, by the same large amount, whatever the demand for it.
    let mut pages = exact(2.0, &[1.0]);
    for page in &mut pages {
        page.gains = vec![0.0, 0.0, 0.0, 0.0, 1.0];
    }
    let (event, _) = learned(&pages);
    assert!(event.model().strength > 3.0, "{:?}", event.model());
    // Nor does one extreme gain.
    pages[7].gains = vec![0.0, 0.0, 0.0, 0.0, 500.0];
    let (extreme, _) = learned(&pages);
    assert!(extreme.model().strength > 3.0, "{:?}", extreme.model());
}

#[test]
fn before_any_search_gains_are_in_the_unit_of_importance() {
    let page = |importance| TestPage {
        views: 0.0,
        share: 0.5,
        gains: Vec::new(),
        importance,
    };
    let pages: Vec<_> = (1..=40).map(|number| page(f64::from(number))).collect();
    let (gains, demand) = learned(&pages);
    let wanted = demand.of(Number(0), gains.predicted_demand(8.0));
    let found = gains.amplitude(&History::default(), wanted, 0.5);
    assert!((found - 4.0).abs() < 1e-9, "{found}");
    assert!((gains.missing(8.0) - 8.0).abs() < 1e-9);
    let nothing = Gains::new(f64::INFINITY);
    assert_eq!(nothing.missing(8.0), 8.0);
    assert_eq!(nothing.model(), &GainModel::default());
}

#[test]
fn importance_that_does_not_predict_views_is_ignored() {
    let page = |number: u32, views: f64| TestPage {
        views,
        share: 0.5,
        gains: vec![1.0],
        importance: f64::from(1 + number % 5),
    };
    let alike: Vec<_> = (0..60).map(|number| page(number, 1.0)).collect();
    let (gains, _) = learned(&alike);
    assert_eq!(gains.predicted_demand(1.0), gains.predicted_demand(9.0));
    let wanted: Vec<_> = (0..60)
        .map(|number| page(number, f64::from(1 + number % 5)))
        .collect();
    let (gains, _) = learned(&wanted);
    assert!(gains.predicted_demand(9.0) > 8.0 * gains.predicted_demand(1.0));
}
