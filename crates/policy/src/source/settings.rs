//! Settings of content sources.
//!
//! "The paper" is Lefortier et al., "Timely crawling of high-quality ephemeral new content"
//! (2013). N, T, D, λ and P_default are its symbols; λ is the rate at which a source names new
//! pages.

use std::time::Duration;

/// Settings that all schedulers share.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceRules {
    /// Fetches per second that plans are made for, N.
    pub per_second: f64,
    /// Number of last polls from which the paper's formula estimates λ, T: up to 10.
    pub polls: usize,
    /// Time between plans.
    pub replan: Duration,
    /// Width of the bins in which clicks are counted by the age of their page, D.
    pub bin: Duration,
    /// Profit of a source without information, P_default.
    pub profit: f64,
    /// Least age at which a page one link from a main page may become a source.
    pub older: Duration,
    /// On which pages clicks are reported.
    pub seen: Seen,
    /// Sources that a new page and its clicks count for. Our own scheduler counts the page for the
    /// rate λ of the first alone: a poll gains only what no other poll has found.
    pub credit: Credit,
    /// Least time between two polls of one source.
    pub least: Duration,
    /// Whether λ follows the hour of the week.
    pub rhythm: bool,
    /// Seed of the random draws of λ and P for sources of which little is known.
    pub seed: u64,
}

/// On which pages clicks are reported. This decides what a page without clicks means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// On all known pages, from their discovery on: the logs of a search engine that also knows
    /// the pages from elsewhere, as in the paper.
    Known,
    /// On fetched pages, from their fetch on: the log of our own server.
    Fetched,
}

/// Which sources a new page counts for, if several link to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credit {
    /// All sources that link to it, as in the paper's §4.2.1.
    All,
    /// The source whose poll discovered it.
    First,
}

impl Default for SourceRules {
    /// The values of the paper's §5: N = 0.1 per second, T = 7 polls, a plan every 30 minutes,
    /// D = 20 minutes, P_default = 0.01. For `older` the paper says "few days"; we use three.
    fn default() -> Self {
        Self {
            per_second: 0.1,
            polls: 7,
            replan: Duration::from_secs(1800),
            bin: Duration::from_secs(1200),
            profit: 0.01,
            older: Duration::from_secs(3 * 86_400),
            seen: Seen::Known,
            credit: Credit::First,
            least: Duration::from_secs(60),
            rhythm: false,
            seed: 1,
        }
    }
}
