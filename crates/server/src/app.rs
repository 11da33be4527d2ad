//! [`App`]: the state that all parts of the server share.

mod brand;
mod clicks;
mod limits;
mod metrics;
mod readers;
mod sessions;
mod signed_link;
mod token;
mod webhook_receivers;

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use anyhow::Result;
use node::handle::NodeHandle;
use node::panics::POISONED;
use node::settings::{ServeSettings, Settings};
use node::store::keys;
use repository::index::Index;
use tokio::sync::Semaphore;

pub use brand::Brand;
use clicks::ClickCounter;
use limits::ClientLimits;
pub use metrics::{Metrics, Surface};
pub use readers::Busy;
use readers::Readers;
pub use sessions::LASTS as SESSION_LASTS;
pub use signed_link::{LinkSigner, ShownResult, is_web};
pub use token::OperatorToken;
use webhook_receivers::WebhookReceivers;

/// The maximum number of dashboards that get live updates at the same time. Each holds a connection
/// open.
const LISTENERS: usize = 32;

/// The state of a server for one store.
pub struct App {
    /// The store and its crawl.
    pub node: NodeHandle,
    /// The search index.
    pub index: Index,
    /// Counts clicks on results.
    pub clicks: ClickCounter,
    /// Whether the clicks of earlier searchers count for the ranking.
    pub raises_clicked: bool,
    /// Signs the links that count clicks.
    pub links: LinkSigner,
    /// Rate limits per client.
    pub limits: ClientLimits,
    /// Counters for Prometheus.
    pub metrics: Metrics,
    /// Bounds the number of requests that read the disk at once.
    readers: Readers,
    /// The operator token of the store.
    pub token: OperatorToken,
    /// Permits for dashboards with live updates.
    pub listeners: Arc<Semaphore>,
    /// Becomes `true` when the server shuts down.
    pub closing: tokio::sync::watch::Sender<bool>,
    notice: Mutex<Option<String>>,
    /// Title, logo and colour of the search page.
    pub brand: Brand,
    /// The receivers of changes.
    pub webhooks: WebhookReceivers,
    /// The section `[serve]` of the configuration.
    pub settings: ServeSettings,
    /// Whether the server listens on a loopback address.
    on_loopback: bool,
}

impl App {
    /// Creates the state for a store. `listen` is the address of the server.
    pub fn open(node: NodeHandle, config: Settings, listen: SocketAddr) -> Result<Arc<Self>> {
        let webhooks = WebhookReceivers::of(&config);
        let settings = config.serve;
        Ok(Arc::new(Self {
            index: node.index().clone(),
            clicks: ClickCounter::default(),
            raises_clicked: config.search.clicks,
            links: LinkSigner::new(&keys::link_key(node.root(), signed_link::random_key())),
            limits: ClientLimits::new(settings.rate, per_client(&settings)),
            metrics: Metrics::new(),
            readers: Readers::new(),
            token: OperatorToken::new(keys::token(node.root(), token::random()?)?),
            listeners: Arc::new(Semaphore::new(LISTENERS)),
            closing: tokio::sync::watch::Sender::new(false),
            notice: Mutex::default(),
            brand: Brand::of(&settings)?,
            webhooks,
            settings,
            on_loopback: listen.ip().is_loopback(),
            node,
        }))
    }

    /// Runs work that reads the disk on a blocking thread, as [`Readers::read`] does.
    pub async fn read<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl FnOnce(&Self) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let app = self.clone();
        self.readers.read(move || work(&app)).await
    }

    /// Leaves a message that the next view of the dashboard shows.
    pub fn notice(&self, text: String) {
        *self.notice.lock().expect(POISONED) = Some(text);
    }

    /// Takes the message for the dashboard, if there is one.
    pub fn take_notice(&self) -> Option<String> {
        self.notice.lock().expect(POISONED).take()
    }

    /// Tells whether the server answers requests for this host name.
    ///
    /// A server on loopback answers to loopback names and to the names in `[serve] hosts`. Any
    /// other server answers to all names.
    pub fn answers_to(&self, name: &str) -> bool {
        let mut ours = self.settings.hosts.iter();
        !self.on_loopback || is_loopback(name) || ours.any(|ours| ours.eq_ignore_ascii_case(name))
    }
}

/// Returns the most connections that one client may have open, or `None` for no limit.
pub fn per_client(settings: &ServeSettings) -> Option<usize> {
    let most = settings.connections_per_client;
    (most > 0).then_some(most)
}

/// Tells whether a host name is `localhost` or a loopback address.
pub fn is_loopback(name: &str) -> bool {
    let address = name.trim_start_matches('[').trim_end_matches(']');
    let is_address = address.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    is_address || name.eq_ignore_ascii_case("localhost")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::without_port;

    #[test]
    fn loopback_names_are_recognized() {
        let check = |authority, loopback| {
            assert_eq!(
                is_loopback(without_port(authority)),
                loopback,
                "{authority}"
            );
        };
        check("127.0.0.1:8321", true);
        check("127.9.0.1", true);
        check("LocalHost:1", true);
        check("[::1]:8321", true);
        check("[::1]", true);
        check("evil.example:8321", false);
        check("localhost.evil.example", false);
        check("127.0.0.1.evil.example", false);
        check("192.168.1.4", false);
        check("", false);
    }
}
