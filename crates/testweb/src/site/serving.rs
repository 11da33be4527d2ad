//! How is an invented web put on real sockets?
//!
//! **Invariant:** one listener for each server, all at one port, and everything ends when the
//! [`Serving`] is dropped. How a connection is served is [`connection`](super::connection).

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::TestwebError;
use crate::listen::{accept, listen};

use super::connection::serve;
use super::log::Log;
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
pub(super) struct Stage {
    pub(super) web: Web,
    pub(super) port: u16,
    pub(super) log: Arc<Log>,
    clock: Clock,
    start: Instant,
    advanced: Mutex<f64>,
}

impl Serving {
    /// Opens one listener for each server at an address of its own, all at one port: the given one,
    /// or any that is free. Runs on the current tokio runtime.
    pub async fn start(web: Web, clock: Clock, port: Option<u16>) -> Result<Self, TestwebError> {
        let addresses: Vec<_> = web
            .servers()
            .map(|(server, _)| web.address(server))
            .collect();
        let (listeners, port) = listen(&addresses, port).await?;
        let stage = Arc::new(Stage::new(web, clock, port));
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

    /// The same without listeners: whoever has a connection brings it to be [attended](Serving::attend).
    pub fn in_memory(web: Web, clock: Clock) -> Self {
        Self {
            stage: Arc::new(Stage::new(web, clock, 80)),
            _listeners: JoinSet::new(),
        }
    }

    /// Serves a connection to the server at this address to its end.
    pub fn attend<S>(&self, at: SocketAddr, stream: S) -> impl Future<Output = ()> + use<S>
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let stage = Arc::clone(&self.stage);
        let mut servers = self.stage.web.servers().map(|(server, _)| server);
        let server = servers.find(|server| self.stage.web.address(*server) == at.ip());
        async move {
            if let Some(server) = server {
                serve(stage, server, stream).await;
            }
        }
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

    /// The pages that were answered with 200, each at the end of its first such answer, in seconds
    /// since the start; in that order.
    pub fn fetched(&self) -> Vec<(PageNumber, f64)> {
        let web = &self.stage.web;
        let mut fetched = Vec::new();
        for (server, _) in web.servers() {
            for (path, at) in self.stage.log.first_answers(server) {
                if let Some(page) = web.at(server, &path) {
                    fetched.push((page.number(), at.as_secs_f64()));
                }
            }
        }
        fetched.sort_unstable_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
        fetched
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
            .expect("another task panicked while it held this lock") += seconds;
    }
}

impl Stage {
    fn new(web: Web, clock: Clock, port: u16) -> Self {
        let addresses = web
            .servers()
            .map(|(server, _)| SocketAddr::from((web.address(server), port)));
        Self {
            log: Arc::new(Log::new(addresses)),
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
            Clock::Still => advanced,
            Clock::Running(speed) => advanced + speed * self.start.elapsed().as_secs_f64(),
        }
    }
}
