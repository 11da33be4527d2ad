//! A web of many domains behind an HTTP proxy: honest sites, a tarpit and a wildcard domain
//! (rows 58 and 59).
//!
//! Honest sites link to each other. One of them links to the tarpit, one to the wildcard domain,
//! and one to a large honest site that has no other inbound link.
//!
//! **Invariant:** every page is determined by its URL alone.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use hyper::{Response, StatusCode, Uri};

use super::script::page;
use super::trap::babble;
use crate::TestwebError;
use crate::proxy::{self, Listening};
use crate::reply::{plain, typed};

/// Number of honest sites.
const SITES: u32 = 30;
/// Pages of each honest site.
const PAGES: u32 = 20;
/// Pages of the large honest site.
const LARGE: u32 = 400;
/// New links per page of the tarpit.
const LINKS: usize = 20;
/// New host names per page of the wildcard domain.
const NAMES: usize = 3;

/// A site of the farm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Site {
    /// One of 30 honest sites of 20 pages, which other honest sites link to.
    Honest(u32),
    /// An honest site of 400 pages that one other domain links to.
    Large,
    /// Endless random text with 20 new links per page.
    Tarpit,
    /// A domain whose every host name answers with links to 3 new ones.
    Wildcard,
}

impl Site {
    fn of(host: &str) -> Option<Self> {
        match host {
            "large.example" => Some(Self::Large),
            "tarpit.example" => Some(Self::Tarpit),
            _ if host.ends_with(".wildcard.example") => Some(Self::Wildcard),
            _ => {
                let number = host.strip_prefix("site")?.strip_suffix(".example")?;
                let number = number.parse().ok().filter(|number| *number < SITES);
                number.map(Self::Honest)
            }
        }
    }

    /// Returns the page at a path. Returns `None` if there is none.
    fn page(self, host: &str, path: &str) -> Option<String> {
        let number = path.strip_prefix('/')?;
        match self {
            Self::Tarpit => Some(babble(path, LINKS, |number| format!("/{number:016x}"))),
            Self::Wildcard => Some(babble(host, NAMES, |number| {
                format!("http://n{number:016x}.wildcard.example/")
            })),
            Self::Large => {
                let number = number.parse().ok().filter(|number| *number < LARGE)?;
                let below = [2 * number + 1, 2 * number + 2].map(|below| format!("/{below}"));
                Some(honest(host, number, &below))
            }
            Self::Honest(site) => {
                let number = number.parse().ok().filter(|number| *number < PAGES)?;
                Some(honest(host, number, &site_links(site, number)))
            }
        }
    }
}

/// Returns the links of a page of an honest site.
fn site_links(site: u32, number: u32) -> Vec<String> {
    let home = |ahead: u32| format!("http://site{}.example/0", (site + ahead) % SITES);
    match (site, number) {
        (_, 0) => {
            let pages = (1..PAGES).map(|page| format!("/{page}"));
            pages.chain([1, 2, 7].map(home)).collect()
        }
        (1, 3) => vec!["http://large.example/0".into()],
        (3, 7) => vec!["http://tarpit.example/".into()],
        (5, 5) => vec!["http://n.wildcard.example/".into()],
        _ => vec!["/0".into()],
    }
}

fn honest(host: &str, number: u32, links: &[String]) -> String {
    let mut body =
        format!("<p>Page {number} of {host} says what no other page says: {number}{host}.</p>");
    for link in links {
        // Writing to a `String` cannot fail.
        let _ = writeln!(body, "<a href=\"{link}\">on</a>");
    }
    page(&format!("{host} {number}"), &body)
}

/// The web and the log of its requests.
#[derive(Debug, Default)]
pub struct Farm {
    asked: Mutex<Vec<(String, Site)>>,
}

impl Farm {
    /// A page of an honest site, as the seed of a crawl.
    pub const SEED: &str = "http://site0.example/0";
    /// Number of pages of all honest sites, with the large one.
    pub const HONEST: usize = (SITES * PAGES + LARGE) as usize;

    /// Listens as a proxy at 127.0.0.1, at a free port, on the current tokio runtime.
    pub async fn listen(self: &Arc<Self>) -> Result<Listening, TestwebError> {
        let farm = Arc::clone(self);
        proxy::listen(None, move |stream| {
            let farm = Arc::clone(&farm);
            async move { proxy::serve_connection(stream, |uri| farm.answer(uri)).await }
        })
        .await
    }

    /// Returns the sites of all requests for existing pages, in order.
    pub fn asked(&self) -> Vec<Site> {
        self.log().iter().map(|(_, site)| *site).collect()
    }

    /// Returns the number of host names of the wildcard domain that were requested.
    pub fn names(&self) -> usize {
        let log = self.log();
        let wild = log.iter().filter(|(_, site)| *site == Site::Wildcard);
        wild.map(|(host, _)| host).collect::<BTreeSet<_>>().len()
    }

    fn answer(&self, uri: &Uri) -> Response<Bytes> {
        let host = uri.host().unwrap_or_default();
        let site = Site::of(host).filter(|_| uri.path() != "/robots.txt");
        match site.and_then(|site| Some((site, site.page(host, uri.path())?))) {
            Some((site, html)) => {
                self.log().push((host.to_owned(), site));
                typed(StatusCode::OK, "text/html; charset=utf-8", html.into())
            }
            None => plain(StatusCode::NOT_FOUND, "not here\n"),
        }
    }

    fn log(&self) -> MutexGuard<'_, Vec<(String, Site)>> {
        self.asked.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
