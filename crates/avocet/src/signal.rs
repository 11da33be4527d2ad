//! Signals: which of them stop the program cleanly, and which do not end it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Keeps `SIGXFSZ` from killing the process: a write beyond the limit of `ulimit -f` then fails with
/// `EFBIG`, and is handled like a full disk. The flag that the handler sets is not read.
pub fn ignore_file_size_limit() {
    let flag = Arc::new(AtomicBool::new(false));
    if let Err(error) = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, flag) {
        tracing::warn!(%error, "a file size limit would kill this process");
    }
}

/// The signals that ask for a clean stop: SIGINT (Ctrl-C), SIGTERM and SIGHUP (the terminal has
/// gone). One that arrives between two waits is not lost.
pub struct Signals {
    terminate: Option<Signal>,
    interrupt: Option<Signal>,
    hang_up: Option<Signal>,
}

impl Signals {
    /// Begins to listen, in a runtime.
    pub fn listen() -> Self {
        Self {
            terminate: signal(SignalKind::terminate()).ok(),
            interrupt: signal(SignalKind::interrupt()).ok(),
            hang_up: signal(SignalKind::hangup()).ok(),
        }
    }

    /// Ends with the next one.
    pub async fn next(&mut self) {
        tokio::select! {
            () = one(&mut self.terminate) => {}
            () = one(&mut self.interrupt) => {}
            () = one(&mut self.hang_up) => {}
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
