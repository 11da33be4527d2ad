//! When has the worth of a visit, which grows as the copy ages, reached a price?
//!
//! **Invariant:** [`due`] is the first microsecond at which [`worth`] pays, because it is found by asking [`worth`].

use crate::{Moment, Page, Price, Worth};

/// What a visit is worth as the copy ages.
pub trait Curve {
    /// At an age in seconds, above zero. It never falls.
    fn at(&self, age: f64) -> f64;

    /// About the age at which it is worth this, where there is a formula; it only saves time.
    fn age_of(&self, _worth: f64) -> Option<f64> {
        None
    }
}

/// What a visit is worth now; nothing if the page was never asked for, or in this very moment.
pub fn worth(curve: &impl Curve, page: Page<'_>, now: Moment) -> Worth {
    match page.history.asked {
        Some(asked) if now > asked => Worth::new(curve.at(now.since(asked).as_secs_f64())),
        _ => Worth::NONE,
    }
}

/// The first moment at which it is worth the price: at once near the formula's answer, else by halving all
/// the time there is.
pub fn due(curve: &impl Curve, page: Page<'_>, price: Price) -> Option<Moment> {
    let asked = page.history.asked?.micros();
    let pays = |at: u64| worth(curve, page, Moment::from_micros(at)).pays(price);
    let (mut before, mut after) = (asked, u64::MAX);
    if !pays(after) {
        return None;
    }
    let guess = curve.age_of(price.value());
    if let Some(guess) = guess.filter(|age| (0.0..1e12).contains(age)) {
        let guess = asked.saturating_add((guess * 1e6) as u64);
        let (low, high) = (guess.saturating_sub(2).max(asked), guess.saturating_add(2));
        if pays(high) && !pays(low) {
            (before, after) = (low, high);
        }
    }
    while after - before > 1 {
        let middle = before + (after - before) / 2;
        if pays(middle) {
            after = middle;
        } else {
            before = middle;
        }
    }
    Some(Moment::from_micros(after))
}

/// Days between revisits so far; `None` if there were none.
pub fn days_between_visits(page: Page<'_>) -> Option<f64> {
    let history = page.history;
    let revisits = f64::from(history.revisits);
    (revisits > 0.0).then(|| history.watched.as_secs_f64() / revisits / super::DAY)
}
