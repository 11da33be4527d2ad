//! Every page equally often, whatever it does.
//!
//! Cho & Garcia-Molina, "Effective page refresh policies for web crawlers" (TODS 2003): the better
//! of the two naive policies (.3651 against .3167 for proportional, in their example).

use std::time::Duration;

use super::Refresh;
use crate::Curve;
use crate::Page;

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

impl Curve for Uniform {
    fn at(&self, age: f64) -> f64 {
        age / self.every.as_secs_f64()
    }

    fn age_of(&self, worth: f64) -> Option<f64> {
        Some(worth * self.every.as_secs_f64())
    }
}

impl Refresh for Uniform {
    fn curve<'a>(&'a self, _page: Page<'_>, _importance: f64) -> Box<dyn Curve + 'a> {
        Box::new(*self)
    }
}
