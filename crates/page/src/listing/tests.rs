//! Tests of the sitemap and feed readers, with hostile input.

mod conformance;

use flate2::Compression;
use proptest::prelude::*;

use super::*;

/// 2026-01-01.
const NOW: i64 = 1_767_225_600;

fn at(url: &str) -> PageUrl {
    PageUrl::parse(url).unwrap()
}

fn listing(content_type: &str, body: &str) -> Result<Listing, Refused> {
    let content_type = (!content_type.is_empty()).then_some(content_type);
    read(
        body.as_bytes(),
        content_type,
        &at("https://www.e.org/s/sitemap.xml"),
        NOW,
    )
}

fn xml(body: &str) -> Listing {
    listing("application/xml", body).unwrap()
}

fn named(listing: &Listing) -> Vec<(&str, Option<i64>)> {
    let entries = listing.entries.iter();
    entries
        .map(|entry| (entry.url.as_str(), entry.modified))
        .collect()
}

#[test]
fn a_sitemap_names_pages_and_when_they_changed() {
    let found = xml("<?xml version='1.0'?><urlset xmlns='any'>
        <url><loc> https://www.e.org/a?x=1&amp;y=2 </loc><lastmod>2024-05-17</lastmod><priority>1</priority></url>
        <url><lastmod>9999-01-01</lastmod><loc><![CDATA[https://www.e.org/b]]></loc></url>
        <url><loc>https://shop.e.org/c</loc><lastmod>soon</lastmod></url>
        <url><loc>/d</loc></url>
        <url><loc></loc></url>
        <url><loc>mailto:a@e.org</loc></url>
        <url><loc>https://evil.net/</loc></url>
        <url><loc>http://10.0.0.1/</loc></url></urlset>");
    assert_eq!(found.kind, ListingKind::Sitemap);
    assert_eq!(
        named(&found),
        [
            ("https://www.e.org/a?x=1&y=2", Some(1_715_904_000)),
            ("https://www.e.org/b", None),
            ("https://shop.e.org/c", None),
            ("https://www.e.org/d", None),
        ]
    );
    assert_eq!((found.unusable, found.strangers), (2, 2));
    assert!(!found.broken && !found.cut);
}

#[test]
fn only_an_entrys_own_location_counts() {
    let found = xml("<m:urlset xmlns:m='x' xmlns:image='y'><m:url>
        <image:image><image:loc>https://www.e.org/i.jpg</image:loc><m:loc>https://www.e.org/deep</m:loc></image:image>
        <image:loc>https://www.e.org/j.jpg</image:loc><m:loc>https://www.e.org/a</m:loc></m:url></m:urlset>");
    assert_eq!(named(&found), [("https://www.e.org/a", None)]);
}

#[test]
fn an_index_names_sitemaps() {
    let found = xml(
        "<sitemapindex><sitemap><loc>https://www.e.org/1.xml</loc><lastmod>2024</lastmod></sitemap>
        <sitemap>https://www.e.org/2.xml?a=1&b=2</sitemap></sitemapindex>",
    );
    assert_eq!(found.kind, ListingKind::Index);
    assert_eq!(
        named(&found),
        [
            ("https://www.e.org/1.xml", Some(1_704_067_200)),
            ("https://www.e.org/2.xml?a=1&b=2", None)
        ]
    );
}

#[test]
fn feeds_name_pages_with_their_latest_date() {
    let rss = "<rss version='2.0'><channel><link>https://www.e.org/</link>
        <item><link>https://www.e.org/1</link><atom:link href='https://www.e.org/self'/>
            <pubDate>Fri, 17 May 2024 00:00:00 GMT</pubDate><atom:updated>2024-05-18T00:00:00Z</atom:updated></item>
        <item><guid>https://www.e.org/2</guid></item>
        <item><guid isPermaLink='false'>tag:e.org,3</guid></item>
        <item><link>https://proxy.net/4</link><feedburner:origLink>https://www.e.org/4</feedburner:origLink></item>
        <item><link>https://other.net/5</link><pubDate>17 May 2024</pubDate></item></channel></rss>";
    let found = xml(rss);
    assert_eq!(found.kind, ListingKind::Feed);
    assert_eq!(
        named(&found),
        [
            ("https://www.e.org/1", Some(1_715_990_400)),
            ("https://www.e.org/2", None),
            ("https://www.e.org/4", None),
            // A plain link: the feed may not date another site's page.
            ("https://other.net/5", None),
        ]
    );
    assert_eq!(found.unusable, 1);
    for declared in [
        "application/rss+xml",
        "text/html; charset=utf-8",
        "text/plain",
        "",
    ] {
        assert_eq!(listing(declared, rss).as_ref(), Ok(&found), "{declared}");
    }
    let atom = xml("<feed xml:base='https://www.e.org/blog/'><link href='https://www.e.org/'/>
        <entry><link rel='edit' href='/edit'/><link rel='alternate' href='1'/><link href='2'/>
            <published>2024-05-16T00:00:00Z</published><updated>2024-05-17T00:00:00Z</updated>
            <source><link href='/no'/><updated>2025-01-01</updated></source></entry>
        <entry xml:base='/news/'><link href='3?a&amp;b'/></entry><entry><link href='4'/></entry></feed>");
    assert_eq!(
        named(&atom),
        [
            ("https://www.e.org/blog/1", Some(1_715_904_000)),
            ("https://www.e.org/news/3?a&b", None),
            ("https://www.e.org/blog/4", None),
        ]
    );
    let rdf = xml(
        "<rdf:RDF><channel><items/></channel><item rdf:about='https://www.e.org/1'>
        <dc:date>2024-05-17</dc:date></item></rdf:RDF>",
    );
    assert_eq!(named(&rdf), [("https://www.e.org/1", Some(1_715_904_000))]);
    let json = r#" {"version": "https://jsonfeed.org/version/1.1", "items": [
        {"url": "/1", "date_published": "2024-05-17T00:00:00Z", "tags": []}, {"id": "2"}]}"#;
    let json = listing("application/feed+json", json).unwrap();
    assert_eq!(named(&json), [("https://www.e.org/1", Some(1_715_904_000))]);
}

#[test]
fn a_text_is_a_sitemap_only_if_every_line_is_a_page_of_its_site() {
    let lines = |text| listing("text/plain", text);
    let found = lines("\u{feff}https://www.e.org/1\r\n\r\n https://e.org/2 \n").unwrap();
    assert_eq!(found.kind, ListingKind::Sitemap);
    assert_eq!(
        named(&found),
        [("https://www.e.org/1", None), ("https://e.org/2", None)]
    );
    for text in [
        "",
        "\n\n",
        "# pages\nhttps://www.e.org/1\n",
        "https://www.e.org/1 is good\n",
        "https://www.e.org/1\nhttps://other.net/2\n",
        "/1\n/2\n",
    ] {
        assert_eq!(lines(text), Err(Refused::Other), "{text:?}");
    }
}

#[test]
fn declarations_of_types_and_entities_are_refused() {
    let laughs =
        "<?xml version='1.0'?><!DOCTYPE lolz [<!ENTITY lol 'lol'><!ENTITY lol2 '&lol;&lol;'>]>
        <urlset><url><loc>https://www.e.org/&lol2;</loc></url></urlset>";
    let outside = "<!DOCTYPE urlset SYSTEM 'file:///etc/passwd'><urlset><url><loc>https://www.e.org/</loc></url></urlset>";
    let late = "<urlset><url><loc>https://www.e.org/</loc></url><!DOCTYPE x></urlset>";
    for body in [laughs, outside, late] {
        assert_eq!(listing("text/xml", body), Err(Refused::Doctype));
    }
    // An undeclared entity is kept verbatim.
    let unknown = xml("<urlset><url><loc>https://www.e.org/&lol;</loc></url></urlset>");
    assert_eq!(named(&unknown), [("https://www.e.org/&lol;", None)]);
}

#[test]
fn entries_before_a_break_are_kept() {
    let whole = "<urlset><url><loc>https://www.e.org/1</loc></url><url><loc>https://www.e.org/2</loc></url></urlset>";
    assert!(!xml(whole).broken);
    let cut = |bytes: usize| xml(&whole[..bytes]);
    for (bytes, entries) in [
        (whole.len() - 4, 2),
        (whole.len() - 10, 2),
        (80, 1),
        (62, 1),
        (44, 1),
        (30, 0),
        (8, 0),
    ] {
        let found = cut(bytes);
        assert_eq!(
            (found.entries.len(), found.broken),
            (entries, true),
            "{}",
            &whole[..bytes]
        );
        assert!(
            named(&found)
                .iter()
                .all(|(url, _)| whole.contains(&format!("{url}<")))
        );
    }
    let sloppy = xml(
        "<rss><channel><item><description><b>bold<br></description><link>https://www.e.org/1?a=1&b=2</link></item>
        <item></p><div>a<div>b</div></div></i><link>https://www.e.org/2</link></item>
        <item><title>open<link>https://www.e.org/lost</link></item>
        <item><link>https://www.e.org/3</link></item></channel></rss>",
    );
    let urls: Vec<_> = named(&sloppy).into_iter().map(|(url, _)| url).collect();
    assert_eq!(
        urls,
        [
            "https://www.e.org/1?a=1&b=2",
            "https://www.e.org/2",
            "https://www.e.org/3"
        ]
    );
    let unclosed = xml(
        "<urlset><url><loc>https://www.e.org/1</loc><url><loc>https://www.e.org/2</loc></urlset>",
    );
    assert_eq!(unclosed.entries.len(), 2);
}

#[test]
fn other_documents_are_no_listings() {
    for (declared, body) in [
        ("text/html", "<html><a href=/>a</a>"),
        ("text/html", "<urlsets>"),
        ("application/xml", "<opml><body/></opml>"),
        ("application/xml", "no xml at all"),
        ("application/xml", ""),
        ("application/json", "{}"),
        ("application/feed+json", r#"{"version": "2", "items": []}"#),
        (
            "application/feed+json",
            r#"{"version": "https://jsonfeed.org/version/1", "items": [{"#,
        ),
        ("image/svg+xml", "<svg/>"),
    ] {
        assert_eq!(
            listing(declared, body),
            Err(Refused::Other),
            "{declared} {body}"
        );
    }
    assert_eq!(xml("<rss/>").entries, []);
}

#[test]
fn compressed_files_are_unpacked_within_bounds() {
    let gzip = |content: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Compression::best());
        std::io::Write::write_all(&mut encoder, content).unwrap();
        encoder.finish().unwrap()
    };
    let base = at("https://www.e.org/sitemap.xml.gz");
    let sitemap = b"<urlset><url><loc>https://www.e.org/1</loc></url></urlset>";
    for declared in [Some("application/x-gzip"), Some("application/xml"), None] {
        let found = read(&gzip(sitemap), declared, &base, NOW).unwrap();
        assert_eq!(named(&found), [("https://www.e.org/1", None)]);
    }
    assert_eq!(
        read(&gzip(b"a tar archive"), None, &base, NOW),
        Err(Refused::Other)
    );
    let mut bomb = b"<urlset><url><loc>https://www.e.org/1</loc></url>".to_vec();
    bomb.resize(16 << 20, b' ');
    let bomb = gzip(&bomb);
    assert!(bomb.len() * 200 < 16 << 20, "{}", bomb.len());
    let found = read(&bomb, None, &base, NOW).unwrap();
    assert!(found.cut && found.broken && found.entries.len() == 1);
}

#[test]
fn entries_beyond_the_limit_and_deep_or_long_elements_are_cut() {
    let mut body = String::from("<urlset>");
    for number in 0..ENTRIES + 10 {
        write!(body, "<url><loc>https://www.e.org/{number}</loc></url>").unwrap();
    }
    let found = xml(&body);
    assert_eq!((found.entries.len(), found.cut), (ENTRIES, true));
    let lines: String = (0..ENTRIES + 10)
        .map(|number| format!("https://www.e.org/{number}\n"))
        .collect();
    let found = listing("text/plain", &lines).unwrap();
    assert_eq!((found.entries.len(), found.cut), (ENTRIES, true));
    // Deep nesting, and a URL without end.
    let deep = xml(&format!("<urlset>{}", "<url>".repeat(100_000)));
    assert!(deep.broken && deep.entries.is_empty());
    let long = format!(
        "<urlset><url><loc>https://www.e.org/{}</loc></url></urlset>",
        "x".repeat(1 << 20)
    );
    assert_eq!((xml(&long).entries.len(), xml(&long).unusable), (0, 1));
}

#[test]
fn the_digest_depends_on_entries_and_dates_and_not_on_their_order() {
    let digest = |entries: &[(&str, &str)]| {
        let entries = entries
            .iter()
            .map(|(url, date)| format!("<url><loc>{url}</loc><lastmod>{date}</lastmod></url>"));
        xml(&format!("<urlset>{}</urlset>", entries.collect::<String>())).digest()
    };
    let (a, b, c) = (("/a", "2024"), ("/b", "2023"), ("/c", "2023"));
    let first = digest(&[a, b]);
    assert_eq!(first, digest(&[b, a, a]));
    for other in [&[a, ("/b", "2024")][..], &[a], &[a, b, c]] {
        assert_ne!(first.fingerprint, digest(other).fingerprint, "{other:?}");
    }
}

fn piece() -> impl Strategy<Value = String> {
    let known = "<urlset>|</urlset>|<url>|</url>|<loc>|</loc>|<lastmod>|<rss>|<item>|</item>|<link>|\
        </link>|<link href='/x'/>|<feed xml:base='b/'>|<entry>|</entry>|<sitemap>|&amp;|&x;|\
        &#0;|&|<![CDATA[|]]>|<!--|-->|<!DOCTYPE|<?xml?>|<a:b c=\"|https://e.org/é|\
        2024-05-17|{|\"items\":[|\0|\u{feff}";
    let known: Vec<&str> = known.split('|').collect();
    prop_oneof![4 => prop::sample::select(known).prop_map(str::to_owned), 1 => "\\PC{0,8}"]
}

proptest! {
    #[test]
    fn any_bytes_are_read(pieces in prop::collection::vec(piece(), 0..60), junk in prop::collection::vec(any::<u8>(), 0..40), at_piece in any::<prop::sample::Index>()) {
        let mut body = pieces.concat().into_bytes();
        let place = at_piece.index(body.len() + 1);
        body.splice(place..place, junk);
        let base = at("https://e.org/");
        for declared in ["text/xml", "application/rss+xml", "text/plain", "application/feed+json"] {
            if let Ok(listing) = read(&body, Some(declared), &base, NOW) {
                prop_assert!(listing.entries.len() <= body.len());
                prop_assert!(listing.entries.iter().all(|entry| entry.modified.is_none_or(|at| at <= NOW + 86_400)));
            }
        }
    }

    #[test]
    fn entries_of_a_written_sitemap_are_read_back(pages in prop::collection::vec(("[a-z0-9&/?=.]{1,12}", prop::option::of(31_536_000i64..NOW)), 0..30)) {
        let mut body = String::from("<?xml version='1.0'?><urlset>");
        let mut expected = Vec::new();
        for (path, modified) in &pages {
            let url = at(&format!("https://www.e.org/{path}"));
            let escaped = url.as_str().replace('&', "&amp;");
            write!(body, "<url><loc>{escaped}</loc>").unwrap();
            // Each date is the first second of its day.
            let day = modified.map(|at| at - at % 86_400);
            if let Some(day) = day {
                let date = jiff::Timestamp::from_second(day).unwrap();
                write!(body, "<lastmod>{date}</lastmod>").unwrap();
            }
            body.push_str("</url>");
            expected.push(ListingEntry { url, modified: day });
        }
        body.push_str("</urlset>");
        prop_assert_eq!(xml(&body).entries, expected);
    }
}

#[test]
fn the_publication_date_of_a_news_sitemap_counts() {
    let found = xml("<urlset xmlns:news='n'>
        <url><loc>/a</loc><news:news><news:publication><news:name>E</news:name></news:publication>
          <news:publication_date>2024-05-17</news:publication_date><news:title>A</news:title></news:news></url>
        <url><news:news><news:publication_date>2024-05-17</news:publication_date></news:news>
          <lastmod>2024-05-18</lastmod><loc>/b</loc></url>
        <url><loc>/c</loc></url></urlset>");
    let day = 86_400;
    assert_eq!(
        named(&found),
        [
            ("https://www.e.org/a", Some(1_715_904_000)),
            ("https://www.e.org/b", Some(1_715_904_000 + day)),
            ("https://www.e.org/c", None),
        ]
    );
}

#[test]
fn the_hub_of_a_feed_is_named_and_is_no_entry() {
    let hub = |found: Listing| {
        (
            found.hub.map(|hub| hub.as_str().to_owned()),
            found.entries.len(),
        )
    };
    let named = |hub: &str| Some(hub.to_owned());
    let atom = xml(
        "<feed><link rel='self' href='/f'/><link rel='hub' href='https://hub.e.net/'/>
        <entry><link href='1'/><link rel='hub' href='https://wrong.e.net/'/></entry></feed>",
    );
    assert_eq!(hub(atom), (named("https://hub.e.net/"), 1));
    let rss = xml(
        "<rss xmlns:atom='a'><channel><link>/home</link><atom:link rel='hub' href='/hub'/>
        <item><link>/1</link></item></channel></rss>",
    );
    assert_eq!(hub(rss), (named("https://www.e.org/hub"), 1));
    let json = listing(
        "application/feed+json",
        r#"{"version":"https://jsonfeed.org/version/1.1","hubs":[{"type":"rssCloud","url":"/no"},{"type":"WebSub","url":"/hub"}],"items":[{"url":"/1"}]}"#,
    );
    assert_eq!(hub(json.unwrap()), (named("https://www.e.org/hub"), 1));
    assert_eq!(
        hub(xml("<feed><entry><link href='1'/></entry></feed>")),
        (None, 1)
    );
}
