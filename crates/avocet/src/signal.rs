//! When does the user want us to stop?

use tokio::signal::unix::{SignalKind, signal};

/// Ends when the user (Ctrl-C) or the system (SIGTERM) wants us to.
pub async fn signalled() {
    let Ok(mut ended) = signal(SignalKind::terminate()) else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = ended.recv() => {}
        interrupted = tokio::signal::ctrl_c() => {
            // Without a signal to wait for, a crawl ends by itself.
            if interrupted.is_err() {
                std::future::pending::<()>().await;
            }
        }
    }
}
