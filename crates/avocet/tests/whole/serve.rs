//! Tests of `avocet serve` over real sockets: search page, API, clicks and limits.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::program::{TestProgram, has, holds};
use crate::server::{AvocetServer, Leaf, put};
use crate::webs::{crawl, plain, serve};

/// Returns a store of pages about birds.
fn birds() -> TestProgram {
    let program = TestProgram::new();
    let mut leaves = vec![
        Leaf::new(
            "http://birds.example/avocet",
            "The pied avocet",
            "A wader with a bill that curves upwards.",
        ),
        Leaf {
            language: "de",
            days: 100,
            ..Leaf::new(
                "http://de.example/s",
                "Säbelschnäbler",
                "Der Säbelschnäbler heißt auf Englisch avocet.",
            )
        },
    ];
    leaves.extend((0..25).map(|number| {
        Leaf::new(
            &format!("http://waders.example/{number}"),
            &format!("Wader {number}"),
            "Sandpipers and plovers are waders.",
        )
    }));
    put(&program, &leaves);
    program
}

/// Returns the click-counting links of a result page.
fn clicks(html: &str) -> Vec<String> {
    let links = html.split(" ping=\"").skip(1);
    links
        .map(|rest| rest.split('"').next().unwrap().replace("&#38;", "&"))
        .collect()
}

#[test]
fn people_search_click_and_turn_pages() {
    let program = birds();
    let server = AvocetServer::start(&program, &[]);
    let start = server.get("/");
    assert_eq!(start.status, 200);
    assert!(start.body.contains("Search 27 pages"), "{}", start.body);
    let found = server.get("/?q=avocet");
    assert!(found.body.contains("2 results"), "{}", found.body);
    assert!(found.body.contains("<mark>avocet</mark>"), "{}", found.body);
    assert!(found.body.contains("Fetched <time"), "{}", found.body);
    let german = server.get("/?q=avocet&language=de");
    assert!(german.body.contains("1 result") && german.body.contains("de.example"));
    let recent = server.get("/?q=avocet&age=month&site=birds.example");
    assert!(recent.body.contains("1 result") && recent.body.contains("birds.example/avocet"));
    let site = server.get("/?q=avocet&site=waders.example");
    assert!(site.body.contains("Remove some of them"), "{}", site.body);
    let first = server.get("/?q=waders");
    assert!(first.body.contains("Page 1 of 3") && !first.body.contains("rel=\"prev\""));
    let last = server.get("/?q=waders&page=3");
    assert!(last.body.contains("Page 3 of 3") && !last.body.contains("rel=\"next\""));
    assert_eq!(clicks(&last.body).len(), 6, "and the avocet, a wader");
    let wrong = server.get("/?q=avocte");
    has(
        &wrong.body,
        "Showing results for <b>avocet</b>; no page has <q>avocte</q>.",
    );

    // A link leads to the page itself. The browser reports the click by script or by `ping`.
    has(&found.body, "<h2><a href=\"http://birds.example/avocet\"");
    let click = &clicks(&found.body)[0];
    let reported = server.ask("POST", click, &["Content-Type: text/ping"], "PING");
    assert_eq!(reported.status, 204, "{reported:?}");
    assert_eq!(server.ask("POST", "/click?to=forged", &[], "").status, 404);
    let led = server.get(click);
    assert_eq!(led.status, 302);
    assert_eq!(led.head["location"], "http://birds.example/avocet");
    assert_eq!(server.get(click).status, 302, "again, not counted");
    let ahead = server.ask(
        "GET",
        &clicks(&found.body)[1],
        &["Sec-Purpose: prefetch"],
        "",
    );
    assert_eq!(ahead.status, 302);
    let clicked = program.log("clicks");
    assert_eq!(clicked.len(), 1, "{clicked:?}");
    assert_eq!(
        (&clicked[0]["url"], &clicked[0]["count"]),
        (&json!("http://birds.example/avocet"), &json!(1))
    );
    let searched = program.log("queries");
    assert_eq!(searched.len(), 7, "{searched:?}");
    assert_eq!(searched[0]["query"], "avocet");
    assert_eq!(searched[0]["shown"][0], "http://birds.example/avocet");
    assert_eq!(searched[5]["offset"], 20);
    assert_eq!(server.interrupt(), Some(0));
}

#[test]
fn forged_click_links_redirect_nowhere() {
    let program = birds();
    let server = AvocetServer::start(&program, &[]);
    let click = clicks(&server.get("/?q=avocet").body).remove(0);
    let token = click.strip_prefix("/click?to=").unwrap();
    for forged in [
        "https://evil.example/",
        "//evil.example/",
        "javascript:alert(1)",
        "",
        &token[1..],
        &format!("B{}", &token[1..]),
        &format!("{token}%0d%0aSet-Cookie:%20a=b"),
    ] {
        let answer = server.get(&format!("/click?to={forged}"));
        assert_eq!(answer.status, 404, "{forged}: {answer:?}");
        assert!(!answer.head.contains_key("location"), "{answer:?}");
        assert!(!answer.head.contains_key("set-cookie"), "{answer:?}");
    }
    assert_eq!(server.get("/click").status, 404);
    let twice = server.get(&format!("{click}&to={token}"));
    assert!(twice.status == 400 || twice.status == 404, "{twice:?}");
    assert!(program.log("clicks").is_empty());
}

#[test]
fn the_api_answers_searches_and_refuses_wrong_parameters() {
    let program = birds();
    let server = AvocetServer::start(&program, &[]);
    let found = server.json("/api/v1/search?q=avocet&limit=1");
    holds(&found, &json!({ "total": 2, "query": "avocet" }));
    let result = &found["results"][0];
    holds(
        result,
        &json!({ "rank": 1, "url": "http://birds.example/avocet" }),
    );
    assert_eq!(
        result["checked_at"],
        Value::Null,
        "the ledger knows nothing of it"
    );
    assert_eq!(found["results"].as_array().unwrap().len(), 1);
    let old = server.json("/api/v1/search?q=avocet&until=2026-01-01T00:00:00Z&log=false");
    assert_eq!(old["total"], 0);
    let meant = server.json("/api/v1/search?q=avocte&log=false");
    holds(
        &meant,
        &json!({ "corrected": "avocet", "did_you_mean": null }),
    );
    assert_eq!(program.log("queries").len(), 1);
    let page = server.json("/api/v1/page?url=http://birds.example/avocet");
    assert_eq!(page["text"], "A wader with a bill that curves upwards.");
    assert_eq!(
        server
            .get("/api/v1/page?url=http://birds.example/none")
            .status,
        404
    );
    let status = server.json("/api/v1/status");
    holds(&status, &json!({ "running": false, "documents": 27 }));
    assert_eq!(server.json("/api/v1/sources")["sources"], json!([]));
    let document = server.json("/api/v1/openapi.json");
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"));
    for path in ["search", "suggest", "similar", "page", "status", "sources"] {
        assert!(
            document["paths"].get(format!("/api/v1/{path}")).is_some(),
            "{path}"
        );
    }
    for (path, status, reason) in [
        ("/api/v1/search", 400, "parameter"),
        ("/api/v1/search?q=", 400, "parameter"),
        ("/api/v1/search?q=a&limit=0", 400, "parameter"),
        ("/api/v1/search?q=a&limit=101", 400, "parameter"),
        ("/api/v1/search?q=a&limit=many", 400, "parameter"),
        ("/api/v1/search?q=a&offset=1001", 400, "parameter"),
        ("/api/v1/search?q=a&since=yesterday", 400, "parameter"),
        ("/api/v1/search?q=a&published_until=2024", 400, "parameter"),
        ("/api/v1/search?q=a&type=a%20b", 400, "parameter"),
        ("/api/v1/search?q=a&type=", 400, "parameter"),
        ("/api/v1/search?q=a&sort=oldest", 400, "parameter"),
        ("/api/v1/suggest", 400, "parameter"),
        ("/api/v1/suggest?q=", 400, "parameter"),
        ("/api/v1/suggest?q=a&limit=21", 400, "parameter"),
        ("/api/v1/similar?url=mailto:a", 404, "not_found"),
        (
            "/api/v1/similar?url=http://birds.example/none",
            404,
            "not_found",
        ),
        (
            "/api/v1/similar?url=http://birds.example/avocet&limit=51",
            400,
            "parameter",
        ),
        ("/api/v1/search?q=a&lang=de", 400, "parameter"),
        ("/api/v1/search?q=a&q=b", 400, "parameter"),
        ("/api/v1/page?url=mailto:a", 404, "not_found"),
        ("/api/v1/sources?limit=0", 400, "parameter"),
        ("/api/v1/nothing", 404, "not_found"),
    ] {
        let refused = server.get(path);
        assert_eq!(refused.status, status, "{path}");
        let body: Value = serde_json::from_str(&refused.body).unwrap();
        assert_eq!(body["error"]["reason"], reason, "{path}: {body}");
        assert!(
            body["error"]["message"].as_str().unwrap().len() > 10,
            "{body}"
        );
    }
    let posted = server.ask("POST", "/api/v1/search?q=a", &[], "");
    assert_eq!(
        (posted.status, posted.head["allow"].as_str()),
        (405, "GET,HEAD")
    );
}

#[test]
fn text_of_crawled_pages_is_escaped() {
    let program = TestProgram::new();
    let script = "<script>alert(1)</script>";
    let broken = "\"><img src=x onerror=alert(1)> avocet' onmouseover='alert(1)";
    put(
        &program,
        &[
            Leaf::new("http://a.example/", &format!("{script} avocet"), broken),
            Leaf::new(
                "http://b.example/\"onclick=alert(1)",
                broken,
                "avocet </p></main><script>alert(2)</script>",
            ),
            Leaf::new("javascript:alert(3)//", "avocet by javascript", "avocet"),
            Leaf::new(
                "data:text/html,<script>alert(4)</script>",
                "avocet data",
                "avocet",
            ),
            Leaf::new(
                "http://c.example/\r\nSet-Cookie: a=b",
                "avocet header",
                "avocet",
            ),
            Leaf {
                language: "x\" onload=\"alert(5)",
                ..Leaf::new("http://d.example/", "avocet d", "avocet")
            },
        ],
    );
    let server = AvocetServer::start(&program, &[]);
    let query = "avocet+%22%3E%3Cscript%3Ealert(9)%3C/script%3E";
    for path in [
        "/?q=avocet".to_owned(),
        format!("/?q={query}&site=%22%3E%3Cscript%3E&language=%22%3E&age=%22%3E"),
    ] {
        let page = server.get(&path);
        assert_eq!(page.status, 200);
        let body = page.body.replace("<script src=\"/assets/", "");
        assert!(!body.contains("<script"), "{body}");
        assert!(!body.contains("<img src=x"), "{body}");
        assert!(!body.contains(" onmouseover='"), "{body}");
        assert!(
            !body.contains("href=\"javascript:") && !body.contains("href=\"data:"),
            "{body}"
        );
        assert!(!body.contains(" onload=\""), "{body}");
        let policy = &page.head["content-security-policy"];
        assert!(
            policy.contains("default-src 'none'") && !policy.contains("unsafe"),
            "{policy}"
        );
        assert_eq!(page.head["x-content-type-options"], "nosniff");
        assert_eq!(page.head["referrer-policy"], "no-referrer");
        assert_eq!(page.head["x-frame-options"], "DENY");
        assert!(!page.head.contains_key("set-cookie"));
    }
    let page = server.get("/?q=avocet");
    has(&page.body, "&#60;script&#62;alert(1)");
    let addresses = clicks(&page.body);
    assert_eq!(
        addresses.len(),
        3,
        "three of six are no pages of the web: {addresses:?}"
    );
    for address in addresses {
        let led = server.get(&address);
        assert!(led.head["location"].starts_with("http://"), "{led:?}");
    }
    let answer = server.json("/api/v1/search?q=avocet");
    for result in answer["results"].as_array().unwrap() {
        let url = result["url"].as_str().unwrap();
        let web = url.starts_with("http") && !url.contains('\n');
        assert_eq!(result["click"].is_string(), web, "{url}");
    }
    // A message page escapes too.
    assert!(!server.get("/%3Cscript%3Ealert(1)").body.contains("<script"));
}

#[test]
fn every_query_gets_a_result_page_and_the_api_refuses_only_one_that_is_too_long() {
    let program = birds();
    let server = AvocetServer::start(&program, &[]);
    let long = "avocet+".repeat(1500);
    for query in [
        "%ff%fe%00",
        "%",
        "-",
        "%22%22",
        "%22%20-%20site:",
        "AND+OR+NOT+(((",
        "*",
        "a%0a%7B%22query%22:%22forged%22%7D%0d%0a",
        "%E2%80%AE%E2%80%8F",
        long.as_str(),
    ] {
        let page = server.get(&format!("/?q={query}"));
        assert_eq!(page.status, 200, "{query}");
        let answer = server.get(&format!("/api/v1/search?q={query}"));
        let expected = if query == long { 400 } else { 200 };
        assert_eq!(answer.status, expected, "{query}: {}", answer.body);
    }
    assert!(
        server
            .get("/?q=-+%22")
            .body
            .contains("There is no word in this search")
    );
    let cut = server.get(&format!("/?q={long}"));
    assert!(cut.body.contains("Only the first 1000 characters"));
    let searched = program.log("queries");
    assert!(
        searched.iter().all(|line| line["query"] != "forged"),
        "{searched:?}"
    );
    let forged = searched
        .iter()
        .filter(|line| line["query"].as_str().unwrap().contains("forged"));
    assert_eq!(forged.count(), 2, "and stays in its line");
    // Bytes that are not HTTP are refused.
    assert_eq!(
        server
            .send(b"GET /?q=\xff\xfe HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            .status,
        400
    );
    let head = format!(
        "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: {}\r\n\r\n",
        "x".repeat(300_000)
    );
    assert_eq!(server.send(head.as_bytes()).status, 431);
    assert_eq!(server.get("/?q=avocet").status, 200);
}

#[test]
fn only_requests_for_known_host_names_are_answered() {
    let program = birds();
    program.configure(
        "[serve]\nhosts = [\"search.example\"]\ncors = [\"https://intranet.example\"]\nrate = 0.5\n",
    );
    let server = AvocetServer::start(&program, &[]);
    for (host, status) in [
        ("127.0.0.1:9", 200),
        ("localhost", 200),
        ("search.example", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example:8321", 421),
    ] {
        let answer = server.ask("GET", "/health", &[&format!("Host: {host}")], "");
        assert_eq!(answer.status, status, "{host}");
    }
    assert_eq!(server.send(b"GET /health HTTP/1.0\r\n\r\n").status, 421);
    for (host, other) in [
        ("localhost", "evil.example"),
        ("evil.example", "localhost"),
        ("localhost", "localhost"),
    ] {
        let fields = [host, other].map(|host| format!("Host: {host}"));
        let answer = server.ask("GET", "/health", &fields.each_ref().map(String::as_str), "");
        assert_eq!(answer.status, 400, "{host} and {other}");
    }
    // Pages of other sites read the API only if the user names them.
    let foreign = server.ask(
        "GET",
        "/api/v1/search?q=a",
        &["Origin: https://evil.example"],
        "",
    );
    assert!(!foreign.head.contains_key("access-control-allow-origin"));
    let ours = server.ask(
        "GET",
        "/api/v1/search?q=a",
        &["Origin: https://intranet.example"],
        "",
    );
    assert_eq!(
        ours.head["access-control-allow-origin"],
        "https://intranet.example"
    );
    // The rate limit applies.
    let refused = server.get("/api/v1/search?q=a");
    assert_eq!(refused.status, 429, "{refused:?}");
    assert!(refused.head["retry-after"].parse::<u64>().unwrap() >= 1);
    assert!(refused.body.contains("\"rate\""), "{}", refused.body);
    assert_eq!(
        server.get("/health").status,
        200,
        "health checks have no rate limit"
    );
    assert!(
        server
            .get("/metrics")
            .body
            .contains("avocet_limited_requests_total 1")
    );
}

#[test]
fn operators_see_health_and_metrics() {
    let program = birds();
    let server = AvocetServer::start(&program, &[]);
    server.get("/?q=avocet");
    server.json("/api/v1/search?q=avocet");
    let click = clicks(&server.get("/?q=plovers").body).remove(0);
    server.get(&click);
    assert_eq!(server.get("/health").body, "alive\n");
    assert_eq!(server.get("/ready").body, "ready\n");
    let metrics = server.get("/metrics");
    assert!(metrics.head["content-type"].starts_with("application/openmetrics-text"));
    for line in [
        "avocet_searches_total{surface=\"page\"} 2",
        "avocet_searches_total{surface=\"api\"} 1",
        "avocet_clicks_total 1",
        "avocet_search_duration_seconds_count 3",
        "avocet_indexed_pages 27",
        "# EOF",
    ] {
        assert!(metrics.body.contains(line), "{line}: {}", metrics.body);
    }
    // The classic format of Prometheus.
    let classic = server.ask("GET", "/metrics", &["Accept: text/plain"], "");
    assert!(classic.head["content-type"].starts_with("text/plain; version=0.0.4"));
    assert!(
        classic
            .body
            .contains("\n# TYPE avocet_clicks_total counter\n"),
        "{}",
        classic.body
    );
    assert!(!classic.body.contains("# EOF"), "{}", classic.body);
    promtool_accepts(&classic.body);
    let description = server.get("/opensearch.xml");
    assert!(description.head["content-type"].starts_with("application/opensearchdescription+xml"));
    let template = format!("template=\"http://{}/?q={{searchTerms}}\"", server.address);
    assert!(description.body.contains(&template), "{}", description.body);
    assert_eq!(server.get("/nowhere").status, 404);
    assert_eq!(server.get("/assets/x/../../etc/passwd").status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_yields_the_ledger_to_a_crawl_and_shows_what_it_commits() {
    let web = serve(plain(41, 1, 30)).await;
    let homes = web.homes();
    let program = TestProgram::new();
    program.json(&crawl(&homes, &["--pages", "10"]));
    let server = AvocetServer::start(&program, &[]);
    let path = format!("/api/v1/page?url={}", homes[0]);
    let page = server.json(&path);
    assert!(page["checked_at"].is_string(), "{page}");
    assert!(page["markdown"].is_string(), "{page}");
    assert!(
        ["article", "whole"].contains(&page["extraction"].as_str().unwrap()),
        "{page}"
    );
    let text = page["text"].as_str().unwrap().to_owned();
    let word = text
        .split(|letter: char| !letter.is_ascii_alphabetic())
        .max_by_key(|word| word.len())
        .unwrap();
    let found = server.json(&format!("/api/v1/search?q={word}"));
    assert!(found["results"][0]["checked_at"].is_string(), "{found}");
    let before = server.json("/api/v1/status");
    holds(&before, &json!({ "pages": 10, "running": false }));
    // The server holds the ledger, and releases it for another process.
    program.json(&["explain", &homes[0]]);
    program.json(&crawl(&homes, &["--pages", "10"]));
    let documents = program.json(&["status"])["documents"].as_u64().unwrap();
    assert!(documents > 10, "{documents}");
    server.until("/api/v1/status", |answer| {
        let status: Value = serde_json::from_str(&answer.body).unwrap();
        status["documents"] == documents && status["pages"] == 20
    });
    server.until(&path, |answer| answer.body.contains("\"checked_at\":\"2"));
}

/// Lets promtool check metrics in the classic format, if it is installed.
fn promtool_accepts(metrics: &str) {
    let mut command = Command::new("promtool");
    command.args(["check", "metrics"]).stdin(Stdio::piped());
    let Ok(mut child) = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
    else {
        eprintln!("skipped: promtool is not installed");
        return;
    };
    let mut input = child.stdin.take().unwrap();
    input.write_all(metrics.as_bytes()).unwrap();
    drop(input);
    let checked = child.wait_with_output().unwrap();
    // 3: what it says is about style.
    let fine = matches!(checked.status.code(), Some(0 | 3));
    assert!(fine, "{}", String::from_utf8_lossy(&checked.stderr));
}
