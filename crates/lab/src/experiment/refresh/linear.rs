//! The index that one might be tempted to use: what is expected to have changed, by importance.
//!
//! Worth `w·λ·τ`: the first-order form of every worth here. It keeps on visiting pages that change too often to
//! be caught; in the lab only, to be beaten.

use std::time::Duration;

use policy::{Fact, Moment, Needs, Page, Price, Rates, Refresh, Worth};

/// Worth grows evenly with age, by rate and importance.
pub(super) struct Linear(pub Rates);

impl Refresh for Linear {
    fn needs(&self) -> Needs {
        self.0.needs()
    }

    fn observe(&mut self, fact: &Fact<'_>) {
        self.0.observe(fact);
    }

    fn worth(&self, page: Page<'_>, importance: f64, now: Moment) -> Worth {
        let age = page
            .history
            .asked
            .map(|asked| now.since(asked).as_secs_f64());
        Worth::new(age.map_or(0.0, |age| importance * self.0.rate(page) * age))
    }

    fn due(&self, page: Page<'_>, importance: f64, price: Price) -> Option<Moment> {
        let wait = price.value() / (importance * self.0.rate(page));
        let wait = Duration::try_from_secs_f64(wait).ok()?;
        // One microsecond more: rounding down would make it due just before it is worth the price.
        Some(page.history.asked? + wait + Duration::from_micros(1))
    }
}
