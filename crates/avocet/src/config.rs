//! `avocet.toml`: what a user sets once for a store. Flags win over it.
//!
//! Parsed once into types that cannot be wrong; an unknown key refuses to start and names the known.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use fetch::{HostSettings, Limits, Proxy, Settings};
use jiff::{Span, SpanRelativeTo};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use serde::Deserialize;

use crate::cli::HttpName;
use crate::polling::Clicks;
use crate::scope::Reach;
use crate::upkeep::Rate;

/// The whole file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// What is crawled, and how fast.
    pub crawl: CrawlConfig,
    /// How requests are made.
    pub fetch: FetchConfig,
    /// What a server may cost us.
    pub limits: LimitsConfig,
    /// What is said to some hosts only.
    pub host: Vec<HostConfig>,
    /// What `run` may spend.
    pub budget: BudgetConfig,
    /// How `run` keeps pages fresh.
    pub refresh: RefreshConfig,
    /// How `run` polls pages that name new ones.
    pub source: SourceConfig,
}

/// `[budget]`: one of the two.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(default, deny_unknown_fields, try_from = "BudgetFields")]
pub struct BudgetConfig(Option<Rate>);

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct BudgetFields {
    fetches_per_second: Option<f64>,
    fetches_per_day: Option<f64>,
}

impl TryFrom<BudgetFields> for BudgetConfig {
    type Error = String;

    fn try_from(fields: BudgetFields) -> Result<Self, String> {
        let fetches = match (fields.fetches_per_second, fields.fetches_per_day) {
            (Some(_), Some(_)) => {
                return Err("write fetches_per_second or fetches_per_day, not both".into());
            }
            (Some(second), None) => second,
            (None, Some(day)) => day / 86_400.0,
            (None, None) => return Ok(Self(None)),
        };
        let rate = Rate::per_second(fetches).ok_or("a budget must be a number above zero")?;
        Ok(Self(Some(rate)))
    }
}

impl BudgetConfig {
    /// Fetches over time, if the user says how many.
    pub fn rate(&self) -> Option<Rate> {
        self.0
    }
}

/// `[refresh]`
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RefreshConfig {
    /// The refresh policy.
    pub policy: Option<String>,
    /// How change rates are estimated.
    pub rate: Option<String>,
    /// A file of change rates for the estimator `given`.
    pub rates: Option<PathBuf>,
    /// The steps that `sbr` and `ebr` plan in.
    pub step: Option<Time>,
    /// How many steps they plan ahead.
    pub slots: Option<u32>,
    /// How often sitemaps and feeds are polled at least.
    pub listings: Option<Time>,
}

/// `[source]`
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SourceConfig {
    /// The scheduler, or `none`.
    pub policy: Option<String>,
    /// The share of the budget that the printed schedulers plan for.
    pub share: Option<f64>,
    /// Polls that the rate of new links is estimated from.
    pub polls: Option<usize>,
    /// How often plans are made anew.
    pub replan: Option<Time>,
    /// The bins that clicks are counted in, by the age of their page.
    pub bin: Option<Time>,
    /// The age at which a page one link from a main page becomes a source.
    pub older_than: Option<Time>,
    /// Whether rates of new links follow the hour of the week.
    pub rhythm: Option<bool>,
    /// Clicks that a new page is expected to get of which nothing is known.
    pub profit: Option<f64>,
    /// On which pages clicks are counted: `fetched` or `known`.
    pub clicks: Option<Clicks>,
}

/// `[crawl]`
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CrawlConfig {
    /// Where to begin, if the command line does not say.
    pub seeds: Vec<String>,
    /// How far to go.
    pub scope: Option<Reach>,
    /// Only URLs that match one of these.
    pub include: Vec<String>,
    /// No URLs that match one of these.
    pub exclude: Vec<String>,
    /// Links from a seed, at most.
    pub depth: Option<u16>,
    /// Connections open at once.
    pub connections: Option<usize>,
    /// Visits to one server at once.
    pub per_server: Option<u8>,
    /// Pages from one host.
    pub pages_per_host: Option<u32>,
    /// Between requests to one server.
    pub delay: Option<Time>,
    /// Attempts at a page that does not answer.
    pub attempts: Option<u16>,
    /// The wait before the second attempt; it doubles with each.
    pub retry_after: Option<Time>,
    /// The wait before `run` asks once more for a page that was found missing.
    pub confirm_after: Option<Time>,
    /// Compression of the archive, 1 to 9.
    pub compression: Option<u32>,
    /// The ordering of pages.
    pub order: Option<String>,
    /// The server strategy.
    pub servers: Option<String>,
    /// Rules for the ordering `location`.
    pub location: Vec<String>,
    /// The query that the crawl is for.
    pub query: Option<String>,
    /// A file of scores for the ordering `given`.
    pub scores: Option<PathBuf>,
    /// What a page must be worth.
    pub threshold: Option<f64>,
    /// Pages kept, at most.
    pub buffer: Option<u32>,
}

/// `[fetch]`
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct FetchConfig {
    /// Where a site owner reaches whoever runs this.
    pub contact: Option<String>,
    /// `http://…` or `socks5://…`.
    pub proxy: Option<String>,
    /// Whether cookies are kept and sent back.
    pub cookies: Option<bool>,
    /// A file of certificates to trust beside Mozilla's.
    pub roots: Option<PathBuf>,
    /// Whether private addresses may be fetched from.
    pub allow_private: Option<bool>,
    /// Which HTTP is spoken.
    pub http: Option<HttpName>,
    /// Requests under way at once on a pipelined connection.
    pub pipeline_depth: Option<u8>,
}

/// `[limits]`
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsConfig {
    /// Time to connect.
    pub connect: Option<Time>,
    /// Time to the end of the head.
    pub first_byte: Option<Time>,
    /// Time to the end of the body.
    pub total: Option<Time>,
    /// Bytes of a body as transferred.
    pub body: Option<usize>,
    /// Bytes of a body after decompression.
    pub decoded: Option<usize>,
    /// Decompressed bytes for each byte transferred.
    pub ratio: Option<usize>,
    /// How long a body may be slow.
    pub slow_for: Option<Time>,
    /// Characters of a URL.
    pub url_length: Option<usize>,
    /// Segments of a path.
    pub url_depth: Option<usize>,
    /// Repetitions of a segment.
    pub url_repeats: Option<usize>,
}

/// `[[host]]`
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostConfig {
    /// `https://example.org`.
    pub origin: String,
    /// Headers to add.
    #[serde(default)]
    pub headers: HashMap<String, String>,
    /// For basic authentication.
    pub user: Option<String>,
    /// For basic authentication.
    pub password: Option<String>,
}

/// A time as people write it: `500ms`, `10m`, `2h`, `7d`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Time(pub Duration);

impl std::str::FromStr for Time {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = |_| format!("{text:?} is not a time: write 500ms, 30s, 10m, 2h or 7d");
        let span: Span = text.parse().map_err(wrong)?;
        let exact = span
            .to_duration(SpanRelativeTo::days_are_24_hours())
            .map_err(wrong)?;
        Duration::try_from(exact)
            .map(Self)
            .map_err(|_| format!("{text:?} is a time before now"))
    }
}

impl TryFrom<String> for Time {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl Config {
    /// The file of a store.
    pub fn path(store: &Path) -> PathBuf {
        store.join("avocet.toml")
    }

    /// Reads the file; where none is named, that of the store, if it has one.
    pub fn load(named: Option<&Path>, store: &Path) -> Result<Self> {
        let own = Self::path(store);
        let path = match named {
            Some(path) => path,
            None if own.exists() => &own,
            None => return Ok(Self::default()),
        };
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read the configuration {}", path.display()))?;
        toml::from_str(&text).with_context(|| format!("{} is not right", path.display()))
    }

    /// What it says about requests.
    pub fn fetch_settings(&self) -> Result<Settings> {
        let mut settings = Settings {
            cookies: self.fetch.cookies.unwrap_or(false),
            ..Settings::default()
        };
        settings.limits = self.limits.apply(Limits::default());
        if let Some(proxy) = &self.fetch.proxy {
            settings.proxy = Some(Proxy::parse(proxy).context("fetch.proxy")?);
        }
        if let Some(path) = &self.fetch.roots {
            settings.extra_roots = read_roots(path)?;
        }
        for host in &self.host {
            settings.hosts.insert(host.origin()?, host.settings()?);
        }
        Ok(settings)
    }
}

impl LimitsConfig {
    fn apply(&self, limits: Limits) -> Limits {
        let time = |set: Option<Time>, usual| set.map_or(usual, |time| time.0);
        Limits {
            connect: time(self.connect, limits.connect),
            first_byte: time(self.first_byte, limits.first_byte),
            total: time(self.total, limits.total),
            slow_for: time(self.slow_for, limits.slow_for),
            body: self.body.unwrap_or(limits.body),
            decoded: self.decoded.unwrap_or(limits.decoded),
            ratio: self.ratio.unwrap_or(limits.ratio),
            ..limits
        }
    }
}

impl HostConfig {
    fn origin(&self) -> Result<String> {
        let url = page::PageUrl::parse(&self.origin).with_context(|| {
            format!(
                "host.origin {:?} is not like https://example.org",
                self.origin
            )
        })?;
        Ok(url.origin().to_owned())
    }

    fn settings(&self) -> Result<HostSettings> {
        let mut headers = Vec::new();
        for (name, value) in &self.headers {
            let name = name
                .parse()
                .with_context(|| format!("host.headers: the name {name:?}"))?;
            let value = value
                .parse()
                .with_context(|| format!("host.headers: the value of {name}"))?;
            headers.push((name, value));
        }
        let basic_auth = match (&self.user, &self.password) {
            (Some(user), password) => Some((user.clone(), password.clone().unwrap_or_default())),
            (None, Some(_)) => bail!("host {}: a password without a user", self.origin),
            (None, None) => None,
        };
        Ok(HostSettings {
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
    fn times_are_read_as_people_write_them() {
        let read = |text: &str| text.parse::<Time>().map(|time| time.0.as_millis());
        assert_eq!(read("500ms"), Ok(500));
        assert_eq!(read("10m"), Ok(600_000));
        assert_eq!(read("7d"), Ok(604_800_000));
        assert_eq!(read("1h 30m"), Ok(5_400_000));
        for wrong in ["", "ten", "-5s", "5 parsecs"] {
            assert!(read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_unknown_key_is_named() {
        let error = toml::from_str::<Config>("[crawl]\nconections = 3")
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("conections") && error.contains("connections"),
            "{error}"
        );
    }
}
