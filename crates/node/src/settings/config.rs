//! `avocet.toml`: what a user sets once for a store. Flags win over it.
//!
//! Parsed once into types that cannot be wrong; an unknown key refuses to start and names the known. The comments on the fields are the
//! reference that users read (`avocet config reference`).

mod brand;
mod budget;
pub mod check;
pub mod reference;
mod time;

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use fetch::{HostSettings, Limits, Proxy, Settings};
use rustls_pki_types::CertificateDer;
use rustls_pki_types::pem::PemObject;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::settings::polling::Clicks;
use budget::{BudgetConfig, BudgetFields};
use crawl::scope::Reach;

pub use brand::{BrandTitle, Colour, Logo};
pub use time::Time;

/// The whole file.
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
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
    #[schemars(with = "BudgetFields")]
    pub budget: BudgetConfig,
    /// How `run` keeps pages fresh.
    pub refresh: RefreshConfig,
    /// How `run` polls pages that name new ones.
    pub source: SourceConfig,
    /// How the store is served.
    pub serve: ServeConfig,
    /// How pages are found.
    pub search: SearchConfig,
}

/// `[search]`
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SearchConfig {
    /// Whether a page rises a little, by a quarter of its score at most, that people chose over the results above it;
    /// on unless set to false.
    #[schemars(example = true)]
    pub clicks: Option<bool>,
}

/// `[serve]`
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ServeConfig {
    /// Where the server listens.
    #[schemars(example = &"127.0.0.1:8321")]
    pub listen: Option<SocketAddr>,
    /// Names under which a server on loopback is asked, beside those of loopback: that of a proxy before it.
    #[schemars(example = ["search.example.org"])]
    pub hosts: Vec<String>,
    /// Requests a second that one client may make over time, 20 unless set; 0: any number.
    #[schemars(example = 20.0)]
    pub rate: Option<f64>,
    /// Connections that one client may have open, 64 unless set; 0: any number. A client behind a trusted proxy may have as many
    /// requests under way.
    #[schemars(example = 64)]
    pub connections_per_client: Option<usize>,
    /// Addresses of proxies before the server. Limits then go by the client that their `X-Forwarded-For` names; from other peers the
    /// field is ignored.
    #[schemars(example = ["127.0.0.1"])]
    pub trusted_proxies: Vec<IpAddr>,
    /// Who may open the dashboard: `loopback`, this machine only, or `token`, whoever has the token of the store.
    #[schemars(example = &"loopback")]
    pub admin: Admin,
    /// Origins whose pages may read the API (`https://intranet.example`); none unless set.
    #[schemars(example = ["https://intranet.example"])]
    pub cors: Vec<String>,
    /// The title of the search page, 1 to 60 characters; `Avocet` unless set.
    #[schemars(example = &"Example Docs")]
    pub title: Option<BrandTitle>,
    /// The logo of the search page: an SVG or PNG file of at most 256 KiB.
    #[schemars(example = &"logo.svg")]
    pub logo: Option<PathBuf>,
    /// The colour of buttons, URLs and marks of the search page, as `#rrggbb`. Where text would be hard to read in it, a darker or
    /// lighter one is used.
    #[schemars(example = &"#0f6b63")]
    pub colour: Option<Colour>,
}

/// Who may open the dashboard. Controls need the token of the store in any case.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Admin {
    /// Whoever is on this machine.
    #[default]
    Loopback,
    /// Whoever has the token, from anywhere.
    Token,
}

/// `[refresh]`
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RefreshConfig {
    /// The refresh policy.
    #[schemars(example = &"holistic")]
    pub policy: Option<String>,
    /// How change rates are estimated.
    #[schemars(example = &"gamma")]
    pub rate: Option<String>,
    /// A file of change rates for the estimator `given`.
    #[schemars(example = &"rates.tsv")]
    pub rates: Option<PathBuf>,
    /// The steps that `sbr` and `ebr` plan in.
    #[schemars(example = &"24h")]
    pub step: Option<Time>,
    /// How many steps they plan ahead.
    #[schemars(example = 48)]
    pub slots: Option<u32>,
    /// How often sitemaps and feeds are polled at least.
    #[schemars(example = &"24h")]
    pub listings: Option<Time>,
}

/// `[source]`
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SourceConfig {
    /// The scheduler, or `none`.
    #[schemars(example = &"priced")]
    pub policy: Option<String>,
    /// The share of the budget that the printed schedulers plan for.
    #[schemars(example = 0.5)]
    pub share: Option<f64>,
    /// Polls that the rate of new links is estimated from.
    #[schemars(example = 7)]
    pub polls: Option<usize>,
    /// How often plans are made anew.
    #[schemars(example = &"30m")]
    pub replan: Option<Time>,
    /// The bins that clicks are counted in, by the age of their page.
    #[schemars(example = &"20m")]
    pub bin: Option<Time>,
    /// The age at which a page one link from a main page becomes a source.
    #[schemars(example = &"3d")]
    pub older_than: Option<Time>,
    /// Whether rates of new links follow the hour of the week.
    #[schemars(example = false)]
    pub rhythm: Option<bool>,
    /// Clicks that a new page is expected to get of which nothing is known.
    #[schemars(example = 0.01)]
    pub profit: Option<f64>,
    /// On which pages clicks are counted: `fetched` or `known`.
    #[schemars(example = &"fetched")]
    pub clicks: Option<Clicks>,
}

/// `[crawl]`
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CrawlConfig {
    /// Where to begin, if the command line does not say.
    #[schemars(example = ["https://docs.example.org/"])]
    pub seeds: Vec<String>,
    /// Seeds that were added by the dashboard or the API. They open no private address and no port, as `seeds` do: to allow that,
    /// write them there.
    #[schemars(example = ["https://blog.example.org/"])]
    pub added_seeds: Vec<String>,
    /// How far to go.
    #[schemars(example = &"host")]
    pub scope: Option<Reach>,
    /// Only URLs that match one of these.
    #[schemars(example = ["/guide/"])]
    pub include: Vec<String>,
    /// No URLs that match one of these.
    #[schemars(example = ["[?]print=1"])]
    pub exclude: Vec<String>,
    /// Links from a seed, at most.
    #[schemars(example = 20)]
    pub depth: Option<u16>,
    /// Hosts that nobody asks: `example.org`, `example.org:8080`, `*.example.org`.
    #[schemars(example = ["ads.example.org"])]
    pub block: Vec<String>,
    /// Connections open at once.
    #[schemars(example = 64)]
    pub connections: Option<usize>,
    /// Visits to one server at once.
    #[schemars(example = 1)]
    pub per_server: Option<u8>,
    /// Pages from one host.
    #[schemars(example = 1000000)]
    pub pages_per_host: Option<u32>,
    /// In the scope `any`: pages of a domain that is not a seed's, for each other domain that links to it; half of it until its
    /// texts prove to be distinct. More are deferred until other domains link to it or nothing else is left. 0: any number.
    #[schemars(example = 100)]
    pub domain_pages: Option<u32>,
    /// When nothing else is left, deferred pages of a domain are fetched as well, while at most this many of its pages are known.
    #[schemars(example = 8000)]
    pub domain_spare: Option<u32>,
    /// Between requests to one server.
    #[schemars(example = &"1s")]
    pub delay: Option<Time>,
    /// Attempts at a page that does not answer.
    #[schemars(example = 3)]
    pub attempts: Option<u16>,
    /// The wait before the second attempt; it doubles with each.
    #[schemars(example = &"5s")]
    pub retry_after: Option<Time>,
    /// The wait before `run` asks once more for a page that was found missing.
    #[schemars(example = &"1h")]
    pub confirm_after: Option<Time>,
    /// Compression of the archive, 1 to 9.
    #[schemars(example = 1)]
    pub compression: Option<u32>,
    /// The ordering of pages.
    #[schemars(example = &"rankmass")]
    pub order: Option<String>,
    /// The server strategy.
    #[schemars(example = &"best-prefix")]
    pub servers: Option<String>,
    /// Rules for the ordering `location`.
    #[schemars(example = ["path:/docs/=3"])]
    pub location: Vec<String>,
    /// The query that the crawl is for.
    #[schemars(example = &"type system")]
    pub query: Option<String>,
    /// The topic that the crawl is about: a name, or the words of a query.
    #[schemars(example = &"type system")]
    pub topic: Option<String>,
    /// The method of focused crawling.
    #[schemars(example = &"learned")]
    pub focus: Option<String>,
    /// A file of scores for the ordering `given`.
    #[schemars(example = &"scores.tsv")]
    pub scores: Option<PathBuf>,
    /// What a page must be worth.
    #[schemars(example = 0.001)]
    pub threshold: Option<f64>,
    /// Pages kept, at most.
    #[schemars(example = 100000)]
    pub buffer: Option<u32>,
}

/// `[fetch]`
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FetchConfig {
    /// Where a site owner reaches whoever runs this.
    #[schemars(example = &"mailto:me@example.org")]
    pub contact: Option<String>,
    /// `http://…` or `socks5://…`.
    #[schemars(example = &"http://proxy.example.org:3128")]
    pub proxy: Option<String>,
    /// Whether cookies are kept and sent back.
    #[schemars(example = false)]
    pub cookies: Option<bool>,
    /// A file of certificates to trust beside Mozilla's.
    #[schemars(example = &"roots.pem")]
    pub roots: Option<PathBuf>,
    /// Whether private addresses may be fetched from.
    #[schemars(example = false)]
    pub allow_private: Option<bool>,
    /// Which HTTP is spoken.
    #[schemars(example = &"auto")]
    pub http: Option<HttpName>,
    /// Requests under way at once on a pipelined connection.
    #[schemars(example = 8)]
    pub pipeline_depth: Option<u8>,
}

/// An HTTP, by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
pub enum HttpName {
    /// 2 where a server chooses it over TLS, else 1.1
    #[serde(rename = "auto")]
    Auto,
    /// A connection for every page
    #[serde(rename = "1.0")]
    Http10,
    /// One page after another over a kept connection
    #[serde(rename = "1.1")]
    Http11,
    /// Several requests before the first answer
    #[serde(rename = "pipelined")]
    Pipelined,
    /// Several streams on one connection
    #[serde(rename = "2")]
    Http2,
}

/// `[limits]`
#[derive(Debug, Clone, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct LimitsConfig {
    /// Time to connect.
    #[schemars(example = &"10s")]
    pub connect: Option<Time>,
    /// Time to the end of the head.
    #[schemars(example = &"30s")]
    pub first_byte: Option<Time>,
    /// Time to the end of the body.
    #[schemars(example = &"2m")]
    pub total: Option<Time>,
    /// Bytes of a body as transferred.
    #[schemars(example = 8388608)]
    pub body: Option<usize>,
    /// Bytes of a body after decompression.
    #[schemars(example = 8388608)]
    pub decoded: Option<usize>,
    /// Decompressed bytes for each byte transferred.
    #[schemars(example = 100)]
    pub ratio: Option<usize>,
    /// How long a body may be slow.
    #[schemars(example = &"10s")]
    pub slow_for: Option<Time>,
    /// Characters of a URL.
    #[schemars(example = 2048)]
    pub url_length: Option<usize>,
    /// Segments of a path.
    #[schemars(example = 20)]
    pub url_depth: Option<usize>,
    /// Repetitions of a segment.
    #[schemars(example = 2)]
    pub url_repeats: Option<usize>,
}

/// `[[host]]`
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HostConfig {
    /// `https://example.org`.
    #[schemars(example = &"https://example.org")]
    pub origin: String,
    /// Headers to add.
    #[serde(default)]
    #[schemars(example = serde_json::json!({ "x-team": "search" }))]
    pub headers: HashMap<String, String>,
    /// For basic authentication.
    #[schemars(example = &"me")]
    pub user: Option<String>,
    /// For basic authentication.
    #[schemars(example = &"secret")]
    pub password: Option<String>,
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

impl CrawlConfig {
    /// Returns all seeds, by whomever they were named.
    pub fn all_seeds(&self) -> Vec<String> {
        [self.seeds.as_slice(), &self.added_seeds].concat()
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
