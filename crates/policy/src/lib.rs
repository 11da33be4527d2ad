//! What is a fetch worth?
//!
//! Pure: a policy knows histories and moments; no URL, no store, no clock, no chance. What it says
//! is [`worth`](Policy::worth) and [`due`](Policy::due), and nothing else in the program has an
//! opinion on what to fetch.

pub mod crawl;
pub mod history;
#[cfg(test)]
mod laws;
pub mod moment;
pub mod order;
pub mod refresh;
pub mod retry;
pub mod worth;

pub use crawl::Crawl;
pub use history::{History, Outcome, Visit};
pub use moment::Moment;
pub use worth::{Price, Worth};

/// Says what a fetch is worth. Every policy obeys the laws in `laws.rs`.
pub trait Policy {
    /// The user value expected from fetching this page now; zero: not now.
    fn worth(&self, page: &History, now: Moment) -> Worth;

    /// The first moment at which the page is worth `price`; `None`: never, as far as is known.
    fn due(&self, page: &History, price: Price) -> Option<Moment>;
}
