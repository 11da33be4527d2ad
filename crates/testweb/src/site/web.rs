//! The model of an invented web: its servers and pages.
//!
//! **Invariants:** the model is pure and immutable: a web has no clock, no socket and no memory
//! of requests. The moment and the port are arguments. Page `s` is the home page of server `s`.
//! If robots.txt and faults are ignored, every page of a [`WebPlan`](super::WebPlan) that exists at
//! time 0 is reachable from page 0.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::time::{Duration, SystemTime};

use super::html::Prose;
use super::life::{PageLife, TextVersion};
use super::town::TownRecords;

/// The number of a page of the web.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageNumber(pub u32);

/// The number of a server of the web.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerNumber(pub u32);

/// An invented web; created by [`WebPlan::invent`](super::WebPlan::invent) or
/// [`Town::invent`](super::Town::invent).
#[derive(Debug)]
pub struct Web {
    pub(super) seed: u64,
    pub(super) servers: Vec<InventedServer>,
    pub(super) pages: Vec<InventedPage>,
    /// The page at each path of each server.
    pub(super) paths: HashMap<(ServerNumber, Box<str>), PageNumber>,
    /// The source of the pages' texts.
    pub(super) text_source: TextSource,
    /// The date of time 0.
    pub(super) epoch: SystemTime,
}

/// The source of the texts of a web.
#[derive(Debug)]
pub(super) enum TextSource {
    /// Random words of an invented language.
    Prose(Prose),
    /// The readable texts of a town.
    Town(TownRecords),
}

/// A server and its behaviour.
#[derive(Debug, Clone, PartialEq)]
pub struct InventedServer {
    /// The kind of its robots.txt.
    pub robots: InventedRobots,
    /// How many requests it answers per connection.
    pub requests_per_connection: u32,
    /// The round trip time. It is added when a connection is opened, and again for every request
    /// that was not sent before the last answer arrived.
    pub round_trip: Duration,
    /// The time it takes for every answer.
    pub response_latency: Duration,
    /// Its content encoding, for clients that accept it.
    pub coding: Option<Coding>,
    /// Whether it sends `ETag`.
    pub etag: bool,
    /// Whether it sends `Last-Modified`.
    pub last_modified: bool,
    /// Whether its home page links to an endless calendar.
    pub calendar: bool,
}

/// The answer of a server at `/robots.txt`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum InventedRobots {
    /// A file that forbids nothing.
    Open,
    /// `Disallow: /private/`, and perhaps a `Crawl-delay` in seconds.
    Rules {
        /// The delay in seconds, if the server states one.
        crawl_delay: Option<f64>,
    },
    /// 404.
    Missing,
    /// 503.
    Broken,
}

/// The content encoding of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// `gzip`.
    Gzip,
    /// `deflate`, in the zlib format that RFC 9110 requires.
    Deflate,
}

/// A page.
#[derive(Debug, Clone, PartialEq)]
pub struct InventedPage {
    pub(super) number: PageNumber,
    pub(super) server: ServerNumber,
    pub(super) path: Box<str>,
    pub(super) kind: PageAnswer,
    pub(super) links: Vec<PageNumber>,
    pub(super) size: u32,
    pub(super) life: PageLife,
}

/// What a page answers while it exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageAnswer {
    /// A text of its own.
    Ordinary,
    /// The text of another page of the same server.
    Copy(PageNumber),
    /// A redirect with this status.
    Redirect(PageNumber, u16),
    /// An error with this status, always.
    Error(u16),
    /// 503 to the first request, a text of its own to later ones.
    Busy,
}

impl Web {
    /// Returns all pages, including those not yet born and those that died.
    pub fn pages(&self) -> impl Iterator<Item = &InventedPage> {
        self.pages.iter()
    }

    /// Returns all servers, in the order of their numbers.
    pub fn servers(&self) -> impl Iterator<Item = (ServerNumber, &InventedServer)> {
        (0..).map(ServerNumber).zip(&self.servers)
    }

    /// Returns a page.
    ///
    /// # Panics
    /// If the number is not of this web.
    pub fn page(&self, number: PageNumber) -> &InventedPage {
        &self.pages[number.0 as usize]
    }

    /// Returns a server.
    ///
    /// # Panics
    /// If the number is not of this web.
    pub fn server(&self, number: ServerNumber) -> &InventedServer {
        &self.servers[number.0 as usize]
    }

    /// Returns the home page of a server.
    pub fn home(&self, server: ServerNumber) -> PageNumber {
        PageNumber(server.0)
    }

    /// Returns the loopback address of a server; no two servers share one.
    ///
    /// The last two bytes each count up to 250, which avoids `.0` and `.255` as the last byte.
    /// The second byte starts at 10, which avoids other services near 127.0.0.1.
    pub fn address(&self, server: ServerNumber) -> Ipv4Addr {
        let (high, low) = (server.0 / 250, server.0 % 250);
        Ipv4Addr::new(
            127,
            10 + (high / 250) as u8,
            (high % 250) as u8,
            1 + low as u8,
        )
    }

    /// Returns the URL of a page in normal form, for a web that is served at this port.
    pub fn url(&self, page: PageNumber, port: u16) -> String {
        let page = self.page(page);
        format!("http://{}:{port}{}", self.address(page.server), page.path)
    }

    /// Returns the URLs of all pages, in the order of their numbers, for a web that is served at
    /// this port.
    pub fn urls(&self, port: u16) -> impl Iterator<Item = String> {
        self.pages().map(move |page| self.url(page.number, port))
    }

    /// Returns the page at a path of a server, whether it exists yet or not.
    pub(super) fn at(&self, server: ServerNumber, path: &str) -> Option<&InventedPage> {
        let number = self.paths.get(&(server, Box::from(path)))?;
        Some(self.page(*number))
    }

    /// Returns the page at a URL, for a web that is served at this port.
    pub fn find(&self, url: &str, port: u16) -> Option<PageNumber> {
        let (address, path) = url.strip_prefix("http://")?.split_once('/')?;
        let (mut servers, path) = (self.servers(), format!("/{path}"));
        let (server, _) =
            servers.find(|(server, _)| format!("{}:{port}", self.address(*server)) == address)?;
        self.at(server, &path).map(InventedPage::number)
    }

    /// Returns whether users read a page; they do not read sitemaps and feeds.
    pub fn is_text(&self, page: PageNumber) -> bool {
        match &self.text_source {
            TextSource::Prose(_) => true,
            TextSource::Town(records) => records.is_text(page),
        }
    }

    /// Returns the date of a moment of the web.
    pub(super) fn date(&self, at: f64) -> SystemTime {
        let away = Duration::try_from_secs_f64(at.abs()).unwrap_or_default();
        let date = match at < 0.0 {
            true => self.epoch.checked_sub(away),
            false => self.epoch.checked_add(away),
        };
        date.unwrap_or(self.epoch)
    }

    /// Returns the page whose text a page shows: the page itself, except for a copy.
    pub(super) fn original<'a>(&'a self, page: &'a InventedPage) -> &'a InventedPage {
        match page.kind {
            PageAnswer::Copy(of) => self.page(of),
            _ => page,
        }
    }

    /// Returns the version of a page's text at a moment.
    pub(super) fn version(&self, page: &InventedPage, at: f64) -> TextVersion {
        if let TextSource::Town(records) = &self.text_source {
            return records.version(self, page, at);
        }
        let original = self.original(page);
        original
            .life
            .version(self.seed, u64::from(original.number.0), at)
    }

    /// Returns the pages that a page links to, without those not yet born. Links to dead pages
    /// remain, as on the real web.
    pub(super) fn links(
        &self,
        page: &InventedPage,
        at: f64,
    ) -> impl Iterator<Item = &InventedPage> {
        let links = match &self.text_source {
            TextSource::Prose(_) => self.original(page).links.clone(),
            TextSource::Town(records) => records.links(page, at),
        };
        (links.into_iter().map(|link| self.page(link))).filter(move |target| target.life.born <= at)
    }
}

impl InventedPage {
    /// Returns its number.
    pub fn number(&self) -> PageNumber {
        self.number
    }

    /// Returns its server.
    pub fn server(&self) -> ServerNumber {
        self.server
    }

    /// Returns the bytes of its text, without markup.
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Returns its path, with the query.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Returns when it appeared, in seconds of the web; 0 or less for a page that existed at the
    /// start.
    pub fn born(&self) -> f64 {
        self.life.born
    }

    /// Returns what it answers.
    pub fn kind(&self) -> PageAnswer {
        self.kind
    }

    /// Returns whether it exists at a moment.
    pub fn exists(&self, at: f64) -> bool {
        self.life.exists(at)
    }
}
