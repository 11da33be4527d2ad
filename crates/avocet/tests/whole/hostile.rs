//! Tests of crawls of a hostile server: the crawl ends, reports every defect, and fetches every
//! honest page. The rows are those of `docs/design/hostile-web.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use testweb::lying::{HONEST, HostileRobots, HostileServer, LIES, Nature, Pace, SMUGGLED};

use crate::program::TestProgram;

/// Small limits, so that every defect is detected within seconds.
const LIMITS: &str = "
[crawl]
attempts = 1
pages_per_host = 1500
[limits]
first_byte = \"1s\"
total = \"3s\"
slow_for = \"1s\"
body = 3000000
decoded = 3000000
";

/// Expected status and stored error of each hostile page.
const EXPECTED: &[(&str, Option<u64>, Option<&str>)] = &[
    ("/gzip-bomb", Some(200), Some("truncated:size")),
    ("/brotli-bomb", Some(200), Some("truncated:ratio")),
    ("/zstd-bomb", Some(200), Some("truncated:size")),
    ("/zstd-window", Some(200), Some("undecoded")),
    ("/layered", Some(200), Some("undecoded")),
    ("/wrong-encoding", Some(200), Some("undecoded")),
    ("/unknown-encoding", Some(200), Some("undecoded")),
    ("/endless", Some(200), Some("truncated:size")),
    ("/endless-length", Some(200), Some("truncated:size")),
    ("/drip", Some(200), Some("truncated:slow")),
    ("/slow-headers", None, Some("timeout:first-byte")),
    ("/silence", None, Some("timeout:first-byte")),
    ("/header-flood", None, Some("headers:too-large")),
    ("/header-forever", None, Some("headers:too-large")),
    ("/one-long-header", None, Some("headers:too-large")),
    ("/obs-fold", None, Some("protocol-error")),
    ("/nul-header", None, Some("protocol-error")),
    ("/bare-cr", None, Some("protocol-error")),
    ("/two-lengths", None, Some("protocol-error")),
    ("/length-and-chunked", None, Some("protocol-error")),
    ("/bad-chunk", Some(200), Some("truncated:malformed")),
    ("/chunk-overflow", Some(200), Some("truncated:malformed")),
    ("/endless-extension", Some(200), Some("truncated:malformed")),
    ("/endless-trailers", Some(200), Some("truncated:malformed")),
    ("/short-body", Some(200), Some("truncated:length")),
    ("/http-0-9", None, Some("protocol-error")),
    ("/banner", None, Some("protocol-error")),
    ("/informational-flood", None, Some("headers:informational")),
    ("/endless-hints", None, Some("headers:informational")),
    ("/204-with-body", Some(204), None),
    ("/304-with-body", Some(304), None),
    ("/reset", Some(200), Some("truncated:reset")),
    ("/fin", Some(200), Some("truncated:reset")),
    ("/redirect-self", Some(302), Some("redirect:itself")),
    ("/redirect-loop/", Some(302), None),
    ("/redirect-chain/", Some(302), None),
    ("/redirect-forever/", Some(302), None),
    ("/redirect-nowhere", Some(302), None),
    ("/redirect-file", Some(302), Some("redirect:not-a-page")),
    ("/redirect-data", Some(302), Some("redirect:not-a-page")),
    ("/redirect-ftp", Some(302), Some("redirect:not-a-page")),
    ("/redirect-s3", Some(302), Some("redirect:not-a-page")),
    ("/data-url", Some(200), Some("truncated:size")),
    ("/data-url-within-limits", Some(200), Some("truncated:size")),
    ("/million-links", Some(200), Some("truncated:size")),
    ("/huge-text", Some(200), Some("truncated:size")),
    ("/huge-comment", Some(200), Some("truncated:size")),
    ("/huge-script", Some(200), Some("truncated:size")),
    ("/laughs.xml", Some(200), Some("listing:doctype")),
    ("/huge-sitemap.xml", Some(200), Some("truncated:size")),
];

type StoredOutcomes = BTreeMap<String, (Option<u64>, Option<String>)>;

/// Returns the stored status and error of every URL.
fn found(program: &TestProgram) -> StoredOutcomes {
    let outcome = |line: serde_json::Value| {
        let error = line["error"].as_str().map(str::to_owned);
        (
            line["url"].as_str().unwrap().to_owned(),
            (line["status"].as_u64(), error),
        )
    };
    program
        .lines(&["export", "urls"])
        .into_iter()
        .map(outcome)
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_of_a_hostile_server_stores_each_error_and_fetches_every_honest_page() {
    let address = Ipv4Addr::new(127, 90, 0, 1);
    let server = HostileServer::start(address, Nature::Lies, Pace::QUICK)
        .await
        .unwrap();
    let program = TestProgram::new();
    program.configure(LIMITS);
    let summary = program.json(&["crawl", &server.url("/"), "--exclude", "/nowhere/"]);
    let found = found(&program);
    for lie in LIES {
        let row = EXPECTED.iter().find(|(path, ..)| *path == lie.path);
        // Pages that are not in the table are read like any page.
        let (status, error) = row.map_or(
            (
                Some(if lie.path.starts_with("/redirect") {
                    302
                } else {
                    200
                }),
                None,
            ),
            |&(_, status, error)| (status, error.map(str::to_owned)),
        );
        assert_eq!(
            found.get(&server.url(lie.path)),
            Some(&(status, error)),
            "row {}: {}",
            lie.row,
            lie.what
        );
    }
    for number in 1..=HONEST {
        let url = server.url(&format!("/honest/{number}"));
        assert_eq!(found.get(&url), Some(&(Some(200), None)), "{url}");
    }
    let smuggled = program.json(&["search", SMUGGLED]);
    let results = smuggled["results"].as_array().unwrap().iter();
    let urls: Vec<_> = results
        .map(|hit| hit["url"].as_str().unwrap().to_owned())
        .collect();
    // UTF-7 is not decoded, so its bytes are indexed as text. On any other page the word would
    // come from a smuggled response.
    assert_eq!(urls, [server.url("/utf-7")]);
    for trap in [
        "trap:pattern",
        "trap:repeats",
        "trap:length",
        "redirect:too-many",
    ] {
        assert!(
            summary["errors"][trap].as_u64() > Some(0),
            "{trap}: {summary}"
        );
    }
    assert!(
        server.hits_below("/calendar/") < 1200,
        "too many pages of an endless calendar are fetched"
    );
    assert!(
        server.hits_below("/session/") < 100,
        "too many links with new session ids are followed"
    );
    assert!(
        server.hits_below("/index-of-indexes/") <= 4,
        "nested sitemap indexes are followed too far"
    );
    program.verified();
    program.run(&["export", "pages"]);
    program.run(&["export", "links"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_to_private_addresses_are_refused_with_the_reason() {
    let address = Ipv4Addr::new(127, 90, 0, 2);
    let server = HostileServer::start(address, Nature::Lies, Pace::QUICK)
        .await
        .unwrap();
    let program = TestProgram::new();
    let lies = LIES
        .iter()
        .filter(|lie| matches!(lie.row, 22 | 24) || lie.path == "/refresh-private");
    let seeds: Vec<String> = lies.map(|lie| server.url(lie.path)).collect();
    let mut arguments = vec!["crawl", "--scope", "any", "--depth", "0"];
    arguments.extend(seeds.iter().map(String::as_str));
    program.json(&arguments);
    let targets: StoredOutcomes = found(&program)
        .into_iter()
        .filter(|(url, _)| !url.starts_with(&server.url("/")))
        .collect();
    assert!(targets.len() >= 6, "{targets:?}");
    assert!(
        targets.values().all(|(status, _)| status.is_none()),
        "{targets:?}"
    );
    let hosts = |url: &str| url.split('/').nth(2).unwrap().to_owned();
    let refused = targets
        .iter()
        .filter(|(_, (_, error))| error.as_deref() == Some("refused:private-address"));
    let refused: BTreeSet<String> = refused.map(|(url, _)| hosts(url)).collect();
    let all: BTreeSet<String> = targets.keys().map(|url| hosts(url)).collect();
    assert_eq!(refused, all, "each host is refused, and says why");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_robots_file_that_lies_is_read_as_the_standard_says() {
    for (number, robots) in (1..).zip(HostileRobots::ALL) {
        if robots == HostileRobots::DelayHuge {
            continue; // It is obeyed, so the crawl would take minutes. The parser's tests cover it.
        }
        let address = Ipv4Addr::new(127, 90, 1, number);
        let server = HostileServer::start(address, Nature::Robots(robots), Pace::QUICK)
            .await
            .unwrap();
        let program = TestProgram::new();
        program.configure(LIMITS);
        let pages = HostileRobots::pages();
        let seeds: Vec<String> = pages.iter().map(|page| server.url(page)).collect();
        let mut arguments = vec!["crawl"];
        arguments.extend(seeds.iter().map(String::as_str));
        // A crawl that may fetch nothing fails with an error.
        program.command(&arguments).output().unwrap();
        for page in &pages {
            let asked = server.hits(page) > 0;
            assert_eq!(
                asked,
                robots.allows(page),
                "row {}, {robots:?}: {page}",
                robots.row()
            );
        }
    }
}
