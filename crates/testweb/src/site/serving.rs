//! Serves an invented web on real sockets.
//!
//! **Invariant:** there is one listener for each server, all at the same port. Everything stops
//! when the [`ServedWeb`] is dropped. [`connection`](super::connection) serves the connections.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::TestwebError;
use crate::listen::{accept, listen};

use super::connection::serve;
use super::log::RequestLog;
use super::web::{PageNumber, ServerNumber, Web};

/// How the time of the web runs while it is served. It starts at 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum WebClock {
    /// Only [`ServedWeb::advance`] moves it, so nothing changes during a test.
    Still,
    /// The given number of seconds of the web pass in one real second.
    Running(f64),
}

/// A web that is being served; stops when dropped.
#[derive(Debug)]
pub struct ServedWeb {
    shared: Arc<SharedWeb>,
    /// The listeners, each with its connections, which are aborted when dropped.
    _listeners: JoinSet<()>,
}

/// The state that all servers share.
#[derive(Debug)]
pub(super) struct SharedWeb {
    pub(super) web: Web,
    pub(super) port: u16,
    pub(super) log: Arc<RequestLog>,
    clock: WebClock,
    start: Instant,
    advanced: Mutex<f64>,
}

impl ServedWeb {
    /// Opens one listener for each server, at an address of its own, all at the same port: the
    /// given one, or any free one. Runs on the current tokio runtime.
    pub async fn start(web: Web, clock: WebClock, port: Option<u16>) -> Result<Self, TestwebError> {
        let addresses: Vec<_> = web
            .servers()
            .map(|(server, _)| web.address(server))
            .collect();
        let (listeners, port) = listen(&addresses, port).await?;
        let shared = Arc::new(SharedWeb::new(web, clock, port));
        let mut tasks = JoinSet::new();
        for (server, listener) in (0..).map(ServerNumber).zip(listeners) {
            let shared = Arc::clone(&shared);
            tasks.spawn(accept(listener, move |stream| {
                serve(Arc::clone(&shared), server, stream)
            }));
        }
        Ok(Self {
            shared,
            _listeners: tasks,
        })
    }

    /// Creates a web without listeners. The caller passes each connection to
    /// [`attend`](ServedWeb::attend).
    pub fn in_memory(web: Web, clock: WebClock) -> Self {
        Self {
            shared: Arc::new(SharedWeb::new(web, clock, 80)),
            _listeners: JoinSet::new(),
        }
    }

    /// Serves a connection to the server at this address, to its end.
    pub fn attend<S>(&self, at: SocketAddr, stream: S) -> impl Future<Output = ()> + use<S>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let shared = Arc::clone(&self.shared);
        let mut servers = self.shared.web.servers().map(|(server, _)| server);
        let server = servers.find(|server| self.shared.web.address(*server) == at.ip());
        async move {
            if let Some(server) = server {
                serve(shared, server, stream).await;
            }
        }
    }

    /// Returns the web.
    pub fn web(&self) -> &Web {
        &self.shared.web
    }

    /// Returns the port of all servers.
    pub fn port(&self) -> u16 {
        self.shared.port
    }

    /// Returns the URL of a page.
    pub fn url(&self, page: PageNumber) -> String {
        self.shared.web.url(page, self.shared.port)
    }

    /// Returns the URLs of all home pages, in the order of the servers.
    pub fn homes(&self) -> Vec<String> {
        let web = &self.shared.web;
        web.servers()
            .map(|(server, _)| self.url(web.home(server)))
            .collect()
    }

    /// Returns the request log.
    pub fn log(&self) -> &RequestLog {
        &self.shared.log
    }

    /// Returns the pages that were answered with 200, sorted by the end of the first such
    /// answer, in seconds since the start.
    pub fn fetched(&self) -> Vec<(PageNumber, f64)> {
        let web = &self.shared.web;
        let mut fetched = Vec::new();
        for (server, _) in web.servers() {
            for (path, at) in self.shared.log.first_answers(server) {
                if let Some(page) = web.at(server, &path) {
                    fetched.push((page.number(), at.as_secs_f64()));
                }
            }
        }
        fetched.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        fetched
    }

    /// Returns the time of the web, in seconds.
    pub fn now(&self) -> f64 {
        self.shared.now()
    }

    /// Advances the time of the web; its pages change, appear and disappear accordingly.
    pub fn advance(&self, seconds: f64) {
        *self
            .shared
            .advanced
            .lock()
            .expect("another task panicked while it held this lock") += seconds;
    }
}

impl SharedWeb {
    fn new(web: Web, clock: WebClock, port: u16) -> Self {
        let addresses = web
            .servers()
            .map(|(server, _)| SocketAddr::from((web.address(server), port)));
        Self {
            log: Arc::new(RequestLog::new(addresses)),
            web,
            port,
            clock,
            start: Instant::now(),
            advanced: Mutex::new(0.0),
        }
    }

    pub(super) fn now(&self) -> f64 {
        let advanced = *self
            .advanced
            .lock()
            .expect("another task panicked while it held this lock");
        match self.clock {
            WebClock::Still => advanced,
            WebClock::Running(speed) => advanced + speed * self.start.elapsed().as_secs_f64(),
        }
    }
}
