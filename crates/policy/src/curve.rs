//! The worth of a revisit as a function of age, and the search for the time at which the worth
//! reaches a price. The age is the time since the page was last requested.
//!
//! **Invariant:** [`due`] returns the first microsecond at which [`worth`] reaches the price,
//! because it searches by calling [`worth`].

use std::time::Duration;

use crate::moment::DAY;
use crate::{Moment, Page, Price, Worth};

/// The worth of a revisit as a function of the time since the last request.
///
/// A curve is computed once from all that is known of one page. It can then be evaluated at
/// many ages and prices, without another scan of the page's history.
pub trait Curve {
    /// Returns the worth at an age above zero, in seconds. The worth never falls as the age
    /// grows.
    fn at(&self, age: f64) -> f64;

    /// Returns the approximate age, in seconds, at which the worth reaches `_worth`, if there is
    /// a formula. The value only speeds up the search.
    fn age_of(&self, _worth: f64) -> Option<f64> {
        None
    }

    /// Returns the worth of the first copy of a page. `None` if the policy cannot compare it
    /// with the worth of a revisit; then new pages come first.
    fn missing(&self) -> Option<f64> {
        None
    }
}

/// Returns what a visit is worth now. 0 if the page was not requested before `now`.
pub fn worth(curve: &(impl Curve + ?Sized), page: Page<'_>, now: Moment) -> Worth {
    match page.history.asked {
        Some(asked) if now > asked => Worth::new(curve.at(now.since(asked).as_secs_f64())),
        _ => Worth::NONE,
    }
}

/// Returns the first moment at which a visit is worth the price, or `None` if it never is.
///
/// The search starts near the age that [`Curve::age_of`] returns. If it returns `None`, the search
/// covers the whole range of time.
pub fn due(curve: &(impl Curve + ?Sized), page: Page<'_>, price: Price) -> Option<Moment> {
    let asked = page.history.asked?;
    // The price minus the worth at an age in microseconds. A visit is worth the price if it is at
    // most 0.
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

/// Two ages in microseconds, each with the price minus the worth at that age. A visit is worth the
/// price at the late age and not at the early one.
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

    /// Returns the age to try next, or `None` if no age lies between the two.
    ///
    /// The next age is the geometric mean while the ages differ by more than a factor of 4. After
    /// that it is the zero of the chord (regula falsi). At every third step, or if the chord has
    /// no finite zero, it is the midpoint: a curve may be almost flat on one side of a bend, where
    /// the chord converges slowly.
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

/// Returns the mean time between visits so far, in days. `None` before the first revisit.
pub fn days_between_visits(page: Page<'_>) -> Option<f64> {
    let history = page.history;
    let revisits = f64::from(history.revisits);
    (revisits > 0.0).then(|| history.watched.as_secs_f64() / revisits / DAY)
}
