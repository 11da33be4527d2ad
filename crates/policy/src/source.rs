//! When is a page worth a look for links to new pages, and what are the pages worth that were found so?
//!
//! Lefortier et al., "Timely crawling of high-quality ephemeral new content" (2013), called ECHO here. A *content source* is a page that
//! names new pages from time to time. [`Sources`] knows which pages are sources and estimates three numbers of each, its [`Outlook`]; a
//! [`Scheduler`] says by these what a poll of a source is worth, and what a page is that a poll found. One file, one scheduler.

mod appeal;
mod cover;
mod learning;
mod marks;
mod near;
mod poll;
mod priced;
mod record;
mod settings;
mod sources;
#[cfg(test)]
mod tests;

pub use cover::{Cover, Step};
pub use priced::Priced;
pub use record::{Account, Kind};
pub use settings::{Seen, Settings};
pub use sources::Sources;

pub use crate::plan::polls::Outlook;

/// More than any wait in seconds, any moment in seconds, and any profit: what makes something come before everything else.
pub(crate) const FIRST: f64 = 1e12;

/// A page that a source named, and that was not fetched yet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NewPage {
    /// What is expected of its source.
    pub outlook: Outlook,
    /// How much more, or less, is expected of this page than of others of its source: a factor.
    pub appeal: f64,
    /// Seconds since it appeared, as far as is known.
    pub age: f64,
    /// When it was found, in seconds.
    pub found: f64,
}

/// Says what polls of sources and visits to the pages they name are worth.
///
/// Not a [`Refresh`](crate::Refresh): it knows a source by three numbers and not by its history, values
/// pages that were never fetched as well, and some schedulers plan for all sources together.
///
/// Fetched is what is worth most, at any moment; so a rule such as
/// "new pages first" is a worth that is larger than any other.
///
/// **Laws:** the worth of a poll never falls while the source waits, [`due`](Scheduler::due) is its inverse, and the worth of a page never rises.
pub trait Scheduler: Send {
    /// How the outlook of a source is estimated.
    fn eye(&self) -> Eye {
        Eye::Printed
    }

    /// Plans anew, for so many fetches a second. Sources are known by their places.
    fn plan(&mut self, _sources: &[Outlook], _per_second: f64) {}

    /// What a poll is worth, so many seconds after the last. Sources that came after the last plan have none in it.
    fn worth(&self, source: usize, outlook: &Outlook, waited: f64) -> f64;

    /// How many seconds after the last poll the next is worth `price`; `None`: never.
    fn due(&self, source: usize, outlook: &Outlook, price: f64) -> Option<f64>;

    /// What a page is worth that was not fetched yet.
    fn page(&self, page: &NewPage) -> f64;

    /// How long a source is left alone by the plan; `None`: there is no plan, or it is left alone for ever.
    fn interval(&self, _source: usize) -> Option<f64> {
        None
    }
}

/// How the outlook of a source is estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Eye {
    /// As printed: λ from the last T polls, P and μ by Algorithm 2, P = .01 before the first click.
    Printed,
    /// As printed for ECHO-greedy, which needs no μ: P is the average number of clicks on a page.
    Plain,
    /// As printed, without clicks: all sources are worth the same, and profit decays by e in a day.
    Blind,
    /// Ours: a Gamma posterior of λ, from which is drawn while the source is young; P and μ by likelihood, shrunk to those of the
    /// host; P of a page from its URL and anchor.
    Keen,
}
