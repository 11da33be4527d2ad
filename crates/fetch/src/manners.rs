//! Which servers cannot be spoken to in the way we would like?
//!
//! A server that breaks HTTP/2 is met with HTTP/1.1. One that breaks under pipelining is asked for one
//! page at a time. One that twice in a row ends a new connection before it has answered the first
//! requests that were pipelined to it, be it by its own limit of requests for a connection, is not
//! pipelined more than it answered then: with 5 answers to 8 requests the next connections have 5 out,
//! with 1 answer they are plain.
//!
//! **Invariant:** what is remembered only ever makes us ask for less at once, and takes bounded memory.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use page::url::HostId;

/// Servers remembered in each set. Beyond that all are given another chance.
const REMEMBERED: usize = 10_000;
/// New connections in a row that end early before a server is believed to mean it: one may be an
/// accident, such as a restart.
const EARLY_ENDS: u8 = 2;

/// What is remembered of servers while the program runs.
#[derive(Default)]
pub(crate) struct Manners(Mutex<Known>);

#[derive(Default)]
struct Known {
    http1_only: HashSet<HostId>,
    pipelined: HashMap<HostId, Pipelined>,
}

/// How a server takes pipelining.
struct Pipelined {
    /// Requests it may be sent before the first answer.
    width: usize,
    /// New connections in a row that ended early, and the most answers that one of them gave.
    early: (u8, usize),
}

impl Manners {
    /// Remembers that a server cannot be trusted with HTTP/2.
    pub(crate) fn forget_http2(&self, host: HostId) {
        let mut known = self.lock();
        if known.http1_only.len() >= REMEMBERED {
            known.http1_only.clear();
        }
        known.http1_only.insert(host);
    }

    pub(crate) fn speaks_http2(&self, host: HostId) -> bool {
        !self.lock().http1_only.contains(&host)
    }

    /// Requests that a server may be sent before the first answer, at most `depth`.
    pub(crate) fn width(&self, host: HostId, depth: usize) -> usize {
        let known = self.lock();
        known
            .pipelined
            .get(&host)
            .map_or(depth, |server| server.width.min(depth))
    }

    /// A server lost its place among several requests: it is sent one at a time from now on.
    pub(crate) fn stop_pipelining(&self, host: HostId) {
        self.pipelined(host, |server| server.width = 1);
    }

    /// A new connection ended after so many answers, before all that was sent at first was answered.
    pub(crate) fn ended_early(&self, host: HostId, answers: usize) {
        self.pipelined(host, |server| {
            server.early.0 += 1;
            server.early.1 = server.early.1.max(answers);
            if server.early.0 >= EARLY_ENDS {
                server.width = server.width.min(server.early.1).max(1);
                server.early = (0, 0);
            }
        });
    }

    /// A new connection answered all that was sent at first.
    pub(crate) fn kept_up(&self, host: HostId) {
        if let Some(server) = self.lock().pipelined.get_mut(&host) {
            server.early = (0, 0);
        }
    }

    fn pipelined(&self, host: HostId, change: impl FnOnce(&mut Pipelined)) {
        let mut known = self.lock();
        if known.pipelined.len() >= REMEMBERED && !known.pipelined.contains_key(&host) {
            known.pipelined.clear();
        }
        change(known.pipelined.entry(host).or_insert(Pipelined {
            width: usize::MAX,
            early: (0, 0),
        }));
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        // A panic elsewhere leaves sets that are still sets.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: HostId = HostId(1);

    #[test]
    fn a_server_that_ends_early_twice_in_a_row_is_sent_no_more_than_it_answers() {
        let check = |ends: &[Option<usize>], width: usize| {
            let manners = Manners::default();
            for end in ends {
                match end {
                    Some(answers) => manners.ended_early(HOST, *answers),
                    None => manners.kept_up(HOST),
                }
            }
            assert_eq!(manners.width(HOST, 8), width, "{ends:?}");
            assert_eq!(manners.width(HostId(2), 8), 8, "others are not meant");
        };
        check(&[], 8);
        check(&[Some(1)], 8);
        check(&[Some(1), None, Some(1)], 8);
        check(&[Some(1), Some(1)], 1);
        check(&[Some(0), Some(0)], 1);
        check(&[Some(5), Some(3)], 5);
        check(&[Some(5), Some(5), Some(2)], 5);
        check(&[Some(5), Some(5), Some(2), Some(2)], 2);
        check(&[Some(2), Some(2), Some(7), Some(7)], 2);
    }

    #[test]
    fn memory_is_bounded() {
        let manners = Manners::default();
        for host in 0..=REMEMBERED as u64 {
            manners.stop_pipelining(HostId(host));
            manners.forget_http2(HostId(host));
        }
        assert_eq!(manners.width(HostId(0), 8), 8, "forgotten");
        assert_eq!(manners.width(HostId(REMEMBERED as u64), 8), 1);
        assert!(manners.speaks_http2(HostId(0)));
        assert!(!manners.speaks_http2(HostId(REMEMBERED as u64)));
    }
}
