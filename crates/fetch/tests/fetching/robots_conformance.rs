//! Tests that robots.txt is interpreted as RFC 9309 requires.
//!
//! **Invariant:** every case of the collected conformance data is checked, or listed as an
//! exception with its reason. No real file makes the parser panic or hang.

use std::io::Read;
use std::path::Path;
use std::time::Duration;

use page::robots::{ROBOTS_LIMIT, Robots};
use page::url::PageUrl;
use proptest::prelude::*;

/// Returns the files of an archive of the shared data whose path contains `prefix`; `None` if the
/// archive is absent.
fn files(archive: &str, prefix: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let path = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../../shared/data/conformance"
    ))
    .join(archive);
    let Ok(file) = std::fs::File::open(&path) else {
        eprintln!("skipped: {} is missing", path.display());
        return None;
    };
    let mut files = Vec::new();
    for entry in tar::Archive::new(zstd::Decoder::new(file).unwrap())
        .entries()
        .unwrap()
    {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().to_string_lossy().into_owned();
        if entry.header().entry_type().is_file() && name.contains(prefix) {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            files.push((name, bytes));
        }
    }
    assert!(!files.is_empty(), "{archive} holds nothing under {prefix}");
    Some(files)
}

fn url(text: &str) -> PageUrl {
    PageUrl::parse(text).unwrap()
}

/// Cases of Google's parser where our result differs on purpose: (test, URL, reason).
const EXCEPTIONS: [(&str, &str, &str); 4] = [
    (
        "GoogleOnly_SystemTest",
        "",
        "an empty text is not a URL, so there is no page to check",
    ),
    (
        "ID_Encoding",
        "http://foo.bar/foo/bar/ツ",
        "a URL in normal form has %E3%83%84 for ツ, and the rule applies to that",
    ),
    (
        "ID_Encoding",
        "http://foo.bar/foo/bar/baz",
        "RFC 9309, 2.2.2: an escaped octet must be unescaped before comparison, unless it is reserved; \
         Google's parser does not",
    ),
    (
        "GoogleOnly_IndexHTMLisDirectory",
        "http://foo.com/allowed-slash/",
        "RFC 9309 does not equate a directory with its index.html, and the file does not allow it",
    ),
];

#[test]
fn agrees_with_googles_parser_but_for_the_exceptions() {
    let Some(files) = files(
        "conformance-data-only.tar.zst",
        "robots/robotstxt-cases.json",
    ) else {
        return;
    };
    let cases: serde_json::Value = serde_json::from_slice(&files[0].1).unwrap();
    let mut checked = 0;
    let mut excepted = std::collections::BTreeSet::new();
    for case in cases.as_array().unwrap() {
        let text = |key: &str| case[key].as_str().unwrap();
        let exception = EXCEPTIONS
            .iter()
            .find(|(test, url, _)| (*test, *url) == (text("test"), text("url")));
        if let Some(exception) = exception {
            excepted.insert(exception);
            continue;
        }
        let robots = Robots::parse(text("robots").as_bytes(), text("agent"));
        assert_eq!(
            robots.allows(&url(text("url"))),
            case["allowed"].as_bool().unwrap(),
            "{case:#}"
        );
        checked += 1;
    }
    assert_eq!(
        (checked, excepted.len()),
        (134, EXCEPTIONS.len()),
        "each exception is needed"
    );
}

/// The files of crawler-commons, with what their comments and the RFC say about them.
#[test]
fn files_of_crawler_commons_are_read_as_they_say() {
    let Some(files) = files("conformance-data-only.tar.zst", "data-only/robots/") else {
        return;
    };
    let read = |name: &str, agent: &str| {
        let wanted = format!("robots/{name}");
        let (_, bytes) = files
            .iter()
            .find(|(path, _)| path.ends_with(&wanted))
            .expect(name);
        Robots::parse(bytes, agent)
    };
    // The name of a file, then lines of agent, path, and whether the agent may fetch it.
    let table = "
        crawl-delay-group-merging.txt
            mybot /private/ no
            mybot /login/ yes
            yourbot /private/ no
            yourbot /login/ no
            avocet /private/ yes
        extensions-group-merging.txt
            mybot /private/ no
            yourbot /login/ no
            avocet /llms.txt yes
            avocet /other no
        extension-robots.txt
            mybot /private/ no
            mybot /secret/ yes
        directive-typos-robots.txt
            bot1 /dissalow/ no
            bot1 /desallow/ no
            bot2 /useragent/ no
            bot3 /useg-agent/ yes
            bot4 /useragent-no-colon/ no
        format-errors-robots.txt
            bot1 /whitespace-before-colon/ no
            bot1 /no-colon/ no
            bot2 /no-colon-useragent/ no
            bot3 /whitespace-before-colon yes
            bot3 /x no
        malformed-path.txt
            avocet /wiki/Wikipedia_talk:Mediation_Committee/ no
            avocet /wiki/Wikipedia_talk%3Mediation_Committee/ no
            avocet /wiki/other yes
        many-user-agents.txt
            wget / no
        merge-rules.txt
            wget /tmp/bar no
            wget /foo/bar yes
            testy /anything no
            avocet /foo/bar no
        precedence-of-rules.txt
            wget /foo yes
            testy /foo/bar yes
            testy /foo/baz no
        wildcards.txt
            avocet /a/gcrnsts no
            avocet /wishlist/universal-x yes
            avocet /wishlist/x no
            EtaoSpider /x no
        rfc9309-example-simple-robots.txt
            foobot /example/page.html yes
            foobot /example/disallowed.gif no
            barbot /example/page.html no
            quxbot /example/page.html yes
            avocet /publications/ yes
            avocet /publications/x.gif yes
            avocet /x.gif no
        rfc9309-example-longest-match-robots.txt
            foobot /example/page/ yes
            foobot /example/page/disallowed.gif no
        twitter.com-robots.txt
            avocet /x?y=z no
        www.flot.com-robots.txt
            avocet /img/x no
        extended-standard-robots.txt
            bot2 / yes";
    let mut robots = "";
    for line in table.lines().skip(1) {
        let [agent, path, allowed] = line.split_whitespace().collect::<Vec<_>>()[..] else {
            robots = line.trim();
            continue;
        };
        let page = url(&format!("http://example.com{path}"));
        let found = read(robots, agent).allows(&page);
        assert_eq!(found, allowed == "yes", "{robots} as {agent}: {path}");
    }
    for file in [
        "robots-with-utf8-bom.txt",
        "robots-with-utf16be-bom.txt",
        "robots-with-utf16le-bom.txt",
    ] {
        let allows = |path| read(file, "avocet").allows(&url(path));
        assert!(!allows("http://example.com/login.aspx"), "{file}");
        assert!(allows("http://example.com/other"), "{file}");
    }
    for (name, agent, seconds) in [
        ("astore.amazon.com-robots.txt", "avocet", Some(5)),
        ("dos-line-endings.txt", "avocet", Some(1)),
        ("crawl-delay-group-merging.txt", "mybot", Some(10)),
        ("crawl-delay-group-merging.txt", "yourbot", None),
        ("crawl-delay-group-merging.txt", "avocet", Some(30)),
        ("extended-standard-robots.txt", "bot2", None),
    ] {
        let wanted = seconds.map(Duration::from_secs);
        assert_eq!(read(name, agent).crawl_delay(), wanted, "{name} as {agent}");
    }
    let sitemaps =
        |name: &str| read(name, "avocet").sitemaps(&url("http://example.com/robots.txt"));
    for (name, wanted) in [
        ("extension-robots.txt", "http://example.com/sitemap.xml"),
        ("format-errors-robots.txt", "http://example.com/sitemap.xml"),
        (
            "relative-sitemap-robots.txt",
            "http://example.com/sitemap.xml",
        ),
        (
            "www.flot.com-robots.txt",
            "http://flot.com/sitemap_index.xml",
        ),
    ] {
        assert_eq!(sitemaps(name), [url(wanted)], "{name}");
    }
    assert!(!sitemaps("sitemap-robots.txt").is_empty());
    assert_eq!(sitemaps("sitemap-robots-dedup.txt").len(), 1);
}

/// 2,000 real files are parsed and queried. Between 20 and 399 of them exclude the root.
#[test]
fn real_files_are_parsed_and_few_exclude_the_root() {
    let Some(files) = files("robots-corpus-2000.tar.zst", "robots-corpus/") else {
        return;
    };
    assert_eq!(files.len(), 2000);
    let mut closed = 0;
    for (name, bytes) in &files {
        let robots = Robots::parse(bytes, "avocet");
        let host = name.rsplit('/').next().unwrap();
        let root = url(&format!("http://{host}/"));
        assert!(robots.allows(&root.join("/robots.txt").unwrap()));
        robots.sitemaps(&root);
        assert!(
            robots
                .crawl_delay()
                .is_none_or(|delay| delay <= Duration::from_secs(300)),
            "{name}"
        );
        closed += usize::from(!robots.allows(&root));
        for path in [
            "/index.html",
            "/a/b/c?d=e&f=%2F",
            "/search?q=*$",
            "/%E3%83%84",
        ] {
            let page = root.join(path).unwrap();
            assert_eq!(
                robots.allows(&page),
                Robots::parse(bytes, "AVOCET").allows(&page),
                "{name}"
            );
        }
    }
    // Few sites that publish a robots.txt exclude unknown crawlers. All or none would mean a
    // broken parser.
    assert!(
        (20..400).contains(&closed),
        "{closed} of 2000 files close the root"
    );
}

/// Rows 43, 47: neither size nor hostile patterns cost unbounded time. Nextest stops a test that
/// hangs.
#[test]
fn hostile_files_cost_bounded_time() {
    let ask = |text: &str, path: &str| {
        Robots::parse(text.as_bytes(), "avocet").allows(&url(&format!("http://a.example{path}")))
    };
    let stars = format!("User-agent: *\nDisallow: /{}b\n", "a*".repeat(400));
    assert!(ask(&stars, &format!("/{}", "a".repeat(2000))));
    assert!(!ask(&stars, &format!("/{}b", "a".repeat(2000))));
    assert!(ask(
        &format!("User-agent: *\nDisallow: /x{}y\n", "*".repeat(10_000)),
        "/xx"
    ));
    let long = format!(
        "User-agent: *\nDisallow: /{}\nDisallow: /b\n",
        "x".repeat(10_000)
    );
    assert!(!ask(&long, "/b"));
    let many = format!(
        "User-agent: *\nDisallow: /first\n{}",
        "Disallow: /*a*b\n".repeat(1_000_000)
    );
    assert!(!ask(&many, "/first"));
    assert!(ask(&many, &format!("/{}", "a".repeat(2000))));
    // Row 43: lines within 500 KiB count, lines beyond do not, and an incomplete line is
    // ignored.
    let filler = "#".repeat(ROBOTS_LIMIT - 40);
    let around = format!("User-agent: *\n{filler}\nDisallow: /in\nDisallow: /x/beyond\n");
    assert!(!ask(&around, "/in"));
    assert!(ask(&around, "/x/beyond"));
    assert!(ask(&around, "/x"), "the rule was not cut to a shorter one");
}

/// Row 48: a file that is not a robots.txt has no rules.
#[test]
fn files_that_are_no_robots_txt_have_no_rules() {
    let ask = |text: &[u8]| Robots::parse(text, "avocet").allows(&url("http://a.example/a"));
    for text in [
        &b""[..],
        b"<!DOCTYPE html><html><body>Not found: disallow: /</body></html>",
        b"\0\0\0",
        b"\xff\xfe",
        b"\xfe\xff\0",
        b"\xff\xff\xff:\xff",
        b":::",
        b"User-agent",
        b"Disallow: /a",
    ] {
        assert!(ask(text), "{:?}", String::from_utf8_lossy(text));
    }
    assert!(!ask(b"User-agent: *\rDisallow: /a\r"), "CR only");
    assert!(!ask(b"User-agent: *\0Disallow: /a\0"), "NUL only");
    assert!(
        !ask(b"User-agent: avocet/2.0 (like Mozilla)\nDisallow: /a"),
        "a version is not part of the name"
    );
    assert!(
        ask(b"User-agent: avocetbot\nDisallow: /a"),
        "another crawler"
    );
    assert!(
        ask(b"User-agent: *\nDisallow: /\nUser-agent: avocet\nDisallow:\n"),
        "an empty rule allows"
    );
    assert!(
        ask(b"User-agent: *\nDisallow: /\nUser-agent: avocet\n"),
        "a group without rules is a group"
    );
}

/// Row 49: a crawl delay is at most 300 seconds.
#[test]
fn delays_are_clamped() {
    let check = |value: &str, wanted: Option<f64>| {
        let robots = Robots::parse(
            format!("User-agent: *\nCrawl-delay: {value}\n").as_bytes(),
            "avocet",
        );
        assert_eq!(
            robots.crawl_delay().map(|delay| delay.as_secs_f64()),
            wanted,
            "{value}"
        );
    };
    check("10", Some(10.0));
    check("0.5", Some(0.5));
    check(".5", Some(0.5));
    check("0", Some(0.0));
    check("10 # seconds", Some(10.0));
    check("10s", Some(10.0));
    check("300", Some(300.0));
    check("301", Some(300.0));
    check("1e9", Some(300.0));
    check("1e999", Some(300.0));
    for value in ["-1", "NaN", "inf", "-inf", "", "ten", "e5", "1.2.3"] {
        check(value, None);
    }
}

/// RFC 9309, 2.2.2 and 2.2.3: escapes and special characters.
#[test]
fn escapes_are_normalized_before_matching() {
    let check = |rule: &str, path: &str, applies: bool| {
        let robots = Robots::parse(
            format!("User-agent: *\nDisallow: {rule}\n").as_bytes(),
            "avocet",
        );
        assert_eq!(
            !robots.allows(&url(&format!("http://a.example{path}"))),
            applies,
            "{rule} on {path}"
        );
    };
    check("/foo/bar/%62%61%7A", "/foo/bar/baz", true);
    check("/foo/bar/baz", "/foo/bar/%62%61%7a", true);
    check("/a%2fb", "/a%2Fb", true);
    check("/a%2fb", "/a/b", false);
    check("/file-with-a-%2A.html", "/file-with-a-*.html", true);
    check("/file-with-a-%2A.html", "/file-with-a-x.html", false);
    check("/path/foo-%24", "/path/foo-$", true);
    check("/path/foo-$", "/path/foo-", true);
    check("/path/foo-$", "/path/foo-$", false);
    check("/a$b", "/a$b", true);
    check("/ツ", "/%e3%83%84", true);
    check("/a b", "/a%20b", true);
    check("/100%", "/100%", true);
    check("/*/b$", "/a/b", true);
    check("/*/b$", "/a/b?c", false);
    check("*.gif$", "/x.gif", true);
    check("foo", "/foo", false);
}

proptest! {
    #[test]
    fn any_bytes_are_parsed_and_queried(text in prop::collection::vec(any::<u8>(), 0..300), path in "/[a-z*$%]{0,20}") {
        let robots = Robots::parse(&text, "avocet");
        let page = url(&format!("http://a.example{path}"));
        robots.allows(&page);
        robots.sitemaps(&page);
    }

    /// The linear matcher agrees with the exponential definition.
    #[test]
    fn matching_agrees_with_the_definition(rule in "/[ab*]{0,8}\\$?", path in "/[ab]{0,10}") {
        let robots = Robots::parse(format!("User-agent: *\nDisallow: {rule}\n").as_bytes(), "avocet");
        let page = url(&format!("http://a.example{path}"));
        let (pattern, anchored) = rule.strip_suffix('$').map_or((&rule[..], false), |front| (front, true));
        prop_assert_eq!(!robots.allows(&page), applies(pattern.as_bytes(), path.as_bytes(), anchored));
    }

    #[test]
    fn groups_for_the_same_agent_are_merged(first in "/[ab]{1,3}", second in "/[ab]{1,3}", path in "/[ab]{1,5}") {
        let page = url(&format!("http://a.example{path}"));
        let ask = |text: String| Robots::parse(text.as_bytes(), "avocet").allows(&page);
        let apart = format!("User-agent: avocet\nDisallow: {first}\n\nUser-agent: x\nDisallow: /\n\nUser-agent: avocet\nAllow: {second}\n");
        let together = format!("User-agent: avocet\nAllow: {second}\nDisallow: {first}\n");
        prop_assert_eq!(ask(apart), ask(together));
    }
}

/// The definition of matching, by exhaustive search.
fn applies(pattern: &[u8], path: &[u8], anchored: bool) -> bool {
    match (pattern, path) {
        ([], rest) => !anchored || rest.is_empty(),
        ([b'*', front @ ..], _) => {
            (0..=path.len()).any(|skip| applies(front, &path[skip..], anchored))
        }
        ([first, front @ ..], [byte, rest @ ..]) => first == byte && applies(front, rest, anchored),
        (_, []) => false,
    }
}
