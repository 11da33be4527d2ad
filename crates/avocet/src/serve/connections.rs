//! Who is connected, and for how long?
//!
//! **Invariant:** so many connections at once and no more, and none that says nothing: a client that sends its
//! request drop by drop, or none at all, is let go.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tower::ServiceExt;

/// Connections at once; who comes later waits in the system's queue.
const MOST: usize = 1024;
/// The time for the head of a request, from the end of the one before.
const HEAD: Duration = Duration::from_secs(30);
/// Bytes of a head. Browsers send one to four thousand; an address of 2048 letters can take 24 thousand.
const HEAD_BYTES: usize = 64 * 1024;
/// The time that requests under way have when the server ends.
const LAST: Duration = Duration::from_secs(5);

/// Serves until `stopped` ends, then ends what is under way.
pub async fn accept(listener: TcpListener, router: Router, stopped: impl Future<Output = ()>) {
    let connections = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(MOST));
    tokio::pin!(stopped);
    loop {
        let place = tokio::select! {
            () = &mut stopped => break,
            place = room.clone().acquire_owned() => place,
        };
        let (stream, from) = tokio::select! {
            () = &mut stopped => break,
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of file descriptors, most likely: others will be closed.
                    tracing::warn!(%error, "cannot accept a connection");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
        };
        let answering = connections.watch(answer(TokioIo::new(stream), from, router.clone()));
        tokio::spawn(async move {
            // That a client went away is its own business.
            answering.await.ok();
            // The semaphore is never closed.
            drop(place);
        });
    }
    drop(listener);
    tokio::time::timeout(LAST, connections.shutdown())
        .await
        .ok();
}

fn answer(
    stream: TokioIo<tokio::net::TcpStream>,
    from: SocketAddr,
    router: Router,
) -> impl hyper_util::server::graceful::GracefulConnection<Error = hyper::Error> {
    let service = service_fn(move |mut request: hyper::Request<Incoming>| {
        request.extensions_mut().insert(ConnectInfo(from));
        router.clone().oneshot(request)
    });
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(HEAD_BYTES)
        .serve_connection(stream, service)
}
