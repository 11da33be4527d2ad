//! The feeds and sitemaps of a town.
//!
//! **Invariant:** they name pages that exist, with the time of their last change. Their own last
//! change is the latest of these.

use std::fmt::Write;
use std::time::SystemTime;

use figure::escaped;

use super::super::life::TextVersion;
use super::super::web::{InventedPage, Web};
use super::TownRecords;
use super::page::TownPageKind;

/// Entries of a feed, as in most feeds.
const FEED: usize = 20;
/// Entries of a news sitemap. Search engines ask for the articles of the last two days.
const NEWS: usize = 60;

/// Returns the version of a list: it is as new as the newest page it names, and that time is its
/// id.
pub(super) fn version(
    records: &TownRecords,
    web: &Web,
    page: &InventedPage,
    at: f64,
) -> TextVersion {
    let newest = (named(records, web, page, at).into_iter())
        .map(|(page, since)| since.max(page.life.born))
        .fold(-super::PAST, f64::max);
    TextVersion {
        id: (newest + super::PAST).to_bits(),
        since: newest,
    }
}

pub(super) fn feed(
    records: &TownRecords,
    web: &Web,
    page: &InventedPage,
    at: f64,
    port: u16,
) -> String {
    let mut xml = format!(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<rss version=\"2.0\"><channel><title>Newest</title><link>{}</link><description>What is new</description>\n",
        web.url(web.home(page.server), port)
    );
    for (page, _) in named(records, web, page, at) {
        let (url, title) = (
            web.url(page.number, port),
            escaped(&records.title(web, page)),
        );
        let date = httpdate::fmt_http_date(web.date(page.life.born));
        let _ = writeln!(
            xml,
            "<item><title>{title}</title><link>{url}</link><guid>{url}</guid><pubDate>{date}</pubDate></item>"
        );
    }
    xml + "</channel></rss>\n"
}

pub(super) fn news(
    records: &TownRecords,
    web: &Web,
    page: &InventedPage,
    at: f64,
    port: u16,
) -> String {
    let mut xml = String::from(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\" xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\">\n",
    );
    for (page, since) in named(records, web, page, at) {
        let _ = writeln!(
            xml,
            "<url><loc>{}</loc><lastmod>{}</lastmod><news:news><news:publication><news:name>The Estuary Courier</news:name><news:language>en</news:language></news:publication><news:publication_date>{}</news:publication_date><news:title>{}</news:title></news:news></url>",
            web.url(page.number, port),
            date(web.date(since)),
            date(web.date(page.life.born)),
            escaped(&records.title(web, page)),
        );
    }
    xml + "</urlset>\n"
}

pub(super) fn sitemap(
    records: &TownRecords,
    web: &Web,
    page: &InventedPage,
    at: f64,
    port: u16,
) -> String {
    let mut xml = String::from(
        "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">\n",
    );
    for (page, since) in named(records, web, page, at) {
        let url = web.url(page.number, port);
        let _ = writeln!(
            xml,
            "<url><loc>{url}</loc><lastmod>{}</lastmod></url>",
            date(web.date(since))
        );
    }
    xml + "</urlset>\n"
}

/// Returns the pages that a list names, each with the time of its last change.
fn named<'a>(
    records: &TownRecords,
    web: &'a Web,
    list: &InventedPage,
    at: f64,
) -> Vec<(&'a InventedPage, f64)> {
    let most = match records.kind(list.number) {
        TownPageKind::Feed => FEED,
        TownPageKind::NewsSitemap => NEWS,
        _ => usize::MAX,
    };
    (records.all(list.server, at).take(most))
        .map(|page| web.page(page))
        .map(|page| (page, web.version(page, at).since))
        .collect()
}

/// Formats a date for a sitemap, with the fractions of a second that a fast-changing web needs.
fn date(at: SystemTime) -> String {
    jiff::Timestamp::try_from(at).map_or_else(|_| String::new(), |at| at.to_string())
}
