//! Tests of commands beside a running crawl: they read a snapshot of its ledger, or borrow its
//! store for a moment.

use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};

use serde_json::{Value, json};

use crate::agents::McpAgent;
use crate::files::Files;
use crate::program::{TestProgram, has, holds, warcio_accepts};
use crate::running::CrawlProcess;

const PAGES: u32 = 12;

/// Starts a crawl of a site that does not end, and waits until all pages are in the index.
async fn running(more: &[&str]) -> (CrawlProcess, Files, SocketAddr) {
    let files = Files::site(PAGES, 2_000);
    let address = files.serve().await;
    let homes = [format!("http://{address}/")];
    let crawl = CrawlProcess::crawl(&homes, &[more, &["--budget", "50/s"]].concat()).await;
    crawl.until_fetched(PAGES as usize + 1).await;
    (crawl, files, address)
}

fn urls(program: &TestProgram) -> Vec<String> {
    let lines = program.lines(&["export", "urls"]).into_iter();
    lines
        .map(|line| line["url"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_that_read_run_beside_a_crawl() {
    let (crawl, _files, address) = running(&[]).await;
    let program = &crawl.program;
    let socket = std::fs::metadata(program.store().join("SOCKET")).unwrap();
    assert!(socket.file_type().is_socket());
    assert_eq!(socket.permissions().mode() & 0o777, 0o600);

    assert_eq!(urls(program).len() as u32, PAGES + 1);
    assert_eq!(program.lines(&["export", "links"]).len() as u32, PAGES);
    let pages = program.lines(&["export", "pages"]);
    assert_eq!(pages.len() as u32, PAGES + 1);
    let plan = program.json(&["plan", "--freshness", "0.9"]);
    assert_eq!(plan["pages"], PAGES + 1);
    let report = program.verified();
    holds(&report, &json!({ "running": true, "copies": PAGES + 1 }));
    let why = program.json(&["explain", &format!("http://{address}/3")]);
    assert!(why["worth"].is_object(), "{why}");
    assert_eq!(program.json(&["report", "duplicates"])["total"], 0);
    assert_eq!(program.json(&["links", "--broken"])["total"], 0);
    assert_eq!(program.json(&["status"])["running"], true);
    program.run(&["status", "--running"]);
    program.json(&["sources"]);
    let of = |n: u32| format!("http://{address}/{n}");
    let examples = [of(1), of(2), of(4), of(5)];
    let mut train = vec!["topic", "train", "birds"];
    for (number, url) in examples.iter().enumerate() {
        let side = if number < 2 {
            "--positive"
        } else {
            "--negative"
        };
        train.extend([side, url.as_str()]);
    }
    program.run(&train);
    let shown = program.json(&["forget", &of(3), "--dry-run"]);
    assert_eq!(shown["removed"]["urls"], 1, "{shown}");

    // The part of the open archive file that is committed is copied.
    let out = program.path("warc");
    program.run(&["export", "warc", "--out", out.to_str().unwrap()]);
    let copied = out.join("avocet-00000001.warc.gz");
    let records = repository::archive::scan(&out).unwrap();
    assert!(records.filter_map(Result::ok).count() as u32 > PAGES);
    warcio_accepts(&[copied]);
    let stopped = crawl.stop().await;
    let (code, said) = stopped.fail(&["status", "--running"]);
    assert_eq!(code, Some(1));
    has(&said, "no crawl runs");
    stopped.verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn commands_that_write_borrow_the_store_of_a_crawl_which_goes_on() {
    let (crawl, files, address) = running(&[]).await;
    let program = &crawl.program;
    let url = |path: &str| format!("http://{address}{path}");
    let list = program.path("urls.txt");

    // A page that no link names.
    files.put("/new", "text/html", "<title>new</title>everywhere");
    std::fs::write(&list, url("/new")).unwrap();
    let counts = program.json(&["import", "urls", list.to_str().unwrap()]);
    assert_eq!(counts["taken"], 1, "{counts}");
    for _ in 0..200 {
        if program.fetched().contains(&url("/new")) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert!(
        program.fetched().contains(&url("/new")),
        "the crawl goes on"
    );

    let removed = program.json(&["forget", &url("/3")]);
    holds(&removed["removed"], &json!({ "urls": 1, "documents": 1 }));
    assert!(!urls(program).contains(&url("/3")));
    program.verified();

    let queries = program.path("queries.tsv");
    std::fs::write(&queries, "everywhere\t3\n").unwrap();
    program.run(&["import", "queries", queries.to_str().unwrap()]);
    let rebuilt = program.json(&["rebuild"]);
    assert!(
        rebuilt["answers"].as_u64() > Some(u64::from(PAGES)),
        "{rebuilt}"
    );
    let before = crawl.state()["fetches"]["refresh"].as_u64();
    crawl
        .until("it refreshes pages", |state| {
            state["fetches"]["refresh"].as_u64() > before
        })
        .await;
    assert!(
        !urls(program).contains(&url("/3")),
        "a rebuild keeps it forgotten"
    );
    crawl.stop().await.verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_without_a_server_answers_too_and_waits_for_a_command_that_writes() {
    let files = Files::site(PAGES, 300);
    files.put(
        "/robots.txt",
        "text/plain",
        "User-agent: *\nCrawl-delay: 1\n",
    );
    let address = files.serve().await;
    let home = format!("http://{address}/");
    let program = TestProgram::new();
    let mut child = program.start(&["crawl", &home]);
    for _ in 0..200 {
        let why = program
            .command(&["explain", &home, "--json"])
            .output()
            .unwrap();
        let why: Value = serde_json::from_slice(&why.stdout).unwrap_or_default();
        if why["visited"].is_object() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    assert!(program.store().join("SOCKET").exists(), "the crawl runs");
    let gone = format!("http://{address}/7");
    program.run(&["forget", &gone]);
    // An agent over standard input and output gets its answers from the crawl too.
    let mut agent = McpAgent::start(&program);
    let why = agent.call("explain", &json!({ "url": home }));
    assert!(why["structuredContent"]["visited"].is_object(), "{why}");
    assert_eq!(agent.end(), Some(0));
    let (code, said) = program.fail(&["crawl", &home]);
    assert_eq!(code, Some(1), "a second crawl is refused");
    has(&said, "in use by process");
    assert!(child.wait().unwrap().success());
    assert!(!program.store().join("SOCKET").exists());
    let fetched = program.fetched();
    assert_eq!(fetched.len() as u32, PAGES, "{fetched:?}");
    assert!(!fetched.contains(&gone));
    program.verified();
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_gets_the_same_answers_over_standard_input_as_over_http() {
    let (crawl, _files, address) = running(&[]).await;
    let url = format!("http://{address}/5");
    let mut agent = McpAgent::start(&crawl.program);
    for (tool, arguments) in [
        ("search", json!({ "query": "page5" })),
        ("fetch_page", json!({ "url": url })),
    ] {
        let here = agent.call(tool, &arguments);
        let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": tool, "arguments": arguments } });
        let headers = [
            ("Content-Type", "application/json"),
            ("Accept", "application/json, text/event-stream"),
            ("MCP-Protocol-Version", "2025-06-18"),
        ];
        let there = crawl.ask("POST", "/mcp", &headers, &call.to_string());
        let there: Value = serde_json::from_str(&there.body).unwrap();
        assert_eq!(there["result"]["isError"], false, "{there}");
        let text = |result: &Value| without_times(result["content"][0]["text"].as_str().unwrap());
        assert_eq!(text(&here), text(&there["result"]), "{tool}");
    }
    assert_eq!(agent.end(), Some(0));
}

/// Returns a text without digits: the crawl visits pages between two calls.
fn without_times(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_ascii_digit())
        .collect()
}
