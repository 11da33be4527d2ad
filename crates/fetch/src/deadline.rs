//! Is it still worth waiting?
//!
//! **Invariant:** a request has one timer, moved from phase to phase; a read costs none.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::time::{Instant, Sleep};

/// The one timer of a request.
pub(crate) struct Deadline(Pin<Box<Sleep>>);

impl Deadline {
    pub(crate) fn at(instant: Instant) -> Self {
        Self(Box::pin(tokio::time::sleep_until(instant)))
    }

    /// Moves the deadline.
    pub(crate) fn move_to(&mut self, instant: Instant) {
        self.0.as_mut().reset(instant);
    }

    pub(crate) fn poll_passed(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}
