//! What do all parts of the server share?

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use anyhow::Result;
use repository::index::Index;
use repository::log::{Log, Search};
use tokio::sync::Semaphore;

use super::brand::Brand;
use super::chosen::Chosen;
use super::click::Clicks;
use super::control::token::Token;
use super::counted::Counted;
use super::guard;
use super::lease::Lease;
use super::limits::{Limits, PER_CLIENT, RATE};
use super::metrics::Metrics;
use super::reading::Readers;
use super::seal::Seal;
use super::topics::Topics;
use super::watch;
use crate::config::{Config, ServeConfig};
use crate::holdings::Holdings;
use crate::live::Live;
use crate::panics::POISONED;
use crate::sources::Row;
use crate::{searchable, store};

/// Dashboards that are brought up to date at once.
const LISTENERS: usize = 32;

/// Whoever crawls the store, if anyone does.
pub struct Crawl {
    /// The crawl that runs in this process.
    pub live: Option<Arc<Live>>,
    /// The configuration that a crawl looks at.
    pub config: PathBuf,
}

/// A store that is served.
pub struct App {
    /// The directory of the store.
    pub root: PathBuf,
    /// What is found.
    pub index: Index,
    /// What pages can be about.
    pub topics: Topics,
    /// What was searched for.
    pub searches: Log<Search>,
    /// What was clicked.
    pub clicks: Clicks,
    /// What was chosen over other results.
    pub chosen: Chosen,
    /// What we handed out.
    pub seal: Seal,
    /// The ledger, while nobody else has it.
    pub lease: Arc<Lease>,
    /// What the ledger holds.
    pub counted: Counted<Holdings>,
    /// The pages that are polled for new ones.
    pub listed: Counted<Vec<Row>>,
    /// How much a client may ask for.
    pub limits: Limits,
    /// What is counted.
    pub metrics: Metrics,
    /// Who reads the disk.
    pub readers: Readers,
    /// The crawl that runs in this process, if one does.
    pub live: Option<Arc<Live>>,
    /// The word that opens the controls.
    pub token: Token,
    /// Places for those who watch.
    pub listeners: Arc<Semaphore>,
    /// Whether the server ends.
    pub closing: tokio::sync::watch::Sender<bool>,
    config: PathBuf,
    notice: Mutex<Option<String>>,
    /// How the search page presents itself.
    pub brand: Brand,
    /// What the user set.
    pub settings: ServeConfig,
    /// Whether only this machine can reach it.
    on_loopback: bool,
}

impl App {
    /// Opens what is served of the store at `root`.
    pub fn open(
        root: &Path,
        config: Config,
        listen: SocketAddr,
        crawl: Crawl,
    ) -> Result<Arc<Self>> {
        let settings = config.serve;
        let index = searchable::open(root)?;
        watch::start(&index, &store::index(root))?;
        Ok(Arc::new(Self {
            root: root.to_owned(),
            index,
            topics: Topics::of(root),
            searches: Log::open(&store::log(root)),
            clicks: Clicks::of(root),
            chosen: Chosen::new(config.search.clicks != Some(false)),
            seal: Seal::of(root),
            lease: Lease::start(root)?,
            counted: Counted::default(),
            listed: Counted::default(),
            limits: Limits::new(settings.rate.unwrap_or(RATE), per_client(&settings)),
            metrics: Metrics::new(),
            readers: Readers::new(),
            token: Token::of(root)?,
            live: crawl.live,
            config: crawl.config,
            listeners: Arc::new(Semaphore::new(LISTENERS)),
            closing: tokio::sync::watch::Sender::new(false),
            notice: Mutex::default(),
            brand: Brand::of(&settings)?,
            settings,
            on_loopback: listen.ip().is_loopback(),
        }))
    }

    /// The configuration that the crawl looks at.
    pub fn config(&self) -> PathBuf {
        self.config.clone()
    }

    /// Something to tell whoever looks next.
    pub fn notice(&self, text: String) {
        *self.notice.lock().expect(POISONED) = Some(text);
    }

    /// What there is to tell.
    pub fn take_notice(&self) -> Option<String> {
        self.notice.lock().expect(POISONED).take()
    }

    /// Whether it may be asked under this name.
    pub fn answers_to(&self, name: &str) -> bool {
        !self.on_loopback
            || guard::is_loopback(name)
            || self
                .settings
                .hosts
                .iter()
                .any(|ours| ours.eq_ignore_ascii_case(name))
    }
}

/// Returns how many connections a client may have open; `None`: any number.
pub fn per_client(settings: &ServeConfig) -> Option<usize> {
    let most = settings.connections_per_client.unwrap_or(PER_CLIENT);
    (most > 0).then_some(most)
}
