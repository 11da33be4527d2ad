//! Tests of the Model Context Protocol, over standard input and output and over HTTP.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

use serde_json::{Value, json};

use crate::files::Files;
use crate::program::{TestProgram, has};
use crate::server::{AvocetServer, Leaf, put};
use crate::webs::{crawl, plain, serve};

/// A client of a running `avocet mcp`.
pub struct McpAgent {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    asked: u64,
}

impl McpAgent {
    pub fn start(program: &TestProgram) -> Self {
        let mut child = program
            .command(&["mcp"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut agent = Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()),
            child,
            asked: 0,
        };
        let hello = agent.ask("initialize", &greeting());
        assert_eq!(hello["serverInfo"]["name"], "avocet");
        agent.say(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        agent
    }

    fn say(&mut self, message: &Value) {
        writeln!(self.input.as_mut().unwrap(), "{message}").unwrap();
    }

    fn ask(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        self.say(
            &json!({ "jsonrpc": "2.0", "id": self.asked, "method": method, "params": params }),
        );
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(answer["id"], self.asked, "{answer}");
        answer["result"].clone()
    }

    pub fn call(&mut self, tool: &str, arguments: &Value) -> Value {
        self.ask(
            "tools/call",
            &json!({ "name": tool, "arguments": arguments }),
        )
    }

    /// Closes standard input. Returns the exit code.
    pub fn end(mut self) -> Option<i32> {
        self.input.take();
        self.child.wait().unwrap().code()
    }
}

fn greeting() -> Value {
    json!({
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    })
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_searches_reads_pages_and_gets_explanations() {
    let web = serve(plain(43, 1, 20)).await;
    let homes = web.homes();
    let program = TestProgram::new();
    program.json(&crawl(&homes, &[]));
    let mut agent = McpAgent::start(&program);
    let tools = agent.ask("tools/list", &json!({}));
    let mut names: Vec<&str> = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    let all = [
        "explain",
        "fetch_page",
        "latest",
        "links",
        "list_sites",
        "search",
        "section",
    ];
    assert_eq!(names, all);
    // The limits are in the schema.
    let mut of_search = tools["tools"].as_array().unwrap().iter();
    let of_search = of_search.find(|tool| tool["name"] == "search");
    let limit = &of_search.unwrap()["inputSchema"]["properties"]["limit"];
    assert_eq!(
        (&limit["minimum"], &limit["maximum"]),
        (&json!(1), &json!(50)),
        "{limit}"
    );
    let page = agent.call("fetch_page", &json!({ "url": homes[0] }));
    assert_eq!(page["isError"], false, "{page}");
    assert!(text(&page).contains(&homes[0]) && text(&page).contains("last known to be current"));
    let (head, body) = text(&page).split_once("\n\n").unwrap();
    assert!(head.contains("extraction "), "{head}");
    let word = body
        .split(|letter: char| !letter.is_ascii_alphabetic())
        .max_by_key(|word| word.len())
        .unwrap()
        .to_owned();
    let found = agent.call("search", &json!({ "query": word, "limit": 3 }));
    let found = &found["structuredContent"];
    assert!(found["total"].as_u64().unwrap() > 0, "{found}");
    assert!(found["results"][0]["checked_at"].is_string(), "{found}");
    let why = agent.call("explain", &json!({ "url": homes[0] }));
    assert_eq!(why["structuredContent"]["url"], homes[0], "{why}");
    assert!(why["structuredContent"]["visited"].is_object(), "{why}");
    let sites = agent.call("list_sites", &json!({}));
    let sites = &sites["structuredContent"];
    assert_eq!(sites["total"], 1, "{sites}");
    assert!(sites["sites"][0]["pages"].as_u64() > Some(10), "{sites}");
    let links = agent.call("links", &json!({ "url": homes[0], "limit": 2 }));
    let links = &links["structuredContent"];
    assert_eq!(links["from_it"].as_array().unwrap().len(), 2, "{links}");
    let first = links["from_it"][0]["url"].clone();
    let back = agent.call("links", &json!({ "url": first }));
    let sources = back["structuredContent"]["to_it"]
        .as_array()
        .unwrap()
        .iter();
    let mut sources = sources.map(|link| link["url"].clone());
    assert!(sources.any(|url| url == homes[0]), "{back}");
    let latest = agent.call("latest", &json!({ "since": "2020-01-01", "limit": 3 }));
    let latest = &latest["structuredContent"];
    assert_eq!(latest["changes"].as_array().unwrap().len(), 3, "{latest}");
    let next = agent.call("latest", &json!({ "since": latest["next"], "limit": 1 }));
    let next = &next["structuredContent"]["changes"][0]["url"];
    assert!(
        next.is_string() && !latest.to_string().contains(&next.to_string()),
        "{next}"
    );
    let none = agent.call("search", &json!({ "query": word, "since": "2999-01-01" }));
    assert_eq!(none["structuredContent"]["total"], 0, "{none}");
    let wrong = agent.call("search", &json!({ "query": word, "since": "some day" }));
    assert_eq!(wrong["isError"], true, "{wrong}");
    for (tool, url) in [
        ("links", "http://nowhere.example/"),
        ("section", "http://nowhere.example/"),
        ("fetch_page", "http://nowhere.example/"),
        ("fetch_page", "nothing"),
        ("explain", "nothing"),
    ] {
        let refused = agent.call(tool, &json!({ "url": url }));
        assert_eq!(refused["isError"], true, "{refused}");
    }
    assert_eq!(agent.end(), Some(0));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_reads_one_section_of_a_page() {
    let files = Files::default();
    let text = "word ".repeat(60);
    let page = format!(
        "<title>Birds</title><h1>Birds</h1><p>{text}</p><h2 id=avocet>The avocet</h2><p>It wades. {text}</p><h2>The stilt</h2><p>It stands. {text}</p>"
    );
    files.put("/", "text/html", page);
    let home = format!("http://{}/", files.serve().await);
    let program = TestProgram::new();
    program.run(&["crawl", &home]);
    let mut agent = McpAgent::start(&program);
    let list = agent.call("section", &json!({ "url": home }));
    let list = list["structuredContent"]["sections"].to_string();
    assert!(
        list.contains("The avocet") && list.contains("The stilt"),
        "{list}"
    );
    for (named, words) in [("avocet", "It wades."), ("the stilt", "It stands.")] {
        let section = agent.call("section", &json!({ "url": home, "section": named }));
        let found = section["structuredContent"]["text"].as_str().unwrap();
        assert!(found.contains(words), "{section}");
        let others = ["It wades.", "It stands."]
            .iter()
            .filter(|one| found.contains(**one));
        assert_eq!(others.count(), 1, "{section}");
    }
    let missing = agent.call("section", &json!({ "url": home, "section": "the gull" }));
    assert_eq!(missing["isError"], true, "{missing}");
    assert_eq!(agent.end(), Some(0));
}

#[test]
fn fetch_page_returns_a_long_page_in_pieces_of_20000_characters() {
    let program = TestProgram::new();
    let long = "é".repeat(45_000);
    put(
        &program,
        &[Leaf::new("http://long.example/", "Long", &long)],
    );
    let mut agent = McpAgent::start(&program);
    let mut letters = 0;
    for (start, pieces) in [(0, 20_000), (20_000, 20_000), (40_000, 5_000), (90_000, 0)] {
        let page = agent.call(
            "fetch_page",
            &json!({ "url": "http://long.example/", "start": start }),
        );
        let found = text(&page).chars().filter(|&letter| letter == 'é').count();
        assert_eq!(found, pieces, "{start}");
        assert_eq!(
            text(&page).contains("for more, start ="),
            start < 40_000 - 1,
            "{start}"
        );
        letters += found;
    }
    assert_eq!(letters, 45_000);
}

#[test]
fn agents_are_answered_over_http_and_requests_of_other_sites_are_refused() {
    let program = TestProgram::new();
    put(
        &program,
        &[Leaf::new(
            "http://birds.example/",
            "Avocets",
            "The pied avocet wades.",
        )],
    );
    let server = AvocetServer::start(&program, &[]);
    let post = |message: &Value, more: &[&str]| {
        let mut fields = vec![
            "Content-Type: application/json",
            "Accept: application/json, text/event-stream",
        ];
        fields.extend(more);
        server.ask("POST", "/mcp", &fields, &message.to_string())
    };
    let hello = post(
        &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": greeting() }),
        &[],
    );
    assert_eq!(hello.status, 200, "{hello:?}");
    assert!(hello.body.contains("\"avocet\""), "{}", hello.body);
    let call = json!({ "jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": { "name": "search", "arguments": { "query": "avocet" } } });
    let version = "MCP-Protocol-Version: 2025-06-18";
    let found = post(&call, &[version]);
    assert_eq!(found.status, 200, "{found:?}");
    let answer: Value = serde_json::from_str(&found.body).unwrap();
    assert_eq!(
        answer["result"]["structuredContent"]["total"], 1,
        "{answer}"
    );
    // A page of another site must not use the tools through the browser of its visitor.
    assert_eq!(
        post(&call, &[version, "Origin: https://evil.example"]).status,
        403
    );
    assert_eq!(post(&call, &[version, "Host: evil.example"]).status, 421);
    let huge = json!({ "jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": { "name": "search", "arguments": { "query": "x".repeat(100_000) } } });
    assert_eq!(post(&huge, &[version]).status, 413);
    let metrics = server.get("/metrics").body;
    has(&metrics, "avocet_searches_total{surface=\"agent\"} 1");
}
