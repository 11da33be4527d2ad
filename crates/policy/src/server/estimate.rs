//! What does a connection to a server cost, and how many pages does it carry?
//!
//! Cao, Jiang & Singh (2003), §4.2: `T = 2·ConnectionTime + P·ResponseTime/p`, both times smoothed
//! with a weight of .8 on the old value; the requests that a connection carries are learned. The first
//! measurement has no old value and counts whole (the paper does not say what it starts from).

use std::time::Duration;

use crate::Cost;

/// The weight of the old value, from the paper.
const OLD: f64 = 0.8;
/// The weight of the old value in what is usual among servers. Ours: twenty visits make a usual.
const USUAL: f64 = 0.95;
/// Requests that one connection of a new server is expected to carry, from the paper.
pub const PER_CONNECTION: u32 = 50;
/// How much faster pages follow each other on a pipelined connection, from the paper.
const PIPELINED: f64 = 1.2;

/// What is known of a server's speed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Seconds to open a connection.
    pub connect: f64,
    /// Seconds from a request to its answer.
    pub response: f64,
    /// Requests that a connection carries.
    pub per_connection: u32,
    /// Whether the time to connect was measured, and is not only expected.
    connected: bool,
    /// Whether the time to an answer was measured.
    answered: bool,
}

/// The connection that a visit would use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Line {
    /// Whether it is open already.
    pub open: bool,
    /// Whether several requests may be under way on it.
    pub pipelined: bool,
}

impl Default for Estimate {
    /// A server that nobody has asked, in a crawl that has asked nobody: the times are those of a
    /// server on the same continent.
    fn default() -> Self {
        Self {
            connect: 0.05,
            response: 0.2,
            per_connection: PER_CONNECTION,
            connected: false,
            answered: false,
        }
    }
}

impl Estimate {
    /// What earlier measurements gave: seconds to connect, seconds to an answer, requests a connection.
    pub fn measured(connect: f64, response: f64, per_connection: u32) -> Self {
        Self {
            connect,
            response,
            per_connection,
            connected: true,
            answered: true,
        }
    }

    /// What is expected of a server that nobody has measured, where others are like this.
    #[must_use]
    pub fn expected(self) -> Self {
        Self {
            connected: false,
            answered: false,
            ..self
        }
    }

    /// Makes this, what is usual among servers, a little more like what one of them showed.
    pub fn approach(&mut self, shown: &Self) {
        self.connect = self.connect * USUAL + shown.connect * (1.0 - USUAL);
        self.response = self.response * USUAL + shown.response * (1.0 - USUAL);
    }

    /// Takes in how long a connection took to open, or to fail.
    pub fn connected(&mut self, took: Duration) {
        self.connect = smoothed(self.connect, took, &mut self.connected);
    }

    /// Takes in how long a server took to answer, or to give no answer.
    pub fn answered(&mut self, took: Duration) {
        self.response = smoothed(self.response, took, &mut self.answered);
    }

    /// Takes in that the server closed a connection after so many answers. One that was closed before
    /// the first says nothing.
    pub fn closed_after(&mut self, answers: u32) {
        if answers > 0 {
            self.per_connection = answers;
        }
    }

    /// Takes in that a connection is still open after so many answers.
    pub fn open_after(&mut self, answers: u32) {
        self.per_connection = self.per_connection.max(answers.saturating_add(1));
    }

    /// Seconds from one answer to the next on this connection.
    pub fn each(&self, line: Line) -> f64 {
        self.response / if line.pipelined { PIPELINED } else { 1.0 }
    }

    /// The time that so many pages take, connection included.
    pub fn cost(&self, pages: usize, line: Line) -> Cost {
        let connect = if line.open { 0.0 } else { 2.0 * self.connect };
        Cost::seconds(connect + pages as f64 * self.each(line))
    }
}

fn smoothed(before: f64, took: Duration, measured: &mut bool) -> f64 {
    let old = if std::mem::replace(measured, true) {
        OLD
    } else {
        0.0
    };
    before * old + took.as_secs_f64() * (1.0 - old)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_those_of_the_paper() {
        let estimate = Estimate::measured(0.1, 0.3, 10);
        let line = |open, pipelined| Line { open, pipelined };
        let cost = |pages, line| (estimate.cost(pages, line).value() * 1e9).round() / 1e9;
        assert_eq!(cost(1, line(false, false)), 0.5);
        assert_eq!(cost(10, line(false, false)), 3.2);
        assert_eq!(cost(10, line(false, true)), 2.7);
        assert_eq!(cost(2, line(true, false)), 0.6);
    }

    #[test]
    fn times_are_smoothed_and_requests_are_learned() {
        let mut estimate = Estimate::default();
        for (seconds, connect, response) in [(1, 1.0, 1.0), (2, 1.2, 1.2), (0, 0.96, 0.96)] {
            estimate.connected(Duration::from_secs(seconds));
            estimate.answered(Duration::from_secs(seconds));
            assert!((estimate.connect - connect).abs() < 1e-12, "{estimate:?}");
            assert!((estimate.response - response).abs() < 1e-12, "{estimate:?}");
        }
        for (answers, expected) in [(0, 50), (1, 1), (7, 7)] {
            estimate.closed_after(answers);
            assert_eq!(estimate.per_connection, expected);
        }
        estimate.open_after(3);
        assert_eq!(estimate.per_connection, 7, "nothing new");
        estimate.open_after(9);
        assert_eq!(estimate.per_connection, 10, "it served nine and is open");
    }
}
