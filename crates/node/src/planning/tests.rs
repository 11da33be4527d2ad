//! Tests the curve against closed forms, on a store whose pages have known change rates.

use frontier::{Discovery, Entry, PageCopy, PageKey};
use ledger::{Batch, Ledger};
use page::PageUrl;
use policy::{Moment, Visit};

use super::*;

/// Returns a ledger whose pages were visited daily for 799 days, so that their rates are well
/// estimated.
fn ledger(directory: &std::path::Path, pages: u32) -> Ledger {
    ledger_with_hints(directory, pages, 0)
}

/// Returns the same ledger with this number of hints on each page since its last visit. 100 earlier
/// hints were right.
fn ledger_with_hints(directory: &std::path::Path, pages: u32, hints: u16) -> Ledger {
    let ledger = Ledger::open(directory).unwrap();
    let mut batch = Batch::default();
    for page in 0..pages {
        let url = PageUrl::parse(&format!("http://host-{page}.example/")).unwrap();
        let key = PageKey::of(&url);
        let discovery = Discovery {
            url: url.as_str().into(),
            order: page.into(),
            at: Moment::START,
            depth: 0,
            hops: 0,
            source: None,
            absent: None,
        };
        let mut history = History::discovered(Moment::START, 0);
        for day in 1..800u64 {
            // Page k changes exactly every 2 + k days.
            let changed = day.is_multiple_of(2 + u64::from(page));
            let outcome = if changed || day == 1 {
                Outcome::Changed
            } else {
                Outcome::Unchanged
            };
            let at = Moment::START + Duration::from_secs(day * 86_400);
            history = history.after(Visit::new(at, outcome));
        }
        history.signals.hits = 100;
        history.signals.since = hints;
        let visited = frontier::Visited {
            history,
            copy: Some(PageCopy::default()),
            ..frontier::Visited::default()
        };
        batch.entries.push(Entry::Admitted(key, discovery));
        batch.entries.push(Entry::Visited(key, Box::new(visited)));
    }
    ledger.commit(&batch).unwrap();
    ledger
}

#[test]
fn the_curve_is_optimal_and_can_be_read_in_both_directions() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = ledger(directory.path(), 8);
    let goal = Goal::Fresh;
    let estimates = Estimates::read(&ledger, &goal.policy(), None).unwrap();
    assert_eq!((estimates.copies, estimates.measured), (8, false));
    let demands: Vec<_> = (estimates.pages.iter())
        .map(|page| policy::plan::allocation::Demand {
            rate: page.rate,
            weight: 1.0,
        })
        .collect();
    let curve = estimates.curve(&goal);
    let uniform = estimates.uniform_curve(&goal);
    for budget in [0.5, 2.0, 8.0] {
        let best = policy::plan::allocation::optimal(&demands, budget);
        let best = policy::plan::allocation::mean_freshness(&demands, &best);
        let found = reached(&curve, budget).unwrap();
        assert!((found - best).abs() < 0.01, "{budget}: {found}, not {best}");
        let even = reached(&uniform, budget).unwrap();
        assert!(even < found, "{budget}: {even} is not below {found}");
        let back = needed(&curve, found).unwrap();
        assert!((back / budget - 1.0).abs() < 0.02, "{budget}: {back}");
    }
    assert_eq!(needed(&uniform, 1.01), None);
}

#[test]
fn a_grace_period_needs_fewer_fetches() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = ledger(directory.path(), 8);
    let need = |goal: Goal| {
        let estimates = Estimates::read(&ledger, &goal.policy(), None).unwrap();
        needed(&estimates.curve(&goal), 0.9).unwrap()
    };
    let fresh = need(Goal::Fresh);
    let current = need(Goal::Current { within: 3.0 });
    assert!(current < fresh / 2.0, "{current} against {fresh}");
}

#[test]
fn a_hint_that_waits_for_a_visit_changes_no_plan() {
    for policy in ["freshness", "holistic"] {
        let need = |hints| {
            let directory = tempfile::tempdir().unwrap();
            let ledger = ledger_with_hints(directory.path(), 8, hints);
            let estimates = Estimates::read(&ledger, policy, None).unwrap();
            needed(&estimates.curve(&Goal::Fresh), 0.9).unwrap()
        };
        let (without, with) = (need(0), need(1));
        assert!(
            without < 1000.0,
            "{policy}: {without} fetches a day for 8 pages"
        );
        assert_eq!(without, with, "{policy}");
    }
}
