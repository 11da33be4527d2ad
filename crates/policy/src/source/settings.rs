//! How are sources looked for and judged, as the user wishes?

use std::time::Duration;

/// What can be set of every scheduler.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Fetches a second that plans are made for, N.
    pub per_second: f64,
    /// Polls that the printed estimate of λ looks back on, T: up to 10.
    pub polls: usize,
    /// How often plans are made anew.
    pub replan: Duration,
    /// The bins that clicks are counted in, by the age of their page, D.
    pub bin: Duration,
    /// The profit of a source that nobody knows, P_default.
    pub profit: f64,
    /// The age at which a page one link from a main page may become a source.
    pub older: Duration,
    /// On which pages clicks are told.
    pub seen: Seen,
    /// Whether λ follows the hour of the week.
    pub rhythm: bool,
    /// What draws are made from while sources are young.
    pub seed: u64,
}

/// On which pages clicks are told: what a page without clicks says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Seen {
    /// On all that are known, from the beginning: the logs of a search engine that has them by other ways, as in the paper.
    Known,
    /// On those that were fetched, from then on: the log of our own server.
    Fetched,
}

impl Default for Settings {
    /// As in the paper's §5: N = .1 a second, seven polls, half an hour, 20 minutes, P = .01; "few days" are three.
    fn default() -> Self {
        Self {
            per_second: 0.1,
            polls: 7,
            replan: Duration::from_secs(1800),
            bin: Duration::from_secs(1200),
            profit: 0.01,
            older: Duration::from_secs(3 * 86_400),
            seen: Seen::Known,
            rhythm: false,
            seed: 1,
        }
    }
}
