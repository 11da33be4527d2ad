//! The settings of a store: defaults, `avocet.toml`, flags and live controls, in layers.
//!
//! Each setting is declared once, in `declared.rs`. [`Layer`]s are merged and read into one
//! [`Settings`]. [`PolicySettings`] turns names into policies.

mod brand;
pub mod check;
mod controls_file;
mod declared;
mod in_force;
pub mod last_crawl;
mod layer;
pub mod policies;
mod quantity;
pub mod reference;
mod secret;
mod seed;
mod setting;
mod site;
pub mod topic;
mod usage;
mod webhook;

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use fetch::{FetchLimits, HttpMode, PipelineDepth, ProxySettings};
use page::url::traps::Rules;
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use serde::Deserialize;

pub use brand::{BrandTitle, Colour, Logo, PathPrefix};
pub use controls_file::ControlsFile;
pub use declared::{
    Admin, ArchiveSettings, BudgetSettings, ClickLog, ClusterSettings, Coordination, CrawlSettings,
    CreditedSources, DocumentSettings, FetchSettings, HostSettings, HttpVersion, LimitSettings,
    LinkExchange, RefreshSettings, SearchSettings, ServeSettings, SiteSettings, SourceSettings,
    StoreSettings, WebhookSettings, declared,
};
pub use in_force::{SettingInForce, SettingOrigin, in_force};
pub use layer::Layer;
pub use quantity::{ByteSize, ListenAddress, Rate, Retention, Share, Time};
pub use secret::Secret;
pub use seed::seed_url;
pub use setting::{Effect, Flag, Setting};
pub use site::{RateText, SiteHours};
pub use usage::Usage;
pub use webhook::is_of_site;

/// All settings.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// What is crawled, and how fast.
    pub crawl: CrawlSettings,
    /// What the archive keeps.
    pub archive: ArchiveSettings,
    /// The disk of the store.
    pub store: StoreSettings,
    /// How requests are made.
    pub fetch: FetchSettings,
    /// Limits on the time and size of one response, and on the form of URLs.
    pub limits: LimitSettings,
    /// How documents are read.
    pub documents: DocumentSettings,
    /// What is sent to one host only.
    pub host: Vec<HostSettings>,
    /// Rules for some sites only.
    pub site: Vec<SiteSettings>,
    /// What `run` may spend.
    pub budget: BudgetSettings,
    /// How `run` keeps pages fresh.
    pub refresh: RefreshSettings,
    /// How `run` polls pages that name new ones.
    pub source: SourceSettings,
    /// How the store is served.
    pub serve: ServeSettings,
    /// Receivers of changes.
    pub webhook: Vec<WebhookSettings>,
    /// How results are ranked.
    pub search: SearchSettings,
    /// One crawl on several machines.
    pub cluster: ClusterSettings,
}

/// The value of `[fetch] proxy` for no proxy, not even one of the environment.
const NO_PROXY: &str = "none";

impl Settings {
    /// Returns the path of the configuration file of a store.
    pub fn path(store: &Path) -> PathBuf {
        store.join("avocet.toml")
    }

    /// Reads the layer of the configuration, with the controls of the store that hold over it.
    pub fn file(named: Option<&Path>, store: &Path) -> Result<Layer> {
        let config = Self::config(named, store)?;
        Ok(Self::controls(store, &config)?.over(&config))
    }

    /// Reads the layer of the named file, or else that of the store's file. Returns an empty layer
    /// if neither exists.
    pub fn config(named: Option<&Path>, store: &Path) -> Result<Layer> {
        let own = Self::path(store);
        match named {
            Some(path) => Layer::read(path),
            None if own.exists() => Layer::read(&own),
            None => Ok(Layer::default()),
        }
    }

    /// Reads the settings of the named file, or else of the store's file, on top of the defaults.
    pub fn load(named: Option<&Path>, store: &Path) -> Result<Self> {
        Self::file(named, store)?.settings()
    }

    /// Returns the budget of `run`, in fetches per second.
    pub fn budget(&self) -> f64 {
        self.budget.per_second()
    }

    /// Returns the options of requests. Fails if the proxy, a certificate, the pipeline depth or a
    /// host setting is invalid.
    pub fn requests(&self) -> Result<fetch::FetchOptions> {
        let mut settings = fetch::FetchOptions {
            cookies: self.fetch.cookies,
            http: self.fetch.http()?,
            limits: self.limits.apply(FetchLimits::default()),
            ..fetch::FetchOptions::default()
        };
        if let Some(contact) = &self.fetch.contact {
            settings.user_agent = format!("{} (+{contact})", settings.user_agent);
        }
        match self.fetch.proxy.as_deref() {
            Some(NO_PROXY) => {}
            Some(proxy) => {
                let proxy = ProxySettings::parse(proxy).context("fetch.proxy (--proxy)")?;
                settings.proxy = Some(proxy);
            }
            None => {
                let variable = |name: &str| std::env::var(name).ok();
                settings.environment = fetch::EnvironmentProxies::read(variable)?;
            }
        }
        if let Some(path) = &self.fetch.roots {
            settings.extra_roots = read_roots(path)?;
        }
        for host in &self.host {
            settings.hosts.insert(host.origin()?, host.requests()?);
        }
        Ok(settings)
    }
}

impl CrawlSettings {
    /// Returns all seeds: those that the operator wrote and those that a control added.
    pub fn all_seeds(&self) -> Vec<String> {
        [self.seeds.as_slice(), &self.added_seeds].concat()
    }
}

impl BudgetSettings {
    /// Returns the budget in fetches per second.
    pub fn per_second(&self) -> f64 {
        let by_day = self.fetches_per_day.map(|fetches| fetches / 86_400.0);
        let given = self.fetches_per_second.or(by_day);
        given.unwrap_or(Rate::USUAL.per_second)
    }
}

impl FetchSettings {
    fn http(&self) -> Result<HttpMode> {
        let depth = self.pipeline_depth;
        if depth.is_some() && self.http != HttpVersion::Pipelined {
            let why = "--pipeline-depth has an effect only with --http pipelined";
            return Err(Usage(why.into()).into());
        }
        Ok(match self.http {
            HttpVersion::Auto => HttpMode::Auto,
            HttpVersion::Http10 => HttpMode::Http10,
            HttpVersion::Http11 => HttpMode::Http11,
            HttpVersion::Http2 => HttpMode::Http2,
            HttpVersion::Pipelined => HttpMode::Pipelined(match depth {
                Some(depth) => {
                    PipelineDepth::new(depth).context("fetch.pipeline_depth must be 2 to 32")?
                }
                None => PipelineDepth::default(),
            }),
        })
    }
}

impl LimitSettings {
    fn apply(&self, limits: FetchLimits) -> FetchLimits {
        FetchLimits {
            connect: self.connect.0,
            first_byte: self.first_byte.0,
            total: self.total.0,
            body: self.body,
            decoded: self.decoded,
            ratio: self.ratio,
            slow_for: self.slow_for.0,
            ..limits
        }
    }

    /// Returns the limits on the shape of URLs.
    pub fn url_rules(&self) -> Rules {
        Rules {
            max_length: self.url_length,
            max_depth: self.url_depth,
            max_repeats: self.url_repeats,
            ..Rules::default()
        }
    }
}

impl HostSettings {
    fn origin(&self) -> Result<String> {
        let url = page::PageUrl::parse(&self.origin)
            .with_context(|| format!("host.origin {:?}", self.origin))?;
        Ok(url.origin().to_owned())
    }

    fn requests(&self) -> Result<fetch::HostSettings> {
        let mut headers = Vec::new();
        for (name, value) in &self.headers {
            let name = name
                .parse()
                .with_context(|| format!("host.headers: the name {name:?}"))?;
            let value = value
                .read()
                .with_context(|| format!("host.headers: the value of {name}"))?
                .parse()
                .with_context(|| format!("host.headers: the value of {name}"))?;
            headers.push((name, value));
        }
        let basic_auth = match (&self.user, &self.password) {
            (Some(user), password) => {
                let password = password.as_ref().map(Secret::read);
                let password = password.transpose().context("host.password")?;
                Some((user.clone(), password.unwrap_or_default()))
            }
            (None, Some(_)) => {
                let why = format!("host {}: a password without a user", self.origin);
                return Err(Usage(why).into());
            }
            (None, None) => None,
        };
        Ok(fetch::HostSettings {
            headers,
            basic_auth,
        })
    }
}

fn read_roots(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let wrong = || format!("the certificates in {}", path.display());
    let found = CertificateDer::pem_file_iter(path).with_context(wrong)?;
    found
        .map(|certificate| certificate.with_context(wrong))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_unknown_key_and_the_valid_ones() {
        let error = Layer::parse("[crawl]\nconections = 3")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("conections") && error.contains("connections"),
            "{error}"
        );
    }
}
