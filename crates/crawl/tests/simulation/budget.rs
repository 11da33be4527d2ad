//! A token bucket that models `frontier::Budget`.

use policy::Moment;

/// Fetches that a crawl may make, by a model.
pub struct ModelBucket {
    /// The budget, in fetches per second.
    pub per_second: f64,
    saved: f64,
    at: Moment,
}

impl ModelBucket {
    /// Creates a bucket with one saved fetch.
    pub fn new(per_second: f64, now: Moment) -> Self {
        Self {
            per_second,
            saved: 1.0,
            at: now,
        }
    }

    /// Adds what the budget allows since the last call.
    pub fn fill(&mut self, now: Moment) {
        let brought = now.since(self.at).as_secs_f64() * self.per_second;
        self.saved = (self.saved + brought).min(self.per_second.max(1.0));
        self.at = now;
    }

    /// Takes one fetch from the bucket. If `must_have`, checks that the bucket has one.
    pub fn spend(&mut self, now: Moment, must_have: bool) {
        self.fill(now);
        check!(
            !must_have || self.saved >= 1.0 - 1e-3,
            "a page is asked for with {} fetches saved",
            self.saved
        );
        self.saved -= 1.0;
    }

    /// Takes back fetches that were not made.
    pub fn give_back(&mut self, requests: usize) {
        self.saved += requests as f64;
    }
}
