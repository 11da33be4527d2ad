//! Which page first? Whole crawls by every policy, the oracle being the web's own log.

use std::collections::BTreeMap;
use std::path::PathBuf;

use lab::site::{Clock, Faults, Plan, RobotsShares, Serving};
use serde_json::json;

use crate::program::Program;

/// A web in which every page answers, and nothing is forbidden.
fn plain(seed: u64, servers: usize, pages: usize) -> Plan {
    let allowed = RobotsShares {
        rules: 0.0,
        delay: 0.0,
        missing: 1.0,
        broken: 0.0,
    };
    let none = Faults {
        redirects: 0.0,
        gone: 0.0,
        broken: 0.0,
        busy: 0.0,
    };
    Plan {
        servers,
        pages,
        robots: allowed,
        faults: none,
        duplicates: 0.0,
        ..Plan::small(seed)
    }
}

async fn serve(plan: Plan) -> Serving {
    Serving::start(plan.invent(), Clock::Still, None)
        .await
        .unwrap()
}

fn crawl<'a>(homes: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["crawl", "--allow-private", "--scope", "any"];
    arguments.extend(homes.iter().map(String::as_str));
    arguments.extend(more);
    arguments
}

/// The pages in the order in which they were asked for, by all crawls so far.
fn asked(serving: &Serving) -> Vec<String> {
    let web = serving.web();
    let mut visits = Vec::new();
    for (server, _) in web.servers() {
        let home = serving.url(web.home(server));
        let origin = home.trim_end_matches('/');
        let pages = serving.log().visits(server);
        visits.extend(
            pages
                .iter()
                .map(|visit| (visit.arrived, format!("{origin}{}", visit.path))),
        );
    }
    visits.retain(|(_, url)| !url.ends_with("/robots.txt"));
    visits.sort();
    visits.into_iter().map(|(_, url)| url).collect()
}

/// Scores of pages by a rule of their place in the list of all; returns the file.
fn scores(program: &Program, serving: &Serving) -> (PathBuf, BTreeMap<String, f64>) {
    let web = serving.web();
    let urls = web.pages().map(|page| serving.url(page.number()));
    let table: BTreeMap<String, f64> = urls
        .enumerate()
        .map(|(number, url)| (url, ((number * 7919) % 1009 + 1) as f64))
        .collect();
    let lines: Vec<String> = table
        .iter()
        .map(|(url, score)| format!("{url}\t{score}\n"))
        .collect();
    let path = program.path("scores.tsv");
    std::fs::write(&path, lines.concat()).unwrap();
    (path, table)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_ordering_and_every_strategy_fetches_the_whole_web() {
    let serving = serve(plain(31, 5, 60)).await;
    let homes = serving.homes();
    let reference = Program::new();
    reference.json(&crawl(
        &homes,
        &["--order", "breadth-first", "--servers", "breadth-first"],
    ));
    let expected = reference.fetched();
    assert!(expected.len() > 40, "{}", expected.len());
    let (given, _) = scores(&reference, &serving);
    let given = given.to_str().unwrap();
    let words = ["--query", "the page of words"];
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
        ("similarity", &words),
        ("hot-anchor", &words),
        ("hot-page", &words),
        ("pagerank*0.7 + similarity*0.3", &words),
    ];
    for (order, more) in orders {
        let program = Program::new();
        let mut more = more.to_vec();
        more.extend(["--order", order, "--no-archive", "--no-index"]);
        program.json(&crawl(&homes, &more));
        assert_eq!(program.fetched(), expected, "{order}");
    }
    for servers in ["performance", "quality", "crawl-ability", "best-prefix"] {
        let program = Program::new();
        let more = [
            "--order",
            "opic",
            "--servers",
            servers,
            "--connections",
            "2",
            "--no-archive",
        ];
        program.json(&crawl(&homes, &more));
        assert_eq!(program.fetched(), expected, "{servers}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn better_pages_are_asked_for_first_and_another_ordering_ranks_what_waits_anew() {
    let serving = serve(plain(32, 1, 120)).await;
    let homes = serving.homes();
    let program = Program::new();
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
    // What a crawler does that always takes the best page it knows.
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

fn urls(program: &Program) -> Vec<String> {
    let lines = program.lines(&["export", "urls"]);
    lines
        .iter()
        .map(|line| line["url"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_threshold_leaves_the_rest_and_says_so() {
    let serving = serve(plain(33, 2, 80)).await;
    let (homes, program) = (serving.homes(), Program::new());
    let (path, scores) = scores(&program, &serving);
    let path = path.to_str().unwrap();
    let homes: Vec<String> = homes
        .into_iter()
        .filter(|home| scores[home] >= 300.0)
        .collect();
    assert!(
        !homes.is_empty(),
        "no seed is good enough: choose another seed"
    );
    program.json(&crawl(
        &homes,
        &["--order", "given", "--scores", path, "--threshold", "300"],
    ));
    let fetched = program.fetched();
    let worst = fetched
        .iter()
        .map(|url| scores[url])
        .fold(f64::MAX, f64::min);
    assert!(worst >= 300.0, "{worst}");
    assert!(fetched.len() > 10, "{} of {}", fetched.len(), scores.len());
    let left = program.lines(&["export", "urls"]);
    let left = left.iter().find(|line| line["status"].is_null()).unwrap();
    let why = program.json(&["explain", left["url"].as_str().unwrap()]);
    let reason = why["not_fetched"].as_str().unwrap();
    assert!(reason.contains("the price is"), "{reason}");
    assert_eq!(why["worth"]["due"], json!(null));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refresh_does_not_wait_for_the_threshold() {
    let serving = serve(plain(41, 1, 20)).await;
    let (homes, program) = (serving.homes(), Program::new());
    let (path, scores) = scores(&program, &serving);
    let least = scores[&homes[0]].to_string();
    let again = [
        "--order",
        "given",
        "--scores",
        path.to_str().unwrap(),
        "--threshold",
        &least,
    ];
    let first = program.json(&crawl(&homes, &again));
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let second = program.json(&crawl(
        &homes,
        &[&again[..], &["--refresh-after", "1s"]].concat(),
    ));
    assert_eq!(second["unchanged"], first["pages"], "{second}");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_kept_before_there_was_a_buffer_fall_out_too() {
    let serving = serve(plain(42, 2, 40)).await;
    let (homes, program) = (serving.homes(), Program::new());
    program.json(&crawl(&homes, &["--pages", "12"]));
    program.json(&crawl(&homes, &["--buffer", "8"]));
    let verified = program.json(&["verify"]);
    assert_eq!(
        (&verified["problems"], &verified["copies"]),
        (&json!([]), &json!(8))
    );
    assert_eq!(program.lines(&["export", "pages"]).len(), 8);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_a_link_named_can_be_a_seed_later() {
    let serving = serve(plain(43, 1, 80)).await;
    let (homes, program) = (serving.homes(), Program::new());
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

#[tokio::test(flavor = "multi_thread")]
async fn a_buffer_keeps_the_best_pages_in_archive_and_index() {
    let serving = serve(plain(34, 3, 90)).await;
    let (homes, program) = (serving.homes(), Program::new());
    let (path, scores) = scores(&program, &serving);
    let path = path.to_str().unwrap();
    let buffer = ["--order", "given", "--scores", path, "--buffer", "20"];
    let summary = program.json(&crawl(&homes, &buffer));
    let pages = summary["pages"].as_u64().unwrap();
    assert!(pages > 60, "{summary}");
    assert_eq!(summary["dropped"], pages - 20);
    let kept: Vec<f64> = program
        .lines(&["export", "pages"])
        .iter()
        .map(|line| scores[line["url"].as_str().unwrap()])
        .collect();
    let mut best: Vec<f64> = program.fetched().iter().map(|url| scores[url]).collect();
    best.sort_by(|a, b| b.total_cmp(a));
    assert_eq!(kept.len(), 20);
    assert!(
        kept.iter().all(|&score| score >= best[19]),
        "{kept:?} of {best:?}"
    );
    let verified = program.json(&["verify"]);
    assert_eq!(
        (&verified["problems"], &verified["copies"]),
        (&json!([]), &json!(20))
    );
    assert_eq!(program.json(&["status"])["documents"], 20);
    // A smaller buffer drops from a file that is closed and from the one that is open.
    let smaller = [&buffer[..5], &["7"]].concat();
    assert_eq!(program.json(&crawl(&homes, &smaller))["dropped"], 13);
    let verified = program.json(&["verify"]);
    assert_eq!(
        (&verified["problems"], &verified["copies"]),
        (&json!([]), &json!(7))
    );
    // The same again fetches nothing: that a page was dropped is remembered.
    assert_eq!(program.json(&crawl(&homes, &buffer))["pages"], 0);
}

/// The graph of links is a fact like others: it is the same when made anew, from a store of a version
/// that did not keep it too.
#[tokio::test(flavor = "multi_thread")]
async fn what_a_page_is_worth_survives_a_rebuild_and_an_older_store() {
    let serving = serve(plain(39, 2, 200)).await;
    let (homes, program) = (serving.homes(), Program::new());
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
    assert_eq!(program.json(&["verify"])["problems"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_stops_when_it_covers_enough() {
    let serving = serve(plain(35, 3, 150)).await;
    let (homes, program) = (serving.homes(), Program::new());
    let covers = [
        "--order",
        "rankmass",
        "--stop-coverage",
        "0.6",
        "--connections",
        "1",
    ];
    let summary = program.json(&crawl(&homes, &covers));
    assert!(summary["coverage"].as_f64().unwrap() >= 0.6, "{summary}");
    assert!(summary["queued"].as_u64().unwrap() > 10, "{summary}");
}

/// Two of three connections could wait for servers that never answer; they are asked a few times each.
#[tokio::test(flavor = "multi_thread")]
async fn dead_servers_do_not_hold_up_the_rest() {
    let serving = serve(plain(40, 4, 60)).await;
    let program = Program::new();
    let config = "[crawl]\nattempts = 1\n[limits]\nfirst_byte = \"1s\"\n";
    std::fs::write(program.store().join("avocet.toml"), config).unwrap();
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
async fn every_http_brings_the_same_pages() {
    let serving = serve(plain(36, 4, 80)).await;
    let homes = serving.homes();
    let mut connections = BTreeMap::new();
    let mut expected = None;
    let mut before = 0;
    for http in ["auto", "1.0", "1.1", "pipelined", "2"] {
        let program = Program::new();
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
async fn a_word_that_nobody_knows_is_said_so() {
    let serving = serve(plain(37, 1, 20)).await;
    let (homes, program) = (serving.homes(), Program::new());
    let query = ["--order", "similarity", "--query", "page xyzzyqu"];
    let summary = program.json(&crawl(&homes, &query));
    let unseen = summary["unseen_words"].as_array().unwrap();
    assert!(unseen.contains(&json!("xyzzyqu")), "{summary}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_is_explained() {
    let serving = serve(plain(38, 2, 100)).await;
    let (homes, program) = (serving.homes(), Program::new());
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
        ("/never/linked", "never heard of"),
    ] {
        let page = program.json(&["explain", &format!("{home}{path}")]);
        let why = page["not_fetched"].as_str().unwrap();
        assert!(why.contains(word), "{path}: {why}");
    }
    let text = String::from_utf8(program.run(&["explain", url(false)]).stdout).unwrap();
    assert!(
        text.contains("not fetched") && text.contains("pagerank"),
        "{text}"
    );
}
