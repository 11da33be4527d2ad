//! A town: pages that are born, change and are clicked, with the sources and sitemaps that report
//! this.
//!
//! It combines what other kinds of world have separately. Sources name new pages. Old and new pages
//! change. Searchers click on them. Sitemaps hint at changes, not always rightly. Servers differ in
//! how long a request takes.
//!
//! **Invariant:** all lists are sorted by time. Pages that exist at the start come first; the
//! others follow in the order of their birth.

use page::PageUrl;
use policy::Moment;

/// A town, from `from` to `until`.
#[derive(Debug, Clone)]
pub struct Town {
    /// The first moment. Every crawl has a copy of all pages that exist then.
    pub from: Moment,
    /// The last moment.
    pub until: Moment,
    /// The pages that searchers click on.
    pub pages: Vec<TownPage>,
    /// Number of pages that exist at the first moment.
    pub old: usize,
    /// Home and section pages, which name new pages.
    pub sources: Vec<TownSource>,
    /// The sitemaps.
    pub sitemaps: Vec<Sitemap>,
    /// Seconds of a request to each site.
    pub seconds: Vec<f64>,
}

/// A page that searchers click on.
#[derive(Debug, Clone)]
pub struct TownPage {
    /// Its URL.
    pub url: PageUrl,
    /// Its site, by number.
    pub site: u32,
    /// When it appeared; the first moment for an old page.
    pub born: Moment,
    /// When it changed, after its birth.
    pub changes: Vec<Moment>,
    /// When searchers clicked on it.
    pub clicks: Vec<Moment>,
    /// The old pages that it links to.
    pub links: Vec<u32>,
}

/// A page that names new pages. Searchers do not click on it.
#[derive(Debug, Clone)]
pub struct TownSource {
    /// Its URL.
    pub url: PageUrl,
    /// Its site, by number.
    pub site: u32,
    /// The new pages that it names, sorted by the time at which their links appear.
    pub named: Vec<NamedPeriod>,
    /// The old pages that it links to at all times.
    pub links: Vec<u32>,
}

/// The period in which a source links to a new page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedPeriod {
    /// The page.
    pub page: u32,
    /// Time at which the link appears.
    pub from: Moment,
    /// Time at which the link disappears, exclusive.
    pub until: Moment,
}

/// A sitemap that says which pages of its site have changed.
#[derive(Debug, Clone)]
pub struct Sitemap {
    /// Its URL.
    pub url: PageUrl,
    /// Its site, by number.
    pub site: u32,
    /// Times and pages of its hints. Some changes have no hint, and some hints no change.
    pub hints: Vec<(Moment, u32)>,
}

impl TownPage {
    /// Returns the number of the version that the page shows at a moment, from 0.
    pub fn version(&self, at: Moment) -> usize {
        self.changes.partition_point(|change| *change <= at)
    }

    /// Returns when the version that the page shows at a moment is replaced; `None` if never.
    pub fn replaced(&self, at: Moment) -> Option<Moment> {
        self.changes.get(self.version(at)).copied()
    }

    /// Returns the number of clicks from `from` until before `until`.
    pub fn clicks_between(&self, from: Moment, until: Moment) -> usize {
        let before = |at: Moment| self.clicks.partition_point(|click| *click < at);
        before(until).saturating_sub(before(from))
    }
}

impl Town {
    /// Returns the length of the town's time in seconds.
    pub fn seconds(&self) -> f64 {
        self.until.since(self.from).as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_and_clicks_are_counted_by_time() {
        let at = Moment::from_micros;
        let page = TownPage {
            url: PageUrl::parse("http://a.example/").unwrap(),
            site: 0,
            born: at(0),
            changes: vec![at(10), at(20)],
            clicks: vec![at(5), at(10), at(15)],
            links: Vec::new(),
        };
        assert_eq!((page.version(at(9)), page.version(at(10))), (0, 1));
        assert_eq!(page.replaced(at(0)), Some(at(10)));
        assert_eq!(page.replaced(at(20)), None);
        assert_eq!(page.clicks_between(at(5), at(15)), 2);
        assert_eq!(page.clicks_between(at(15), at(5)), 0);
    }
}
