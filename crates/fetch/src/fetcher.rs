//! The fetcher: routes to servers, and connections over them.

use std::sync::Arc;

use page::url::PageUrl;
use tokio::time::Instant;

use crate::connection::{Connection, OpenSocket};
use crate::settings::{FetchError, FetchLimits, FetchOptions};
use crate::shared::{Route, SharedState};
use crate::trouble::Trouble;

/// Fetches pages. Cheap to clone; all clones share settings, caches and cookies.
#[derive(Clone)]
pub struct Fetcher(Arc<SharedState>);

impl Fetcher {
    /// Creates a fetcher. Must be called within a tokio runtime, which runs the resolver.
    pub fn new(settings: FetchOptions) -> Result<Self, FetchError> {
        Ok(Self(Arc::new(SharedState::new(settings)?)))
    }

    pub(crate) fn shared(&self) -> &Arc<SharedState> {
        &self.0
    }

    /// Returns the limits on what one server may cost.
    pub fn limits(&self) -> &FetchLimits {
        &self.0.settings.limits
    }

    /// Resolves the name of a page's server and checks its addresses at the gate.
    ///
    /// Behind a proxy the name is not resolved, so only a host written as an IP address is
    /// checked.
    pub async fn route(&self, url: &PageUrl) -> Result<Route, Trouble> {
        self.0.route(url).await
    }

    /// Connects to the server of a page: TCP or the proxy, then TLS, then HTTP as
    /// [`HttpMode`](crate::HttpMode) says.
    pub async fn connect(&self, url: &PageUrl, route: &Route) -> Result<Connection, Trouble> {
        if route.host() != url.host() {
            return Err(Trouble::OtherServer(url.origin().to_owned()));
        }
        let begun = Instant::now();
        let shared = &self.0;
        let (socket, address) = shared.open(url, route).await?;
        let opened = OpenSocket {
            socket,
            address,
            connect_time: begun.elapsed(),
        };
        Connection::begin(Arc::clone(shared), url, opened)
            .await
            .inspect_err(|trouble| shared.record_failure(url.host(), trouble))
    }
}
