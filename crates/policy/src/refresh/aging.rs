//! What is a visit worth to a copy that time and the words of others make old?

use crate::Curve;
use crate::estimate::{Trust, unheeded};
use crate::moment::DAY;
use crate::plan::gain::{age_of_gain, gain};
use crate::plan::signal::Signalled;
use crate::{Page, Term};

/// `(w/λ)·g(λτ)`, or what signals make of it.
#[derive(Debug, Clone)]
pub struct Aging {
    /// w, what a fresh copy is worth a second.
    weight: f64,
    /// λ, changes a second.
    rate: f64,
    /// How its changes are signalled, if they are, and signals since it was seen.
    signalled: Option<(Signalled, u16)>,
}

impl Aging {
    /// A page that changes at this rate and of which a fresh copy is worth so much a second.
    pub fn of(page: Page<'_>, rate: f64, weight: f64, trust: &Trust) -> Self {
        let signalled = trust.of(page, rate);
        Self {
            weight,
            rate,
            signalled: signalled.map(|signalled| (signalled, unheeded(page.history))),
        }
    }

    /// The same of a page of which nobody says anything.
    pub fn deaf(rate: f64, weight: f64) -> Self {
        Self {
            weight,
            rate,
            signalled: None,
        }
    }

    /// What there is to say of the signals.
    pub fn terms(&self) -> Vec<Term> {
        let Some((signalled, signals)) = &self.signalled else {
            return Vec::new();
        };
        vec![
            Term::new("signals", f64::from(*signals)),
            Term::new("days older by them", signalled.age(0.0, *signals) / DAY),
        ]
    }
}

impl Curve for Aging {
    fn at(&self, age: f64) -> f64 {
        match &self.signalled {
            None => self.weight / self.rate * gain(self.rate * age),
            Some((signalled, signals)) => {
                self.weight * signalled.worth(signalled.age(age, *signals))
            }
        }
    }

    fn age_of(&self, worth: f64) -> Option<f64> {
        let plain = || age_of_gain(worth * self.rate / self.weight) / self.rate;
        self.signalled.is_none().then(plain)
    }
}
