//! Tests of how gains, importance and change hints affect the worth of a visit.

use std::time::Duration;

use super::*;
use crate::{Catalog, Discovered, History, Outcome, Upkeep, Visit};

const WEEK: Duration = Duration::from_secs(604_800);

/// Crawls pages of one host that change at each of five weekly visits.
///
/// `gains` are the gains of their changes; `None` if they are not measured.
fn crawled(name: &str, gains: &[Option<f32>]) -> (Box<dyn Refresh>, Vec<History>) {
    let mut refresh = Catalog::standard()
        .refresh(name, &Upkeep::default())
        .unwrap();
    let mut histories = Vec::new();
    for (number, gain) in (0..).zip(gains) {
        let page = Number(number);
        refresh.observe(&Fact::Discovered(Discovered {
            page,
            url: "",
            host: 0,
            depth: 0,
            seed: false,
            at: crate::Moment::START,
            appeared: None,
        }));
        let before = History::discovered(Moment::START, 0);
        let after = (0..5).fold(before, |history, week| {
            let visit = Visit::new(Moment::START + WEEK * week, Outcome::Changed);
            let visited = history.after(visit);
            match gain.filter(|_| week > 0) {
                Some(gain) => visited.gained(gain),
                None => visited,
            }
        });
        let visited = VisitFact {
            page,
            before: &before,
            after: &after,
        };
        refresh.observe(&Fact::Visited(visited));
        refresh.weigh(&visited, 2.0);
        histories.push(after);
    }
    (refresh, histories)
}

/// Returns the worth of each page a week after its last visit, at this importance.
fn worths(name: &str, gains: &[Option<f32>], importance: f64) -> Vec<f64> {
    let (refresh, histories) = crawled(name, gains);
    let now = Moment::START + WEEK * 5;
    let each = (0..).zip(&histories).map(|(number, history)| {
        let number = Number(number);
        refresh
            .worth(Page { number, history }, importance, now)
            .value()
    });
    each.collect()
}

#[test]
fn without_measured_gains_worth_is_proportional_to_importance() {
    let plain = worths("freshness", &[None, None], 2.0);
    assert_eq!(worths("user-centric-marginal", &[None, None], 2.0), plain);
    let holistic = |importance| worths("holistic", &[None, None], importance)[1];
    assert!((holistic(4.0) / holistic(2.0) - 2.0).abs() < 1e-9);
    // The changes replace nearly all of the text, so the worth is nearly that of `freshness`. It
    // is less, because the rate is uncertain.
    assert!((0.9..1.0).contains(&(holistic(2.0) / plain[1])));
}

#[test]
fn more_views_raise_the_worth_and_smaller_changes_lower_it() {
    let (mut refresh, mut histories) = crawled("holistic", &[None, None]);
    let worth = |refresh: &dyn Refresh, number: u32, history: &History| {
        let number = Number(number);
        let now = Moment::START + WEEK * 5;
        refresh.worth(Page { number, history }, 2.0, now).value()
    };
    let shown = |page, views| {
        Fact::Shown(crate::Shown {
            page: Number(page),
            at: Moment::START,
            views,
            clicks: 0.0,
        })
    };
    refresh.observe(&shown(0, 1.0));
    refresh.observe(&shown(1, 5.0));
    let both = [0, 1].map(|page| worth(&*refresh, page, &histories[page as usize]));
    assert!(both[1] > 2.0 * both[0], "{both:?}");
    // Changes of a twentieth of the text.
    histories[0].tenths = [4, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let small = worth(&*refresh, 0, &histories[0]);
    assert!(small < 0.9 * both[0], "{small} {both:?}");
}

#[test]
fn measured_gains_of_a_page_and_its_host_decide_its_worth() {
    for name in [
        "user-centric-marginal",
        "user-centric",
        "user-centric(printed)",
    ] {
        let found = worths(name, &[Some(8.0), Some(1.0), Some(0.0), None], 2.0);
        assert!(
            found[0] > 2.0 * found[1] && found[1] > found[2],
            "{name}: {found:?}"
        );
        // A page without measurements is like the others of its host.
        assert!(
            found[0] > found[3] && found[3] > found[2],
            "{name}: {found:?}"
        );
    }
    // Only the printed policy gives up a page that gained nothing.
    for (name, given_up) in [
        ("user-centric(printed)", true),
        ("user-centric", false),
        ("holistic", false),
    ] {
        let found = worths(name, &[Some(8.0), Some(0.0)], 2.0);
        assert_eq!(found[1] == 0.0, given_up, "{name}: {found:?}");
    }
    // By measured gains alone, importance does not distinguish pages without measurements.
    let important =
        |name| worths(name, &[Some(8.0), None], 4.0)[1] / worths(name, &[Some(8.0), None], 2.0)[1];
    assert!((important("user-centric-marginal") - 1.0).abs() < 1e-9);
}

#[test]
fn a_hint_brings_the_visit_forward_and_a_failed_visit_uses_the_hint_up() {
    let (refresh, histories) = crawled("freshness", &[None]);
    let due = |history: &History| {
        let page = Page {
            number: Number(0),
            history,
        };
        let price = Price::new(20_000.0).unwrap();
        refresh.due(page, 2.0, price).unwrap()
    };
    let last = Moment::START + WEEK * 4;
    let plain = histories[0];
    let signalled = plain.signalled(last + WEEK / 10);
    assert!(due(&signalled) < due(&plain));
    let down = last + WEEK / 5;
    let failed = signalled.after(Visit::new(down, Outcome::Unreachable));
    let wait = due(&failed).since(down);
    assert!(wait > due(&signalled).since(last), "{wait:?}");
    let again = failed.signalled(down + WEEK / 10);
    assert!(due(&again) < due(&failed));
}
