//! Freshness of a crawler's copies of this web, and the freshness of a uniform revisit policy.
//!
//! The web itself is the judge: it knows which version each answer had, and which version a page
//! has later. What the crawler believes does not matter. The web must run in real time
//! ([`WebClock::Running(1.0)`](super::WebClock)), because answers are logged in real time. Sitemaps
//! and feeds are not judged, because users do not read them.

use std::collections::{BTreeMap, BTreeSet};

use super::serving::ServedWeb;
use super::web::{PageNumber, Web};

/// Number of moments at which all copies are compared.
const LOOKS: u32 = 400;

/// The times, in seconds of the web, at which each page was copied or found unchanged, in order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Copies(BTreeMap<PageNumber, Vec<f64>>);

/// A request for a page.
#[derive(Debug, Clone, Copy, PartialEq)]
struct PageRequest {
    at: f64,
    page: PageNumber,
    /// Whether the answer was the page, or that it is unchanged.
    copied: bool,
}

impl ServedWeb {
    /// Returns the mean share of copies that were equal to their page, between two moments in
    /// seconds of the web. Only pages that were fetched and exist count. Returns `None` if there
    /// are none.
    pub fn freshness(&self, from: f64, until: f64) -> Option<f64> {
        self.copies().freshness(self.web(), from, until, LOOKS)
    }

    /// Returns the copies that were made.
    pub fn copies(&self) -> Copies {
        let mut copies = Copies::default();
        for request in self.requests().iter().filter(|request| request.copied) {
            copies.add(request.page, request.at);
        }
        copies
    }

    /// Returns the copies of a uniform revisit policy with the same requests.
    ///
    /// First copies stay as they were. Every later request, at its time, goes to the page with
    /// the oldest copy.
    pub fn copies_alike(&self) -> Copies {
        copies_alike(&self.requests(), self.web())
    }

    /// Returns all requests for pages that users read, in the order of time.
    fn requests(&self) -> Vec<PageRequest> {
        let web = self.web();
        let mut all = Vec::new();
        for (server, _) in web.servers() {
            for visit in self.log().visits(server) {
                let page = web
                    .at(server, &visit.path)
                    .map(super::web::InventedPage::number);
                if let Some(page) = page.filter(|page| web.is_text(*page)) {
                    all.push(PageRequest {
                        at: visit.arrived.as_secs_f64(),
                        page,
                        copied: matches!(visit.status, 200 | 304),
                    });
                }
            }
        }
        all.sort_unstable_by(|a, b| a.at.total_cmp(&b.at));
        all
    }
}

fn copies_alike(requests: &[PageRequest], web: &Web) -> Copies {
    let mut copies = Copies::default();
    // Times are not negative, so their bits are in the same order.
    let mut oldest: BTreeSet<(u64, PageNumber)> = BTreeSet::new();
    for request in requests {
        let known = copies.0.contains_key(&request.page);
        let page = match known {
            false if request.copied => request.page,
            false => continue,
            true => match oldest.pop_first() {
                Some((_, page)) => page,
                None => continue,
            },
        };
        // A page that is gone is not requested again.
        if web.page(page).exists(request.at) {
            copies.add(page, request.at);
            oldest.insert((request.at.to_bits(), page));
        }
    }
    copies
}

impl Copies {
    fn add(&mut self, page: PageNumber, at: f64) {
        self.0.entry(page).or_default().push(at);
    }

    /// Returns the number of pages with copies.
    pub fn pages(&self) -> usize {
        self.0.len()
    }

    /// Returns when a page was first copied, in seconds of the web; `None` if it never was.
    pub fn first(&self, page: PageNumber) -> Option<f64> {
        self.0.get(&page)?.first().copied()
    }

    /// Returns whether the copy of a page is equal to the page at a moment. Returns `None` if
    /// there was no copy yet. The copy of a page that is gone is not fresh.
    pub fn is_fresh(&self, page: PageNumber, web: &Web, at: f64) -> Option<bool> {
        let times = self.0.get(&page)?;
        let before = times.partition_point(|time| *time <= at);
        let copied = before.checked_sub(1).map(|last| times[last])?;
        let known = web.page(page);
        Some(known.exists(at) && web.version(known, copied).id == web.version(known, at).id)
    }

    /// Returns the share of copies that were equal to their page, over all pages that exist, at
    /// `looks` evenly spaced moments. Returns `None` if there are none.
    pub fn freshness(&self, web: &Web, from: f64, until: f64, looks: u32) -> Option<f64> {
        let (mut fresh, mut all) = (0u64, 0u64);
        for look in 0..looks {
            let at = from + (until - from) * (f64::from(look) + 0.5) / f64::from(looks);
            for page in self.0.keys().filter(|page| web.page(**page).exists(at)) {
                if let Some(same) = self.is_fresh(*page, web, at) {
                    all += 1;
                    fresh += u64::from(same);
                }
            }
        }
        (all > 0).then(|| fresh as f64 / all as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::super::WebPlan;
    use super::*;

    #[test]
    fn a_uniform_policy_keeps_first_copies_and_moves_later_requests() {
        let mut plan = WebPlan::small(3);
        plan.population.born_later = 0.0;
        let web = plan.invent();
        let requests: Vec<PageRequest> =
            [(0, 1.0), (1, 2.0), (0, 3.0), (0, 4.0), (2, 5.0), (0, 6.0)]
                .into_iter()
                .map(|(page, at)| PageRequest {
                    at,
                    page: PageNumber(page),
                    copied: true,
                })
                .collect();
        let Copies(alike) = copies_alike(&requests, &web);
        let times = |page: u32| alike[&PageNumber(page)].clone();
        // The third request goes to page 0, whose copy is the oldest, the fourth to page 1, the
        // last to page 0 again.
        assert_eq!(times(0), [1.0, 3.0, 6.0]);
        assert_eq!(times(1), [2.0, 4.0]);
        assert_eq!(times(2), [5.0]);
    }
}
