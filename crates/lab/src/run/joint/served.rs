//! The judge of a crawl of a town: which clicks were served, and what the fetches went to.
//!
//! **Invariant:** a click at time t counts as served if the crawl had fetched the page before t
//! and the page has not changed between that fetch and t.

use policy::Moment;

use crate::kinds::Town;

/// The result of a crawl of a town, in the measured period.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Served {
    /// Seconds of the measured period.
    pub seconds: f64,
    /// Served clicks on pages that existed at the first moment.
    pub old: f64,
    /// Served clicks on pages that were born later.
    pub new: f64,
    /// All clicks in the period.
    pub clicks: f64,
    /// All clicks in the period on pages that were born later.
    pub new_clicks: f64,
    /// First copies.
    pub firsts: f64,
    /// Polls of sources and sitemaps.
    pub polls: f64,
    /// Refreshes.
    pub refreshes: f64,
    /// Seconds of connection time that the fetches took.
    pub busy: f64,
}

/// What a fetch is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FetchKind {
    First,
    Poll,
    Refresh,
}

/// Counts served clicks.
pub(super) struct ClickJudge<'t> {
    town: &'t Town,
    measured: Moment,
    /// Until when the copy of each page is fresh; `None` if there is no copy.
    fresh: Vec<Option<Moment>>,
    sums: Served,
}

impl<'t> ClickJudge<'t> {
    pub fn new(town: &'t Town, measured: Moment) -> Self {
        let mut judge = Self {
            town,
            measured,
            fresh: vec![None; town.pages.len()],
            sums: Served {
                seconds: town.until.since(measured).as_secs_f64(),
                ..Served::default()
            },
        };
        for (number, page) in town.pages.iter().enumerate() {
            let clicks = page.clicks_between(measured, town.until) as f64;
            judge.sums.clicks += clicks;
            if number < town.old {
                judge.copied(number, town.from);
            } else {
                judge.sums.new_clicks += clicks;
            }
        }
        judge
    }

    /// Counts a fetch.
    pub fn fetched(&mut self, kind: FetchKind, site: u32, at: Moment) {
        if at < self.measured {
            return;
        }
        match kind {
            FetchKind::First => self.sums.firsts += 1.0,
            FetchKind::Poll => self.sums.polls += 1.0,
            FetchKind::Refresh => self.sums.refreshes += 1.0,
        }
        self.sums.busy += self.town.seconds[site as usize];
    }

    /// Counts the clicks that a copy made now serves until the page changes.
    pub fn copied(&mut self, number: usize, at: Moment) {
        let page = &self.town.pages[number];
        let until = page.replaced(at).unwrap_or(self.town.until);
        // A copy that is still fresh serves the same clicks as the new one, and they are counted.
        if self.fresh[number].is_some_and(|fresh| fresh >= until) {
            return;
        }
        self.fresh[number] = Some(until);
        let served = page.clicks_between(at.max(self.measured), until) as f64;
        match number < self.town.old {
            true => self.sums.old += served,
            false => self.sums.new += served,
        }
    }

    pub fn end(self) -> Served {
        self.sums
    }
}

#[cfg(test)]
mod tests {
    use page::PageUrl;

    use super::*;
    use crate::kinds::TownPage;

    #[test]
    fn a_click_is_served_by_a_copy_that_equals_its_page() {
        let at = Moment::from_micros;
        let page = |born: u64, changes: &[u64], clicks: &[u64]| TownPage {
            url: PageUrl::parse(&format!("http://a.example/{born}")).unwrap(),
            site: 0,
            born: at(born),
            changes: changes.iter().map(|&change| at(change)).collect(),
            clicks: clicks.iter().map(|&click| at(click)).collect(),
            links: Vec::new(),
        };
        let town = Town {
            from: at(0),
            until: at(100),
            pages: vec![
                page(0, &[20, 60], &[5, 15, 25, 45, 55, 65, 90]),
                page(30, &[], &[35, 50, 70]),
            ],
            old: 1,
            sources: Vec::new(),
            sitemaps: Vec::new(),
            seconds: vec![3.0],
        };
        let mut judge = ClickJudge::new(&town, at(10));
        // The copy from the start serves the click at 15. That at 5 is before the period.
        assert_eq!((judge.sums.clicks, judge.sums.old), (9.0, 1.0));
        // This copy serves 45 and 55. The next one, before the change at 60, adds nothing.
        for (time, old) in [(40, 3.0), (50, 3.0), (70, 4.0)] {
            judge.copied(0, at(time));
            judge.fetched(FetchKind::Refresh, 0, at(time));
            assert_eq!(judge.sums.old, old, "{time}");
        }
        judge.copied(1, at(50));
        judge.fetched(FetchKind::First, 0, at(50));
        judge.fetched(FetchKind::Poll, 0, at(9));
        let served = judge.end();
        assert_eq!((served.new, served.new_clicks), (2.0, 3.0));
        let fetches = (served.firsts, served.polls, served.refreshes, served.busy);
        assert_eq!(fetches, (1.0, 0.0, 3.0, 12.0));
    }
}
