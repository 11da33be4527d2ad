//! The HTTP versions that a simulated crawler can use, and their pipelining.

use std::fmt;

/// The HTTP version of a crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimulatedProtocol {
    /// HTTP/1.0: one connection for each request.
    Http10,
    /// HTTP/1.1: one request at a time over a persistent connection.
    Http11,
    /// HTTP/1.1 with several requests in flight before the first answer.
    Pipelined(SimulatedDepth),
}

/// Number of pipelined requests: 2 to 32, as `avocet crawl` accepts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimulatedDepth(u8);

impl SimulatedDepth {
    /// Eight, the default of `avocet crawl`.
    pub const DEFAULT: Self = Self(8);

    /// Returns the depth, if it is within 2 to 32.
    pub fn new(requests: u8) -> Option<Self> {
        (2..=32).contains(&requests).then_some(Self(requests))
    }
}

impl SimulatedProtocol {
    /// Returns the number of requests that may be in flight on one connection.
    pub fn width(self) -> usize {
        match self {
            Self::Http10 | Self::Http11 => 1,
            Self::Pipelined(depth) => usize::from(depth.0),
        }
    }

    /// Returns the number of requests that a connection carries if the server would answer up to
    /// `server` requests.
    pub fn carries(self, server: u32) -> u32 {
        match self {
            Self::Http10 => 1,
            Self::Http11 | Self::Pipelined(_) => server,
        }
    }
}

impl fmt::Display for SimulatedProtocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Http10 => f.write_str("1.0"),
            Self::Http11 => f.write_str("1.1"),
            Self::Pipelined(depth) if *depth == SimulatedDepth::DEFAULT => f.write_str("pipelined"),
            Self::Pipelined(depth) => write!(f, "pipelined({})", depth.0),
        }
    }
}

/// What the crawler remembers of a server's pipelining, by the same rule as the `fetch` crate.
///
/// A batch is a number of requests that are sent at once. If a server closes the connection before
/// it has answered all requests of a batch, for two batches in a row, later batches are limited to
/// the larger of the two numbers of answers.
#[derive(Debug, Clone, Copy)]
pub(super) struct PipeliningMemory {
    width: usize,
    /// Number of consecutive batches that ended early, and the maximum number of answers to one of
    /// them.
    early: (u8, usize),
}

impl Default for PipeliningMemory {
    fn default() -> Self {
        Self {
            width: usize::MAX,
            early: (0, 0),
        }
    }
}

impl PipeliningMemory {
    /// Returns the requests that a new connection may have in flight, at most `width`.
    pub fn width(&self, width: usize) -> usize {
        self.width.min(width)
    }

    /// Records the outcome of several requests sent at once over a connection of this width.
    pub fn record(&mut self, width: usize, answers: usize, unanswered: usize) {
        if answers >= width || unanswered == 0 {
            self.early = (0, 0);
            return;
        }
        self.early = (self.early.0 + 1, self.early.1.max(answers));
        if self.early.0 >= 2 {
            self.width = self.width.min(self.early.1).max(1);
            self.early = (0, 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_2_to_32_and_the_default_is_not_printed() {
        for (requests, expected) in [
            (0, None),
            (1, None),
            (2, Some("pipelined(2)")),
            (8, Some("pipelined")),
            (32, Some("pipelined(32)")),
            (33, None),
        ] {
            let named = SimulatedDepth::new(requests)
                .map(|depth| SimulatedProtocol::Pipelined(depth).to_string());
            assert_eq!(named.as_deref(), expected, "{requests}");
        }
    }

    #[test]
    fn a_server_that_ends_early_twice_in_a_row_is_sent_no_more_than_it_answered() {
        // The test cases of the `fetch` crate: answers to eight requests on successive connections.
        let check = |answers: &[usize], width: usize| {
            let mut server = PipeliningMemory::default();
            for &answers in answers {
                server.record(8, answers, 8 - answers);
            }
            assert_eq!(server.width(8), width, "{answers:?}");
        };
        check(&[], 8);
        check(&[1], 8);
        check(&[1, 8, 1], 8);
        check(&[1, 1], 1);
        check(&[5, 3], 5);
        check(&[5, 5, 2], 5);
        check(&[5, 5, 2, 2], 2);
        check(&[2, 2, 7, 7], 2);
    }
}
