//! Connections: how many there may be, for how long, and who is turned away.
//!
//! **Invariant:** a client that connects and says nothing, sends its request byte by byte or does not read its answer
//! keeps out neither others nor `/health`: [`room`] closes such a connection for a new one, and [`time_outs`] closes it
//! after a time-out in any case.

mod room;
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

use crate::request::client::{Proxies, network};
use room::{Full, Room};
use time_outs::{Download, Upload, Watch, Watched};

/// Connections at once.
const MOST: usize = 1024;
/// Bytes of a head. Browsers send one to four thousand; an address of 2048 letters can take 24 thousand.
const HEAD_BYTES: usize = 64 * 1024;
/// Bytes of answers that the kernel keeps for a client that does not read. By default it keeps up to 4 MB for each, 4 GB in
/// all; a page has some 20 KB.
const SEND_BUFFER: usize = 256 * 1024;
/// The time that requests under way have when the server ends.
const LAST: Duration = Duration::from_secs(5);
/// Refused connections at once that get an answer with the reason; the server closes further ones without an answer.
const REFUSALS: usize = 64;
/// The time that a client has to read why.
const REFUSAL_TIME: Duration = Duration::from_secs(1);
/// The answer to a client that has as many connections as it may.
const REFUSAL: &[u8] =
    b"HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain; charset=utf-8\r\n\
    Content-Length: 54\r\nRetry-After: 1\r\nConnection: close\r\n\r\n\
    There are too many connections from this address now.\n";

/// Serves until `stopped` ends, then ends what is under way.
pub async fn accept(
    listener: TcpListener,
    router: Router,
    per_client: Option<usize>,
    proxies: Proxies,
    stopped: impl Future<Output = ()>,
) {
    let connections = GracefulShutdown::new();
    let room = Room::new(MOST, per_client);
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
                    // Out of file descriptors, most likely: a connection that waits for its client has one.
                    tracing::warn!(%error, "cannot accept a connection");
                    room.close_one();
                    tokio::time::sleep(Duration::from_millis(10)).await;
                    continue;
                }
            },
        };
        // Where it cannot be set, the kernel's own limit holds.
        sockopt::set_socket_send_buffer_size(&stream, SEND_BUFFER).ok();
        let client = (!proxies.trust(from.ip())).then(|| network(from.ip()));
        let place = loop {
            match room.admit(client, Instant::now()) {
                Ok(place) => break place,
                Err(Full::Client) => {
                    if let Ok(permit) = refusals.clone().try_acquire_owned() {
                        tasks.spawn(async move {
                            timeout(REFUSAL_TIME, refuse(stream)).await.ok();
                            drop(permit);
                        });
                    }
                    continue 'accepting;
                }
                Err(Full::Room) => tokio::select! {
                    () = &mut stopped => break 'accepting,
                    () = room.freed.notified() => {}
                },
            }
        };
        let watch = place.watch.clone();
        let answering = answer(stream, from, router.clone(), proxies.clone(), &watch);
        let answering = connections.watch(answering);
        tasks.spawn(async move {
            tokio::select! {
                // That a client went away is its own business.
                _ = answering => {}
                () = watch.over() => {}
            }
            drop(place);
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
    router: Router,
    proxies: Arc<Proxies>,
    watch: &Arc<Watch>,
) -> impl GracefulConnection<Error = hyper::Error> + use<> {
    let stream = TokioIo::new(Watched::new(stream, watch.clone()));
    let watch = watch.clone();
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        watch.begins();
        let client = proxies.client(from.ip(), request.headers());
        request.extensions_mut().insert(client);
        let request = request.map(|body| Upload::new(body, watch.clone()));
        let (answer, watch) = (router.clone().oneshot(request), watch.clone());
        async move {
            let answer = answer.await?;
            Ok::<_, std::convert::Infallible>(answer.map(|body| Download::new(body, watch)))
        }
    });
    http1::Builder::new()
        // A head is timed by `Watch`.
        .header_read_timeout(None)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(stream, service)
}

/// Says that there are too many connections, whatever is asked.
async fn refuse(mut stream: TcpStream) -> std::io::Result<()> {
    stream.write_all(REFUSAL).await?;
    stream.shutdown().await?;
    // A socket that is closed with bytes unread resets the connection, and the client loses the answer.
    let mut unread = [0; 1024];
    while stream.read(&mut unread).await? > 0 {}
    Ok(())
}

/// Reports a panic in the task of a connection. Others are served on.
fn report_panic(ended: Result<(), tokio::task::JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "a request was not answered");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refusal_is_as_long_as_it_says() {
        let text = str::from_utf8(REFUSAL).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("Content-Length: {}\r\n", body.len())));
    }
}
