//! What the engine tells the program while a crawl runs.

use std::collections::BTreeMap;
use std::time::Duration;

/// Receives the figures and remarks of a running crawl. The program draws them; the engine does not know how.
pub trait Progress: Send {
    /// Receives the state of the crawl, twice a second.
    fn show(&mut self, figures: &Figures);

    /// Receives a remark that is made once.
    fn note(&self, text: &str);

    /// Ends the display: the crawl is over.
    fn finish(&self);
}

/// The state of a running crawl in a few numbers.
#[derive(Debug, Clone)]
pub struct Figures {
    /// Pages fetched, new and unchanged ones.
    pub pages: u64,
    /// Bytes over the wire.
    pub bytes: u64,
    /// Visits to servers under way.
    pub visits: usize,
    /// Connections kept open without a request.
    pub idle_connections: usize,
    /// Pages that wait.
    pub queued: usize,
    /// What a fetch must be worth, in a crawl that does not end.
    pub price: Option<f64>,
    /// Pages that may still be fetched, if their number is limited.
    pub pages_left: Option<u64>,
    /// Time that is left, if it is limited.
    pub time_left: Option<Duration>,
    /// What went wrong, by kind.
    pub errors: BTreeMap<String, u64>,
}

/// A display that shows nothing.
#[derive(Debug)]
pub struct Silent;

impl Progress for Silent {
    fn show(&mut self, _: &Figures) {}

    fn note(&self, _: &str) {}

    fn finish(&self) {}
}
