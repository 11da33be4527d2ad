//! Signal handlers: SIGINT, SIGTERM and SIGHUP stop the program cleanly, and SIGXFSZ is ignored.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// Keeps `SIGXFSZ` from killing the process.
///
/// A write beyond the limit of `ulimit -f` then fails with `EFBIG` and is handled like a full disk.
/// The flag that the handler sets is not read.
pub fn ignore_file_size_limit() {
    let flag = Arc::new(AtomicBool::new(false));
    if let Err(error) = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, flag) {
        tracing::warn!(%error, "cannot ignore SIGXFSZ: a file size limit (ulimit -f) would kill this process");
    }
}

/// The signals that ask for a clean stop: SIGINT (Ctrl-C), SIGTERM and SIGHUP (terminal closed).
///
/// A signal that arrives between two calls of [`next`](Self::next) is not lost.
pub struct StopSignals {
    terminate: Option<Signal>,
    interrupt: Option<Signal>,
    hang_up: Option<Signal>,
}

impl StopSignals {
    /// Starts to listen. Must be called in a tokio runtime.
    pub fn listen() -> Self {
        Self {
            terminate: signal(SignalKind::terminate()).ok(),
            interrupt: signal(SignalKind::interrupt()).ok(),
            hang_up: signal(SignalKind::hangup()).ok(),
        }
    }

    /// Waits for the next signal.
    pub async fn next(&mut self) {
        tokio::select! {
            () = one(&mut self.terminate) => {}
            () = one(&mut self.interrupt) => {}
            () = one(&mut self.hang_up) => {}
        }
    }
}

/// Waits for the next signal that asks for a clean stop.
pub async fn signalled() {
    StopSignals::listen().next().await;
}

/// Lets the next of these signals end the program at once, with exit code 130, without a wait for
/// requests under way.
pub fn exit_at_next() {
    tokio::spawn(async {
        signalled().await;
        std::process::exit(130);
    });
}

async fn one(signal: &mut Option<Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}
