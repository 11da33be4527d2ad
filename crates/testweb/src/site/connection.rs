//! How does a server of the web treat one connection?
//!
//! HTTP/1.0, HTTP/1.1 (pipelined or not, answered in order) and HTTP/2 with prior knowledge, told apart
//! by the first bytes. **Invariant:** a server never answers more requests on a connection than it is
//! meant to. It says so with the last: `Connection: close`, or in HTTP/2 a GOAWAY; streams that were on
//! their way then are refused, which tells the client that they may be asked for again.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{CONNECTION, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response, Version};
use hyper_util::rt::{TokioExecutor, TokioIo};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;

use super::answer::Asked;
use super::line::Line;
use super::log::{OpenConnection, UnderWay};
use super::serving::Stage;
use super::web::ServerNumber;

/// Streams a client may have open at once: what nginx and Apache allow by default (128 and 100), about.
const STREAMS: u32 = 100;

/// A connection under way.
struct Connection {
    stage: Arc<Stage>,
    server: ServerNumber,
    open: OpenConnection,
    asked: AtomicU32,
    /// The last request was asked over HTTP/2.
    enough: Notify,
}

/// Serves a connection to its end.
pub(super) async fn serve<S>(stage: Arc<Stage>, server: ServerNumber, stream: S)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let connection = Arc::new(Connection {
        open: OpenConnection::new(Arc::clone(&stage.log), server),
        stage,
        server,
        asked: AtomicU32::new(0),
        enough: Notify::new(),
    });
    let habits = connection.stage.web.server(server);
    pause(habits.round_trip).await;
    let line = TokioIo::new(Line::new(stream, habits.round_trip));
    let answer = service_fn(|request| answer(Arc::clone(&connection), request));
    let mut builder = Builder::new(TokioExecutor::new());
    let streams = habits.requests_per_connection.min(STREAMS);
    builder.http2().max_concurrent_streams(streams);
    let mut serving = pin!(builder.serve_connection(line, answer));
    // A client that leaves in the middle of an answer is nothing to report.
    tokio::select! {
        _ = serving.as_mut() => return,
        () = connection.enough.notified() => serving.as_mut().graceful_shutdown(),
    }
    let _ = serving.await;
}

async fn answer(
    connection: Arc<Connection>,
    request: Request<Incoming>,
) -> Result<Response<Logged>, h2::Error> {
    let stage = &connection.stage;
    let server = stage.web.server(connection.server);
    let number = connection.asked.fetch_add(1, Ordering::Relaxed) + 1;
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
    let under_way = connection.open.request(path);
    pause(server.response_latency).await;
    let asked = Asked {
        server: connection.server,
        path,
        headers: request.headers(),
        earlier: under_way.earlier,
        port: stage.port,
    };
    let mut answer = stage.web.answer(&asked, stage.now());
    if is_last && !is_http2 {
        answer
            .headers_mut()
            .insert(CONNECTION, HeaderValue::from_static("close"));
    }
    under_way.answered_with(answer.status().as_u16());
    Ok(answer.map(|bytes| Logged {
        bytes: Some(bytes),
        _under_way: under_way,
    }))
}

/// Waits. A wait of nothing would still be one for the timer's next millisecond.
async fn pause(time: Duration) {
    if !time.is_zero() {
        tokio::time::sleep(time).await;
    }
}

/// A body in one piece that keeps its request under way until hyper lets go of it.
struct Logged {
    bytes: Option<Bytes>,
    _under_way: UnderWay,
}

impl Body for Logged {
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
