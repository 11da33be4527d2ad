//! Tests of whole crawls of an invented web, checked against the true state of this web.

use std::collections::BTreeSet;

use serde_json::json;
use testweb::site::{InventedRobots, PageAnswer, ServedWeb, TruthScope, WebPlan};

use crate::files::Files;
use crate::program::{TestProgram, has, holds, warcio_accepts};
use crate::webs::{crawl, requests, serve};

/// Returns the URLs that a complete crawl must request.
fn expected(serving: &ServedWeb) -> BTreeSet<String> {
    let web = serving.web();
    let homes: Vec<_> = web.servers().map(|(server, _)| web.home(server)).collect();
    let reachable = web.reachable(&homes, TruthScope::Any, serving.now());
    reachable
        .into_iter()
        .map(|page| serving.url(page))
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_asks_for_every_page_once_or_up_to_3_times_if_it_fails_and_for_no_other() {
    let serving = serve(WebPlan::small(11)).await;
    let program = TestProgram::new();
    let homes = serving.homes();
    let summary = program.json(&crawl(&homes, &[]));

    let asked = requests(&serving);
    assert_eq!(
        asked.keys().cloned().collect::<BTreeSet<_>>(),
        expected(&serving)
    );
    for (url, &count) in &asked {
        let most = if failing(&serving, url) { 3 } else { 1 };
        assert!(count <= most, "{url} was asked for {count} times");
    }
    for (server, _) in serving.web().servers() {
        assert!(
            serving.log().most_at_once(server) <= 1,
            "two requests at once"
        );
    }
    let fetched = program.fetched();
    assert_eq!(summary["pages"], fetched.len());
    assert!(!fetched.is_empty());
    assert_eq!(program.verified()["copies"], fetched.len());
    warcio_accepts(&program.warcs());
}

/// Waits until all copies are older than one second, for `--refresh-after 1s`.
fn age() {
    std::thread::sleep(std::time::Duration::from_millis(1100));
}

/// Returns whether the page at `url` answers with a temporary error.
fn failing(serving: &ServedWeb, url: &str) -> bool {
    let web = serving.web();
    web.pages().any(|page| {
        serving.url(page.number()) == url
            && matches!(page.kind(), PageAnswer::Error(500) | PageAnswer::Busy)
    })
}

/// Returns whether the robots.txt of the server of `url` cannot be fetched, so that the page waits.
fn lacks_robots(serving: &ServedWeb, url: &str) -> bool {
    let web = serving.web();
    web.servers().any(|(number, server)| {
        let origin = serving.url(web.home(number));
        server.robots == InventedRobots::Broken && url.starts_with(&origin)
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_crawl_is_idle_and_a_refresh_finds_what_changed() {
    let serving = serve(WebPlan::small(12)).await;
    let program = TestProgram::new();
    let homes = serving.homes();
    let first = program.json(&crawl(&homes, &[]));
    let requests = serving.log().requests();

    let second = program.json(&crawl(&homes, &[]));
    holds(&second, &json!({ "pages": 0, "unchanged": 0 }));
    assert_eq!(second["urls_seen"], first["urls_seen"]);

    // No page has changed. Conditional requests and equal texts show it: no page is stored again.
    age();
    let third = program.json(&crawl(&homes, &["--refresh-after", "1s"]));
    assert_eq!(third["pages"], 0, "{third}");
    assert!(
        third["unchanged"].as_u64() >= first["pages"].as_u64(),
        "{third}"
    );
    assert!(serving.log().requests() > requests);

    // A day later pages have changed.
    serving.advance(86_400.0);
    age();
    let fourth = program.json(&crawl(&homes, &["--refresh-after", "1s"]));
    assert!(fourth["pages"].as_u64() > Some(10), "{fourth}");
    program.verified();
    warcio_accepts(&program.warcs());
}

#[tokio::test(flavor = "multi_thread")]
async fn rebuild_and_import_make_the_same_store_from_the_archive() {
    let serving = serve(WebPlan::small(13)).await;
    let program = TestProgram::new();
    let homes = serving.homes();
    program.json(&crawl(&homes, &[]));
    let fetched = program.fetched();
    let urls = program.lines(&["export", "urls"]).len();
    let page = program.lines(&["export", "pages"]).swap_remove(0);
    let text = page["text"].as_str().unwrap();
    let word = text.split_whitespace().nth(3).unwrap().to_owned();
    let search = program.json(&["search", &word]);
    assert!(search["total"].as_u64() > Some(0), "{word}");

    std::fs::remove_dir_all(program.store().join("ledger")).unwrap();
    std::fs::remove_dir_all(program.store().join("index")).unwrap();
    program.run(&["rebuild"]);
    assert_eq!(program.fetched(), fetched);
    assert_eq!(program.json(&["search", &word])["total"], search["total"]);
    program.verified();
    // Rebuild finds pages behind an unavailable robots.txt again by the links to them.
    assert_eq!(program.lines(&["export", "urls"]).len(), urls);

    let other = TestProgram::new();
    let out = other.path("warcs");
    program.run(&["export", "warc", "--out", out.to_str().unwrap()]);
    let files: Vec<String> = std::fs::read_dir(&out)
        .unwrap()
        .map(|entry| entry.unwrap().path().to_str().unwrap().to_owned())
        .filter(|path| path.ends_with(".warc.gz"))
        .collect();
    let mut arguments = vec!["import", "warc"];
    arguments.extend(files.iter().map(String::as_str));
    other.run(&arguments);
    assert_eq!(other.fetched(), fetched);
    other.verified();
    warcio_accepts(&other.warcs());
}

#[tokio::test(flavor = "multi_thread")]
async fn page_and_depth_limits_hold_and_the_next_crawl_fetches_the_rest() {
    let plan = WebPlan {
        servers: 3,
        pages: 120,
        ..WebPlan::small(14)
    };
    let serving = serve(plan).await;
    let program = TestProgram::new();
    let homes = serving.homes();
    let first = program.json(&crawl(&homes, &["--pages", "25"]));
    assert_eq!(first["pages"], 25);
    assert!(first["queued"].as_u64() > Some(0), "{first}");
    let rest = program.json(&crawl(&homes, &[]));
    assert_eq!(
        program.fetched().len() as u64,
        25 + rest["pages"].as_u64().unwrap()
    );
    let web = serving.web();
    let honest = web
        .servers()
        .filter(|(_, server)| server.robots != InventedRobots::Broken)
        .count();
    assert!(honest > 0);

    let shallow = TestProgram::new();
    shallow.json(&crawl(&homes, &["--depth", "1"]));
    let lines = shallow.lines(&["export", "urls"]);
    assert!(lines.iter().all(|line| line["depth"].as_u64() <= Some(1)));
    assert!(lines.len() > homes.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_without_a_url_sends_the_contact_of_the_last_one() {
    let files = Files::site(5, 100);
    let home = format!("http://{}/", files.serve().await);
    let program = TestProgram::new();
    let contact = "mailto:owner@example.org";
    program.json(&["crawl", &home, "--pages", "1", "--contact", contact]);
    let before = files.heads().len();
    program.json(&["crawl"]);
    assert_eq!(program.fetched().len(), 6);
    for head in files.heads() {
        has(&head, "(+mailto:owner@example.org)");
    }
    assert!(files.heads().len() >= before + 5, "{:?}", files.heads());
    // A contact of the command line wins, and a crawl with a URL starts from the settings alone.
    for (more, sent) in [
        (
            &["--contact", "mailto:other@example.org"][..],
            "+mailto:other@",
        ),
        (&[&home], "avocet/"),
    ] {
        program.json(&[&["crawl", "--refresh-after", "1ms"], more].concat());
        let last = files.heads().pop().unwrap();
        assert!(last.contains(sent) && !last.contains("owner@"), "{last}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn exports_have_their_fields_and_every_page() {
    let serving = serve(WebPlan::small(15)).await;
    let program = TestProgram::new();
    let homes = serving.homes();
    program.json(&crawl(&homes, &[]));
    for line in program.lines(&["export", "urls"]) {
        let keys: Vec<&String> = line.as_object().unwrap().keys().collect();
        assert_eq!(
            keys,
            [
                "bytes",
                "depth",
                "error",
                "fetched_at",
                "fingerprint",
                "status",
                "url"
            ]
        );
        let (answered, failed) = (line["status"].is_u64(), line["error"].is_string());
        assert!(
            answered || failed || lacks_robots(&serving, line["url"].as_str().unwrap()),
            "{line}"
        );
    }
    let pages = program.lines(&["export", "pages"]);
    assert!(
        pages
            .iter()
            .all(|page| page["url"].is_string() && page["markdown"].is_string())
    );
    assert_eq!(pages.len(), program.fetched().len());
    let links = program.lines(&["export", "links"]);
    let anchored = links.iter().filter(|link| link["anchor"] != "").count();
    assert!(
        anchored * 2 > links.len(),
        "{anchored} of {} links have words",
        links.len()
    );

    let status = program.json(&["status"]);
    assert_eq!(status["pages"], pages.len());
    let word = pages[0]["text"]
        .as_str()
        .unwrap()
        .split_whitespace()
        .nth(3)
        .unwrap()
        .to_owned();
    let found = program.json(&["search", &word]);
    assert!(found["total"].as_u64() > Some(0), "{word}: {found}");
}

/// Starts a proxy that forwards a connection to the server that its first request names.
async fn proxy() -> std::net::SocketAddr {
    use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, copy_bidirectional};
    use tokio::net::{TcpListener, TcpStream};
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut client = BufReader::new(client);
                let mut line = String::new();
                client.read_line(&mut line).await.unwrap();
                let target = line.split('/').nth(2).unwrap().to_owned();
                let mut server = TcpStream::connect(target).await.unwrap();
                server.write_all(line.as_bytes()).await.unwrap();
                copy_bidirectional(&mut client, &mut server).await.ok();
            });
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_through_a_proxy_is_as_complete_and_as_polite() {
    let plan = WebPlan {
        servers: 3,
        pages: 40,
        ..WebPlan::small(16)
    };
    let serving = serve(plan).await;
    let proxy = format!("http://{}", proxy().await);
    let program = TestProgram::new();
    let homes = serving.homes();
    let more = ["--proxy", proxy.as_str(), "--delay", "0s"];
    program.json(&crawl(&homes, &more));
    assert_eq!(
        requests(&serving).into_keys().collect::<BTreeSet<_>>(),
        expected(&serving)
    );
    for (server, _) in serving.web().servers() {
        assert!(serving.log().most_at_once(server) <= 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hosts_that_share_an_address_are_not_asked_at_the_same_time() {
    let plan = WebPlan {
        servers: 1,
        pages: 20,
        ..WebPlan::small(17)
    };
    let serving = serve(plan).await;
    let address = serving.homes()[0].clone();
    // Another spelling of the address is another host for robots.txt, but the same server.
    let mapped = address.replace("127.10.0.1", "[::ffff:127.10.0.1]");
    let program = TestProgram::new();
    program.json(&["crawl", &address, &mapped]);
    let web = serving.web();
    for (server, _) in web.servers() {
        assert_eq!(serving.log().most_at_once(server), 1);
    }
}
