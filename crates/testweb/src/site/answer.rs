//! The answer of a server to a request.
//!
//! **Invariant:** the answer is a pure function of the request, the moment and the number of
//! earlier requests for the same path. [`connection`](super::connection) waits, counts and
//! closes.

use std::io::Write;

use bytes::Bytes;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use hyper::header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderMap, LOCATION, RETRY_AFTER, VARY};
use hyper::{Response, StatusCode};

use crate::reply::{plain, status_only, typed, with_header};

use super::validators::Validators;
use super::web::{
    Coding, InventedPage, InventedRobots, PageAnswer, PageNumber, ServerNumber, TextSource, Web,
};

/// A request to a server of the web.
pub(super) struct WebRequest<'a> {
    pub server: ServerNumber,
    /// Path and query.
    pub path: &'a str,
    pub headers: &'a HeaderMap,
    /// Number of earlier requests for this path.
    pub earlier: u32,
    /// The port at which the web is served.
    pub port: u16,
}

impl Web {
    pub(super) fn answer(&self, request: &WebRequest<'_>, at: f64) -> Response<Bytes> {
        if request.path == "/robots.txt" {
            return self.robots_txt(request.server, request.port);
        }
        if let Some(month) = request.path.strip_prefix("/calendar/") {
            return self.calendar(request.server, month);
        }
        match self.at(request.server, request.path) {
            Some(page) if page.exists(at) => self.page_answer(page, request, at),
            // A page that died is gone (410). A page that never existed, or not yet, is not
            // found (404).
            Some(page) if page.life.born <= at => plain(StatusCode::GONE, "gone\n"),
            _ => plain(StatusCode::NOT_FOUND, "not found\n"),
        }
    }

    fn robots_txt(&self, server: ServerNumber, port: u16) -> Response<Bytes> {
        match self.server(server).robots {
            InventedRobots::Open => {
                let mut text = String::from("User-agent: *\nDisallow:\n");
                for sitemap in self.sitemaps(server) {
                    text.push_str(&format!("Sitemap: {}\n", self.url(sitemap, port)));
                }
                plain(StatusCode::OK, text)
            }
            InventedRobots::Rules { crawl_delay } => {
                let mut text = String::from("User-agent: *\nDisallow: /private/\n");
                if let Some(delay) = crawl_delay {
                    text.push_str(&format!("Crawl-delay: {delay}\n"));
                }
                plain(StatusCode::OK, text)
            }
            InventedRobots::Missing => plain(StatusCode::NOT_FOUND, "not found\n"),
            InventedRobots::Broken => plain(StatusCode::SERVICE_UNAVAILABLE, "try again\n"),
        }
    }

    /// Returns the page of a month, which links to the months before and after it, for ever.
    fn calendar(&self, server: ServerNumber, month: &str) -> Response<Bytes> {
        let parsed = month.split_once('/').and_then(|(y, m)| {
            Some((
                y.parse::<i64>().ok()?,
                m.parse::<i64>().ok().filter(|m| (1..=12).contains(m))?,
            ))
        });
        let (true, Some((year, month))) = (self.server(server).calendar, parsed) else {
            return plain(StatusCode::NOT_FOUND, "not found\n");
        };
        let link = |months: i64| {
            let n = year.saturating_mul(12).saturating_add(month - 1 + months);
            format!("/calendar/{}/{}", n.div_euclid(12), n.rem_euclid(12) + 1)
        };
        let (before, after) = (link(-1), link(1));
        let body = format!(
            "<!doctype html>\n<title>{year}-{month}</title>\n<p>Nothing is planned this month.</p>\n\
             <a href=\"{before}\">before</a> <a href=\"{after}\">after</a>\n"
        );
        typed(StatusCode::OK, "text/html; charset=utf-8", body.into())
    }

    fn page_answer(
        &self,
        page: &InventedPage,
        request: &WebRequest<'_>,
        at: f64,
    ) -> Response<Bytes> {
        match page.kind {
            PageAnswer::Ordinary | PageAnswer::Copy(_) => self.text(page, request, at),
            PageAnswer::Busy if request.earlier == 0 => {
                let answer = plain(StatusCode::SERVICE_UNAVAILABLE, "try again\n");
                with_header(answer, RETRY_AFTER, "1")
            }
            PageAnswer::Busy => self.text(page, request, at),
            PageAnswer::Redirect(to, status) => {
                let answer = plain(status_of(status), "elsewhere\n");
                with_header(answer, LOCATION, self.url(to, request.port))
            }
            PageAnswer::Error(status) => plain(status_of(status), "error\n"),
        }
    }

    fn text(&self, page: &InventedPage, request: &WebRequest<'_>, at: f64) -> Response<Bytes> {
        let server = self.server(page.server);
        let validators = self.validators(page, at);
        let mut answer = if validators.matched_by(request.headers) {
            status_only(StatusCode::NOT_MODIFIED)
        } else {
            let html = self.html(page.number, at, request.port);
            let media = self.media(page);
            let coding = server
                .coding
                .filter(|coding| coding.is_accepted(request.headers));
            let body = coding.map_or_else(|| html.clone().into(), |coding| coding.encode(&html));
            let answer = typed(StatusCode::OK, media, body);
            match coding {
                Some(coding) => with_header(answer, CONTENT_ENCODING, coding.name()),
                None => answer,
            }
        };
        if server.coding.is_some() {
            answer = with_header(answer, VARY, "accept-encoding");
        }
        validators.put(answer.headers_mut());
        answer
    }

    fn media(&self, page: &InventedPage) -> &'static str {
        match &self.text_source {
            TextSource::Prose(_) => "text/html; charset=utf-8",
            TextSource::Town(records) => records.media(page.number),
        }
    }

    /// Returns the sitemaps that robots.txt names.
    fn sitemaps(&self, server: ServerNumber) -> impl Iterator<Item = PageNumber> {
        let sitemaps = ["/sitemap.xml", "/news-sitemap.xml"];
        let there = sitemaps.map(|path| self.at(server, path));
        let there = there.into_iter().flatten().map(InventedPage::number);
        there.filter(|page| !self.is_text(*page))
    }

    /// Returns the validators of a page. They change with its text, and when a page it links to
    /// is born.
    fn validators(&self, page: &InventedPage, at: f64) -> Validators {
        let server = self.server(page.server);
        let version = self.version(page, at);
        let (mut links, mut since) = (0, version.since.max(page.life.born));
        for link in self.links(page, at) {
            links += 1;
            since = since.max(link.life.born);
        }
        let tag = server.etag.then(|| format!("{:x}-{links:x}", version.id));
        Validators::new(
            tag.as_deref(),
            server.last_modified.then(|| self.date(since)),
        )
    }
}

impl Coding {
    fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Deflate => "deflate",
        }
    }

    fn is_accepted(self, request: &HeaderMap) -> bool {
        let accepted = request
            .get(ACCEPT_ENCODING)
            .and_then(|value| value.to_str().ok());
        let names = accepted.unwrap_or_default().split([',', ';']);
        names.into_iter().any(|name| name.trim() == self.name())
    }

    fn encode(self, text: &str) -> Bytes {
        let text = text.as_bytes();
        let encoded = match self {
            Self::Gzip => {
                let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(text).and_then(|()| encoder.finish())
            }
            Self::Deflate => {
                let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
                encoder.write_all(text).and_then(|()| encoder.finish())
            }
        };
        encoded.expect("writing to memory does not fail").into()
    }
}

fn status_of(status: u16) -> StatusCode {
    StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
}
