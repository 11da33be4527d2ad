//! The speed of simulated servers, which the estimates of visits learn.
//!
//! **Invariant:** the speed is a function of the host's id, so every run of a benchmark ranks
//! servers in the same way. The benchmark does not wait: times only go into the estimates.

use std::time::Duration;

use page::HostId;
use policy::server::Estimate;

use crate::urls::scramble;

/// The speed of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerSpeed {
    connect: Duration,
    response: Duration,
    per_connection: u32,
}

/// A connection to a simulated server.
#[derive(Debug, Clone, Copy)]
pub struct BenchConnection {
    speed: ServerSpeed,
    served: u32,
}

impl ServerSpeed {
    /// Returns the speed of a host: 10 to 169 ms to connect, and twice that to answer.
    ///
    /// One server in four closes a connection after one answer, the others after a hundred. In Cao,
    /// Jiang & Singh (2003) these are 24 % and 66 % of the servers.
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

    /// Opens a connection.
    pub fn open(self, estimate: &mut Estimate) -> BenchConnection {
        estimate.connected(self.connect);
        BenchConnection {
            speed: self,
            served: 0,
        }
    }
}

impl BenchConnection {
    /// Records an answer in the estimate.
    pub fn answer(&mut self, estimate: &mut Estimate) {
        self.served += 1;
        estimate.answered(self.speed.response);
        if self.is_open() {
            estimate.open_after(self.served);
        } else {
            estimate.closed_after(self.served);
        }
    }

    /// Returns whether the server keeps the connection open.
    pub fn is_open(&self) -> bool {
        self.served < self.speed.per_connection
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_closes_after_1_or_100_answers_and_the_estimate_learns_it() {
        for host in (0..100).map(HostId) {
            let speed = ServerSpeed::of(host);
            assert_eq!(speed, ServerSpeed::of(host));
            let mut estimate = Estimate::default();
            let mut line = speed.open(&mut estimate);
            let answers = std::iter::from_fn(|| line.is_open().then(|| line.answer(&mut estimate)));
            let answers = answers.count() as u32;
            assert!(answers == 1 || answers == 100, "{answers}");
            assert_eq!(estimate.per_connection, answers);
        }
    }
}
