//! Tests of orderings, server strategies and HTTP versions on a served web: all pages are fetched,
//! the best first; also of seeds, rebuilds, dead servers and `explain`.

use std::collections::BTreeMap;

use serde_json::json;
use testweb::site::{Latency, Spread, WebPlan};

use crate::program::{TestProgram, words};
use crate::webs::{asked, crawl, plain, scores, serve};

#[tokio::test(flavor = "multi_thread")]
async fn every_ordering_and_every_strategy_fetches_the_whole_web() {
    let serving = serve(plain(31, 5, 60)).await;
    let homes = serving.homes();
    let reference = TestProgram::new();
    reference.json(&crawl(
        &homes,
        &["--order", "breadth-first", "--servers", "breadth-first"],
    ));
    let expected = reference.fetched();
    assert!(expected.len() > 40, "{}", expected.len());
    let (given, _) = scores(&reference, &serving);
    let given = given.to_str().unwrap();
    let query = ["--query", "the page of words"];
    let orders: [(&str, &[&str]); 14] = [
        ("depth-limited(60)", &[]),
        ("random(7)", &[]),
        ("backlink", &[]),
        ("pagerank", &[]),
        ("rankmass", &[]),
        ("opic", &[]),
        ("forward-links", &[]),
        ("parent-quality", &[]),
        ("location", &["--location", "depth=0.8"]),
        ("given", &["--scores", given]),
        ("similarity", &query),
        ("hot-anchor", &query),
        ("hot-page", &query),
        ("pagerank*0.7 + similarity*0.3", &query),
    ];
    for (order, more) in orders {
        let program = TestProgram::new();
        let mut more = more.to_vec();
        more.extend(["--order", order, "--no-archive", "--no-index"]);
        program.json(&crawl(&homes, &more));
        assert_eq!(program.fetched(), expected, "{order}");
    }
    for servers in ["performance", "quality", "crawl-ability", "best-prefix"] {
        let program = TestProgram::new();
        let more = format!("--order opic --servers {servers} --connections 2 --no-archive");
        program.json(&crawl(&homes, &words(&more)));
        assert_eq!(program.fetched(), expected, "{servers}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn better_pages_are_fetched_first_and_a_new_ordering_ranks_waiting_pages_again() {
    let serving = serve(plain(32, 1, 120)).await;
    let homes = serving.homes();
    let program = TestProgram::new();
    let (path, scores) = scores(&program, &serving);
    let first = program.json(&crawl(
        &homes,
        &["--order", "breadth-first", "--pages", "15"],
    ));
    assert_eq!(first["pages"], 15);
    let before = asked(&serving);
    let mut known = urls(&program);
    let given = ["--order", "given", "--scores", path.to_str().unwrap()];
    program.json(&crawl(&homes, &given));
    let links = program.lines(&["export", "links"]);
    let link = |line: &serde_json::Value, end: &str| line[end].as_str().unwrap().to_owned();
    // The order of a crawler that always fetches the best known page.
    let mut fetched = before.clone();
    while let Some(best) = known
        .iter()
        .filter(|url| !fetched.contains(url))
        .max_by(|a, b| scores[*a].total_cmp(&scores[*b]))
        .cloned()
    {
        known.extend(
            links
                .iter()
                .filter(|line| link(line, "from") == best)
                .map(|line| link(line, "to")),
        );
        known.retain(|url| scores.contains_key(url));
        fetched.push(best);
    }
    assert!(fetched.len() > before.len() + 50, "{} pages", fetched.len());
    assert_eq!(asked(&serving), fetched);
}

fn urls(program: &TestProgram) -> Vec<String> {
    let lines = program.lines(&["export", "urls"]);
    lines
        .iter()
        .map(|line| line["url"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_a_link_named_can_be_a_seed_later() {
    let serving = serve(plain(43, 1, 80)).await;
    let (homes, program) = (serving.homes(), TestProgram::new());
    program.json(&crawl(
        &homes,
        &["--pages", "8", "--order", "breadth-first"],
    ));
    let lines = program.lines(&["export", "urls"]);
    let waits =
        |line: &&serde_json::Value| line["status"].is_null() && line["depth"].as_u64() > Some(1);
    let deep = lines.iter().find(waits).unwrap()["url"]
        .as_str()
        .unwrap()
        .to_owned();
    let seed = std::slice::from_ref(&deep);
    program.json(&crawl(seed, &["--depth", "0"]));
    assert!(program.fetched().contains(&deep));
    assert_eq!(program.json(&["explain", &deep])["discovered"]["depth"], 0);
}

/// The worth follows from the link graph, which a rebuild restores from the archive.
#[tokio::test(flavor = "multi_thread")]
async fn a_rebuild_of_a_store_with_an_older_format_restores_the_worth_of_waiting_pages() {
    let serving = serve(plain(39, 2, 200)).await;
    let (homes, program) = (serving.homes(), TestProgram::new());
    program.json(&crawl(&homes, &["--order", "random(3)", "--pages", "30"]));
    program.json(&crawl(&homes, &["--order", "backlink", "--pages", "1"]));
    let lines = program.lines(&["export", "urls"]);
    let waiting = lines.iter().filter(|line| line["status"].is_null());
    let waiting: Vec<&str> = waiting.map(|line| line["url"].as_str().unwrap()).collect();
    let worths = || -> Vec<serde_json::Value> {
        let worth = |url: &&str| program.json(&["explain", url])["worth"]["now"].clone();
        waiting.iter().take(12).map(worth).collect()
    };
    let before = worths();
    assert!(
        before.iter().any(|worth| worth.as_f64() > Some(1.0)),
        "{before:?}"
    );
    std::fs::write(program.store().join("FORMAT"), "avocet store, format 1\n").unwrap();
    let (_, said) = program.fail(&["status"]);
    assert!(said.contains("avocet rebuild"), "{said}");
    program.run(&["rebuild"]);
    assert_eq!(worths(), before);
    program.verified();
}

/// Servers that never answer do not occupy all connections; each gets only a few attempts.
#[tokio::test(flavor = "multi_thread")]
async fn pages_of_live_servers_are_fetched_and_dead_ones_get_at_most_4_connections() {
    let serving = serve(plain(40, 4, 60)).await;
    let program = TestProgram::new();
    let config = "[crawl]\nattempts = 1\n[limits]\nfirst_byte = \"1s\"\n";
    program.configure(config);
    let (homes, mut seeds) = (serving.homes(), Vec::new());
    let mut dead = Vec::new();
    for last in 1..=4 {
        let listener = std::net::TcpListener::bind(format!("127.77.0.{last}:0")).unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        seeds.extend((0..10).map(|page| format!("{url}{page}")));
        listener.set_nonblocking(true).unwrap();
        dead.push(listener);
    }
    let expected = serving.web().pages().count();
    let all: Vec<String> = seeds.into_iter().chain(homes).collect();
    program.json(&crawl(&all, &["--connections", "3"]));
    assert!(
        program.fetched().len() * 10 > expected * 8,
        "{} of {expected}",
        program.fetched().len()
    );
    for listener in dead {
        let mut connections = 0;
        while listener.accept().is_ok() {
            connections += 1;
        }
        assert!((1..=4).contains(&connections), "{connections}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_http_version_fetches_the_same_pages() {
    // Responses are slow, so that streams overlap on any machine.
    let always = |median| Spread { median, sigma: 0.0 };
    let plan = WebPlan {
        latency: Latency::PerServer {
            connect: always(0.0),
            response: always(0.02),
        },
        ..plain(36, 4, 80)
    };
    let serving = serve(plan).await;
    let homes = serving.homes();
    let mut connections = BTreeMap::new();
    let mut expected = None;
    let mut before = 0;
    for http in ["auto", "1.0", "1.1", "pipelined", "2"] {
        let program = TestProgram::new();
        program.json(&crawl(&homes, &["--http", http, "--no-archive"]));
        let fetched = program.fetched();
        assert_eq!(expected.get_or_insert(fetched.clone()), &fetched, "{http}");
        let together = serving
            .web()
            .servers()
            .map(|(server, _)| serving.log().most_at_once(server));
        assert_eq!(
            together.max() > Some(1),
            http == "2",
            "{http}: streams of one connection"
        );
        let servers = serving.web().servers();
        let opened: u32 = servers
            .map(|(server, _)| serving.log().connections(server))
            .sum();
        connections.insert(http, opened - before);
        before = opened;
    }
    let pages = expected.unwrap().len() as u32;
    assert!(
        connections["1.0"] >= pages,
        "{connections:?} for {pages} pages"
    );
    assert!(
        connections["1.1"] < connections["1.0"] / 2,
        "{connections:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn query_words_that_no_page_has_are_reported() {
    let serving = serve(plain(37, 1, 20)).await;
    let (homes, program) = (serving.homes(), TestProgram::new());
    let query = ["--order", "similarity", "--query", "page xyzzyqu"];
    let summary = program.json(&crawl(&homes, &query));
    let unseen = summary["unseen_words"].as_array().unwrap();
    assert!(unseen.contains(&json!("xyzzyqu")), "{summary}");
}

#[tokio::test(flavor = "multi_thread")]
async fn fetched_waiting_and_unknown_pages_are_explained() {
    let serving = serve(plain(38, 2, 100)).await;
    let (homes, program) = (serving.homes(), TestProgram::new());
    program.json(&crawl(
        &homes,
        &["--order", "pagerank", "--pages", "20", "--exclude", "/zzz"],
    ));
    let lines = program.lines(&["export", "urls"]);
    let url = |fetched: bool| {
        let line = lines
            .iter()
            .find(|line| line["depth"].as_u64() > Some(0) && line["status"].is_null() != fetched)
            .unwrap();
        line["url"].as_str().unwrap()
    };
    let known = program.json(&["explain", url(true)]);
    assert_eq!(
        (&known["visited"]["status"], &known["not_fetched"]),
        (&json!(200), &json!(null))
    );
    assert!(
        known["discovered"]["by"]["from"]
            .as_str()
            .unwrap()
            .starts_with("http://127.")
    );
    assert!(
        known["server"]["response_ms"].as_f64().unwrap() > 0.0,
        "{known}"
    );

    let waiting = program.json(&["explain", url(false)]);
    assert!(
        waiting["not_fetched"]
            .as_str()
            .unwrap()
            .contains("before its turn"),
        "{waiting}"
    );
    assert!(waiting["worth"]["now"].as_f64().unwrap() > 0.0);
    assert!(
        !waiting["worth"]["terms"].as_array().unwrap().is_empty(),
        "{waiting}"
    );
    assert!(
        waiting["worth"]["due"].is_string() && waiting["standing"]["rank"].as_f64() > Some(0.0)
    );

    let home = homes[0].trim_end_matches('/');
    for (path, word) in [
        ("/zzz", "out of scope"),
        ("/never/linked", "no page that was read links to it"),
    ] {
        let page = program.json(&["explain", &format!("{home}{path}")]);
        let why = page["not_fetched"].as_str().unwrap();
        assert!(why.contains(word), "{path}: {why}");
    }
    let text = program.text(&["explain", url(false)]);
    assert!(
        text.contains("Not fetched: ") && text.contains("pagerank"),
        "{text}"
    );
}
