//! The fetcher: routes to servers, and connections over them.

use std::sync::Arc;

use page::url::PageUrl;
use tokio::time::Instant;

use crate::connection::{Connection, Opened};
use crate::settings::{FetchError, Limits, Settings};
use crate::shared::{Route, Shared};
use crate::trouble::Trouble;

/// Fetches. Cheap to clone; all clones share settings, caches and cookies.
#[derive(Clone)]
pub struct Fetcher(Arc<Shared>);

impl Fetcher {
    /// Makes a fetcher. Must be called within a tokio runtime, which the resolver runs on.
    pub fn new(settings: Settings) -> Result<Self, FetchError> {
        Ok(Self(Arc::new(Shared::new(settings)?)))
    }

    /// What a server may cost.
    pub fn limits(&self) -> &Limits {
        &self.0.settings.limits
    }

    /// Finds the way to the server of a page: looks its name up and passes the gate.
    ///
    /// Behind a proxy the name is not looked up and only a host written as an address can be checked.
    pub async fn route(&self, url: &PageUrl) -> Result<Route, Trouble> {
        self.0.route(url).await
    }

    /// Connects to the server of a page: TCP, or the proxy; TLS; HTTP as [`Http`](crate::Http) has it.
    pub async fn connect(&self, url: &PageUrl, route: &Route) -> Result<Connection, Trouble> {
        if route.host() != url.host() {
            return Err(Trouble::OtherServer(url.origin().to_owned()));
        }
        let begun = Instant::now();
        let shared = &self.0;
        let (socket, address) = shared.open(url, route).await?;
        let opened = Opened {
            socket,
            address,
            connect_time: begun.elapsed(),
        };
        Connection::begin(Arc::clone(shared), url, opened)
            .await
            .inspect_err(|trouble| shared.learn(url.host(), trouble))
    }
}
