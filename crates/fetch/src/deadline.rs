//! The deadline of one answer.
//!
//! **Invariant:** an answer has a single timer, which is moved from phase to phase; a read
//! creates none. Data that is already available wins over a deadline that has passed.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use tokio::time::{Instant, Sleep};

/// The timer of one answer.
pub(crate) struct Deadline(Pin<Box<Sleep>>);

impl Deadline {
    pub(crate) fn at(instant: Instant) -> Self {
        Self(Box::pin(tokio::time::sleep_until(instant)))
    }

    pub(crate) fn move_to(&mut self, instant: Instant) {
        self.0.as_mut().reset(instant);
    }

    /// Runs the future; returns `None` when the deadline passes first.
    pub(crate) async fn before<F: Future>(&mut self, future: F) -> Option<F::Output> {
        let mut future = pin!(future);
        poll_fn(|cx| match future.as_mut().poll(cx) {
            Poll::Ready(output) => Poll::Ready(Some(output)),
            Poll::Pending => self.0.as_mut().poll(cx).map(|()| None),
        })
        .await
    }
}
