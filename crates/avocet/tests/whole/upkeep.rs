//! Tests of `avocet run`: freshness within a budget, while settings and pages change.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::net::SocketAddr;
use std::process::Stdio;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde_json::Value;

use crate::files::Files;
use crate::program::{TestProgram, has, words};
use crate::webs;

pub fn page(title: &str, text: &str) -> String {
    format!("<html><title>{title}</title><body><p>{text}</p></body></html>")
}

fn sitemap(address: SocketAddr, pages: &[(&str, String)]) -> String {
    let entry = |(path, modified): &(&str, String)| {
        format!("<url><loc>http://{address}{path}</loc><lastmod>{modified}</lastmod></url>")
    };
    let entries: String = pages.iter().map(entry).collect();
    format!("<urlset xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\">{entries}</urlset>")
}

/// Returns the number of pages whose last status is 200 or 304.
fn held(program: &TestProgram) -> usize {
    let lines = program.lines(&["export", "urls"]);
    let held = |line: &&Value| line["status"] == 200 || line["status"] == 304;
    lines.iter().filter(held).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_discovers_refreshes_and_keeps_its_budget() {
    let serving = webs::serve(webs::plain(3, 4, 40)).await;
    let program = TestProgram::new();
    let homes = serving.homes();
    let mut arguments = words("run --scope any --allow-private --budget 25/s --pages 130");
    arguments.extend(homes.iter().map(String::as_str));
    let summary = program.json(&arguments);
    let web = serving.web();
    let there = web
        .pages()
        .filter(|page| page.exists(serving.now()))
        .count();
    assert_eq!(held(&program), there, "all was discovered");
    assert!(
        summary["unchanged"].as_u64().unwrap() > 40,
        "and refreshed: {summary}"
    );
    // At most the budget of the elapsed time and of one second more, the capacity of the token
    // bucket. A loaded machine makes fewer requests.
    let (requests, seconds) = (
        serving.log().requests(),
        summary["seconds"].as_f64().unwrap(),
    );
    assert!(
        requests as f64 <= 25.0 * (seconds + 1.0),
        "{requests} requests in {seconds} s"
    );

    // Without seeds, `run` uses the seeds and the scope of the last run.
    let before = serving.log().requests();
    let summary = program.json(&words("run --allow-private --budget 25/s --pages 30"));
    assert!(serving.log().requests() > before + 10, "{summary}");
    assert_eq!(held(&program), there);
    program.verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn policies_and_budgets_can_be_changed_while_it_runs() {
    let serving = webs::serve(webs::plain(5, 2, 12)).await;
    let program = TestProgram::new();
    let home = serving.homes().remove(0);
    let target = format!(
        "[crawl]\nseeds = [{home:?}]\nscope = \"any\"\n[fetch]\nallow_private = true\n[budget]\n"
    );
    let more = "fetches_per_second = 20\n[refresh]\npolicy = \"uniform\"\n";
    program.configure(&format!("{target}{more}"));
    let mut child = program
        .command(&["run", "--time", "20s", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut said = Vec::new();
    for line in lines.map_while(Result::ok) {
        if line.contains("refresh uniform, ordering rankmass") {
            program.configure("[refresh]\npolicy = \"unifrom\"\n");
        }
        if line.contains("the old settings stay in force") {
            let more =
                "fetches_per_day = 864000\n[refresh]\npolicy = \"harmonic\"\nrate = \"mle\"\n";
            program.configure(&format!("{target}{more}"));
        }
        let swapped = line.contains("refresh harmonic, ordering rankmass");
        said.push(line);
        if swapped {
            tokio::time::sleep(Duration::from_secs(2)).await;
            let id = rustix::process::Pid::from_child(&child);
            rustix::process::kill_process(id, rustix::process::Signal::TERM).unwrap();
        }
    }
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{said:#?}");
    let said = said.join("\n");
    assert!(said.contains("did you mean `uniform`"), "{said}");
    has(&said, "sources priced; at most 10 fetches a second");
    let web = serving.web();
    let there = web
        .pages()
        .filter(|page| page.exists(serving.now()))
        .count();
    assert_eq!(held(&program), there);
    // The summary covers the whole run: most pages were fetched before the change.
    let summary: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(summary["pages"].as_u64() >= Some(there as u64), "{summary}");
    let explained = program.json(&["explain", &home]);
    assert_eq!(explained["worth"]["refresh"], "harmonic");
    assert!(explained["worth"]["due"].is_string(), "{explained}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_named_by_a_sitemap_alone_is_found_and_its_change_is_searchable() {
    let files = Files::default();
    let address = files.serve().await;
    files.put("/robots.txt", "text/plain", "Sitemap: /sitemap.xml\n");
    files.put("/", "text/html", page("Home", "where it begins"));
    files.put("/hidden", "text/html", page("Hidden", "no page links here"));
    let old = "2020-01-01".to_owned();
    files.put(
        "/sitemap.xml",
        "application/xml",
        sitemap(address, &[("/hidden", old)]),
    );
    let program = TestProgram::new();
    let home = format!("http://{address}/");
    // The sitemap is polled every second, so that its hint can precede the next visit of the page.
    program.configure(
        "[fetch]\nallow_private = true\n[budget]\nfetches_per_second = 4\n\
         [refresh]\nlistings = \"1s\"\n",
    );
    program.run(&["run", &home, "--pages", "14"]);
    let hidden = format!("{home}hidden");
    assert!(
        program.fetched().contains(&hidden),
        "found by the sitemap alone"
    );
    let sitemap_url = format!("{home}sitemap.xml");
    let seen: Value = program.json(&["explain", &sitemap_url]);
    assert_eq!(seen["visited"]["listing"], true, "{seen}");
    assert!(
        seen["visited"]["revisits"].as_u64().unwrap() > 0,
        "it is polled: {seen}"
    );
    let found = program.json(&["search", "whole text of sitemaps", "--no-log"]);
    assert_eq!(found["total"], 0, "a listing is no result: {found}");

    files.put(
        "/hidden",
        "text/html",
        page("Hidden", "now it says something else"),
    );
    let now = jiff::Timestamp::now().to_string();
    files.put(
        "/sitemap.xml",
        "application/xml",
        sitemap(address, &[("/hidden", now)]),
    );
    program.run(&["run", "--pages", "20"]);
    let seen = program.json(&["explain", &hidden]);
    let signals = &seen["visited"]["signals"];
    let told = signals["hits"].as_u64().unwrap() + signals["since"].as_u64().unwrap();
    let missed = signals["misses"].as_u64().unwrap();
    assert!(
        told + missed >= 1,
        "a hint preceded the change, or it was seen before: {seen}"
    );
    assert_eq!(
        program.json(&["search", "something else", "--no-log"])["total"],
        1
    );
}

/// Pages are found through listings that other documents name: a sitemap index, or a page with a
/// feed.
#[tokio::test(flavor = "multi_thread")]
async fn listings_are_found_in_listings_and_in_pages() {
    let files = Files::default();
    let address = files.serve().await;
    files.put("/robots.txt", "text/plain", "Sitemap: /all.xml\n");
    let index = |path: &str| {
        format!("<sitemapindex><sitemap><loc>http://{address}{path}</loc></sitemap></sitemapindex>")
    };
    files.put("/all.xml", "application/xml", index("/some.xml"));
    files.put("/some.xml", "application/xml", index("/few.xml"));
    files.put(
        "/few.xml",
        "application/xml",
        sitemap(address, &[("/deep", "2020-01-01".to_owned())]),
    );
    files.put("/deep", "text/html", page("Deep", "a page below sitemaps"));
    let home = "<html><head><title>Home</title><link rel=\"alternate\" type=\"application/rss+xml\" href=\"/feed.xml\"></head><body>where it begins</body></html>";
    files.put("/", "text/html", home);
    let feed = format!(
        "<rss version=\"2.0\"><channel><title>News</title><item><link>http://{address}/news</link></item></channel></rss>"
    );
    files.put("/feed.xml", "application/rss+xml", feed);
    files.put("/news", "text/html", page("News", "a page of a feed"));
    let program = TestProgram::new();
    program.configure("[fetch]\nallow_private = true\n[budget]\nfetches_per_second = 10\n");
    let home = format!("http://{address}/");
    program.run(&["run", &home, "--pages", "24"]);
    let fetched = program.fetched();
    for path in ["deep", "news"] {
        assert!(fetched.contains(&format!("{home}{path}")), "{fetched:?}");
    }
    for path in ["all.xml", "some.xml", "few.xml", "feed.xml"] {
        let seen = program.json(&["explain", &format!("{home}{path}")]);
        assert_eq!(seen["visited"]["listing"], true, "{path}: {seen}");
    }
}

/// Occasional unconditional fetches detect a server that always answers 304. Conditional requests
/// to it then stop.
#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_always_answers_304_is_detected() {
    let files = Files::default().always_tagged("\"same\"");
    let address = files.serve().await;
    files.put("/", "text/html", page("Home", "the tide is going out"));
    let program = TestProgram::new();
    program.configure("[fetch]\nallow_private = true\n[budget]\nfetches_per_second = 10\n");
    program.run(&["run", &format!("http://{address}/"), "--pages", "4"]);
    files.put("/", "text/html", page("Home", "the tide is coming in"));
    let honest = files.denials();
    program.run(&["run", "--pages", "16"]);
    assert!(files.denials() > honest, "it was believed at first");
    let total = |words: &str| program.json(&["search", words, "--no-log"])["total"].clone();
    assert_eq!(total("coming"), 1, "the change was seen");
    assert_eq!(total("going"), 0);
    let denied = files.denials();
    program.run(&["run", "--pages", "6"]);
    assert_eq!(files.denials(), denied, "it is not believed any more");
}

/// Kills of `run` lose no committed page, and the budget holds across restarts.
#[tokio::test(flavor = "multi_thread")]
async fn kills_take_nothing_from_a_store_that_is_kept_fresh() {
    const BUDGET: f64 = 25.0;
    let serving = webs::serve(webs::plain(8, 4, 60)).await;
    let homes = serving.homes();
    let line = format!("run --scope any --allow-private --budget {BUDGET}/s");
    let mut arguments = words(&line);
    arguments.extend(homes.iter().map(String::as_str));
    let program = TestProgram::new();
    // The store must exist before the first kill.
    program.run(&[&arguments[..], &["--pages", "3"]].concat());
    let asked = |line: &Value| {
        let at = line["fetched_at"].as_str()?;
        Some(at.parse::<Timestamp>().unwrap())
    };
    let mut known: BTreeMap<String, Option<Timestamp>> = BTreeMap::new();
    let (began, kills) = (Instant::now(), 8u32);
    let before = serving.log().requests();
    let mut committed = 0;
    for round in 0..kills {
        let mut child = program.start(&arguments);
        std::thread::sleep(Duration::from_millis(500 + 230 * u64::from(round)));
        assert_eq!(child.try_wait().unwrap(), None, "it does not end by itself");
        child.kill().unwrap();
        child.wait().unwrap();
        let lines = program.lines(&["export", "urls"]);
        let now: BTreeMap<_, _> = lines
            .iter()
            .map(|line| (line["url"].as_str().unwrap().to_owned(), asked(line)))
            .collect();
        for (url, earlier) in &known {
            let later = now.get(url);
            let kept = later.is_some_and(|later| later >= earlier);
            assert!(kept, "{url}: {earlier:?}, then {later:?}");
        }
        committed += u32::from(now != known);
        known = now;
        program.verified();
    }
    assert!(committed >= 3, "hardly anything was committed");
    // Each start begins with one token, which is one fetch.
    let allowed = BUDGET * began.elapsed().as_secs_f64() + f64::from(kills);
    let requests = (serving.log().requests() - before) as f64;
    assert!(
        requests <= allowed,
        "{requests} requests, {allowed} allowed"
    );
    arguments.extend(["--pages", "150"]);
    program.run(&arguments);
    let web = serving.web();
    let there = web.pages().filter(|page| page.exists(serving.now()));
    assert_eq!(held(&program), there.count(), "and all is found in the end");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_soft_404_leaves_the_index() {
    let files = Files::default();
    let address = files.serve().await;
    files.put("/robots.txt", "text/plain", "User-agent: *\nAllow: /\n");
    files.put(
        "*",
        "text/html",
        page("Sorry", "there is nothing at all under this address"),
    );
    files.put(
        "/",
        "text/html",
        page("Home", "<a href=\"/a\">a</a> <a href=\"/b\">b</a>"),
    );
    files.put(
        "/a",
        "text/html",
        page("Heron", "a heron stands in the shallow water"),
    );
    files.put(
        "/b",
        "text/html",
        page("Stork", "a stork stands on the roof of the barn"),
    );
    let program = TestProgram::new();
    program.configure(
        "[crawl]\nconfirm_after = \"1s\"\n[fetch]\nallow_private = true\n\
         [budget]\nfetches_per_second = 8\n",
    );
    program.run(&["run", &format!("http://{address}/"), "--pages", "12"]);
    let total = |word: &str| program.json(&["search", word, "--no-log"])["total"].clone();
    assert_eq!((total("heron"), total("stork")), (1.into(), 1.into()));
    files.remove("/a");
    program.run(&["run", "--pages", "20"]);
    assert_eq!((total("heron"), total("stork")), (0.into(), 1.into()));
    let lines = program.lines(&["export", "urls"]);
    let gone = lines
        .iter()
        .find(|line| line["url"] == format!("http://{address}/a"));
    assert_eq!(gone.unwrap()["error"], "soft-404", "{lines:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gain_of_a_refresh_is_measured() {
    let files = Files::default();
    let address = files.serve().await;
    let words = |times: usize| "the fox ".repeat(times) + "and others that live in the wood";
    let links: String = (0..6)
        .map(|page| format!("<a href=\"/{page}\">{page}</a>"))
        .collect();
    files.put("/", "text/html", page("Home", &links));
    for number in 0..6 {
        files.put(
            &format!("/{number}"),
            "text/html",
            page("Animals", &words(number)),
        );
    }
    let program = TestProgram::new();
    program.configure("[fetch]\nallow_private = true\n[budget]\nfetches_per_second = 4\n");
    let queries = program.path("queries.tsv");
    std::fs::write(&queries, "query\tcount\nfox\t90\nbadger\t10\n").unwrap();
    let home = format!("http://{address}/");
    program.run(&["run", &home, "--pages", "12"]);
    let (_, said) = program.fail(&["plan", "--quality", "99%"]);
    assert!(said.contains("import queries"), "{said}");
    program.run(&["import", "queries", queries.to_str().unwrap()]);
    // Page 1 had the word "fox" once. Now it has the word more often than any other page.
    files.put("/1", "text/html", page("Animals", &words(30)));
    program.run(&["run", "--pages", "24"]);
    let gain = |path: &str| {
        program.json(&["explain", &format!("{home}{path}")])["visited"]["gain"].clone()
    };
    let (changed, other) = (gain("1"), gain("3"));
    assert!(changed.as_f64().is_some_and(|gain| gain > 0.0), "{changed}");
    assert!(other.as_f64().is_none_or(|gain| gain == 0.0), "{other}");
    let plan = program.json(&["plan", "--quality", "99%"]);
    let need = |policy: usize| plan["policies"][policy]["needs"][0]["fetches_per_day"].as_f64();
    assert!(need(0).unwrap() <= need(1).unwrap(), "{plan}");
}
