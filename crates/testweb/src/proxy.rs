//! HTTP proxies on loopback (RFC 9112, section 3.2.2) that answer for every host themselves.
//!
//! **Invariant:** the proxy never connects to another server.

use std::convert::Infallible;
use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response, Uri};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::TestwebError;

/// A listening proxy; stops when dropped.
#[derive(Debug)]
pub struct Listening {
    address: SocketAddr,
    _listener: JoinSet<()>,
}

impl Listening {
    /// Returns the proxy URL for the crawler's configuration: `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }
}

/// Listens at 127.0.0.1, at the given port or any free one. `attend` serves a connection to its
/// end.
pub async fn listen<F, A>(port: Option<u16>, attend: F) -> Result<Listening, TestwebError>
where
    F: Fn(TcpStream) -> A + Clone + Send + 'static,
    A: Future<Output = ()> + Send + 'static,
{
    let (address, tasks) = crate::listen::serve(Ipv4Addr::LOCALHOST, port, attend).await?;
    Ok(Listening {
        address,
        _listener: tasks,
    })
}

/// Answers all requests of one connection, by their URLs.
pub async fn serve_connection(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    answer: impl Fn(&Uri) -> Response<Bytes>,
) {
    answer_requests(stream, Duration::ZERO, |request| answer(request.uri())).await;
}

/// Answers all requests of one connection, each after a time.
pub(crate) async fn answer_requests(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    latency: Duration,
    answer: impl Fn(&Request<Incoming>) -> Response<Bytes>,
) {
    let answer = service_fn(|request: Request<Incoming>| {
        let answer = answer(&request).map(Full::new);
        async move {
            if !latency.is_zero() {
                tokio::time::sleep(latency).await;
            }
            Ok::<_, Infallible>(answer)
        }
    });
    // A client that disconnects in the middle of an answer is not an error.
    let _ = hyper::server::conn::http1::Builder::new()
        .pipeline_flush(true)
        .serve_connection(TokioIo::new(stream), answer)
        .await;
}
