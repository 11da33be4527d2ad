//! What all parts of the server share.

mod brand;
mod choices;
mod clicks;
mod limits;
mod metrics;
mod readers;
mod sessions;
mod signed_link;
mod token;

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use anyhow::Result;
use node::handle::NodeHandle;
use node::panics::POISONED;
use node::settings::{ServeSettings, Settings};
use repository::index::Index;
use repository::log::{Log, Search};
use tokio::sync::Semaphore;

pub use brand::Brand;
use choices::SearcherChoices;
use clicks::Clicks;
use limits::Limits;
pub use metrics::{Metrics, Surface};
pub use readers::{Busy, Readers};
pub use sessions::LASTS as SESSION_LASTS;
pub use signed_link::{LinkSigner, ShownResult, is_web};
pub use token::Token;

/// Dashboards that are brought up to date at once.
const LISTENERS: usize = 32;

/// A store that is served.
pub struct App {
    /// The store and its crawl.
    pub node: NodeHandle,
    /// What is found.
    pub index: Index,
    /// What was searched for.
    pub searches: Log<Search>,
    /// What was clicked.
    pub clicks: Clicks,
    /// What was chosen over other results.
    pub choices: SearcherChoices,
    /// Signs the links that count clicks.
    pub links: LinkSigner,
    /// How much a client may ask for.
    pub limits: Limits,
    /// What is counted.
    pub metrics: Metrics,
    /// Threads that read the disk.
    pub readers: Readers,
    /// The token that opens the controls.
    pub token: Token,
    /// Permits for dashboards that are kept up to date.
    pub listeners: Arc<Semaphore>,
    /// Whether the server ends.
    pub closing: tokio::sync::watch::Sender<bool>,
    notice: Mutex<Option<String>>,
    /// How the search page presents itself.
    pub brand: Brand,
    /// What the user set.
    pub settings: ServeSettings,
    /// Whether only this machine can reach it.
    on_loopback: bool,
}

impl App {
    /// Serves a store by its configuration. `listen` is where the server listens.
    pub fn open(node: NodeHandle, config: Settings, listen: SocketAddr) -> Result<Arc<Self>> {
        let settings = config.serve;
        Ok(Arc::new(Self {
            index: node.index().clone(),
            searches: node.searches(),
            clicks: Clicks::new(node.clicks()),
            choices: SearcherChoices::new(config.search.clicks),
            links: LinkSigner::new(&node.link_key(signed_link::random_key())),
            limits: Limits::new(settings.rate, per_client(&settings)),
            metrics: Metrics::new(),
            readers: Readers::new(),
            token: Token::new(node.token(token::random()?)?),
            listeners: Arc::new(Semaphore::new(LISTENERS)),
            closing: tokio::sync::watch::Sender::new(false),
            notice: Mutex::default(),
            brand: Brand::of(&settings)?,
            settings,
            on_loopback: listen.ip().is_loopback(),
            node,
        }))
    }

    /// Leaves a message for the operator who next opens the dashboard.
    pub fn notice(&self, text: String) {
        *self.notice.lock().expect(POISONED) = Some(text);
    }

    /// Takes the message for the operator, if there is one.
    pub fn take_notice(&self) -> Option<String> {
        self.notice.lock().expect(POISONED).take()
    }

    /// Returns whether the server may be asked under this name.
    pub fn answers_to(&self, name: &str) -> bool {
        let mut ours = self.settings.hosts.iter();
        !self.on_loopback || is_loopback(name) || ours.any(|ours| ours.eq_ignore_ascii_case(name))
    }
}

/// Returns how many connections a client may have open; `None`: any number.
pub fn per_client(settings: &ServeSettings) -> Option<usize> {
    let most = settings.connections_per_client;
    (most > 0).then_some(most)
}

/// Returns whether a name is one that only this machine has.
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
    fn names_of_loopback() {
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
