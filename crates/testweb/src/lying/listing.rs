//! Hostile sitemaps (rows 50 to 52).
//!
//! **Invariant:** read without limits, each is a well-formed sitemap or sitemap index, so that a
//! crawler has a reason to read it.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::script::{Script, ScriptRequest};

/// Size of a sitemap in megabytes: 1.5 times the limit of the sitemap protocol.
const MEGABYTES: usize = 75;

/// Entity expansion ("billion laughs"): ten entities, each ten times as long as the one before.
pub(super) fn laughs(_: &ScriptRequest<'_>) -> Script {
    let mut types = String::from("<!ENTITY a0 \"/honest/1\">");
    for level in 1..10 {
        let ten = format!("&a{};", level - 1).repeat(10);
        types.push_str(&format!("<!ENTITY a{level} \"{ten}\">"));
    }
    xml(format!("<?xml version=\"1.0\"?><!DOCTYPE urlset [{types}]><urlset><url><loc>&a9;</loc></url></urlset>").into_bytes())
}

/// A sitemap that is small in gzip and names one page again and again.
pub(super) fn packed(_: &ScriptRequest<'_>) -> Script {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    let much = entries(1 << 20);
    let parts = [b"<urlset>".as_slice()]
        .into_iter()
        .chain(std::iter::repeat_n(much.as_slice(), MEGABYTES))
        .chain([b"</urlset>".as_slice()]);
    let mut parts = parts.map(|part| encoder.write_all(part));
    let written = parts.try_for_each(|written| written);
    let written = written.and_then(|()| encoder.finish());
    let body = written.expect("writing to memory does not fail");
    Script::framed("200 OK\r\nContent-Type: application/gzip", body)
}

/// The same sitemap without compression.
pub(super) fn huge(_: &ScriptRequest<'_>) -> Script {
    let mut body = b"<urlset>".to_vec();
    body.extend(entries(MEGABYTES << 20));
    body.extend(b"</urlset>");
    xml(body)
}

/// A sitemap index that names another index, for ever.
pub(super) fn nested(request: &ScriptRequest<'_>) -> Script {
    let level: u32 = request.after("/index-of-indexes/").parse().unwrap_or(0);
    let next = level.saturating_add(1);
    let index = format!(
        "<sitemapindex><sitemap><loc>/index-of-indexes/{next}</loc></sitemap></sitemapindex>"
    );
    xml(index.into_bytes())
}

fn xml(body: Vec<u8>) -> Script {
    Script::framed("200 OK\r\nContent-Type: application/xml", body)
}

/// Returns about `bytes` bytes of entries.
fn entries(bytes: usize) -> Vec<u8> {
    let entry = b"<url><loc>/honest/1</loc><lastmod>2024-05-17</lastmod></url>\n";
    entry.repeat(bytes / entry.len())
}
