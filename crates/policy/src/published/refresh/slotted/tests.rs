//! Tests of slotted plans over simulated days.

use super::*;
use crate::{Discovered, History, Outcome, Shown, Visit};

const DAY: Duration = Duration::from_secs(86_400);

fn day(number: u32) -> Moment {
    Moment::from_micros(1_000_000) + DAY * number
}

fn slotted(objective: Objective, threshold: f64, budget: f64) -> Slotted {
    let horizon = Horizon {
        budget: budget / DAY.as_secs_f64(),
        step: DAY,
        slots: 10,
        since: Some(day(30)),
    };
    let threshold = Threshold::new(threshold).unwrap();
    Slotted::new(objective, threshold, Estimator::Gamma, horizon)
}

/// Visits pages every day for a month. Page n changes every n + 1 days, by this share.
fn month(policy: &mut Slotted, pages: u32, differing: impl Fn(u32) -> f32) -> Vec<History> {
    let mut histories = Vec::new();
    for number in 0..pages {
        let page = Number(number);
        let start = History::discovered(day(0), 0);
        policy.observe(&Fact::Discovered(Discovered {
            page,
            url: "",
            host: 0,
            depth: 0,
            seed: false,
            at: crate::Moment::START,
            appeared: None,
        }));
        let after = (0..30).fold(start, |history, visit| {
            let changed = visit % (number + 1) == 0;
            history.after(Visit {
                at: day(visit),
                outcome: if changed {
                    Outcome::Changed
                } else {
                    Outcome::Unchanged
                },
                differing: differing(number),
            })
        });
        observe_visit(policy, number, &start, &after);
        histories.push(after);
    }
    histories
}

fn observe_visit(policy: &mut Slotted, number: u32, before: &History, after: &History) {
    let visited = VisitFact {
        page: Number(number),
        before,
        after,
    };
    policy.observe(&Fact::Visited(visited));
    policy.weigh(&visited, f64::from(number + 1));
}

/// Visits every page when it is due, and returns the visits per page in these days.
fn visit_when_due(
    policy: &mut Slotted,
    histories: &mut [History],
    days: std::ops::Range<u32>,
) -> Vec<u32> {
    let mut visits = vec![0; histories.len()];
    for now in days.map(day) {
        loop {
            let due = (0..histories.len()).find(|&n| {
                let page = Page {
                    number: Number(n as u32),
                    history: &histories[n],
                };
                policy.worth(page, 1.0, now).value() > 0.0
            });
            let Some(n) = due else { break };
            let before = histories[n];
            let after = before.after(Visit::new(now, Outcome::Unchanged));
            observe_visit(policy, n as u32, &before, &after);
            histories[n] = after;
            visits[n] += 1;
        }
    }
    visits
}

#[test]
fn visits_follow_the_plan_and_the_budget() {
    let mut policy = slotted(Objective::Staleness, 0.0, 3.0);
    let mut histories = month(&mut policy, 12, |_| 1.0);
    let visits = visit_when_due(&mut policy, &mut histories, 30..40);
    // The one extra visit is the one that makes the plan.
    assert!(
        (30..=31).contains(&visits.iter().sum::<u32>()),
        "{visits:?}"
    );
    // A page that changes every day cannot be kept fresh; a page that changes rarely can.
    assert!(visits[0] == 0 && visits[4] > 0, "{visits:?}");
    // The next plan starts automatically.
    let visits = visit_when_due(&mut policy, &mut histories, 40..50);
    let found: u32 = visits.iter().sum();
    assert!((30..=31).contains(&found), "{visits:?}");
}

#[test]
fn changes_below_the_threshold_do_not_count_in_the_rate() {
    let planned = |threshold| {
        let mut policy = slotted(Objective::Staleness, threshold, 2.0);
        // Pages with an even number change only a little.
        let histories = month(&mut policy, 8, |page| if page % 2 == 0 { 0.1 } else { 0.9 });
        let rate = |n: usize| {
            let page = Page {
                number: Number(n as u32),
                history: &histories[n],
            };
            policy.rates.rate(page)
        };
        [rate(2), rate(3)]
    };
    let [all, some] = [planned(0.0), planned(0.5)];
    assert!(
        (all[0] / all[1]) > 1.2,
        "page 2 changes more often: {all:?}"
    );
    assert!(some[0] < 0.3 * some[1], "but by less than half: {some:?}");
}

#[test]
fn ebr_weights_pages_by_importance_or_views_and_by_harmful_updates() {
    let mut policy = slotted(Objective::Embarrassment, 0.5, 1.0);
    for page in [3, 5] {
        policy.observe(&Fact::Discovered(Discovered {
            page: Number(page),
            url: "",
            host: 0,
            depth: 0,
            seed: false,
            at: crate::Moment::START,
            appeared: None,
        }));
    }
    let weight = |policy: &Slotted, page| policy.weight(&policy.pages.get(Number(page)).unwrap());
    month(&mut policy, 6, |page| if page == 5 { 0.2 } else { 1.0 });
    // Before any page was shown, the weight is importance times the share of harmful updates.
    assert!(
        (weight(&policy, 3) - 4.0).abs() < 0.2,
        "{}",
        weight(&policy, 3)
    );
    assert!(weight(&policy, 5) < 1.5, "{}", weight(&policy, 5));
    policy.observe(&Fact::Shown(Shown {
        page: Number(5),
        at: Moment::START,
        views: 40.0,
        clicks: 10.0,
    }));
    assert_eq!(weight(&policy, 3), 0.0);
    assert!(weight(&policy, 5) > 5.0, "{}", weight(&policy, 5));
    assert!(policy.needs().searches && policy.needs().visits);
}

#[test]
fn a_new_page_is_due_at_the_next_step_and_a_gone_page_never() {
    let mut policy = slotted(Objective::Staleness, 0.0, 3.0);
    let histories = month(&mut policy, 4, |_| 1.0);
    let asked = History::discovered(day(31), 0).after(Visit::new(day(31), Outcome::Changed));
    let new = Page {
        number: Number(9),
        history: &asked,
    };
    assert_eq!(policy.agenda.due(new), Some(day(32)), "with the next step");
    let gone = [32, 33].iter().fold(histories[2], |history, &at| {
        history.after(Visit::new(day(at), Outcome::Gone))
    });
    observe_visit(&mut policy, 2, &histories[2], &gone);
    let page = Page {
        number: Number(2),
        history: &gone,
    };
    assert_eq!(policy.agenda.due(page), None);
    assert_eq!(
        policy.agenda.visits(Number(2)),
        None,
        "another plan without it"
    );
}
