//! What do the feeds and sitemaps of a town say?
//!
//! **Invariant:** they name pages that exist, with the moment of their last change, and are as new as the newest of these.

use std::fmt::Write;
use std::time::SystemTime;

use figure::escaped;

use super::super::life::Version;
use super::super::web::{Page, Web};
use super::Records;
use super::page::Sheet;

/// Entries of a feed, as most have.
const FEED: usize = 20;
/// Entries of a news sitemap: search engines want those of two days.
const NEWS: usize = 60;

/// It is as new as the newest that it names, and that moment is its number.
pub(super) fn version(records: &Records, web: &Web, page: &Page, at: f64) -> Version {
    let newest = (named(records, web, page, at).into_iter())
        .map(|(page, since)| since.max(page.life.born))
        .fold(-super::PAST, f64::max);
    Version {
        id: (newest + super::PAST).to_bits(),
        since: newest,
    }
}

pub(super) fn feed(records: &Records, web: &Web, page: &Page, at: f64, port: u16) -> String {
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

pub(super) fn news(records: &Records, web: &Web, page: &Page, at: f64, port: u16) -> String {
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

pub(super) fn sitemap(records: &Records, web: &Web, page: &Page, at: f64, port: u16) -> String {
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

/// The pages that it names, each with the moment of its last change.
fn named<'a>(records: &Records, web: &'a Web, list: &Page, at: f64) -> Vec<(&'a Page, f64)> {
    let most = match records.sheet(list.number) {
        Sheet::Feed => FEED,
        Sheet::NewsSitemap => NEWS,
        _ => usize::MAX,
    };
    (records.all(list.server, at).take(most))
        .map(|page| web.page(page))
        .map(|page| (page, web.version(page, at).since))
        .collect()
}

/// A date as sitemaps have it, with the fractions that a web needs that lives fast.
fn date(at: SystemTime) -> String {
    jiff::Timestamp::try_from(at).map_or_else(|_| String::new(), |at| at.to_string())
}
