//! Content sources: pages that are polled for links to new pages.
//!
//! Lefortier et al., "Timely crawling of high-quality ephemeral new content" (2013), called ECHO
//! here. A *content source* is a page that links to new pages from time to time. [`Sources`]
//! finds the sources and estimates three numbers of each, its [`Outlook`]. From these, a
//! [`Scheduler`] computes the worth of a poll and of each new page. Each scheduler is one file.

mod appeal;
mod cover;
mod features;
mod learning;
mod nearby;
mod new_page_clicks;
mod poll;
mod priced;
mod record;
mod settings;
mod sources;
#[cfg(test)]
mod tests;
mod young;

pub use cover::{Cover, Step};
pub use new_page_clicks::NewPageClicks;
pub use priced::Priced;
pub use record::{Account, SourceKind};
pub use settings::{Credit, Seen, SourceRules};
pub use sources::Sources;

pub use crate::plan::polls::Outlook;

/// Larger than any wait or moment in seconds, and than any profit. Puts something before
/// everything else.
pub(crate) const FIRST: f64 = 1e12;

/// A page that appeared on a source and was not fetched yet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewPage {
    /// Index of its source.
    pub source: usize,
    /// The outlook of its source.
    pub outlook: Outlook,
    /// Expected clicks relative to other pages of its source, as a factor.
    pub appeal: f64,
    /// Seconds since it appeared, as estimated.
    pub age: f64,
    /// Time of discovery, in seconds since 1970.
    pub found: f64,
}

/// Computes the worth of polls and of visits to the pages that polls find.
///
/// Unlike a [`Refresh`](crate::Refresh), it knows a source by three numbers and not by its
/// history. It also values pages that were never fetched, and some schedulers plan for all
/// sources together.
///
/// The crawl fetches what has the highest worth at any moment. A rule such as "new pages first"
/// is therefore a worth above all others.
///
/// **Laws:** the worth of a poll never decreases while the source waits, and
/// [`due`](Scheduler::due) is its inverse. The worth of a page never increases.
pub trait Scheduler: Send {
    /// Returns how the outlook of a source is to be estimated.
    fn estimation(&self) -> Estimation {
        Estimation::Printed
    }

    /// Makes a new plan for this number of fetches per second. Sources are identified by their
    /// index.
    fn plan(&mut self, _sources: &[Outlook], _per_second: f64) {}

    /// Returns the worth of a poll `waited` seconds after the last one.
    ///
    /// Sources found after the last plan are not in it.
    fn worth(&self, source: usize, outlook: &Outlook, waited: f64) -> f64;

    /// Returns after how many seconds since the last poll the next is worth `price`; `None` if
    /// never.
    fn due(&self, source: usize, outlook: &Outlook, price: f64) -> Option<f64>;

    /// Returns the worth of a page that was not fetched yet.
    fn page(&self, page: &NewPage) -> f64;

    /// Returns the planned seconds between polls; `None` if there is no plan or the source is
    /// never polled.
    fn interval(&self, _source: usize) -> Option<f64> {
        None
    }
}

/// How the outlook of a source is estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Estimation {
    /// As printed: λ from the last T polls, P and μ by Algorithm 2, P = 0.01 for a source without
    /// clicks. Before the first click on any page, P is predicted from the stakes of pages.
    Printed,
    /// As printed for ECHO-greedy, which needs no μ: P is the mean number of clicks on a page.
    MeanClicks,
    /// As printed, without clicks: all sources have the same P, and profit decays by a factor of
    /// e per day.
    WithoutClicks,
    /// Our own: λ and P have Gamma posteriors and are drawn from them while little is known of the
    /// source; a draw of P below its mean is not used. The prior of P comes from the host and
    /// counts pages; μ is a maximum a posteriori estimate, with a prior from all sources. P of a
    /// page also depends on its URL and anchor.
    Bayesian,
}
