//! How fresh are the copies of whoever fetched from this web, and how fresh could they be?
//!
//! The judge is the web itself: which version each answer showed, and which one the page shows later. What
//! the crawler believes has no part in it. The web must run with our time
//! ([`Clock::Running(1.0)`](super::Clock)), since answers are logged in it. Sitemaps and feeds are not for people and not judged.

use std::collections::{BTreeMap, BTreeSet};

use super::serving::Serving;
use super::web::{PageNumber, Web};

/// Moments at which all copies are looked at.
const LOOKS: u32 = 400;

/// When each page was copied, or found as it was, in the order of time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Copies(BTreeMap<PageNumber, Vec<f64>>);

/// A request for a page.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Asked {
    at: f64,
    page: PageNumber,
    /// It was answered with the page, or that the page is as it was.
    copied: bool,
}

impl Serving {
    /// The share of copies that were as their page, from one moment of the web to another, over all pages that
    /// were fetched and exist; `None` if there are none.
    pub fn freshness(&self, from: f64, until: f64) -> Option<f64> {
        self.copies().freshness(self.web(), from, until, LOOKS)
    }

    /// The copies that were made.
    pub fn copies(&self) -> Copies {
        let mut copies = Copies::default();
        for asked in self.asked().iter().filter(|asked| asked.copied) {
            copies.add(asked.page, asked.at);
        }
        copies
    }

    /// The copies that there were if whoever fetched had visited all pages alike: first copies as they were made, and every later
    /// request, at its moment, for the page whose copy is the oldest.
    pub fn copies_alike(&self) -> Copies {
        copies_alike(&self.asked(), self.web())
    }

    /// All requests for pages that people read, in the order of time.
    fn asked(&self) -> Vec<Asked> {
        let web = self.web();
        let mut all = Vec::new();
        for (server, _) in web.servers() {
            for visit in self.log().visits(server) {
                let page = web.at(server, &visit.path).map(super::web::Page::number);
                if let Some(page) = page.filter(|page| web.is_text(*page)) {
                    all.push(Asked {
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

fn copies_alike(asked: &[Asked], web: &Web) -> Copies {
    let mut copies = Copies::default();
    // Times are not negative, so their bits are ordered as they are.
    let mut oldest: BTreeSet<(u64, PageNumber)> = BTreeSet::new();
    for request in asked {
        let known = copies.0.contains_key(&request.page);
        let page = match known {
            false if request.copied => request.page,
            false => continue,
            true => match oldest.pop_first() {
                Some((_, page)) => page,
                None => continue,
            },
        };
        // What is gone is not asked for again.
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

    /// How many pages there are copies of.
    pub fn pages(&self) -> usize {
        self.0.len()
    }

    /// When a page was first copied.
    pub fn first(&self, page: PageNumber) -> Option<f64> {
        self.0.get(&page)?.first().copied()
    }

    /// Whether the copy of a page is as the page at a moment; `None` if there was no copy yet. A copy of what is gone is not.
    pub fn is_fresh(&self, page: PageNumber, web: &Web, at: f64) -> Option<bool> {
        let times = self.0.get(&page)?;
        let before = times.partition_point(|time| *time <= at);
        let copied = before.checked_sub(1).map(|last| times[last])?;
        let known = web.page(page);
        Some(known.exists(at) && web.version(known, copied).id == web.version(known, at).id)
    }

    /// The share of copies that were as their page, over all pages that exist, at so many moments from one to another; `None` if there are none.
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
    use super::super::Plan;
    use super::*;

    #[test]
    fn visiting_alike_keeps_first_copies_and_moves_the_others() {
        let mut plan = Plan::small(3);
        plan.population.born_later = 0.0;
        let web = plan.invent();
        let asked: Vec<Asked> = [(0, 1.0), (1, 2.0), (0, 3.0), (0, 4.0), (2, 5.0), (0, 6.0)]
            .into_iter()
            .map(|(page, at)| Asked {
                at,
                page: PageNumber(page),
                copied: true,
            })
            .collect();
        let Copies(alike) = copies_alike(&asked, &web);
        let times = |page: u32| alike[&PageNumber(page)].clone();
        // The third request finds page 0 the oldest, the fourth page 1, the last page 0 again.
        assert_eq!(times(0), [1.0, 3.0, 6.0]);
        assert_eq!(times(1), [2.0, 4.0]);
        assert_eq!(times(2), [5.0]);
    }
}
