//! The HTTP server: search page, dashboard, API, tools for agents and metrics.
//!
//! It opens no file of the store itself. Its access to the store and the crawl is a
//! [`NodeHandle`](node::handle::NodeHandle); the crate `node` also reads the keys and the logo.
//!
//! **Invariant:** every request that is routed, and its answer, passes [`middleware::guard`]. The
//! guard refuses requests for foreign host names. It adds a Content-Security-Policy under which no
//! text of a crawled page can run as a script.

mod api;
mod app;
mod assets;
mod connections;
mod control;
mod dashboard;
mod health;
mod inspector;
pub mod mcp;
mod middleware;
mod pages;
mod reports;
mod request;
mod search;
mod webhooks;
mod wording;

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Context, Result};
use axum::Router;
use axum::middleware::from_fn_with_state;
use tokio::net::{TcpListener, TcpSocket};
use tokio::sync::{oneshot, watch as watch_channel};
use tokio::task::JoinHandle;

pub use app::App;
use request::client::Proxies;

/// The default address of the server.
pub const LISTEN: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8321);

/// Connections that the kernel queues until the server accepts them.
///
/// A client that finds the queue full tries again after a second. The usual length of 128 fills
/// up in one burst.
const BACKLOG: u32 = 1024;

/// A running server.
pub struct RunningServer {
    /// The address that it listens on.
    pub address: SocketAddr,
    stop: oneshot::Sender<()>,
    done: JoinHandle<()>,
    closing: watch_channel::Sender<bool>,
}

/// Starts a task that accepts connections.
pub fn start(app: Arc<App>, listener: TcpListener) -> Result<RunningServer> {
    let address = listener.local_addr()?;
    let closing = app.closing.clone();
    let (stop, stopped) = oneshot::channel();
    let per_client = app::per_client(&app.settings);
    let proxies = Proxies::at(&app.settings.trusted_proxies);
    tokio::spawn(webhooks::deliver(app.clone()));
    let base = app.settings.base.as_ref().map(|base| base.0.clone());
    let router = router(app);
    let done = tokio::spawn(async move {
        let stopped = async { stopped.await.unwrap_or(()) };
        let router = connections::ServedRouter { router, base };
        connections::accept(listener, router, per_client, proxies, stopped).await;
    });
    Ok(RunningServer {
        address,
        stop,
        done,
        closing,
    })
}

/// Binds a listening socket to an address.
pub async fn listen(listen: SocketAddr) -> Result<TcpListener> {
    bind(listen).with_context(|| taken(listen))
}

fn bind(listen: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = match listen {
        SocketAddr::V4(_) => TcpSocket::new_v4()?,
        SocketAddr::V6(_) => TcpSocket::new_v6()?,
    };
    socket.set_reuseaddr(true)?;
    socket.bind(listen)?;
    socket.listen(BACKLOG)
}

/// Returns the error message for an address that cannot be bound.
pub fn taken(listen: SocketAddr) -> String {
    format!(
        "cannot listen on {listen}: another program may use it; --listen ADDRESS sets another address"
    )
}

impl RunningServer {
    /// Stops accepting requests, and returns when those under way are answered, or after 5 s.
    pub async fn stop(self) {
        self.closing.send_replace(true);
        self.stop.send(()).ok();
        self.done.await.ok();
    }
}

/// Returns the routes of all parts, with their middleware.
fn router(app: Arc<App>) -> Router {
    let api = control::api_routes()
        .merge(inspector::api_routes())
        .merge(reports::api_routes());
    let limited = Router::new()
        .merge(pages::routes())
        .merge(dashboard::routes())
        .merge(inspector::routes())
        .merge(reports::routes())
        .merge(control::routes())
        .merge(api::routes(&app, api))
        .merge(mcp::routes(&app))
        .layer(from_fn_with_state(app.clone(), middleware::limit));
    Router::new()
        .merge(assets::routes())
        .merge(pages::brand_routes())
        .merge(health::routes())
        .merge(limited)
        .fallback(pages::missing)
        .layer(from_fn_with_state(app.clone(), middleware::guard))
        .layer(from_fn_with_state(app.clone(), middleware::count))
        .layer(from_fn_with_state(app.clone(), middleware::add_base))
        .with_state(app)
}
