//! Estimates of the cost of a connection and of the number of pages it carries.
//!
//! Cao, Jiang & Singh (2003), §4.2: P pages take `T = 2·ConnectionTime + P·ResponseTime/p`
//! seconds, where p is the speed-up by pipelining. Both times are exponentially smoothed with a
//! weight of 0.8 on the old value. The number of requests per connection is learned. The first
//! measurement has no old value and counts fully (the paper does not give an initial value).

use std::time::Duration;

use crate::Cost;

/// Smoothing weight of the old value, from the paper.
const OLD: f64 = 0.8;
/// Smoothing weight of the old value in the mean over all servers. Our choice: an average over
/// about 20 visits.
const USUAL: f64 = 0.95;
/// Expected requests per connection of a new server, from the paper.
pub const PER_CONNECTION: u32 = 50;
/// Speed-up of a pipelined connection, from the paper.
const PIPELINED: f64 = 1.2;

/// Measured speed of a server.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Estimate {
    /// Seconds to open a connection.
    pub connect: f64,
    /// Seconds from a request to its answer.
    pub response: f64,
    /// Expected number of answers before the server closes a connection: those of the last
    /// connection that it closed, or one more than an open connection has had, if that is larger.
    pub per_connection: u32,
    /// Whether `connect` was measured, and is not only an expectation.
    connected: bool,
    /// Whether `response` was measured.
    answered: bool,
}

/// The connection that a visit would use.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ConnectionSlot {
    /// Whether it is already open.
    pub open: bool,
    /// Whether several requests may be under way on it.
    pub pipelined: bool,
}

impl Default for Estimate {
    /// Returns the estimate before any measurement: typical times of a server on the same
    /// continent.
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
    /// Creates an estimate from earlier measurements, with times in seconds.
    pub fn measured(connect: f64, response: f64, per_connection: u32) -> Self {
        Self {
            connect,
            response,
            per_connection,
            connected: true,
            answered: true,
        }
    }

    /// Returns this estimate as the expectation for a server that was not measured.
    #[must_use]
    pub fn expected(self) -> Self {
        Self {
            connected: false,
            answered: false,
            ..self
        }
    }

    /// Moves this mean over all servers towards the measurements of one server.
    pub fn approach(&mut self, shown: &Self) {
        self.connect = self.connect * USUAL + shown.connect * (1.0 - USUAL);
        self.response = self.response * USUAL + shown.response * (1.0 - USUAL);
    }

    /// Adds the time that a connection took to open or to fail.
    pub fn connected(&mut self, took: Duration) {
        self.connect = smoothed(self.connect, took, &mut self.connected);
    }

    /// Adds the time that a server took to answer or to fail.
    pub fn answered(&mut self, took: Duration) {
        self.response = smoothed(self.response, took, &mut self.answered);
    }

    /// Records that the server closed a connection after this number of answers.
    ///
    /// A connection that was closed before the first answer is ignored.
    pub fn closed_after(&mut self, answers: u32) {
        if answers > 0 {
            self.per_connection = answers;
        }
    }

    /// Records that a connection is still open after this number of answers.
    pub fn open_after(&mut self, answers: u32) {
        self.per_connection = self.per_connection.max(answers.saturating_add(1));
    }

    /// Returns the seconds from one answer to the next on this connection.
    pub fn each(&self, line: ConnectionSlot) -> f64 {
        self.response / if line.pipelined { PIPELINED } else { 1.0 }
    }

    /// Returns the time that this number of pages takes, including the connection if it is not
    /// open yet.
    pub fn cost(&self, pages: usize, line: ConnectionSlot) -> Cost {
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
    fn costs_equal_the_formula_of_the_paper() {
        let estimate = Estimate::measured(0.1, 0.3, 10);
        let line = |open, pipelined| ConnectionSlot { open, pipelined };
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
