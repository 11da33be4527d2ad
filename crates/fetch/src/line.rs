//! How are requests put on the wire and answers taken from it?
//!
//! The connection's own future runs inside the request that waits for it, not in a task of its own: one
//! wake-up fewer on each read, and between two requests nothing is read at all but by [`Line::settle`].
//!
//! **Invariant:** a line whose future has ended carries no further request.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response, Version};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::client::conn::{http1, http2};
use hyper::rt::Executor;
use hyper_util::rt::TokioIo;
use tokio::task::JoinSet;

use crate::deadline::Deadline;
use crate::settings::Limits;
use crate::socket::Socket;
use crate::wire::{Watch, Wire};

type Driver = Pin<Box<dyn Future<Output = hyper::Result<()>> + Send>>;

/// A body for requests that have none.
pub(crate) struct NoBody;

/// A connection that speaks HTTP.
pub(crate) struct Line {
    sender: Sender,
    /// `None` when the connection has ended.
    driver: Option<Driver>,
    /// What hyper runs beside the driver for HTTP/2; ended with the line.
    tasks: Tasks,
}

enum Sender {
    Http1(http1::SendRequest<NoBody>),
    Http2(http2::SendRequest<NoBody>),
}

#[derive(Clone, Default)]
struct Tasks(Arc<Mutex<JoinSet<()>>>);

impl Line {
    /// Begins HTTP/1.1, whose reads are watched.
    pub(crate) async fn http1(
        socket: Socket,
        watch: Watch,
        limits: &Limits,
    ) -> hyper::Result<Self> {
        let mut builder = http1::Builder::new();
        builder.max_header_size(limits.head);
        // The default of 100 lives on the stack; any other number costs an allocation per response.
        if limits.headers != 100 {
            builder.max_headers(limits.headers);
        }
        let (sender, connection) = builder
            .handshake(TokioIo::new(Wire::new(socket, watch)))
            .await?;
        Ok(Self {
            sender: Sender::Http1(sender),
            driver: Some(Box::pin(connection)),
            tasks: Tasks::default(),
        })
    }

    /// Begins HTTP/2.
    pub(crate) async fn http2(socket: Socket, limits: &Limits) -> hyper::Result<Self> {
        let tasks = Tasks::default();
        let (sender, connection) = http2::Builder::new(tasks.clone())
            .max_header_list_size(u32::try_from(limits.head).unwrap_or(u32::MAX))
            // One request at a time, so that one stream may use the whole window; a page rarely needs a
            // second one.
            .initial_stream_window_size(1 << 20)
            .initial_connection_window_size(1 << 20)
            .handshake(TokioIo::new(socket))
            .await?;
        Ok(Self {
            sender: Sender::Http2(sender),
            driver: Some(Box::pin(connection)),
            tasks,
        })
    }

    pub(crate) fn version(&self) -> Version {
        match self.sender {
            Sender::Http1(_) => Version::HTTP_11,
            Sender::Http2(_) => Version::HTTP_2,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        let closed = match &self.sender {
            Sender::Http1(sender) => sender.is_closed(),
            Sender::Http2(sender) => sender.is_closed(),
        };
        self.driver.is_some() && !closed
    }

    /// Ends the connection.
    pub(crate) fn close(&mut self) {
        self.driver = None;
    }

    /// Sends a request and waits for the head of its answer; `None` when the deadline passes first.
    pub(crate) async fn send(
        &mut self,
        request: Request<NoBody>,
        deadline: &mut Deadline,
    ) -> Option<hyper::Result<Response<Incoming>>> {
        let driver = &mut self.driver;
        match &mut self.sender {
            Sender::Http1(sender) => run(driver, deadline, sender.send_request(request)).await,
            Sender::Http2(sender) => run(driver, deadline, sender.send_request(request)).await,
        }
    }

    /// Waits for the next piece of a body: `None` when the deadline passes first, `Some(None)` at its end.
    pub(crate) async fn frame(
        &mut self,
        body: &mut Incoming,
        deadline: &mut Deadline,
    ) -> Option<Option<hyper::Result<Frame<Bytes>>>> {
        let next = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx));
        run(&mut self.driver, deadline, next).await
    }

    /// Lets the connection notice what happened to it while nobody was looking: that it was closed, or
    /// that bytes came which nobody asked for.
    pub(crate) async fn settle(&mut self) {
        let driver = &mut self.driver;
        poll_fn(|cx| {
            advance(driver, cx);
            Poll::Ready(())
        })
        .await;
    }
}

/// Runs the connection until the future is done; `None` when the deadline passes first. The future is
/// polled before the connection as well, because asking for a piece of a body is what makes hyper read it.
async fn run<F: Future>(
    driver: &mut Option<Driver>,
    deadline: &mut Deadline,
    future: F,
) -> Option<F::Output> {
    let mut future = std::pin::pin!(future);
    poll_fn(|cx| {
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(Some(output));
        }
        advance(driver, cx);
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(Some(output));
        }
        deadline.poll_passed(cx).map(|()| None)
    })
    .await
}

/// Runs the connection as far as it goes. How it ended is told to the request that waits, if any.
fn advance(driver: &mut Option<Driver>, cx: &mut Context<'_>) {
    let ended = driver
        .as_mut()
        .is_some_and(|driver| driver.as_mut().poll(cx).is_ready());
    if ended {
        *driver = None;
    }
}

impl<F> Executor<F> for Tasks
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, future: F) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .spawn(future);
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        // The tasks may hold the set themselves, so that dropping it is not enough.
        self.tasks
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .abort_all();
    }
}

impl Body for NoBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Poll::Ready(None)
    }

    fn is_end_stream(&self) -> bool {
        true
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(0)
    }
}
