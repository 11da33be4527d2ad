//! A connection on which hyper speaks HTTP.
//!
//! The connection's future runs inside the request that waits for it, not in a task of its own.
//! This saves a wake-up on each read. Between two requests nothing is read except by
//! [`HyperConnection::settle`].
//!
//! **Invariant:** a connection whose future has ended carries no further request.

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

use crate::monitored_socket::{MonitoredSocket, ReadMonitor};
use crate::settings::FetchLimits;
use crate::socket::Socket;

/// Maximum number of requests in flight at once over HTTP/2. Servers usually allow 100 or more (RFC
/// 9113, 6.5.2), but a visit has few pages, and politeness requires fewer.
const STREAMS: usize = 16;

/// The empty body of a request.
pub(crate) struct NoBody;

/// A connection on which hyper speaks HTTP.
pub(crate) struct HyperConnection {
    sender: Sender,
    /// `None` when the connection has ended.
    driver: Option<HyperDriver>,
    /// The error that ended the connection, if one did.
    failure: Option<hyper::Error>,
    /// Tasks that hyper runs beside the driver for HTTP/2. They are aborted when the connection is
    /// dropped.
    tasks: Tasks,
}

enum Sender {
    Http1(http1::SendRequest<NoBody>),
    Http2(http2::SendRequest<NoBody>),
}

enum HyperDriver {
    Http1(Pin<Box<http1::Connection<TokioIo<MonitoredSocket>, NoBody>>>),
    Http2(Pin<Box<http2::Connection<TokioIo<Socket>, NoBody, Tasks>>>),
}

/// The future of a response. Hyper's futures for the two versions have different types, which
/// cannot be named.
enum Either<A, B> {
    Http1(A),
    Http2(B),
}

#[derive(Clone, Default)]
struct Tasks(Arc<Mutex<JoinSet<()>>>);

impl HyperConnection {
    /// Begins HTTP/1. `monitor` records what is read.
    pub(crate) async fn http1(
        socket: Socket,
        monitor: ReadMonitor,
        limits: &FetchLimits,
    ) -> hyper::Result<Self> {
        let mut builder = http1::Builder::new();
        builder.max_header_size(limits.head);
        // Hyper keeps its default of 100 headers on the stack; any other number costs an
        // allocation per response.
        if limits.headers != 100 {
            builder.max_headers(limits.headers);
        }
        let (sender, connection) = builder
            .handshake(TokioIo::new(MonitoredSocket::new(socket, monitor)))
            .await?;
        Ok(Self {
            sender: Sender::Http1(sender),
            driver: Some(HyperDriver::Http1(Box::pin(connection))),
            failure: None,
            tasks: Tasks::default(),
        })
    }

    /// Begins HTTP/2.
    pub(crate) async fn http2(socket: Socket, limits: &FetchLimits) -> hyper::Result<Self> {
        let tasks = Tasks::default();
        let (sender, connection) = http2::Builder::new(tasks.clone())
            .max_header_list_size(u32::try_from(limits.head).unwrap_or(u32::MAX))
            // This limit applies until the server announces its own. A request whose stream the
            // server then refuses was not processed (RFC 9113, 8.7) and can be repeated.
            .initial_max_send_streams(STREAMS)
            // All bodies are read as they arrive, so one stream may use the whole connection
            // window. A page rarely needs a second window.
            .initial_stream_window_size(1 << 20)
            .initial_connection_window_size(1 << 20)
            .handshake(TokioIo::new(socket))
            .await?;
        Ok(Self {
            sender: Sender::Http2(sender),
            driver: Some(HyperDriver::Http2(Box::pin(connection))),
            failure: None,
            tasks,
        })
    }

    /// Returns how many requests may be in flight at once.
    pub(crate) fn width(&self) -> usize {
        match &self.driver {
            Some(HyperDriver::Http2(driver)) => driver.current_max_send_streams().clamp(1, STREAMS),
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

    /// Sends a request. The response arrives while the connection is [driven](Self::drive).
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
            // Reads first, so that data already received wins over a deadline. At first there is
            // nothing to read.
            if std::mem::replace(&mut begun, true) {
                self.advance(cx);
            }
            if let Poll::Ready(output) = future.as_mut().poll(cx) {
                return Poll::Ready(output);
            }
            // Hyper now writes what the future sent, or reads the body that it asked for.
            self.advance(cx);
            future.as_mut().poll(cx)
        })
        .await
    }

    /// Polls the connection once between requests. The poll ends a connection that the server
    /// closed or over which it sent unsolicited bytes.
    pub(crate) async fn settle(&mut self) {
        poll_fn(|cx| {
            self.advance(cx);
            Poll::Ready(())
        })
        .await;
    }

    /// Polls the connection. When it has ended, hyper reports the cause to the waiting request,
    /// if any.
    fn advance(&mut self, cx: &mut Context<'_>) {
        let ended = match &mut self.driver {
            Some(HyperDriver::Http1(driver)) => driver.as_mut().poll(cx),
            Some(HyperDriver::Http2(driver)) => driver.as_mut().poll(cx),
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
        // Hyper spawns one task per request; finished ones must not pile up.
        while tasks.try_join_next().is_some() {}
        tasks.spawn(future);
    }
}

impl Drop for HyperConnection {
    fn drop(&mut self) {
        // The tasks hold clones of the set, so dropping ours would not abort them.
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
