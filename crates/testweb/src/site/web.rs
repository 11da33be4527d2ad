//! Which servers and pages are there, and what is each like?
//!
//! **Invariant:** pure and unchanging: a web has no clock, no socket and no memory of who asked.
//! The moment and the port are arguments of whatever depends on them. Page `s` is the home page of
//! server `s`, and at time 0 every page then alive can be walked to from page 0, were it not for
//! robots.txt and faults.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::time::{Duration, SystemTime};

use super::html::Prose;
use super::life::{Life, Version};
use super::town::Records;

/// A page of the web, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PageNumber(pub u32);

/// A server of the web, by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ServerNumber(pub u32);

/// An invented web; made by [`Plan::invent`](super::Plan::invent).
#[derive(Debug)]
pub struct Web {
    pub(super) seed: u64,
    pub(super) servers: Vec<Server>,
    pub(super) pages: Vec<Page>,
    /// Where each path of each server leads.
    pub(super) paths: HashMap<(ServerNumber, Box<str>), PageNumber>,
    /// Who wrote the pages.
    pub(super) author: Author,
    /// The date of time 0.
    pub(super) epoch: SystemTime,
}

/// Who wrote the pages of a web.
#[derive(Debug)]
pub(super) enum Author {
    /// Nobody: words of a language that is none.
    Prose(Prose),
    /// The people of a town.
    Town(Records),
}

/// A server and its habits.
#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    /// What its robots.txt is.
    pub robots: RobotsFile,
    /// How many requests it answers on one connection.
    pub requests_per_connection: u32,
    /// How far away it is: the time a connection takes, and again every request that was not sent before
    /// the last answer came.
    pub round_trip: Duration,
    /// How long it takes over every answer.
    pub response_latency: Duration,
    /// How it compresses, for clients that can read it.
    pub coding: Option<Coding>,
    /// Whether it sends `ETag`.
    pub etag: bool,
    /// Whether it sends `Last-Modified`.
    pub last_modified: bool,
    /// Whether its home page links to a calendar that never ends.
    pub calendar: bool,
}

/// What a server says at `/robots.txt`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RobotsFile {
    /// A file that forbids nothing.
    Open,
    /// `Disallow: /private/`, and perhaps a `Crawl-delay` in seconds.
    Rules {
        /// The delay, where the server asks for one.
        crawl_delay: Option<f64>,
    },
    /// 404.
    Missing,
    /// 503.
    Broken,
}

/// How a server compresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    /// `gzip`.
    Gzip,
    /// `deflate`, in the zlib format that RFC 9110 asks for.
    Deflate,
}

/// A page.
#[derive(Debug, Clone, PartialEq)]
pub struct Page {
    pub(super) number: PageNumber,
    pub(super) server: ServerNumber,
    pub(super) path: Box<str>,
    pub(super) kind: Kind,
    pub(super) links: Vec<PageNumber>,
    pub(super) size: u32,
    pub(super) life: Life,
}

/// What a page answers while it exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A text of its own.
    Ordinary,
    /// The text of another page of the same server.
    Copy(PageNumber),
    /// A redirect with this status.
    Redirect(PageNumber, u16),
    /// An error with this status, always.
    Error(u16),
    /// 503 to the first request, a text of its own to the later ones.
    Busy,
}

impl Web {
    /// All pages, those not yet born and those dead included.
    pub fn pages(&self) -> impl Iterator<Item = &Page> {
        self.pages.iter()
    }

    /// All servers, in the order of their numbers.
    pub fn servers(&self) -> impl Iterator<Item = (ServerNumber, &Server)> {
        (0..).map(ServerNumber).zip(&self.servers)
    }

    /// One page.
    ///
    /// # Panics
    /// If the number is not of this web.
    pub fn page(&self, number: PageNumber) -> &Page {
        &self.pages[number.0 as usize]
    }

    /// One server.
    ///
    /// # Panics
    /// If the number is not of this web.
    pub fn server(&self, number: ServerNumber) -> &Server {
        &self.servers[number.0 as usize]
    }

    /// The home page of a server.
    pub fn home(&self, server: ServerNumber) -> PageNumber {
        PageNumber(server.0)
    }

    /// The loopback address a server is served at, no two alike.
    ///
    /// 250 servers in the last byte and 250 in the third keep clear of `.0` and `.255`, and the
    /// second byte starts at 10 to keep clear of what else listens near 127.0.0.1.
    pub fn address(&self, server: ServerNumber) -> Ipv4Addr {
        let (high, low) = (server.0 / 250, server.0 % 250);
        Ipv4Addr::new(
            127,
            10 + (high / 250) as u8,
            (high % 250) as u8,
            1 + low as u8,
        )
    }

    /// A page's URL in normal form, when the web is served at this port.
    pub fn url(&self, page: PageNumber, port: u16) -> String {
        let page = self.page(page);
        format!("http://{}:{port}{}", self.address(page.server), page.path)
    }

    /// The URLs of all pages, in the order of their numbers, when the web is served at this port.
    pub fn urls(&self, port: u16) -> impl Iterator<Item = String> {
        self.pages().map(move |page| self.url(page.number, port))
    }

    /// The page at a path of a server, born or not.
    pub(super) fn at(&self, server: ServerNumber, path: &str) -> Option<&Page> {
        let number = self.paths.get(&(server, Box::from(path)))?;
        Some(self.page(*number))
    }

    /// The page at a URL, when the web is served at this port.
    pub fn find(&self, url: &str, port: u16) -> Option<PageNumber> {
        let (address, path) = url.strip_prefix("http://")?.split_once('/')?;
        let (mut servers, path) = (self.servers(), format!("/{path}"));
        let (server, _) =
            servers.find(|(server, _)| format!("{}:{port}", self.address(*server)) == address)?;
        self.at(server, &path).map(Page::number)
    }

    /// Whether a page is for people to read; sitemaps and feeds are not.
    pub fn is_text(&self, page: PageNumber) -> bool {
        match &self.author {
            Author::Prose(_) => true,
            Author::Town(records) => records.is_text(page),
        }
    }

    /// The date of a moment of the web.
    pub(super) fn date(&self, at: f64) -> SystemTime {
        let away = Duration::try_from_secs_f64(at.abs()).unwrap_or_default();
        let date = match at < 0.0 {
            true => self.epoch.checked_sub(away),
            false => self.epoch.checked_add(away),
        };
        date.unwrap_or(self.epoch)
    }

    /// The page whose text a page shows: itself, but for a copy.
    pub(super) fn original<'a>(&'a self, page: &'a Page) -> &'a Page {
        match page.kind {
            Kind::Copy(of) => self.page(of),
            _ => page,
        }
    }

    /// The version of its text that a page shows.
    pub(super) fn version(&self, page: &Page, at: f64) -> Version {
        if let Author::Town(records) = &self.author {
            return records.version(self, page, at);
        }
        let original = self.original(page);
        original
            .life
            .version(self.seed, u64::from(original.number.0), at)
    }

    /// The pages a page links to: those already born. Links to the dead stay, as they do on the web.
    pub(super) fn links(&self, page: &Page, at: f64) -> impl Iterator<Item = &Page> {
        let links = match &self.author {
            Author::Prose(_) => self.original(page).links.clone(),
            Author::Town(records) => records.links(page, at),
        };
        (links.into_iter().map(|link| self.page(link))).filter(move |target| target.life.born <= at)
    }
}

impl Page {
    /// Its number.
    pub fn number(&self) -> PageNumber {
        self.number
    }

    /// The server it is on.
    pub fn server(&self) -> ServerNumber {
        self.server
    }

    /// Its path, with the query.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// When it appeared, in seconds of the web; what was there before is of time 0 or earlier.
    pub fn born(&self) -> f64 {
        self.life.born
    }

    /// What it answers.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Whether it exists.
    pub fn exists(&self, at: f64) -> bool {
        self.life.exists(at)
    }
}
