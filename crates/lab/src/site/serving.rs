//! How is an invented web put on real sockets?
//!
//! **Invariant:** a server never answers more requests on a connection than it is meant to, and says
//! `Connection: close` with the last. Everything ends when the [`Serving`] is dropped.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;

use bytes::Bytes;
use hyper::body::{Body, Frame, Incoming, SizeHint};
use hyper::header::{CONNECTION, HeaderValue};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::LabError;
use crate::listen::{accept, listen};

use super::answer::Asked;
use super::log::{Log, OpenConnection, UnderWay};
use super::web::{PageNumber, ServerNumber, Web};

/// How the web's time runs while it is served. It starts at 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Clock {
    /// Only [`Serving::advance`] moves it: nothing changes while a test looks.
    Still,
    /// So many seconds of the web in one of ours.
    Running(f64),
}

/// A web that is being served, until dropped.
#[derive(Debug)]
pub struct Serving {
    stage: Arc<Stage>,
    /// The listeners, each with its connections; aborted when dropped.
    _listeners: JoinSet<()>,
}

/// What all servers share.
#[derive(Debug)]
struct Stage {
    web: Web,
    port: u16,
    log: Arc<Log>,
    clock: Clock,
    start: Instant,
    advanced: Mutex<f64>,
}

impl Serving {
    /// Opens one listener for each server at an address of its own, all at one port: the given one,
    /// or any that is free. Runs on the current tokio runtime.
    pub async fn start(web: Web, clock: Clock, port: Option<u16>) -> Result<Self, LabError> {
        let addresses: Vec<_> = web
            .servers()
            .map(|(server, _)| web.address(server))
            .collect();
        let (listeners, port) = listen(&addresses, port).await?;
        let log = Log::new(
            addresses
                .into_iter()
                .map(|address| SocketAddr::from((address, port))),
        );
        let stage = Arc::new(Stage {
            web,
            port,
            log: Arc::new(log),
            clock,
            start: Instant::now(),
            advanced: Mutex::new(0.0),
        });
        let mut tasks = JoinSet::new();
        for (server, listener) in (0..).map(ServerNumber).zip(listeners) {
            let stage = Arc::clone(&stage);
            tasks.spawn(accept(listener, move |stream| {
                serve(Arc::clone(&stage), server, stream)
            }));
        }
        Ok(Self {
            stage,
            _listeners: tasks,
        })
    }

    /// The web.
    pub fn web(&self) -> &Web {
        &self.stage.web
    }

    /// The port of all its servers.
    pub fn port(&self) -> u16 {
        self.stage.port
    }

    /// The URL of a page.
    pub fn url(&self, page: PageNumber) -> String {
        self.stage.web.url(page, self.stage.port)
    }

    /// The URLs of all home pages, in the order of the servers.
    pub fn homes(&self) -> Vec<String> {
        let web = &self.stage.web;
        web.servers()
            .map(|(server, _)| self.url(web.home(server)))
            .collect()
    }

    /// What the servers have seen so far.
    pub fn log(&self) -> &Log {
        &self.stage.log
    }

    /// The web's time, in seconds.
    pub fn now(&self) -> f64 {
        self.stage.now()
    }

    /// Moves the web's time on; its pages change, come and go accordingly.
    pub fn advance(&self, seconds: f64) {
        *self
            .stage
            .advanced
            .lock()
            .unwrap_or_else(PoisonError::into_inner) += seconds;
    }
}

impl Stage {
    fn now(&self) -> f64 {
        let advanced = *self.advanced.lock().unwrap_or_else(PoisonError::into_inner);
        match self.clock {
            Clock::Still => advanced,
            Clock::Running(speed) => advanced + speed * self.start.elapsed().as_secs_f64(),
        }
    }
}

async fn serve(stage: Arc<Stage>, server: ServerNumber, stream: TcpStream) {
    let open = OpenConnection::new(Arc::clone(&stage.log), server);
    tokio::time::sleep(stage.web.server(server).connect_latency).await;
    let served = AtomicU32::new(0);
    let answer = service_fn(|request| {
        let last = served.fetch_add(1, Ordering::Relaxed) + 1
            >= stage.web.server(server).requests_per_connection;
        answer(&stage, server, &open, request, last)
    });
    // A client that leaves in the middle of an answer is nothing to report.
    let _ = hyper::server::conn::http1::Builder::new()
        .serve_connection(TokioIo::new(stream), answer)
        .await;
}

async fn answer(
    stage: &Stage,
    server: ServerNumber,
    open: &OpenConnection,
    request: Request<Incoming>,
    last: bool,
) -> Result<Response<Logged>, Infallible> {
    let path = request
        .uri()
        .path_and_query()
        .map_or("/", |path| path.as_str());
    let under_way = open.request(path);
    let latency = stage.web.server(server).response_latency;
    if !latency.is_zero() {
        tokio::time::sleep(latency).await;
    }
    let asked = Asked {
        server,
        path,
        headers: request.headers(),
        earlier: under_way.earlier,
        port: stage.port,
    };
    let mut answer = stage.web.answer(&asked, stage.now());
    if last {
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
