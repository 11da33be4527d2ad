//! Tests of the change feed: `GET /api/v1/changes`, webhooks, and Atom feeds of searches.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::files::Files;
use crate::http::HttpAnswer;
use crate::program::{TestProgram, has};
use crate::server::AvocetServer;

/// Returns number, change and path of each change in an answer.
fn listed(answer: &HttpAnswer) -> Vec<(u64, String, String)> {
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(answer.head["content-type"], "application/x-ndjson");
    let lines = answer.body.lines();
    let change = |line: &str| {
        let line: Value = serde_json::from_str(line).unwrap();
        let url = line["url"].as_str().unwrap();
        let path = url.splitn(4, '/').nth(3).unwrap();
        let change = line["change"].as_str().unwrap().to_owned();
        (line["number"].as_u64().unwrap(), change, format!("/{path}"))
    };
    lines.map(change).collect()
}

/// Returns change and path, sorted.
fn kinds(answer: &HttpAnswer) -> Vec<(String, String)> {
    let mut kinds: Vec<_> = listed(answer)
        .into_iter()
        .map(|(_, kind, path)| (kind, path))
        .collect();
    kinds.sort();
    kinds
}

fn expected(kinds: &[(&str, &str)]) -> Vec<(String, String)> {
    let own = |(kind, path): &(&str, &str)| ((*kind).to_owned(), (*path).to_owned());
    kinds.iter().map(own).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_listed_from_a_number_on() {
    let files = Files::site(3, 200);
    let address = files.serve().await;
    let program = TestProgram::new();
    let home = format!("http://{address}/");
    let crawl = ["crawl", &home, "--refresh-after", "1ms"];
    program.run(&crawl);
    let server = AvocetServer::start(&program, &[]);
    let first = server.get("/api/v1/changes");
    assert_eq!(
        kinds(&first),
        expected(&[("new", "/"), ("new", "/0"), ("new", "/1"), ("new", "/2")])
    );
    let last = listed(&first).last().unwrap().0;
    assert_eq!(
        listed(&server.get(&format!("/api/v1/changes?since={last}"))),
        []
    );
    assert_eq!(
        listed(&server.get("/api/v1/changes?since=2099-01-01T00:00:00Z")),
        []
    );
    assert_eq!(
        listed(&server.get("/api/v1/changes?since=2020-01-01T00:00:00Z")).len(),
        4
    );
    assert_eq!(
        listed(&server.get("/api/v1/changes?limit=1&since=1"))[0].0,
        2
    );

    // One page changes, one vanishes, and one is unchanged. A page is gone at the second 404.
    files.put(
        "/1",
        "text/html",
        "<title>other</title>quite different words than before",
    );
    files.remove("/2");
    program.run(&crawl);
    program.run(&crawl);
    let later = server.get(&format!("/api/v1/changes?since={last}"));
    assert_eq!(
        kinds(&later),
        expected(&[("changed", "/1"), ("gone", "/2")])
    );
    let gone = server.get(&format!("/api/v1/changes?since={last}&change=gone"));
    assert_eq!(kinds(&gone), expected(&[("gone", "/2")]));
    assert_eq!(listed(&server.get("/api/v1/changes?site=example.org")), []);
    for (wrong, code) in [("since=soon", 400), ("limit=0", 400), ("change=old", 400)] {
        assert_eq!(server.get(&format!("/api/v1/changes?{wrong}")).status, code);
    }
    // A long poll waits for the next change.
    let last = listed(&later).last().unwrap().0;
    let waiting = server.address;
    let poll = std::thread::spawn(move || {
        let path = format!("/api/v1/changes?since={last}&wait=60");
        crate::http::ask(waiting, "GET", &path, &[], "")
    });
    files.put(
        "/1",
        "text/html",
        "<title>third</title>words of the third version",
    );
    program.run(&crawl);
    assert_eq!(kinds(&poll.join().unwrap()), expected(&[("changed", "/1")]));
    // A forgotten page leaves the log too.
    program.run(&["forget", &format!("{home}1")]);
    let all = server.get("/api/v1/changes");
    assert!(!all.body.contains(&format!("{home}1\"")), "{}", all.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_are_streamed_as_events() {
    let files = Files::site(1, 200);
    let address = files.serve().await;
    let program = TestProgram::new();
    program.run(&["crawl", &format!("http://{address}/")]);
    let server = AvocetServer::start(&program, &[]);
    let mut stream = tokio::net::TcpStream::connect(server.address)
        .await
        .unwrap();
    let request = format!(
        "GET /api/v1/changes HTTP/1.1\r\nHost: {}\r\nAccept: text/event-stream\r\nLast-Event-ID: 1\r\n\r\n",
        server.address
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    while !text.contains("\n\n") {
        let mut bytes = [0; 4096];
        let read = stream.read(&mut bytes);
        let read = tokio::time::timeout(Duration::from_secs(60), read)
            .await
            .unwrap()
            .unwrap();
        text += &String::from_utf8_lossy(&bytes[..read]);
    }
    has(&text, "id: 2\n");
    has(&text, "event: new\n");
    assert!(!text.contains("id: 1\n"), "{text}");
}

/// What a receiver got: the signature, the time and the body of each request.
type Received = Arc<Mutex<Vec<(String, String, String)>>>;

/// Starts a receiver that answers 500 to the first request, and 204 to all others.
async fn receiver() -> (String, Received) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/hook?a=b", listener.local_addr().unwrap());
    let received = Received::default();
    let got = received.clone();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                head.push(stream.read_u8().await.unwrap());
            }
            let head = String::from_utf8(head).unwrap();
            assert!(head.starts_with("POST /hook?a=b HTTP/1.1\r\n"), "{head}");
            let field = |name: &str| {
                let line = head.lines().find_map(|line| line.strip_prefix(name));
                line.unwrap_or_else(|| panic!("{name}: {head}"))
                    .trim()
                    .to_owned()
            };
            let length: usize = field("content-length:").parse().unwrap();
            let mut body = vec![0; length];
            stream.read_exact(&mut body).await.unwrap();
            let first = {
                let mut got = got.lock().unwrap();
                let body = String::from_utf8(body).unwrap();
                got.push((
                    field("x-avocet-signature:"),
                    field("x-avocet-timestamp:"),
                    body,
                ));
                got.len() == 1
            };
            let status = if first { "500 No" } else { "204 Yes" };
            let answer =
                format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
            stream.write_all(answer.as_bytes()).await.ok();
        }
    });
    (url, received)
}

/// Returns the HMAC that Python computes; `None` without Python.
fn hmac(secret: &str, text: &str) -> Option<String> {
    let code = "import hmac,hashlib,sys;print(hmac.new(sys.argv[1].encode(),sys.argv[2].encode(),hashlib.sha256).hexdigest())";
    let output = std::process::Command::new("python3")
        .args(["-c", code, secret, text])
        .output();
    let output = output.ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).unwrap().trim().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn webhooks_are_signed_and_repeated_until_they_are_accepted() {
    let files = Files::site(2, 200);
    let address = files.serve().await;
    let (url, received) = receiver().await;
    let program = TestProgram::new();
    program.configure(&format!(
        "[[webhook]]\nurl = \"{url}\"\nsecret = \"very secret\"\nchanges = [\"changed\"]\n"
    ));
    let crawl = [
        "crawl",
        &format!("http://{address}/"),
        "--refresh-after",
        "1ms",
    ];
    program.run(&crawl);
    // Changes from before the receiver was known are not sent.
    let server = AvocetServer::start(&program, &[]);
    let state = program.store().join("webhooks.json");
    while !state.exists() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    files.put(
        "/1",
        "text/html",
        "<title>other</title>quite different words than before",
    );
    files.put(
        "/new",
        "text/html",
        "<title>new</title>a new page is not a changed one",
    );
    program.run(&crawl);
    let wait = async {
        while received.lock().unwrap().len() < 2 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), wait)
        .await
        .unwrap();
    let received = received.lock().unwrap().clone();
    assert_eq!(
        received[0].2, received[1].2,
        "the refused request is repeated"
    );
    let (signature, time, body) = &received[1];
    let body_read: Value = serde_json::from_str(body).unwrap();
    let changes = body_read["changes"].as_array().unwrap();
    assert_eq!(changes.len(), 1, "{body}");
    assert_eq!(changes[0]["url"], json!(format!("http://{address}/1")));
    assert_eq!(changes[0]["change"], "changed");
    if let Some(expected) = hmac("very secret", &format!("{time}.{body}")) {
        assert_eq!(*signature, format!("sha256={expected}"));
    }
    drop(server);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_has_an_atom_feed() {
    let files = Files::default();
    let home = "<title>R&amp;D <tags></title>everywhere <a href=/a>a</a> & more";
    files.put("/", "text/html", home);
    files.put("/a", "text/html", "<title>a</title>everywhere again");
    let address = files.serve().await;
    let program = TestProgram::new();
    program.run(&["crawl", &format!("http://{address}/")]);
    let server = AvocetServer::start(&program, &[]);
    let feed = server.get("/atom?q=everywhere&site=127.0.0.1");
    assert_eq!(
        feed.head["content-type"],
        "application/atom+xml; charset=utf-8"
    );
    assert_eq!(feed.body.matches("<entry>").count(), 2, "{}", feed.body);
    has(&feed.body, &format!("<id>http://{address}/a</id>"));
    has(&feed.body, "R&#38;D");
    has(&feed.body, "href=\"http://127.0.0.1:");
    assert!(!feed.body.contains("<tags>"), "{}", feed.body);
    assert_eq!(
        program.log("queries").len(),
        0,
        "a feed is no search of a person"
    );
    let page = server.get("/?q=everywhere&site=127.0.0.1").body;
    has(
        &page,
        "type=\"application/atom+xml\" href=\"/atom?q=everywhere&#38;site=127.0.0.1\"",
    );
    assert_eq!(server.get("/atom").status, 400);
}
