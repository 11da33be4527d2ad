//! Crawls of worlds: the very frontier and policies of `avocet crawl`, stepped by a clock that jumps.

mod ordering;

pub use ordering::order_of_visits;
