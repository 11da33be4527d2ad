//! Tests what is read from a page, and that no markup stops the reader.

use std::ops::Range;

use proptest::prelude::*;

use super::*;
use crate::url::PageUrl;

fn page() -> PageUrl {
    PageUrl::parse("http://a.example/dir/page.html").unwrap()
}

fn reading(html: &str) -> PageReading {
    read(html, &page(), &ReadLimits::default())
}

fn targets(html: &str) -> Vec<String> {
    reading(html)
        .links
        .iter()
        .map(|link| link.url.as_str().replace("http://a.example", ""))
        .collect()
}

#[test]
fn only_visible_text_is_read() {
    let check = |html: &str, text: &str| assert_eq!(reading(html).text, text, "{html}");
    check("a  b\n\tc", "a b c");
    check("<p>a<p>b", "a\nb");
    check("a<b>b</b>c <i>d</i>", "abc d");
    check("a<br>b<hr>c", "a\nb\nc");
    check("<ul><li>a<li>b</ul>c", "a\nb\nc");
    check("<tr><td>a</td><td>b</td></tr><tr><td>c", "a b\nc");
    check("a<!-- b -->c<?php d ?>e", "ace");
    check("a<script>b</script>c<style>d</style>e", "ace");
    check("a<script>'<p>' + \"</p>\"</script>b", "ab");
    check("a<template>b<template>c</template>d</template>e", "ae");
    check("a<noscript>b</noscript>c", "ac");
    check("a<svg><title>b</title><style/><text>c</text></svg>d", "ad");
    check("a<svg><g><p>b", "a\nb"); // HTML ends an unclosed drawing.
    check("a<svg><foreignObject><p>b</p></foreignObject></svg>c", "ac");
    check("a<svg/>b", "ab");
    check("a<textarea>b</textarea><iframe>c</iframe>d", "ad");
    check("<title>a</title>b", "b");
    check("a<xmp><b></xmp>c", "a\n<b>\nc");
    check("x<plaintext>a<b>", "x\na<b>");
    check(
        "&lt;p&gt; &amp;amp; &eacute;&nbsp;&nbsp;&#x41;&#0;",
        "<p> &amp; é A\u{fffd}",
    );
    check("a &bogus; & &notit;", "a &bogus; & ¬it;");
    check("1 < 2 <3 </> 4", "1 < 2 <3 4");
    check("a\u{a0}\u{3000}b\u{2003}c", "a b c");
    check("a\0b\u{7f}c\u{1}d", "a b c d");
    check("", "");
    check("  <p> </p>  ", "");
    check("日本語 の ページ", "日本語 の ページ");
    check("<unclosed", "");
    check("a<p title='", "a");
}

#[test]
fn nothing_invisible_is_left() {
    let check = |html: &str, text: &str| {
        assert_eq!(reading(html).text, text, "{html}");
        assert_eq!(
            reading(&format!("<title>{html}</title>")).title,
            text,
            "{html}"
        );
    };
    check("ab\u{202e}cd\u{2066}e\u{2069}", "abcde");
    check("pass\u{200b}word\u{ad}s\u{feff}", "passwords");
    check("pay\u{200c}pal", "paypal"); // In a Latin word, a joiner hides the word from search.
    check("می\u{200c}خواهم", "می\u{200c}خواهم"); // In a Persian word, a joiner is spelling.
    check("👩\u{200d}💻", "👩\u{200d}💻");
    check("&#x202E;a&#8203;b", "ab");
    check(
        &format!("e{}f", "\u{301}".repeat(1_000)),
        &format!("e{}f", "\u{301}".repeat(8)),
    );
    check("Việt e\u{301}\u{323}", "Việt e\u{301}\u{323}");
    check("a \u{200c}b", "a b");
}

#[test]
fn the_first_title_is_read_as_text() {
    let check = |html: &str, title: &str| assert_eq!(reading(html).title, title, "{html}");
    check("<title> a\n &amp;  b </title>", "a & b");
    check("<TITLE>a</TITLE><title>b</title>", "a");
    check("<title>a", "a");
    check("<title></title><title>b</title>", "");
    check("<svg><title>a</title></svg><title>b</title>", "b");
    check("<p>none", "");
    check("<title>a<b>c</b></title>", "a<b>c</b>");
    assert_eq!(
        reading(&format!("<title>{}</title>", "ab ".repeat(1_000_000)))
            .title
            .len(),
        512
    );
}

#[test]
fn links_are_found_and_resolved() {
    let check = |html: &str, expected: &str| {
        assert_eq!(targets(html).join(" "), expected, "{html}");
    };
    check("<a href=x>", "/dir/x");
    check("<A HREF=' /x\n'>", "/x");
    check(
        "<a href=\"?a=1&amp;b=2&copy=3\">",
        "/dir/page.html?a=1&b=2&copy=3",
    );
    check(
        "<a href=../up><a href=.><a href=''>",
        "/up /dir/ /dir/page.html",
    );
    check("<a href=//b.example/>", "http://b.example/");
    check(
        "<area href=x><iframe src=y></iframe><frame src=z>",
        "/dir/x /dir/y /dir/z",
    );
    check(
        "<link rel=next href=2><link rel='prev' href=0>",
        "/dir/2 /dir/0",
    );
    check(
        "<link rel=alternate type=application/rss+xml href=feed>",
        "/dir/feed",
    );
    check("<link rel=alternate hreflang=de href=de>", "/dir/de");
    check(
        "<link rel='stylesheet' href=a.css><link rel='alternate stylesheet' href=b.css hreflang=x>",
        "",
    );
    check("<img src=x><script src=y></script><a name=z>", "");
    check("<a href=x href=y>", "/dir/x"); // The first of two counts.
    check(
        "<!-- <a href=x> --><script>'<a href=y>'</script><textarea><a href=z></textarea>",
        "",
    );
    check(
        "<template><a href=x></a></template><svg><a href=y></a></svg>",
        "",
    );
    check(
        "<noscript><a href=x>turn it on</a><iframe src=y></iframe></noscript>",
        "/dir/x",
    );
    check(
        "<a href=#top><a href=x#a><a href=x#b><a href='x'>",
        "/dir/x",
    );
    check("<a href=x><a href=./x><a href=/dir/x>", "/dir/x");
    check("<a href=%7Ex><a href=~x>", "/dir/~x");
}

#[test]
fn targets_that_are_not_links_are_counted() {
    let reading = reading(
        "<a href=mailto:a@b><a href='javascript:x()'><a href='DATA:x'><a href='tel:1'><a href=blob:x><a href='http://a b/'><a href=x>",
    );
    assert_eq!(
        (reading.links.len(), reading.not_links, reading.malformed),
        (1, 5, 1)
    );
}

#[test]
fn the_first_valid_base_counts() {
    let check = |html: &str, expected: &str| {
        assert_eq!(targets(html).join(" "), expected, "{html}");
    };
    check("<base href=/b/><a href=x>", "/b/x");
    check("<base href=/b/><base href=/c/><a href=x>", "/b/x");
    check(
        "<base href='javascript:x'><base><base href=/c/><a href=x>",
        "/c/x",
    );
    check(
        "<a href=x><base href=/b/><a href=x><a href=/dir/x>",
        "/dir/x /b/x",
    );
    check("<base href=/b/><a href=#top>", "/b/");
    check(
        "<base href=http://c.example/><a href=x>",
        "http://c.example/x",
    );
}

#[test]
fn anchors_are_ranges_of_the_text() {
    let html = "<p>one two <a href=x> three\n <b>four</b> </a> five <a href=y><img alt='six seven' src=i></a> eight</p>\
                <a href=z></a><p><a href=x>later</a><a href=w>w</a>";
    let reading = reading(html);
    assert_eq!(
        reading.text,
        "one two three four five six seven eight\nlaterw"
    );
    let anchors: Vec<&str> = reading
        .links
        .iter()
        .map(|link| reading.anchor(link))
        .collect();
    assert_eq!(anchors, ["three four", "six seven", "", "w"]);
    let around = |index: usize, words: usize| reading.around(&reading.links[index], words);
    assert_eq!(around(0, 0), "three four");
    assert_eq!(around(0, 1), "two three four five");
    assert_eq!(around(0, 99), reading.text);
    assert_eq!(around(2, 1), "eight\nlaterw");
}

#[test]
fn an_empty_anchor_takes_the_words_of_a_later_one() {
    let reading = reading("<a href=x><img src=logo></a> and <a href=x rel=nofollow>words</a>");
    assert_eq!(reading.anchor(&reading.links[0]), "words");
}

#[test]
fn a_target_is_nofollow_only_if_all_links_to_it_are() {
    let nofollow = |html: &str| {
        reading(html)
            .links
            .iter()
            .map(|link| link.nofollow)
            .collect::<Vec<_>>()
    };
    assert_eq!(nofollow("<a href=x rel=nofollow>"), [true]);
    assert_eq!(nofollow("<a href=x rel='external NoFollow'>"), [true]);
    assert_eq!(nofollow("<a href=x rel=nofollowed>"), [false]);
    assert_eq!(nofollow("<a href=x rel=nofollow><a href=x>"), [false]);
    assert_eq!(nofollow("<a href=x><a href=./x rel=nofollow>"), [false]);
}

#[test]
fn links_have_a_kind_and_a_tag_path() {
    let reading = reading(
        "<html><head><link rel=next href=n></head><body><nav><ul><li><a href=a>a</a><li><A HREF=b>b</A></ul></nav><p><a href=c>c",
    );
    let all: Vec<_> = reading
        .links
        .iter()
        .map(|link| (link.kind, reading.path(link)))
        .collect();
    assert_eq!(
        all,
        [
            (LinkKind::Next, "html/head/link"),
            (LinkKind::Anchor, "html/body/nav/ul/li/a"),
            (LinkKind::Anchor, "html/body/nav/ul/li/a"),
            (LinkKind::Anchor, "html/body/p/a"),
        ]
    );
    assert_eq!(reading.paths.len(), 3);
}

#[test]
fn robots_directives_canonical_refresh_and_language_are_read() {
    let reading = reading(
        "<html lang=' EN-gb '><meta name=ROBOTS content='noindex'><meta name=avocet content=noarchive><meta name=googlebot content=nofollow>\
         <link rel=canonical href=/c?x=1#y><link rel=canonical href=/d><meta http-equiv=Refresh content='0; url=/r'>",
    );
    assert_eq!(
        reading.robots,
        crate::Directives {
            noindex: true,
            nofollow: false,
            noarchive: true
        }
    );
    assert_eq!(
        reading.canonical.unwrap().as_str(),
        "http://a.example/c?x=1"
    );
    assert_eq!(reading.refresh.unwrap().as_str(), "http://a.example/r");
    assert_eq!(reading.language.as_deref(), Some("en-gb"));
    assert!(reading.links.is_empty());
}

#[test]
fn hostile_directives_are_ignored() {
    let reading = reading(
        "<html lang='<script>'><link rel=canonical href=http://b.example/><meta http-equiv=refresh content='0;url=javascript:x'>\
         <meta http-equiv=refresh content='5'><meta http-equiv=refresh content='5; url=page.html'><noscript><meta http-equiv=refresh content='0;url=/nojs'></noscript>",
    );
    assert_eq!(
        (reading.canonical, reading.refresh, reading.language),
        (None, None, None)
    );
    let page = PageUrl::parse("http://b.co.uk/").unwrap();
    for (host, accepted) in [("www.b.co.uk", true), ("c.co.uk", false)] {
        let html = format!("<link rel=canonical href=http://{host}/>");
        let canonical = read(&html, &page, &ReadLimits::default()).canonical;
        assert_eq!(canonical.is_some(), accepted, "{host}");
    }
}

#[test]
fn changed_markup_does_not_change_the_digest() {
    let digest = |html: &str| reading(html).digest;
    let page = "<body class=a><!-- 12:00 --><script nonce=1>x</script><p data-time=1>one two three four five</p>";
    let again = "<body class=b><!-- 12:01 --><script nonce=2>y</script><div data-time=2>one two <b>three</b> four five</div>";
    assert_eq!(digest(page), digest(again));
    assert_ne!(
        digest(page).fingerprint,
        digest("<p>one two three four six").fingerprint
    );
}

#[test]
fn limits_hold_and_are_counted() {
    let many: String = (0..30_000).map(|i| format!("<a href=p{i}>x</a>")).collect();
    let many = reading(&many);
    assert_eq!((many.links.len(), many.cut.links), (10_000, 20_000));
    assert_eq!(many.links[9_999].url.path(), "/dir/p9999");

    let long = reading(&"word ".repeat(500_000));
    assert!(long.cut.text && long.text.len() <= 1 << 20 && long.text.len() > (1 << 20) - 8);
    for (limit, text, cut) in [
        (6, "abcd", true),
        (7, "abcd é", true),
        (9, "abcd éfg", true),
        (10, "abcd éfgh", false),
    ] {
        let limits = ReadLimits {
            text: limit,
            ..ReadLimits::default()
        };
        let short = read("abcd éfgh", &page(), &limits);
        assert_eq!(
            (short.text.as_str(), short.cut.text),
            (text, cut),
            "{limit}"
        );
    }

    let anchor = reading(&format!("<a href=x>{}", "é".repeat(5_000)));
    assert_eq!(anchor.anchor(&anchor.links[0]).len(), 1_024);

    let paths: String = (0..2_000)
        .map(|i| format!("<x{i}><a href=p{i}></a></x{i}>"))
        .collect();
    let paths = reading(&paths);
    assert_eq!((paths.paths.len(), paths.links.len()), (257, 2_000));
    assert_eq!(paths.path(&paths.links[1_999]), "");
    assert_eq!(paths.path(&paths.links[255]), "x255/a");

    let values = reading(&format!("<a href='data:{}'>x</a>", "x".repeat(1 << 20)));
    assert_eq!((values.cut.values, values.links.len()), (1, 0));
}

#[test]
fn parts_that_are_not_read_change_nothing_else() {
    let html = "<html lang=en><meta name=author content=A><nav><a href=/up>Up</a></nav><h1 id=h>Head</h1>\
        <p>text <a href=/b>b</a><svg><a href=/no><p>left<script type='application/ld+json'>{}</script>\
        <ul><li>one<li>two</ul><pre>a\n b</pre><footer>end</footer>";
    let limits = ReadLimits {
        parts: PageParts::default(),
        ..ReadLimits::default()
    };
    let (all, least) = (reading(html), read(html, &page(), &limits));
    assert_eq!((&all.title, &all.text), (&least.title, &least.text));
    assert_eq!(
        (&all.digest, &all.language),
        (&least.digest, &least.language)
    );
    let links = |reading: &PageReading| -> Vec<(String, Range<u32>)> {
        let links = reading.links.iter();
        links
            .map(|link| (link.url.to_string(), link.anchor.clone()))
            .collect()
    };
    assert_eq!(links(&all), links(&least));
    assert!(!all.sections.is_empty() && !all.asides.is_empty() && !all.fields.is_empty());
    assert!(all.linked > 0 && all.links[0].aside && !all.paths.is_empty());
    assert!(least.sections.is_empty() && least.asides.is_empty() && least.fields.is_empty());
    assert!(least.linked == 0 && !least.links[0].aside && least.path(&least.links[0]).is_empty());
}

/// Markup that took other parsers seconds to minutes.
///
/// Nothing is timed: each input has a few bytes per token, and a reader that is not linear would
/// run for hours.
#[test]
fn hostile_markup_is_read_in_one_pass() {
    let times = |n: usize, text: &str| text.repeat(n);
    let pages = [
        times(500_000, "<div>"),
        times(200_000, "<ul><li>"),
        times(500_000, "<b>") + &times(500_000, "</i>"),
        times(512, "<b>") + &times(500_000, "<li></li>"),
        times(512, "<x>") + &times(1_000_000, "</y>"),
        format!(
            "<p {}>",
            (0..200_000).map(|i| format!("a{i} ")).collect::<String>()
        ),
        times(1_000_000, "<a "),
        times(1_000_000, "<"),
        times(1_000_000, "</"),
        format!("<!--{}", times(1_000_000, "->")),
        times(500_000, "<!--"),
        format!("<script>{}", times(500_000, "<!--<script>")),
        format!("<title>{}", times(500_000, "</titl")),
        format!("<a href=\"{}", times(3_000_000, "x")),
        times(200_000, "<a href=x><b><p></a>"),
        times(300_000, "&"),
        times(300_000, "&amp"),
        times(100_000, "<table><tr><td><p>"),
        times(1_000_000, "<svg>"),
        times(300_000, "<svg><p>"),
        times(1_000_000, "\u{301}"),
    ];
    for page in pages {
        let reading = reading(&page);
        assert!(
            reading.text.len() <= 1 << 20 && reading.links.len() <= 10_000,
            "{:.40}",
            page
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let (html, _) = crate::charset::decode(&bytes, None);
        reading(&html);
    }

    #[test]
    fn any_markup_is_read(html in "(<(a href=[xy#/.%:]{0,4}|/a|p|/p|title|script|/script|svg|/svg|b|li|base href=[/b]{1,3}|img alt=é|!--|template|/template)?>?|[ aé\u{a0}\u{301}\u{200c}&;]{0,5}){0,40}") {
        let reading = reading(&html);
        prop_assert!(!reading.text.starts_with([' ', '\n']) && !reading.text.ends_with([' ', '\n']));
        prop_assert!(!reading.text.contains("  ") && !reading.text.contains(" \n") && !reading.text.contains("\n "));
        let mut ids: Vec<_> = reading.links.iter().map(|link| link.id).collect();
        ids.sort();
        ids.dedup();
        prop_assert_eq!(ids.len(), reading.links.len());
        for link in &reading.links {
            prop_assert_eq!(link.id, link.url.id());
            prop_assert!(link.anchor.end as usize <= reading.text.len());
            let anchor = reading.anchor(link);
            prop_assert_eq!(anchor.len(), link.anchor.len());
            prop_assert!(reading.around(link, 3).contains(anchor));
            prop_assert!(!reading.path(link).is_empty());
        }
    }

    #[test]
    fn reading_a_text_that_was_read_changes_no_word(text in "[ -~é\u{a0}\u{301}\u{200c}\u{202e}\n]{0,60}") {
        let escape = |text: &str| text.replace('&', "&amp;").replace('<', "&lt;");
        let once = reading(&escape(&text)).text;
        prop_assert_eq!(&reading(&escape(&once)).text.replace('\n', " "), &once.replace('\n', " "));
    }
}
