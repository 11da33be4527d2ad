//! The worth of a visit to a copy that ages by time and by change hints.
//!
//! The change rate is an estimate. [`Aging::averaged`] averages the worth over a Gamma posterior
//! of the rate. A page whose few visits suggest a rate that is too high to be worth a fetch then
//! keeps gaining worth with age, and is visited again.

use crate::Curve;
use crate::estimate::{Trust, pending_hints};
use crate::moment::DAY;
use crate::plan::gain::{age_of_averaged_gain, age_of_gain, averaged_gain};
use crate::plan::signal::Signalled;
use crate::{Page, Term};

/// The curve `(w/λ)·g(λτ)`, or the curve of [`Signalled`] for a page with change hints.
#[derive(Debug, Clone)]
pub struct Aging {
    /// w, the worth of a fresh copy per second.
    weight: f64,
    /// λ, changes per second. A change that replaces a share of the text counts as that share.
    rate: f64,
    /// Shape of the Gamma posterior of λ; infinite if λ is taken as known.
    certainty: f64,
    /// The model of the page's change hints, if it has any, and the number of
    /// [pending hints](pending_hints).
    signalled: Option<(Signalled, u16)>,
}

impl Aging {
    /// Creates the curve of a page with this change rate and this worth of a fresh copy, both
    /// per second.
    pub fn of(page: Page<'_>, rate: f64, weight: f64, trust: &Trust) -> Self {
        Self::of_text(page, rate, 1.0, weight, trust)
    }

    /// Creates the curve of a page whose changes, at this rate, replace this share of its text.
    pub fn of_text(page: Page<'_>, rate: f64, share: f64, weight: f64, trust: &Trust) -> Self {
        let signalled = trust.of(page, rate, share);
        Self {
            signalled: signalled.map(|signalled| (signalled, pending_hints(page.history))),
            ..Self::without_hints(rate * share, weight)
        }
    }

    /// Creates the curve of a page without change hints.
    pub fn without_hints(rate: f64, weight: f64) -> Self {
        Self {
            weight,
            rate,
            certainty: f64::INFINITY,
            signalled: None,
        }
    }

    /// Averages the worth over a Gamma posterior of the rate with this shape. Has no effect on a
    /// page with change hints.
    #[must_use]
    pub fn averaged(self, certainty: f64) -> Self {
        Self { certainty, ..self }
    }

    /// Returns the terms about change hints, for explanations.
    pub fn terms(&self) -> Vec<Term> {
        let Some((signalled, signals)) = &self.signalled else {
            return Vec::new();
        };
        vec![
            Term::new("change hints", f64::from(*signals)),
            Term::new(
                "days that hints add to the age",
                signalled.age(0.0, *signals) / DAY,
            ),
        ]
    }
}

impl Curve for Aging {
    fn at(&self, age: f64) -> f64 {
        match &self.signalled {
            None => self.weight / self.rate * averaged_gain(self.rate * age, self.certainty),
            Some((signalled, signals)) => {
                self.weight * signalled.worth(signalled.age(age, *signals))
            }
        }
    }

    fn age_of(&self, worth: f64) -> Option<f64> {
        let share = worth * self.rate / self.weight;
        let plain = || match self.certainty {
            f64::INFINITY => age_of_gain(share) / self.rate,
            certainty => age_of_averaged_gain(share, certainty) / self.rate,
        };
        self.signalled.is_none().then(plain)
    }
}
