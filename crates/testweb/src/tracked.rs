//! A web whose log says which crawler asked for what. Each crawler reaches it through a proxy of
//! its own, so that its requests can be told from those of others.
//!
//! All pages are linked from the first one. Every page has an `ETag`: a request without
//! `If-None-Match` comes from a crawler that does not know the page's text.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use bytes::Bytes;
use hyper::body::Incoming;
use hyper::header::{ETAG, IF_NONE_MATCH};
use hyper::{Request, Response, StatusCode, Uri};

use crate::TestwebError;
use crate::proxy::{self, Listening};
use crate::reply::{status_only, typed, with_header};

/// The `ETag` of every page.
const TAG: &str = "\"1\"";

/// A page of a [`TrackedWeb`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrackedPage {
    /// The number of its host.
    pub host: u32,
    /// Its number on this host.
    pub number: u32,
}

/// A request for a page.
#[derive(Debug, Clone, Copy)]
pub struct TrackedRequest {
    /// When it arrived.
    pub at: Instant,
    /// The crawler, by the number that was given to [`TrackedWeb::listen`].
    pub crawler: usize,
    /// The page.
    pub page: TrackedPage,
    /// Whether the crawler has the page's text, and asks whether it has changed.
    pub conditional: bool,
}

/// The size of a [`TrackedWeb`].
#[derive(Debug, Clone, Copy)]
pub struct TrackedPlan {
    /// Number of hosts.
    pub hosts: u32,
    /// Number of pages of each host.
    pub pages_per_host: u32,
    /// Number of words of each page, of five bytes on average.
    pub words: u32,
    /// The time that a host takes for an answer.
    pub latency: Duration,
}

/// A web of hosts with equal numbers of pages.
#[derive(Debug)]
pub struct TrackedWeb {
    plan: TrackedPlan,
    log: Mutex<Vec<TrackedRequest>>,
}

impl TrackedWeb {
    /// Creates a web.
    pub fn new(plan: TrackedPlan) -> Arc<Self> {
        Arc::new(Self {
            plan,
            log: Mutex::default(),
        })
    }

    /// Listens as the proxy of a crawler.
    pub async fn listen(self: &Arc<Self>, crawler: usize) -> Result<Listening, TestwebError> {
        let web = self.clone();
        proxy::listen(None, move |stream| {
            let web = web.clone();
            async move {
                let latency = web.plan.latency;
                let answer = |request: &Request<Incoming>| web.answer(crawler, request);
                proxy::answer_requests(stream, latency, answer).await;
            }
        })
        .await
    }

    /// Returns the URL of a page.
    pub fn url(page: TrackedPage) -> String {
        format!("http://h{}.example/{}", page.host, page.number)
    }

    /// Returns the URL from which all pages can be reached.
    pub fn seed() -> String {
        Self::url(TrackedPage { host: 0, number: 0 })
    }

    /// Returns the number of pages.
    pub fn pages(&self) -> usize {
        (self.plan.hosts * self.plan.pages_per_host) as usize
    }

    /// Returns the requests for pages so far, in the order of their arrival.
    pub fn requests(&self) -> Vec<TrackedRequest> {
        self.log().clone()
    }

    /// Returns the number of different pages that were requested so far.
    pub fn seen(&self) -> usize {
        self.first_copies().len()
    }

    /// Returns the requests that fetched a page which an earlier request had fetched: those without
    /// condition, after the first one. Every eighth revisit of a crawler has no condition either,
    /// so this counts nothing after the seventh revisit of a page.
    pub fn repeated(&self) -> Vec<TrackedRequest> {
        let mut earlier: BTreeMap<TrackedPage, u32> = BTreeMap::new();
        let repeated = |request: &TrackedRequest| {
            let visits = earlier.entry(request.page).or_default();
            *visits += 1;
            !request.conditional && (2..8).contains(visits)
        };
        self.requests().into_iter().filter(repeated).collect()
    }

    /// Returns the first request for each page.
    pub fn first_copies(&self) -> BTreeMap<TrackedPage, TrackedRequest> {
        let mut first = BTreeMap::new();
        for request in self.log().iter() {
            first.entry(request.page).or_insert(*request);
        }
        first
    }

    fn answer(&self, crawler: usize, request: &Request<Incoming>) -> Response<Bytes> {
        let Some(page) = self.page(request.uri()) else {
            return status_only(StatusCode::NOT_FOUND);
        };
        let conditional = request.headers().contains_key(IF_NONE_MATCH);
        self.log().push(TrackedRequest {
            at: Instant::now(),
            crawler,
            page,
            conditional,
        });
        if conditional {
            return with_header(status_only(StatusCode::NOT_MODIFIED), ETAG, TAG);
        }
        let page = typed(StatusCode::OK, "text/html", self.text(page).into());
        with_header(page, ETAG, TAG)
    }

    fn page(&self, uri: &Uri) -> Option<TrackedPage> {
        let host = uri.host()?.strip_prefix('h')?.strip_suffix(".example")?;
        let page = TrackedPage {
            host: host.parse().ok()?,
            number: uri.path().strip_prefix('/')?.parse().ok()?,
        };
        (page.host < self.plan.hosts && page.number < self.plan.pages_per_host).then_some(page)
    }

    /// Returns the page: a title, some words, and links to the next page of its host, to the same
    /// page of the next host, and to six further pages, four of them on other hosts.
    fn text(&self, page: TrackedPage) -> String {
        let TrackedPage { host, number } = page;
        let (hosts, pages) = (self.plan.hosts, self.plan.pages_per_host);
        let words: Vec<String> = (0..self.plan.words)
            .map(|word| format!("w{}", (host * 31 + number * 7 + word * 13) % 997))
            .collect();
        let far = (1..=4).map(|step| (host * 7 + number * 3 + step * 11, number * 5 + step));
        let near = (2..=3).map(|step| (host, number * step + 1));
        let next = [(host, number + 1), (host + 1, number)];
        let links = far.chain(near).chain(next).map(|(host, number)| {
            let (host, number) = (host % hosts, number % pages);
            let url = Self::url(TrackedPage { host, number });
            format!("<a href=\"{url}\">page {number} of {host}</a>\n")
        });
        format!(
            "<title>Page {number} of {host}</title><p>{}\n{}",
            words.join(" "),
            links.collect::<String>()
        )
    }

    fn log(&self) -> MutexGuard<'_, Vec<TrackedRequest>> {
        self.log.lock().expect("a push to a list does not panic")
    }
}
