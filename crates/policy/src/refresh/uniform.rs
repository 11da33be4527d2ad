//! Every page equally often, whatever it does.
//!
//! Cho & Garcia-Molina, "Effective page refresh policies for web crawlers" (TODS 2003): the better
//! of the two naive policies (.3651 against .3167 for proportional, in their example).

use std::time::Duration;

use super::Refresh;
use crate::{Moment, Page, Price, Worth};

/// Worth grows evenly with the age of the copy and reaches one after `every`.
#[derive(Debug, Clone, Copy)]
pub struct Uniform {
    every: Duration,
}

impl Uniform {
    /// Visits every page once in `every`, at a price of one; below one second it is one second.
    pub fn every(every: Duration) -> Self {
        Self {
            every: every.max(Duration::from_secs(1)),
        }
    }
}

impl Refresh for Uniform {
    fn worth(&self, page: Page<'_>, _importance: f64, now: Moment) -> Worth {
        match page.history.asked {
            Some(asked) => Worth::new(now.since(asked).as_secs_f64() / self.every.as_secs_f64()),
            None => Worth::NONE,
        }
    }

    fn due(&self, page: Page<'_>, _importance: f64, price: Price) -> Option<Moment> {
        let wait = Duration::try_from_secs_f64(self.every.as_secs_f64() * price.value()).ok()?;
        // One microsecond more: rounding down would make it due just before it is worth the price.
        Some(page.history.asked? + wait + Duration::from_micros(1))
    }
}
