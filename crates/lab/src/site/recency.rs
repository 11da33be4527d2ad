//! How fresh are the copies of whoever fetched from this web?
//!
//! The judge is the web itself: which version each answer showed, and which one the page shows later. What
//! the crawler believes has no part in it. The web must run with our time
//! ([`Clock::Running(1.0)`](super::Clock)), since answers are logged in it.

use std::collections::BTreeMap;

use super::serving::Serving;
use super::web::PageNumber;

/// Moments at which all copies are looked at.
const LOOKS: u32 = 400;

impl Serving {
    /// The share of copies that were as their page, from one moment of the web to another, over all pages that
    /// were fetched and exist; `None` if there are none.
    pub fn freshness(&self, from: f64, until: f64) -> Option<f64> {
        let web = self.web();
        let copies = self.copies();
        let (mut fresh, mut all) = (0u64, 0u64);
        for look in 0..LOOKS {
            let at = from + (until - from) * (f64::from(look) + 0.5) / f64::from(LOOKS);
            for (number, times) in &copies {
                let page = web.page(*number);
                let before = times.partition_point(|time| *time <= at);
                let Some(copied) = before.checked_sub(1).map(|last| times[last]) else {
                    continue;
                };
                if page.exists(at) {
                    all += 1;
                    let same = web.version(page, copied).id == web.version(page, at).id;
                    fresh += u64::from(same);
                }
            }
        }
        (all > 0).then(|| fresh as f64 / all as f64)
    }

    /// When each page was copied, or found as it was, in the order of time.
    fn copies(&self) -> BTreeMap<PageNumber, Vec<f64>> {
        let web = self.web();
        let mut copies: BTreeMap<PageNumber, Vec<f64>> = BTreeMap::new();
        for (server, _) in web.servers() {
            for visit in self.log().visits(server) {
                let copied = matches!(visit.status, 200 | 304);
                if let Some(page) = web.at(server, &visit.path).filter(|_| copied) {
                    let times = copies.entry(page.number()).or_default();
                    times.push(visit.arrived.as_secs_f64());
                }
            }
        }
        for times in copies.values_mut() {
            times.sort_unstable_by(f64::total_cmp);
        }
        copies
    }
}
