//! The server of `avocet run`.
//!
//! The address is bound before the crawl starts, so that an address in use is reported before the
//! first fetch. The server starts as soon as the crawl has created the index, and stops after the
//! crawl.

use std::net;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::cli::RunArguments;
use crate::logs::say;
use node::cluster_seat::ClusterSeat;
use node::handle::NodeHandle;
use node::live::Live;
use node::settings::Settings;
use node::store;
use server::{App, LISTEN, RunningServer};

/// Time between two checks whether the index exists.
const CHECK_EVERY: Duration = Duration::from_millis(50);

/// A server that runs, or starts as soon as there is an index. `None`: nothing is served.
pub struct RunServer(Option<JoinHandle<Option<RunningServer>>>);

/// A crawl in this process, and its place in a cluster.
pub struct ServedCrawl {
    pub live: Arc<Live>,
    pub seat: Arc<ClusterSeat>,
}

/// Serves on `place`, or else binds the address of the settings. Serving starts as soon as there is
/// an index.
///
/// If the settings name no address and the default one cannot be bound, nothing is served, and a
/// message says why.
pub async fn begin(
    root: &Path,
    arguments: &RunArguments,
    settings: &Settings,
    crawl: ServedCrawl,
    place: Option<net::TcpListener>,
) -> Result<RunServer> {
    if arguments.no_serve {
        return Ok(RunServer(None));
    }
    if !settings.crawl.index {
        say("not serving: with --no-index there is nothing to search");
        return Ok(RunServer(None));
    }
    let settings = settings.clone();
    let named = settings.serve.listen.map(|listen| listen.0);
    let listener = match place {
        Some(place) => Ok(to_tokio(place)?),
        None => server::listen(named.unwrap_or(LISTEN)).await,
    };
    let listener = match listener {
        Ok(listener) => listener,
        Err(error) if named.is_some() => return Err(error),
        Err(error) => {
            say(&format!("not serving: {error:#}"));
            return Ok(RunServer(None));
        }
    };
    let root = root.to_owned();
    let starting = tokio::spawn(async move {
        let started = start(&root, settings, listener, crawl).await;
        started
            .map_err(|error| say(&format!("not serving: {error:#}")))
            .ok()
    });
    Ok(RunServer(Some(starting)))
}

/// Makes a listener that was bound outside of the runtime usable in it.
fn to_tokio(place: net::TcpListener) -> Result<TcpListener> {
    place.set_nonblocking(true)?;
    Ok(TcpListener::from_std(place)?)
}

async fn start(
    root: &Path,
    settings: Settings,
    listener: TcpListener,
    crawl: ServedCrawl,
) -> Result<RunningServer> {
    // The list of segments is the last file that is written when an index is created.
    while !store::index(root).join("meta.json").exists() {
        tokio::time::sleep(CHECK_EVERY).await;
    }
    let listen = listener.local_addr()?;
    let ServedCrawl { live, seat } = crawl;
    let (opened, crawl) = (root.to_owned(), live.clone());
    let app = tokio::task::spawn_blocking(move || {
        let path = crawl.config();
        let node = NodeHandle::in_cluster(&opened, Some(crawl), path, seat)?;
        App::open(node, settings, listen)
    });
    let serving = server::start(app.await??, listener)?;
    let address = format!("http://{}", serving.address);
    say(&format!(
        "serving at {address}/, dashboard at {address}/dashboard; its controls need the token in {}",
        store::keys::token_path(root).display()
    ));
    live.listens(address);
    Ok(serving)
}

impl RunServer {
    /// Stops the server: accepts no more requests, and waits for those under way.
    pub async fn end(&mut self) {
        let Some(mut starting) = self.0.take() else {
            return;
        };
        // A server that has not started yet is aborted.
        match tokio::time::timeout(CHECK_EVERY, &mut starting).await {
            Ok(Ok(Some(serving))) => serving.stop().await,
            Ok(_) => {}
            Err(_) => starting.abort(),
        }
    }
}
