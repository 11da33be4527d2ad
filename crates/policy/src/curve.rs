//! When has the worth of a visit, which grows as the copy ages, reached a price?
//!
//! **Invariant:** [`due`] is the first microsecond at which [`worth`] pays, because it is found by asking [`worth`].

use std::time::Duration;

use crate::moment::DAY;
use crate::{Moment, Page, Price, Worth};

/// What a visit is worth as the copy ages.
///
/// A value that was made of all that is known of one page; it is asked for many moments and prices, which
/// would be a scan of the page's history each if a [`Policy`](crate::Policy) were asked.
pub trait Curve {
    /// At an age in seconds, above zero. It never falls.
    fn at(&self, age: f64) -> f64;

    /// About the age at which it is worth this, where there is a formula; it only saves time.
    fn age_of(&self, _worth: f64) -> Option<f64> {
        None
    }

    /// What the first copy is worth, where there is none yet; `None`: the policy has no unit for it, and
    /// new pages come first.
    fn missing(&self) -> Option<f64> {
        None
    }
}

/// What a visit is worth now; nothing if the page was never asked for, or in this very moment.
pub fn worth(curve: &(impl Curve + ?Sized), page: Page<'_>, now: Moment) -> Worth {
    match page.history.asked {
        Some(asked) if now > asked => Worth::new(curve.at(now.since(asked).as_secs_f64())),
        _ => Worth::NONE,
    }
}

/// The first moment at which it is worth the price: at once near the formula's answer, else by narrowing down all
/// the time there is.
pub fn due(curve: &(impl Curve + ?Sized), page: Page<'_>, price: Price) -> Option<Moment> {
    let asked = page.history.asked?;
    // By how much a visit after so many microseconds falls short of the price; not above zero where it pays.
    let lacks = |age: u64| {
        let then = asked + Duration::from_micros(age);
        price.value() - worth(curve, page, then).value()
    };
    let last = u64::MAX - asked.micros();
    let mut between = Bracket {
        early: (0, price.value()),
        late: (last, lacks(last)),
    };
    if between.late.1 > 0.0 {
        return None;
    }
    let guess = curve.age_of(price.value());
    if let Some(guess) = guess.filter(|age| (0.0..1e12).contains(age)) {
        let guess = (guess * 1e6) as u64;
        for age in [guess.saturating_add(2), guess.saturating_sub(2)] {
            between.narrow(age, lacks);
        }
    }
    for step in 1.. {
        let Some(middle) = between.middle(step) else {
            break;
        };
        between.narrow(middle, lacks);
    }
    Some(asked + Duration::from_micros(between.late.0))
}

/// Two ages in microseconds and what a visit lacks there: the early one does not pay, the late one does.
struct Bracket {
    early: (u64, f64),
    late: (u64, f64),
}

impl Bracket {
    fn narrow(&mut self, age: u64, lacks: impl Fn(u64) -> f64) {
        if age <= self.early.0 || age >= self.late.0 {
            return;
        }
        match (age, lacks(age)) {
            paying if paying.1 <= 0.0 => self.late = paying,
            other => self.early = other,
        }
    }

    /// Where to look next; `None`: there is nothing between. First for the size of the age; then along the chord, and every third time by halves: a curve may be
    /// all but level on one side of a bend.
    fn middle(&self, step: u32) -> Option<u64> {
        let ((early, below), (late, above)) = (self.early, self.late);
        let apart = late - early;
        if apart <= 1 {
            return None;
        }
        let chord = apart as f64 * (below / (below - above));
        let middle = if late / 4 > early {
            (early.max(1) as f64).sqrt() * (late as f64).sqrt()
        } else if step.is_multiple_of(3) || !chord.is_finite() {
            early.midpoint(late) as f64
        } else {
            early as f64 + chord
        };
        Some((middle as u64).clamp(early + 1, late - 1))
    }
}

/// Days between revisits so far; `None` if there were none.
pub fn days_between_visits(page: Page<'_>) -> Option<f64> {
    let history = page.history;
    let revisits = f64::from(history.revisits);
    (revisits > 0.0).then(|| history.watched.as_secs_f64() / revisits / DAY)
}
