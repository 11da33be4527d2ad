//! What `avocet run` serves beside its crawl.
//!
//! The place to listen at is taken at once, so that a place that is taken is told before anything is fetched; what is served
//! begins when there is an index, which the crawl makes. It ends after the crawl: whoever searches meanwhile is answered.

use std::net;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use crate::cli::Run;
use crate::logs::say;
use node::handle::NodeHandle;
use node::live::Live;
use node::settings::Settings;
use node::store;
use server::{App, LISTEN, Serving};

/// How often it is looked whether there is an index.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// What is served, or will be.
pub struct Served(Option<JoinHandle<Option<Serving>>>);

/// Takes the place to listen at, unless there is one already, and serves as soon as there is something to serve. Where the
/// user named no place and the usual one is taken, nothing is served.
pub async fn begin(
    root: &Path,
    arguments: &Run,
    settings: &Settings,
    live: &Arc<Live>,
    place: Option<net::TcpListener>,
) -> Result<Served> {
    if arguments.no_serve {
        return Ok(Served(None));
    }
    if !settings.crawl.index {
        say("nothing is served: --no-index makes nothing searchable");
        return Ok(Served(None));
    }
    let settings = settings.clone();
    let named = settings.serve.listen;
    let listener = match place {
        Some(place) => Ok(ours(place)?),
        None => server::listen(named.unwrap_or(LISTEN)).await,
    };
    let listener = match listener {
        Ok(listener) => listener,
        Err(error) if named.is_some() => return Err(error),
        Err(error) => {
            say(&format!("nothing is served: {error:#}"));
            return Ok(Served(None));
        }
    };
    let (root, live) = (root.to_owned(), live.clone());
    let starting = tokio::spawn(async move {
        let started = start(&root, settings, listener, live).await;
        started
            .map_err(|error| say(&format!("nothing is served: {error:#}")))
            .ok()
    });
    Ok(Served(Some(starting)))
}

/// A place that was taken before there was a runtime.
fn ours(place: net::TcpListener) -> Result<TcpListener> {
    place.set_nonblocking(true)?;
    Ok(TcpListener::from_std(place)?)
}

async fn start(
    root: &Path,
    settings: Settings,
    listener: TcpListener,
    live: Arc<Live>,
) -> Result<Serving> {
    // The list of an index is the last thing that is made of it.
    while !store::index(root).join("meta.json").exists() {
        tokio::time::sleep(LOOK_EVERY).await;
    }
    let listen = listener.local_addr()?;
    let (opened, crawl) = (root.to_owned(), live.clone());
    let app = tokio::task::spawn_blocking(move || {
        let path = crawl.config();
        App::open(
            NodeHandle::open(&opened, Some(crawl), path)?,
            settings,
            listen,
        )
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

impl Served {
    /// Takes no more requests, and ends when those under way are answered.
    pub async fn end(&mut self) {
        let Some(mut starting) = self.0.take() else {
            return;
        };
        // What has not begun to serve does not have to.
        match tokio::time::timeout(LOOK_EVERY, &mut starting).await {
            Ok(Ok(Some(serving))) => serving.stop().await,
            Ok(_) => {}
            Err(_) => starting.abort(),
        }
    }
}
