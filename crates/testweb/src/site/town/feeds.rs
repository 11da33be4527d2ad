//! The feeds and sitemaps of a town.
//!
//! **Invariant:** they name pages that exist. A sitemap states when each was last changed, a feed
//! when each was published. Their own version is that of the newest page that they name.

use std::fmt::Write;
use std::time::SystemTime;

use figure::escaped;

use super::super::life::TextVersion;
use super::super::web::{InventedPage, Web};
use super::TownRecords;
use super::page::TownPageKind;

/// Maximum number of entries of a feed, as in most feeds.
const FEED: usize = 20;
/// Maximum number of entries of a news sitemap: the articles of about eight minutes at speed 1.
/// News sitemaps of real newspapers name the articles of two days.
const NEWS: usize = 60;

/// Returns the version of a list. It is as new as the newest page that the list names, and its id
/// is made from that time.
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

/// Returns the XML of a feed or sitemap.
pub(super) fn body(
    records: &TownRecords,
    web: &Web,
    list: &InventedPage,
    at: f64,
    port: u16,
) -> String {
    let kind = records.kind(list.number);
    let mut xml = String::from("<?xml version=\"1.0\" encoding=\"utf-8\"?>\n");
    let end = match kind {
        TownPageKind::Feed => {
            let home = web.url(web.home(list.server), port);
            let _ = writeln!(
                xml,
                "<rss version=\"2.0\"><channel><title>Newest</title><link>{home}</link><description>What is new</description>"
            );
            "</channel></rss>\n"
        }
        _ => {
            xml += "<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";
            if kind == TownPageKind::NewsSitemap {
                xml += " xmlns:news=\"http://www.google.com/schemas/sitemap-news/0.9\"";
            }
            xml += ">\n";
            "</urlset>\n"
        }
    };
    for (page, since) in named(records, web, list, at) {
        let url = web.url(page.number, port);
        let title = escaped(&records.title(web, page));
        let (born, changed) = (web.date(page.life.born), date(web.date(since)));
        let _ = match kind {
            TownPageKind::Feed => writeln!(
                xml,
                "<item><title>{title}</title><link>{url}</link><guid>{url}</guid><pubDate>{}</pubDate></item>",
                httpdate::fmt_http_date(born)
            ),
            TownPageKind::NewsSitemap => writeln!(
                xml,
                "<url><loc>{url}</loc><lastmod>{changed}</lastmod><news:news><news:publication><news:name>The Estuary Courier</news:name><news:language>en</news:language></news:publication><news:publication_date>{}</news:publication_date><news:title>{title}</news:title></news:news></url>",
                date(born)
            ),
            _ => writeln!(
                xml,
                "<url><loc>{url}</loc><lastmod>{changed}</lastmod></url>"
            ),
        };
    }
    xml + end
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
