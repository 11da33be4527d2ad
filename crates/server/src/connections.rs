//! Accepts connections, limits their number and their time, and serves them.
//!
//! **Invariant:** a client that sends nothing, sends its request byte by byte, or does not read its
//! answer blocks neither other clients nor `/health`. [`admission`] closes such a connection when a
//! new one needs its place, and [`time_outs`] closes it after a time-out in any case.

mod admission;
mod time_outs;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use hyper_util::server::graceful::{GracefulConnection, GracefulShutdown};
use rustix::net::sockopt;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};
use tower::ServiceExt;

use crate::middleware::without_base;
use crate::request::client::{Proxies, network};
use admission::{AdmissionControl, Full};
use time_outs::{ConnectionWatch, Download, Upload, WatchedSocket};

/// The maximum number of connections at once.
const MOST: usize = 1024;
/// The maximum number of bytes of a request head.
///
/// Browsers send 1 to 4 kB; a URL of 2048 letters can take 24 kB when it is percent-encoded.
const HEAD_BYTES: usize = 64 * 1024;
/// Bytes of an answer that the kernel buffers for a client that does not read.
///
/// The default of Linux is up to 4 MB per connection, so 4 GB for [`MOST`] connections. A page has
/// about 20 kB.
const SEND_BUFFER: usize = 256 * 1024;
/// The time that requests under way get to finish when the server shuts down.
const LAST: Duration = Duration::from_secs(5);
/// The maximum number of refused connections at once that get an answer with the reason. Further
/// ones are closed without an answer.
const REFUSALS: usize = 64;
/// The time that a refused client has to read the reason.
const REFUSAL_TIME: Duration = Duration::from_secs(1);
/// The answer to a client that already has as many connections as it may.
const REFUSAL: &[u8] =
    b"HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain; charset=utf-8\r\n\
    Content-Length: 54\r\nRetry-After: 1\r\nConnection: close\r\n\r\n\
    There are too many connections from this address now.\n";

/// The routes, and the path prefix that requests may have.
#[derive(Clone)]
pub struct ServedRouter {
    /// The routes, without the prefix.
    pub router: Router,
    /// The prefix, such as `/search`.
    pub base: Option<String>,
}

/// Serves connections until `stopped` completes. Then gives requests under way [`LAST`] to finish.
pub async fn accept(
    listener: TcpListener,
    router: ServedRouter,
    per_client: Option<usize>,
    proxies: Proxies,
    stopped: impl Future<Output = ()>,
) {
    let connections = GracefulShutdown::new();
    let admission = AdmissionControl::new(MOST, per_client);
    let refusals = Arc::new(Semaphore::new(REFUSALS));
    let proxies = Arc::new(proxies);
    let mut tasks = JoinSet::new();
    tokio::pin!(stopped);
    'accepting: loop {
        let (stream, from) = tokio::select! {
            () = &mut stopped => break,
            Some(ended) = tasks.join_next() => {
                report_panic(ended);
                continue;
            }
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Most likely there is no file descriptor left: closing an idle connection
                    // frees one.
                    tracing::warn!(%error, "cannot accept a connection");
                    admission.close_one();
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    continue;
                }
            },
        };
        // If this fails, the default of the kernel holds.
        sockopt::set_socket_send_buffer_size(&stream, SEND_BUFFER).ok();
        let client = (!proxies.trust(from.ip())).then(|| network(from.ip()));
        let admitted = loop {
            match admission.admit(client, Instant::now()) {
                Ok(admitted) => break admitted,
                Err(Full::Client) => {
                    if let Ok(permit) = refusals.clone().try_acquire_owned() {
                        tasks.spawn(async move {
                            timeout(REFUSAL_TIME, refuse(stream)).await.ok();
                            drop(permit);
                        });
                    }
                    continue 'accepting;
                }
                Err(Full::Server) => tokio::select! {
                    () = &mut stopped => break 'accepting,
                    () = admission.freed.notified() => {}
                },
            }
        };
        let watch = admitted.watch.clone();
        let answering = answer(stream, from, router.clone(), proxies.clone(), &watch);
        let answering = connections.watch(answering);
        tasks.spawn(async move {
            tokio::select! {
                // An error means that the client has disconnected, which needs no action.
                _ = answering => {}
                () = watch.over() => {}
            }
            drop(admitted);
        });
    }
    drop(listener);
    timeout(LAST, connections.shutdown()).await.ok();
    tasks.abort_all();
    while let Some(ended) = tasks.join_next().await {
        report_panic(ended);
    }
}

fn answer(
    stream: TcpStream,
    from: SocketAddr,
    router: ServedRouter,
    proxies: Arc<Proxies>,
    watch: &Arc<ConnectionWatch>,
) -> impl GracefulConnection<Error = hyper::Error> + use<> {
    let watch = watch.clone();
    let stream = TokioIo::new(WatchedSocket {
        socket: stream,
        watch: watch.clone(),
    });
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        watch.request_began();
        let client = proxies.client(from.ip(), request.headers());
        request.extensions_mut().insert(client);
        let watch = watch.clone();
        let request = request.map(|body| Upload {
            body,
            watch: watch.clone(),
        });
        let (mut head, body) = request.into_parts();
        let base = router.base.as_deref();
        if let Some(uri) = base.and_then(|base| without_base(&head.uri, base)) {
            head.uri = uri;
        }
        let request = hyper::Request::from_parts(head, body);
        let answer = router.router.clone().oneshot(request);
        async move {
            let answer = answer.await?;
            Ok::<_, std::convert::Infallible>(answer.map(|body| Download { body, watch }))
        }
    });
    http1::Builder::new()
        // `ConnectionWatch` has the time-out for the head.
        .header_read_timeout(None)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(stream, service)
}

/// Answers that there are too many connections, without reading the request.
async fn refuse(mut stream: TcpStream) -> std::io::Result<()> {
    stream.write_all(REFUSAL).await?;
    stream.shutdown().await?;
    // Closing a socket with unread bytes resets the connection, and the client loses the answer.
    let mut unread = [0; 1024];
    while stream.read(&mut unread).await? > 0 {}
    Ok(())
}

/// Logs a panic in the task of a connection. Other connections are not affected.
fn report_panic(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "a connection ended by a panic: its request was not answered");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refusal_states_its_length() {
        let text = str::from_utf8(REFUSAL).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())));
    }
}
