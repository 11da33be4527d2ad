//! How does hyper put requests on the wire and take answers from it?
//!
//! The connection's own future runs inside the request that waits for it, not in a task of its own: one
//! wake-up fewer on each read, and between two requests nothing is read at all but by [`Line::settle`].
//!
//! **Invariant:** a line whose future has ended carries no further request.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use bytes::Bytes;
use http::{Request, Response};
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::client::conn::{http1, http2};
use hyper::rt::Executor;
use hyper_util::rt::TokioIo;
use tokio::task::JoinSet;

use crate::settings::Limits;
use crate::socket::Socket;
use crate::wire::{Watch, Wire};

/// Requests out at once over HTTP/2. A visit has few pages and a server is owed some restraint; servers
/// allow 100 and more (RFC 9113, 6.5.2 asks them to).
const STREAMS: usize = 16;

/// A body for requests that have none.
pub(crate) struct NoBody;

/// A connection that speaks HTTP by hyper.
pub(crate) struct Line {
    sender: Sender,
    /// `None` when the connection has ended.
    driver: Option<Driver>,
    /// How the connection ended, if by an error.
    failure: Option<hyper::Error>,
    /// What hyper runs beside the driver for HTTP/2; ended with the line.
    tasks: Tasks,
}

enum Sender {
    Http1(http1::SendRequest<NoBody>),
    Http2(http2::SendRequest<NoBody>),
}

enum Driver {
    Http1(Pin<Box<http1::Connection<TokioIo<Wire>, NoBody>>>),
    Http2(Pin<Box<http2::Connection<TokioIo<Socket>, NoBody, Tasks>>>),
}

/// What hyper promises for a request; it has no name for either.
enum Either<A, B> {
    Http1(A),
    Http2(B),
}

#[derive(Clone, Default)]
struct Tasks(Arc<Mutex<JoinSet<()>>>);

impl Line {
    /// Begins HTTP/1, whose reads are watched.
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
            driver: Some(Driver::Http1(Box::pin(connection))),
            failure: None,
            tasks: Tasks::default(),
        })
    }

    /// Begins HTTP/2.
    pub(crate) async fn http2(socket: Socket, limits: &Limits) -> hyper::Result<Self> {
        let tasks = Tasks::default();
        let (sender, connection) = http2::Builder::new(tasks.clone())
            .max_header_list_size(u32::try_from(limits.head).unwrap_or(u32::MAX))
            // Until the server says how many streams it allows. What it then refuses was not looked at
            // (RFC 9113, 8.7) and is asked for again.
            .initial_max_send_streams(STREAMS)
            // All bodies are read as they come, so that one stream may use the whole window; a page
            // rarely needs a second one.
            .initial_stream_window_size(1 << 20)
            .initial_connection_window_size(1 << 20)
            .handshake(TokioIo::new(socket))
            .await?;
        Ok(Self {
            sender: Sender::Http2(sender),
            driver: Some(Driver::Http2(Box::pin(connection))),
            failure: None,
            tasks,
        })
    }

    /// Requests that may be out at once.
    pub(crate) fn width(&self) -> usize {
        match &self.driver {
            Some(Driver::Http2(driver)) => driver.current_max_send_streams().clamp(1, STREAMS),
            _ => 1,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        let closed = match &self.sender {
            Sender::Http1(sender) => sender.is_closed(),
            Sender::Http2(sender) => sender.is_closed(),
        };
        self.driver.is_some() && !closed
    }

    /// Returns the error that ended the connection, if one did.
    pub(crate) fn failure(&self) -> Option<&hyper::Error> {
        self.failure.as_ref()
    }

    /// Ends the connection.
    pub(crate) fn close(&mut self) {
        self.driver = None;
    }

    /// Hands a request over; the answer comes while the line is [driven](Self::drive).
    pub(crate) fn send(
        &mut self,
        request: Request<NoBody>,
    ) -> impl Future<Output = hyper::Result<Response<Incoming>>> + Send + use<> {
        let answer = match &mut self.sender {
            Sender::Http1(sender) => Either::Http1(sender.send_request(request)),
            Sender::Http2(sender) => Either::Http2(sender.send_request(request)),
        };
        async move {
            match answer {
                Either::Http1(answer) => answer.await,
                Either::Http2(answer) => answer.await,
            }
        }
    }

    /// Runs the connection until the future, which waits for it, is done.
    pub(crate) async fn drive<F: Future>(&mut self, future: F) -> F::Output {
        let mut future = pin!(future);
        let mut begun = false;
        poll_fn(|cx| {
            // What came is read before the future looks at the clock; at first there is nothing to read.
            if std::mem::replace(&mut begun, true) {
                self.advance(cx);
            }
            if let Poll::Ready(output) = future.as_mut().poll(cx) {
                return Poll::Ready(output);
            }
            // Hyper writes what the future sends, and reads a body when the future has asked for it.
            self.advance(cx);
            future.as_mut().poll(cx)
        })
        .await
    }

    /// Lets the connection notice what happened to it while nobody was looking: that it was closed, or
    /// that bytes came which nobody asked for.
    pub(crate) async fn settle(&mut self) {
        poll_fn(|cx| {
            self.advance(cx);
            Poll::Ready(())
        })
        .await;
    }

    /// Runs the connection as far as it goes. How it ended is told to the request that waits, if any.
    fn advance(&mut self, cx: &mut Context<'_>) {
        let ended = match &mut self.driver {
            Some(Driver::Http1(driver)) => driver.as_mut().poll(cx),
            Some(Driver::Http2(driver)) => driver.as_mut().poll(cx),
            None => return,
        };
        if let Poll::Ready(outcome) = ended {
            self.driver = None;
            self.failure = outcome.err();
        }
    }
}

impl<F> Executor<F> for Tasks
where
    F: Future<Output = ()> + Send + 'static,
{
    fn execute(&self, future: F) {
        let mut tasks = self
            .0
            .lock()
            .expect("another task panicked while it held this lock");
        // There is one for every request; those that are done are not to pile up.
        while tasks.try_join_next().is_some() {}
        tasks.spawn(future);
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        // The tasks may hold the set themselves, so that dropping it is not enough.
        self.tasks
            .0
            .lock()
            .expect("another task panicked while it held this lock")
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
