//! Runs the sitemaps of crawler-commons and Nutch and the feeds of feedparser through our
//! readers.

use super::*;
use crate::conformance;

#[test]
fn sitemaps_of_other_crawlers_yield_their_pages_and_dates() {
    let Some(files) = conformance::directory("sitemaps") else {
        return;
    };
    // The file, the site that serves it, its type, and how many pages it names and how many of
    // them it dates.
    let cases = "
        atom.xml http://example.org/ Feed 1 1
        do-not-visit.txt http://www.example.com/ Sitemap 1 0
        extension/hebdenbridgetimes-articles-sitemap.xml http://www.hebdenbridgetimes.co.uk/ Sitemap 74 74
        extension/pagemaps-sitemap.xml http://www.example.com/ Sitemap 2 0
        extension/shinpaideshou-news-sitemap.xml https://shinpaideshou.wordpress.com/ Sitemap 3 3
        extension/sitemap-images.xml http://www.example.com/ Sitemap 1 0
        extension/sitemap-links.xml http://www.example.com/ Sitemap 3 0
        extension/sitemap-mobile.xml http://www.example.com/ Sitemap 3 0
        extension/sitemap-news.xml http://www.example.org/ Sitemap 2 2
        extension/sitemap-videos-tvshow.xml https://example.org/ Sitemap 1 0
        extension/sitemap-videos.xml http://www.example.com/ Sitemap 3 0
        sitemap-with-bom.txt http://www.domain.com/ Sitemap 2 0
        sitemap.badns.xml http://www.example.com/ Sitemap 2 0
        sitemap.index.xml https://example.com/ Index 15 0
        sitemap.ns.xml http://www.example.com/ Sitemap 2 0
        sitemap.txt http://www.domain.com/ Sitemap 2 0
        sitemap.txt.gz http://www.example.com/ Sitemap 5 0
        xmlSitemap.gz http://www.example.com/ Sitemap 5 4";
    let cases: Vec<&str> = cases.lines().skip(1).map(str::trim).collect();
    assert_eq!(files.len(), cases.len());
    for ((name, body), case) in files.iter().zip(cases) {
        let site = case.split(' ').nth(1).unwrap();
        let declared = if name.ends_with(".txt") {
            "text/plain"
        } else {
            "application/xml"
        };
        let found = read(body, Some(declared), &at(site).join(name).unwrap(), NOW).unwrap();
        let dates = found
            .entries
            .iter()
            .filter(|entry| entry.modified.is_some());
        let (pages, dated) = (found.entries.len(), dates.count());
        assert_eq!(
            format!("{name} {site} {:?} {pages} {dated}", found.kind),
            case
        );
        assert_eq!(
            (found.strangers, found.unusable, found.broken, found.cut),
            (0, 0, false, false),
            "{name}"
        );
    }
}

/// Cases where feedparser finds another page than we do, and why.
const OTHERWISE: [(&str, &str); 5] = [
    (
        "base/http_entry_link_base_content_location.xml",
        "the base is in a Content-Location header",
    ),
    (
        "base/http_item_link_base_content_location.xml",
        "the base is in a Content-Location header",
    ),
    (
        "atom10/entry_link_rel_license.xml",
        "a licence is not the page",
    ),
    ("cdf/item_href_map_link.xml", "CDF, a format of 1997"),
    ("cdf/item_href_map_links.xml", "CDF, a format of 1997"),
];

#[test]
fn feeds_of_feedparser_name_the_pages_it_expects() {
    let Some(files) = conformance::directory("feeds") else {
        return;
    };
    let mut agreed = 0;
    let mut otherwise = Vec::new();
    for (name, body) in files {
        let text = String::from_utf8_lossy(&body);
        let Some(expected) = expected_link(&text) else {
            continue;
        };
        let found = feed(&body).map_or_else(|_| Vec::new(), |listing| listing.entries);
        let expected = at(expected);
        if found.first().is_some_and(|entry| entry.url == expected) {
            agreed += 1;
        } else {
            otherwise.push(name);
        }
    }
    let known = |name: &&String| OTHERWISE.iter().any(|(known, _)| name.ends_with(known));
    assert_eq!(
        otherwise
            .iter()
            .filter(|name| !known(name))
            .collect::<Vec<_>>(),
        Vec::<&String>::new()
    );
    assert_eq!((agreed, otherwise.len()), (25, OTHERWISE.len()));
}

#[test]
fn feeds_of_feedparser_date_their_pages_as_it_expects() {
    let Some(files) = conformance::directory("feeds") else {
        return;
    };
    let mut dated = 0;
    for (name, body) in files.iter().filter(|(name, _)| !name.contains("/cdf/")) {
        let text = String::from_utf8_lossy(body);
        let Some(expected) = expected_date(&text) else {
            continue;
        };
        // These entries have no link. One is added, because a date without a page is ignored.
        let linked = text
            .replace("<item>", "<item><link>/x</link>")
            .replace("<entry>", "<entry><link href='/x'/>");
        let found = feed(linked.as_bytes()).unwrap();
        if name.ends_with("entry_updated_multiple_values.xml") {
            // Of several dates feedparser takes the first, we take the latest.
            assert!(found.entries[0].modified > Some(expected));
            continue;
        }
        assert_eq!(found.entries[0].modified, Some(expected), "{name}");
        dated += 1;
    }
    assert_eq!(dated, 9);
}

#[test]
fn all_feeds_of_feedparser_are_read_or_refused_for_a_reason() {
    let Some(files) = conformance::directory("feeds") else {
        return;
    };
    let (mut read, mut doctype, mut other) = (0, Vec::new(), Vec::new());
    for (name, body) in &files {
        match feed(body) {
            Ok(listing) => {
                assert_eq!(listing.kind, ListingKind::Feed, "{name}");
                read += 1;
            }
            Err(Refused::Doctype) => doctype.push(name.as_str()),
            Err(Refused::Other) => other.push(name.as_str()),
        }
    }
    assert_eq!(files.len(), read + doctype.len() + other.len());
    // hostile-web.md, row 50: a feed with a DOCTYPE is rejected. The last file is harmless and
    // lost too: RSS 0.91 feeds of 1999 name a DTD.
    assert_eq!(
        doctype,
        [
            "illformed/always_strip_doctype.xml",
            "wellformed/rdf/doctype_contains_entity_decl.xml",
            "wellformed/rss/entity_in_doctype.xml",
            "wellformed/rss/rss_version_091_netscape.xml",
        ]
    );
    // The other refused files are CDF, an empty file, UTF-32, and UTF-16 without a byte order
    // mark. Browsers do not read these two encodings either.
    let known = |name: &str| {
        let wide = name.starts_with("encoding/u");
        name.contains("cdf") || wide && (name.contains("32") || !name.contains("bom"))
    };
    let unknown: Vec<_> = other.iter().filter(|name| !known(name)).collect();
    assert_eq!(unknown, [&"illformed/rss_empty_document.xml"]);
}

fn feed(body: &[u8]) -> Result<Listing, Refused> {
    let json = body.trim_ascii_start().starts_with(b"{");
    let declared = if json {
        "application/feed+json"
    } else {
        "application/xml"
    };
    read(body, Some(declared), &at("http://127.0.0.1:8097/"), NOW)
}

/// Returns the expected URL of the first entry.
fn expected_link(text: &str) -> Option<&str> {
    let line = text
        .lines()
        .find(|line| line.trim_start().starts_with("Expect:"))?;
    let keys = [
        "entries[0]['link'] ==",
        "entries[0].link ==",
        "entries[0]['links'][0]['href'] ==",
    ];
    let rest = keys.iter().find_map(|key| line.split_once(key))?.1;
    let (_, value) = rest.rsplit_once("== ").unwrap_or(("", rest));
    Some(value.trim().trim_matches('\''))
}

/// Returns the expected change time of the first entry.
fn expected_date(text: &str) -> Option<i64> {
    let line = text
        .lines()
        .find(|line| line.trim_start().starts_with("Expect:"))?;
    let keys = [
        "entries[0]['updated_parsed'] == (",
        "entries[0]['published_parsed'] == (",
    ];
    let (_, rest) = keys.iter().find_map(|key| line.split_once(key))?;
    let numbers: Vec<i16> = rest
        .split(&[',', ')'])
        .map_while(|part| part.trim().parse().ok())
        .collect();
    let part = |place: usize| numbers[place] as i8;
    let date = jiff::civil::date(numbers[0], part(1), part(2)).at(part(3), part(4), part(5), 0);
    Some(
        date.to_zoned(jiff::tz::TimeZone::UTC)
            .unwrap()
            .timestamp()
            .as_second(),
    )
}
