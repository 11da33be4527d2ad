//! Reads a body within its limits.
//!
//! **Invariant:** reading stops at the size limit, at the deadline, or when a periodic check finds
//! the mean rate too low. The bytes received until then are kept, with the reason why the rest is
//! missing.

use std::future::poll_fn;
use std::task::{Context, Poll};

use bytes::{Bytes, BytesMut};
use tokio::time::Instant;

use crate::deadline::Deadline;
use crate::response::Truncation;
use crate::settings::FetchLimits;

/// Maximum bytes reserved in advance for a declared `Content-Length`. Beyond that, memory grows
/// only as data arrives.
const TRUSTED: u64 = 256 * 1024;

/// The source of a body, without its framing.
pub(crate) trait BodySource {
    /// Returns how many bytes of the declared length are not received yet; `None` if the server
    /// declared no length.
    fn declared(&self) -> Option<u64>;

    /// Returns whether the body is known to be complete, without waiting.
    fn is_over(&self) -> bool;

    /// Waits for the next piece. Returns `None` at the end, or the reason why the rest is
    /// missing.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, Truncation>>>;
}

/// Reads a body to its end or to a limit. At most `at_most` bytes are kept. The total time limit
/// counts from `asked`.
pub(crate) async fn read(
    source: &mut impl BodySource,
    at_most: usize,
    limits: &FetchLimits,
    asked: Instant,
    deadline: &mut Deadline,
) -> (Bytes, Option<Truncation>) {
    let mut pieces = Pieces {
        first: Bytes::new(),
        all: BytesMut::new(),
        declared: source.declared(),
        at_most,
    };
    if source.is_over() {
        return (Bytes::new(), None);
    }
    let mut pace = BodyPace {
        begun: Instant::now(),
        last: asked + limits.total,
        limits,
    };
    deadline.move_to(pace.next_look(pace.begun));
    let truncated = loop {
        let next = poll_fn(|cx| source.poll_piece(cx));
        match deadline.before(next).await {
            Some(None) => break None,
            Some(Some(Ok(data))) => {
                if let Err(truncation) = pieces.take(data) {
                    break Some(truncation);
                }
                if source.is_over() {
                    break None;
                }
            }
            Some(Some(Err(truncation))) => break Some(truncation),
            None => {
                let now = Instant::now();
                if let Err(truncation) = pace.look(now, pieces.len()) {
                    break Some(truncation);
                }
                deadline.move_to(pace.next_look(now));
            }
        }
    };
    (pieces.join(), truncated)
}

/// The pieces of a body. A single piece is never copied.
struct Pieces {
    first: Bytes,
    all: BytesMut,
    declared: Option<u64>,
    at_most: usize,
}

impl Pieces {
    fn len(&self) -> usize {
        self.first.len() + self.all.len()
    }

    fn take(&mut self, mut data: Bytes) -> Result<(), Truncation> {
        let room = self.at_most - self.len();
        let too_much = data.len() > room;
        data.truncate(room);
        if self.first.is_empty() && self.all.is_empty() {
            self.first = data;
        } else {
            if self.all.is_empty() {
                let expected = self.declared.unwrap_or(0).clamp(
                    self.first.len() as u64 * 2,
                    TRUSTED.max(self.first.len() as u64 * 2),
                );
                self.all = BytesMut::with_capacity(usize::try_from(expected).unwrap_or(0));
                self.all.extend_from_slice(&std::mem::take(&mut self.first));
            }
            self.all.extend_from_slice(&data);
        }
        if too_much {
            Err(Truncation::Size)
        } else {
            Ok(())
        }
    }

    fn join(self) -> Bytes {
        if self.all.is_empty() {
            self.first
        } else {
            self.all.freeze()
        }
    }
}

/// Checks that a body arrives fast enough.
struct BodyPace<'a> {
    begun: Instant,
    last: Instant,
    limits: &'a FetchLimits,
}

impl BodyPace<'_> {
    fn next_look(&self, now: Instant) -> Instant {
        self.last.min(now + self.limits.slow_for)
    }

    fn look(&mut self, now: Instant, received: usize) -> Result<(), Truncation> {
        if now >= self.last {
            return Err(Truncation::Time);
        }
        let wanted = self.limits.bytes_per_second as f64 * (now - self.begun).as_secs_f64();
        if (received as f64) < wanted {
            Err(Truncation::Slow)
        } else {
            Ok(())
        }
    }
}
