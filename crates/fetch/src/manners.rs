//! Which servers cannot be spoken to in the way we would like?
//!
//! A server that breaks HTTP/2 is met with HTTP/1.1. One that has answered in HTTP/2 is not given up for a
//! stream that it resets or a page that is late: it may speak nothing else. One that breaks under pipelining is asked for one
//! page at a time. One that twice in a row ends a new connection before it has answered the first
//! requests that were pipelined to it, be it by its own limit of requests for a connection, is not
//! pipelined more than it answered then: with 5 answers to 8 requests the next connections have 5 out,
//! with 1 answer they are plain.
//!
//! **Invariant:** what is remembered only ever makes us ask for less at once, and takes bounded memory.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard};

use page::url::HostId;

/// Servers remembered in each set. Beyond that all are given another chance.
const REMEMBERED: usize = 10_000;
/// New connections in a row that end early before a server is believed to mean it: one may be an
/// accident, such as a restart.
const EARLY_ENDS: u8 = 2;

/// Streams that a server may reset in a row before its first answer in HTTP/2: one may be the fault of the
/// page, and with the third all of them are.
const RESETS: u8 = 3;

/// What is remembered of servers while the program runs.
#[derive(Default)]
pub(crate) struct Manners(Mutex<Known>);

#[derive(Default)]
struct Known {
    http1_only: HashSet<HostId>,
    http2: HashMap<HostId, Http2>,
    pipelined: HashMap<HostId, Pipelined>,
}

/// How a server took HTTP/2 so far.
enum Http2 {
    /// It has answered in it, or speaks nothing else.
    Spoken,
    /// The number of streams that it has reset while it answered none.
    Reset(u8),
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

    /// Remembers that a server has answered in HTTP/2.
    pub(crate) fn answered_http2(&self, host: HostId) {
        *self.lock().http2(host) = Http2::Spoken;
    }

    /// Remembers that a server speaks HTTP/2 and not HTTP/1.1.
    pub(crate) fn forget_http1(&self, host: HostId) {
        self.lock().http1_only.remove(&host);
        self.answered_http2(host);
    }

    /// Counts a stream that a server reset. One that resets every stream is asked in HTTP/1.1.
    pub(crate) fn reset_http2_stream(&self, host: HostId) {
        let given_up = match self.lock().http2(host) {
            Http2::Spoken => false,
            Http2::Reset(resets) => {
                *resets = resets.saturating_add(1);
                *resets >= RESETS
            }
        };
        if given_up {
            self.forget_http2(host);
        }
    }

    /// Remembers that a server which never answered in HTTP/2 cannot be trusted with it.
    pub(crate) fn doubt_http2(&self, host: HostId) {
        let spoken = matches!(self.lock().http2(host), Http2::Spoken);
        if !spoken {
            self.forget_http2(host);
        }
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
        self.0
            .lock()
            .expect("another task panicked while it held this lock")
    }
}

impl Known {
    fn http2(&mut self, host: HostId) -> &mut Http2 {
        if self.http2.len() >= REMEMBERED && !self.http2.contains_key(&host) {
            self.http2.clear();
        }
        self.http2.entry(host).or_insert(Http2::Reset(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: HostId = HostId(1);

    #[test]
    fn a_server_that_answered_in_http2_is_not_given_up_for_a_stream() {
        let manners = Manners::default();
        for _ in 1..RESETS {
            manners.reset_http2_stream(HOST);
        }
        assert!(manners.speaks_http2(HOST), "some streams are no rule");
        manners.reset_http2_stream(HOST);
        assert!(!manners.speaks_http2(HOST), "all of them are");
        manners.forget_http1(HOST);
        assert!(manners.speaks_http2(HOST), "it speaks nothing else");
        let other = HostId(2);
        manners.answered_http2(other);
        for _ in 0..10 {
            manners.reset_http2_stream(other);
            manners.doubt_http2(other);
        }
        assert!(manners.speaks_http2(other));
        manners.forget_http2(other);
        assert!(!manners.speaks_http2(other), "what breaks the rules is");
        manners.doubt_http2(HostId(3));
        assert!(!manners.speaks_http2(HostId(3)));
    }

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
            manners.answered_http2(HostId(host));
        }
        assert!(manners.lock().http2.len() <= REMEMBERED);
        assert_eq!(manners.width(HostId(0), 8), 8, "forgotten");
        assert_eq!(manners.width(HostId(REMEMBERED as u64), 8), 1);
        assert!(manners.speaks_http2(HostId(0)));
        assert!(!manners.speaks_http2(HostId(REMEMBERED as u64)));
    }
}
