//! When does the user want us to stop?

use tokio::signal::unix::{Signal, SignalKind, signal};

/// What the user (Ctrl-C) and the system (SIGTERM) say, from when it is made on: a word that comes while nobody listens is not
/// lost. Without signals to wait for, a crawl ends by itself.
pub struct Signals {
    terminate: Option<Signal>,
    interrupt: Option<Signal>,
}

impl Signals {
    /// Begins to listen, in a runtime.
    pub fn listen() -> Self {
        Self {
            terminate: signal(SignalKind::terminate()).ok(),
            interrupt: signal(SignalKind::interrupt()).ok(),
        }
    }

    /// Ends with the next one.
    pub async fn next(&mut self) {
        tokio::select! {
            () = one(&mut self.terminate) => {}
            () = one(&mut self.interrupt) => {}
        }
    }
}

/// Ends when the user or the system wants us to.
pub async fn signalled() {
    Signals::listen().next().await;
}

async fn one(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}
