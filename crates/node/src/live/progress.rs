//! The progress display of a crawl, which the program implements.

use std::collections::BTreeMap;
use std::time::Duration;

/// Receives the figures and notes of a running crawl.
pub trait Progress: Send {
    /// Receives the figures of the crawl, twice a second.
    fn show(&mut self, figures: &Figures);

    /// Receives a note for the user.
    fn note(&self, text: &str);

    /// Ends the display, because the crawl has ended.
    fn finish(&self);
}

/// The main figures of a running crawl.
#[derive(Debug, Clone)]
pub struct Figures {
    /// Pages of which this run fetched a copy, or found the copy unchanged.
    pub pages: u64,
    /// Bytes over the wire.
    pub bytes: u64,
    /// Visits to servers under way.
    pub visits: usize,
    /// Open connections that no visit uses.
    pub idle_connections: usize,
    /// Pages that are due: they are fetched as soon as their servers may be asked.
    pub due: usize,
    /// The price, in a continuous crawl.
    pub price: Option<f64>,
    /// Pages that may still be fetched, if their number is limited.
    pub pages_left: Option<u64>,
    /// The remaining time, if it is limited.
    pub time_left: Option<Duration>,
    /// Number of visits with an error, and of links into spider traps, by error code.
    pub errors: BTreeMap<String, u64>,
}

/// A display that shows nothing.
#[derive(Debug)]
pub struct NoProgress;

impl Progress for NoProgress {
    fn show(&mut self, _: &Figures) {}

    fn note(&self, _: &str) {}

    fn finish(&self) {}
}
