//! What every policy obeys, whatever it values.

use std::time::Duration;

use proptest::prelude::*;

use crate::order::BreadthFirst;
use crate::refresh::Uniform;
use crate::retry::Retry;
use crate::{Crawl, History, Moment, Outcome, Policy, Price, Visit};

fn policies() -> Vec<(&'static str, Box<dyn Policy>)> {
    let refresh = Uniform::every(Duration::from_secs(86_400));
    vec![
        ("breadth-first", Box::new(BreadthFirst)),
        ("uniform", Box::new(refresh)),
        ("crawl", Box::new(Crawl::default())),
        (
            "crawl that refreshes",
            Box::new(Crawl {
                refresh: Some(refresh),
                retry: Retry::default(),
                order: BreadthFirst,
            }),
        ),
    ]
}

fn history() -> impl Strategy<Value = History> {
    let outcome = prop::sample::select(vec![
        Outcome::Changed,
        Outcome::Unchanged,
        Outcome::Gone,
        Outcome::Unreachable,
        Outcome::Refused,
    ]);
    let visits = prop::collection::vec((0u64..1 << 40, outcome), 0..6);
    (0u64..1 << 50, any::<u16>(), visits).prop_map(|(start, depth, visits)| {
        let mut at = Moment::from_micros(start);
        visits
            .into_iter()
            .fold(History::discovered(at, depth), |history, (gap, outcome)| {
                at = at + Duration::from_micros(gap);
                history.after(Visit { at, outcome })
            })
    })
}

proptest! {
    #[test]
    fn every_policy_obeys(page in history(), price in 0.01f64..3.0, cheaper in 0.01f64..1.0, later in 0u64..1 << 52) {
        let dear = Price::new(price).unwrap();
        let cheap = Price::new(price * cheaper).unwrap();
        for (name, policy) in policies() {
            let now = page.discovered + Duration::from_micros(later);
            prop_assert!(policy.worth(&page, now).value().is_finite(), "{}: worth is finite", name);
            prop_assert_eq!(policy.worth(&page, now), policy.worth(&page, now), "{}: same input, same output", name);
            let Some(due) = policy.due(&page, dear) else { continue };
            prop_assert!(policy.worth(&page, due).pays(dear), "{}: due is the inverse of worth", name);
            let sooner = policy.due(&page, cheap);
            prop_assert!(sooner.is_some_and(|sooner| sooner <= due), "{}: a lower price never delays", name);
        }
    }
}
