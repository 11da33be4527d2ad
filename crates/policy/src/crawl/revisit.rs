//! What is another visit worth to a page that was asked for before: a fresh copy, and links to new pages?
//!
//! **Invariant:** worth and due time are of one curve, which is made once of all that is known of the page.

use crate::curve::{self, Curve};
use crate::{Moment, Page, Price, Worth};

/// A page that waits for another visit.
pub(super) struct Revisit<'a> {
    pub page: Page<'a>,
    /// When it is polled whatever the price, if it lists other pages: nobody searches for a copy of it.
    pub polled: Option<Moment>,
    pub gain: Gain<'a>,
}

/// What a visit gives.
pub(super) struct Gain<'a> {
    pub copy: Option<Box<dyn Curve + 'a>>,
    pub links: Option<Box<dyn Curve + 'a>>,
    /// What a page that was found missing so often is worth less by: a factor.
    pub absence: f64,
}

impl Gain<'_> {
    fn parts(&self) -> impl Iterator<Item = &dyn Curve> {
        let parts = [&self.copy, &self.links];
        parts.into_iter().filter_map(|part| part.as_deref())
    }
}

impl Curve for Gain<'_> {
    fn at(&self, age: f64) -> f64 {
        let both = self.parts().map(|part| Worth::new(part.at(age)).value());
        both.sum::<f64>() / self.absence
    }

    /// Not after either alone is worth it, and often before.
    fn age_of(&self, worth: f64) -> Option<f64> {
        let ages = self.parts().map(|part| part.age_of(worth * self.absence));
        ages.flatten().min_by(f64::total_cmp)
    }
}

impl Revisit<'_> {
    pub fn worth(&self, now: Moment) -> Worth {
        if self.polled.is_some_and(|due| due <= now) {
            return Worth::new(f64::MAX);
        }
        curve::worth(&self.gain, self.page, now)
    }

    pub fn due(&self, price: Price) -> Option<Moment> {
        let pays = curve::due(&self.gain, self.page, price);
        pays.into_iter().chain(self.polled).min()
    }
}
