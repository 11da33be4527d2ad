//! Serves one connection.
//!
//! HTTP/1.0, HTTP/1.1 (pipelined or not, answered in order) and HTTP/2 with prior knowledge are
//! distinguished by the first bytes.
//!
//! **Invariant:** a server answers at most a fixed number of requests per connection. It
//! announces the last one with `Connection: close`, or in HTTP/2 with GOAWAY. Streams that are
//! already on their way are then refused, which tells the client that it may retry them.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::CONNECTION;
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;

use crate::reply::with_header;

use super::answer::WebRequest;
use super::delayed_stream::DelayedStream;
use super::log::{OpenConnection, PendingRequest};
use super::serving::SharedWeb;
use super::web::ServerNumber;

/// Maximum number of concurrent streams: about the defaults of nginx (128) and Apache (100).
const STREAMS: u32 = 100;

/// A connection that is open.
struct ServedConnection {
    shared: Arc<SharedWeb>,
    server: ServerNumber,
    open: OpenConnection,
    requests: AtomicU32,
    /// Notified when the last allowed request arrived over HTTP/2.
    enough: Notify,
}

/// Serves a connection to its end.
pub(super) async fn serve<S>(shared: Arc<SharedWeb>, server: ServerNumber, stream: S)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let connection = Arc::new(ServedConnection {
        open: OpenConnection::new(Arc::clone(&shared.log), server),
        shared,
        server,
        requests: AtomicU32::new(0),
        enough: Notify::new(),
    });
    let habits = connection.shared.web.server(server);
    pause(habits.round_trip).await;
    let line = TokioIo::new(DelayedStream::new(stream, habits.round_trip));
    let answer = service_fn(|request| answer(Arc::clone(&connection), request));
    let mut builder = Builder::new(TokioExecutor::new());
    let streams = habits.requests_per_connection.min(STREAMS);
    builder.http2().max_concurrent_streams(streams);
    let mut serving = pin!(builder.serve_connection(line, answer));
    // A client that disconnects in the middle of an answer is not an error.
    tokio::select! {
        _ = serving.as_mut() => return,
        () = connection.enough.notified() => serving.as_mut().graceful_shutdown(),
    }
    let _ = serving.await;
}

async fn answer(
    connection: Arc<ServedConnection>,
    request: Request<Incoming>,
) -> Result<Response<LoggedBody>, h2::Error> {
    let shared = &connection.shared;
    let server = shared.web.server(connection.server);
    let number = connection.requests.fetch_add(1, Ordering::Relaxed) + 1;
    if number > server.requests_per_connection {
        return Err(h2::Reason::REFUSED_STREAM.into());
    }
    let is_last = number == server.requests_per_connection;
    let is_http2 = request.version() == Version::HTTP_2;
    if is_last && is_http2 {
        connection.enough.notify_one();
    }
    let path = request
        .uri()
        .path_and_query()
        .map_or("/", |path| path.as_str());
    let pending = connection.open.request(path);
    pause(server.response_latency).await;
    let web_request = WebRequest {
        server: connection.server,
        path,
        headers: request.headers(),
        earlier: pending.earlier,
        port: shared.port,
    };
    let mut answer = shared.web.answer(&web_request, shared.now());
    if is_last && !is_http2 {
        answer = with_header(answer, CONNECTION, "close");
    }
    pending.answered_with(answer.status().as_u16());
    Ok(answer.map(|bytes| LoggedBody {
        bytes: Some(bytes),
        _under_way: pending,
    }))
}

/// Waits. A wait of zero is skipped, because the timer would round it up to its next millisecond.
async fn pause(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}

/// A body in one piece. Its request stays under way in the log until hyper drops the body.
struct LoggedBody {
    bytes: Option<Bytes>,
    _under_way: PendingRequest,
}

impl Body for LoggedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = self.bytes.take().filter(|bytes| !bytes.is_empty());
        Poll::Ready(bytes.map(|bytes| Ok(Frame::data(bytes))))
    }

    fn is_end_stream(&self) -> bool {
        self.bytes.as_ref().is_none_or(Bytes::is_empty)
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.bytes.as_ref().map_or(0, |bytes| bytes.len() as u64))
    }
}
