//! How fast is an invented server, and what does a visit to it learn?
//!
//! **Invariant:** speed is a function of the host's id, so every run of a benchmark ranks servers alike.
//! Nobody waits: times go into the estimates only.

use std::time::Duration;

use page::HostId;
use policy::server::Estimate;

use crate::urls::scramble;

/// What a server is like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Speed {
    connect: Duration,
    response: Duration,
    per_connection: u32,
}

/// A connection to such a server.
#[derive(Debug, Clone, Copy)]
pub struct Line {
    speed: Speed,
    served: u32,
}

impl Speed {
    /// That of a host: 10 to 170 ms to connect, twice that to answer; one server in four answers once on
    /// a connection and the others a hundred times (the two-level paper: 24% and 66%).
    pub fn of(host: HostId) -> Self {
        let chance = scramble(host.0);
        let connect = Duration::from_millis(10 + chance % 160);
        Self {
            connect,
            response: connect * 2,
            per_connection: if (chance >> 32).is_multiple_of(4) {
                1
            } else {
                100
            },
        }
    }

    /// Connects.
    pub fn open(self, estimate: &mut Estimate) -> Line {
        estimate.connected(self.connect);
        Line {
            speed: self,
            served: 0,
        }
    }
}

impl Line {
    /// Takes in an answer.
    pub fn answer(&mut self, estimate: &mut Estimate) {
        self.served += 1;
        estimate.answered(self.speed.response);
        if self.is_open() {
            estimate.open_after(self.served);
        } else {
            estimate.closed_after(self.served);
        }
    }

    /// Whether another answer may come.
    pub fn is_open(&self) -> bool {
        self.served < self.speed.per_connection
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_closes_when_it_has_answered_enough() {
        for host in (0..100).map(HostId) {
            let speed = Speed::of(host);
            assert_eq!(speed, Speed::of(host));
            let mut estimate = Estimate::default();
            let mut line = speed.open(&mut estimate);
            let answers = std::iter::from_fn(|| line.is_open().then(|| line.answer(&mut estimate)));
            let answers = answers.count() as u32;
            assert!(answers == 1 || answers == 100, "{answers}");
            assert_eq!(estimate.per_connection, answers);
        }
    }
}
