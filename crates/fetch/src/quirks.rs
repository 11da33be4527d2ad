//! Records which hosts mishandle HTTP/2 or pipelining.
//!
//! A host that violates HTTP/2 gets HTTP/1.1. A host that has answered in HTTP/2 keeps it when it
//! resets a stream or answers late, because it may speak nothing else.
//!
//! A host that sends invalid answers to pipelined requests gets one request at a time. A host may
//! also close a connection before it has answered the requests pipelined to it, for instance
//! because it limits requests per connection. After two such connections in a row, it gets no
//! more requests in flight than the greater number of answers that one of the two gave. If that
//! number is 5, the next connections have at most 5 in flight; if it is 1, they are not pipelined.
//!
//! **Invariant:** the width of a host (the maximum number of requests in flight on one connection)
//! never grows while the host is recorded, and memory is bounded.

use std::collections::{HashMap, HashSet};
use std::sync::{Mutex, MutexGuard};

use page::url::HostId;

/// Capacity of each table, in hosts. A full table is cleared, and its hosts are tried again as
/// unknown ones.
const REMEMBERED: usize = 10_000;
/// Connections in a row that must end early before the width is reduced. A single one may be an
/// accident, such as a restart.
const EARLY_ENDS: u8 = 2;

/// Number of reset streams before the first answer in HTTP/2 at which a host gets HTTP/1.1. The
/// cause of one reset may be the page; the cause of three is the host.
const RESETS: u8 = 3;

/// The records of all hosts, in memory while the program runs.
#[derive(Default)]
pub(crate) struct ServerQuirks(Mutex<QuirkTables>);

#[derive(Default)]
struct QuirkTables {
    http1_only: HashSet<HostId>,
    http2: HashMap<HostId, Http2Record>,
    pipelined: HashMap<HostId, PipelineRecord>,
}

/// The record of a host's HTTP/2.
enum Http2Record {
    /// The host has answered in HTTP/2, or speaks nothing else.
    Works,
    /// The number of streams that the host has reset, before its first answer in HTTP/2.
    Reset(u8),
}

/// The record of a host's pipelining.
struct PipelineRecord {
    /// The maximum number of requests in flight on one connection.
    width: usize,
    /// Connections in a row that ended early, and the most answers that one of them gave.
    early: (u8, usize),
}

impl ServerQuirks {
    /// Uses HTTP/1.1 for a host from now on.
    pub(crate) fn avoid_http2(&self, host: HostId) {
        let mut known = self.lock();
        if known.http1_only.len() >= REMEMBERED {
            known.http1_only.clear();
        }
        known.http1_only.insert(host);
    }

    /// Records that a host has answered in HTTP/2.
    pub(crate) fn answered_http2(&self, host: HostId) {
        *self.lock().http2(host) = Http2Record::Works;
    }

    /// Records that a host speaks HTTP/2 and not HTTP/1.1.
    pub(crate) fn avoid_http1(&self, host: HostId) {
        self.lock().http1_only.remove(&host);
        self.answered_http2(host);
    }

    /// Counts a stream that a host reset. A host that resets [`RESETS`] streams before its first
    /// answer in HTTP/2 gets HTTP/1.1.
    pub(crate) fn reset_http2_stream(&self, host: HostId) {
        let given_up = match self.lock().http2(host) {
            Http2Record::Works => false,
            Http2Record::Reset(resets) => {
                *resets = resets.saturating_add(1);
                *resets >= RESETS
            }
        };
        if given_up {
            self.avoid_http2(host);
        }
    }

    /// Uses HTTP/1.1 for a host from now on, unless it has answered in HTTP/2 before.
    pub(crate) fn avoid_http2_unless_answered(&self, host: HostId) {
        let works = matches!(self.lock().http2(host), Http2Record::Works);
        if !works {
            self.avoid_http2(host);
        }
    }

    pub(crate) fn may_use_http2(&self, host: HostId) -> bool {
        !self.lock().http1_only.contains(&host)
    }

    /// Returns the maximum number of requests in flight on one connection to a host, at most
    /// `depth`.
    pub(crate) fn width(&self, host: HostId, depth: usize) -> usize {
        let known = self.lock();
        known
            .pipelined
            .get(&host)
            .map_or(depth, |record| record.width.min(depth))
    }

    /// Records that the answers of a host no longer match its pipelined requests: it gets one
    /// request at a time from now on.
    pub(crate) fn stop_pipelining(&self, host: HostId) {
        self.pipelined(host, |record| record.width = 1);
    }

    /// Records that a connection ended after `answers` answers to a batch, before the requests in
    /// flight were answered.
    pub(crate) fn ended_early(&self, host: HostId, answers: usize) {
        self.pipelined(host, |record| {
            record.early.0 += 1;
            record.early.1 = record.early.1.max(answers);
            if record.early.0 >= EARLY_ENDS {
                record.width = record.width.min(record.early.1).max(1);
                record.early = (0, 0);
            }
        });
    }

    /// Records that a connection did not end early.
    pub(crate) fn completed_batch(&self, host: HostId) {
        if let Some(record) = self.lock().pipelined.get_mut(&host) {
            record.early = (0, 0);
        }
    }

    fn pipelined(&self, host: HostId, change: impl FnOnce(&mut PipelineRecord)) {
        let mut known = self.lock();
        if known.pipelined.len() >= REMEMBERED && !known.pipelined.contains_key(&host) {
            known.pipelined.clear();
        }
        change(known.pipelined.entry(host).or_insert(PipelineRecord {
            width: usize::MAX,
            early: (0, 0),
        }));
    }

    fn lock(&self) -> MutexGuard<'_, QuirkTables> {
        self.0
            .lock()
            .expect("another task panicked while it held this lock")
    }
}

impl QuirkTables {
    fn http2(&mut self, host: HostId) -> &mut Http2Record {
        if self.http2.len() >= REMEMBERED && !self.http2.contains_key(&host) {
            self.http2.clear();
        }
        self.http2.entry(host).or_insert(Http2Record::Reset(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOST: HostId = HostId(1);

    #[test]
    fn a_host_that_answered_in_http2_keeps_it_after_reset_streams() {
        let quirks = ServerQuirks::default();
        for _ in 1..RESETS {
            quirks.reset_http2_stream(HOST);
        }
        assert!(quirks.may_use_http2(HOST), "fewer resets than the limit");
        quirks.reset_http2_stream(HOST);
        assert!(!quirks.may_use_http2(HOST), "as many resets as the limit");
        quirks.avoid_http1(HOST);
        assert!(quirks.may_use_http2(HOST), "it refused HTTP/1.1");
        let other = HostId(2);
        quirks.answered_http2(other);
        for _ in 0..10 {
            quirks.reset_http2_stream(other);
            quirks.avoid_http2_unless_answered(other);
        }
        assert!(quirks.may_use_http2(other));
        quirks.avoid_http2(other);
        assert!(!quirks.may_use_http2(other), "it violated HTTP/2");
        quirks.avoid_http2_unless_answered(HostId(3));
        assert!(!quirks.may_use_http2(HostId(3)));
    }

    #[test]
    fn a_host_that_ends_early_twice_in_a_row_is_sent_no_more_than_it_answers() {
        let check = |ends: &[Option<usize>], width: usize| {
            let quirks = ServerQuirks::default();
            for end in ends {
                match end {
                    Some(answers) => quirks.ended_early(HOST, *answers),
                    None => quirks.completed_batch(HOST),
                }
            }
            assert_eq!(quirks.width(HOST, 8), width, "{ends:?}");
            assert_eq!(quirks.width(HostId(2), 8), 8, "another host");
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
        let quirks = ServerQuirks::default();
        for host in 0..=REMEMBERED as u64 {
            quirks.stop_pipelining(HostId(host));
            quirks.avoid_http2(HostId(host));
            quirks.answered_http2(HostId(host));
        }
        assert!(quirks.lock().http2.len() <= REMEMBERED);
        assert_eq!(quirks.width(HostId(0), 8), 8, "forgotten");
        assert_eq!(quirks.width(HostId(REMEMBERED as u64), 8), 1);
        assert!(quirks.may_use_http2(HostId(0)));
        assert!(!quirks.may_use_http2(HostId(REMEMBERED as u64)));
    }
}
