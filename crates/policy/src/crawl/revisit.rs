//! The worth of another visit to a page that was visited before: a fresh copy, and links to new
//! pages.
//!
//! **Invariant:** worth and due time come from the same curve and the same poll time.

use crate::curve::{self, Curve};
use crate::{Moment, Page, Price, Worth};

/// A page that waits for another visit.
pub(super) struct NextVisit<'a> {
    pub page: Page<'a>,
    /// When a listing (a sitemap or a feed) is polled, whatever the price. `None` for other pages,
    /// or if listings have no interval. The copy of a polled listing has no worth, because users
    /// do not search for listings.
    pub polled: Option<Moment>,
    pub gain: VisitGain<'a>,
}

/// The gain of a visit: the sum of two curves, divided by `absence`.
pub(super) struct VisitGain<'a> {
    /// The worth of a fresh copy. `None` for a listing that is polled at an interval.
    pub copy: Option<Box<dyn Curve + 'a>>,
    /// The worth of the links to new pages. `None` if the page is no source.
    pub links: Option<Box<dyn Curve + 'a>>,
    /// Divisor of the worth ([`Retry::absence`](crate::retry::Retry::absence)): above 1 if the
    /// last visits found the page missing.
    pub absence: f64,
}

impl VisitGain<'_> {
    fn parts(&self) -> impl Iterator<Item = &dyn Curve> {
        let parts = [&self.copy, &self.links];
        parts.into_iter().filter_map(|part| part.as_deref())
    }
}

impl Curve for VisitGain<'_> {
    fn at(&self, age: f64) -> f64 {
        let both = self.parts().map(|part| Worth::new(part.at(age)).value());
        both.sum::<f64>() / self.absence
    }

    /// Returns the smaller of the ages at which one part alone reaches the worth. The sum of both
    /// parts reaches it at that age or earlier.
    fn age_of(&self, worth: f64) -> Option<f64> {
        let ages = self.parts().map(|part| part.age_of(worth * self.absence));
        ages.flatten().min_by(f64::total_cmp)
    }
}

impl NextVisit<'_> {
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
