//! Tests of the delay between requests to a server, through kills and wrong clocks. The server's
//! log is the oracle.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::program::TestProgram;

/// Tolerance: a busy machine may record a request this much too late, so that the next one seems
/// too early.
const LATE: Duration = Duration::from_millis(500);

/// Returns status, header fields and body for the n-th request of a path, counted from zero.
type Answers = fn(path: &str, asked: usize) -> (u16, String, String);

/// A server that records the time and the path of every request.
struct RequestLogServer {
    address: String,
    log: Arc<Mutex<Vec<(Instant, String)>>>,
}

impl RequestLogServer {
    fn start(answers: Answers) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let log = Arc::new(Mutex::new(Vec::new()));
        let written = Arc::clone(&log);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let log = Arc::clone(&written);
                std::thread::spawn(move || answer(stream, answers, &log));
            }
        });
        Self { address, log }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    fn log(&self) -> Vec<(Instant, String)> {
        self.log.lock().unwrap().clone()
    }

    /// Waits until this many requests have arrived.
    fn until(&self, requests: usize) {
        for _ in 0..12_000 {
            if self.log().len() >= requests {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("only {:?}", self.log());
    }
}

fn answer(mut stream: TcpStream, answers: Answers, log: &Mutex<Vec<(Instant, String)>>) {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read(&mut byte) {
            Ok(1) => head.push(byte[0]),
            _ => return,
        }
    }
    let head = String::from_utf8(head).unwrap();
    let path = head.split(' ').nth(1).unwrap().to_owned();
    let asked = {
        let mut log = log.lock().unwrap();
        let before = log.iter().filter(|(_, asked)| *asked == path).count();
        log.push((Instant::now(), path.clone()));
        before
    };
    let (status, more, body) = answers(&path, asked);
    let length = body.len();
    let answer = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: text/html\r\nContent-Length: {length}\r\nConnection: close\r\n{more}\r\n{body}"
    );
    stream.write_all(answer.as_bytes()).ok();
}

fn page(links: &str) -> (u16, String, String) {
    let links: String = links
        .split_whitespace()
        .map(|path| format!("<a href={path}>{path}</a> "))
        .collect();
    (200, String::new(), format!("<title>t</title>{links}"))
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    child.wait().unwrap();
}

/// Returns the size of the archive in bytes.
fn archived(program: &TestProgram) -> u64 {
    let sizes = program.warcs().into_iter();
    let sizes = sizes.filter_map(|file| file.metadata().ok());
    sizes.map(|file| file.len()).sum()
}

#[test]
fn a_crawl_delay_holds_through_kills_at_any_instant() {
    const DELAY: Duration = Duration::from_secs(2);
    let server = RequestLogServer::start(|path, _| match path {
        "/robots.txt" => (
            200,
            String::new(),
            "User-agent: *\nCrawl-delay: 2\n".to_owned(),
        ),
        "/" => page("/1 /2 /3 /4 /5 /6 /7 /8 /9"),
        _ => {
            // Long enough for a kill to come before the answer.
            std::thread::sleep(Duration::from_millis(60));
            page("")
        }
    });
    let program = TestProgram::new();
    let url = server.url("/");
    let start = || program.start(&["crawl", &url]);
    // The first run learns the crawl delay from robots.txt.
    let first = start();
    server.until(2);
    kill(first);
    for round in 0u64..4 {
        // A run that is killed before it may send a request.
        let hasty = start();
        std::thread::sleep(Duration::from_millis(100 + 90 * round));
        kill(hasty);
        // A run that is killed at some instant after its request.
        let seen = server.log().len();
        let child = start();
        server.until(seen + 1);
        std::thread::sleep(Duration::from_millis(35 * round));
        kill(child);
    }
    let log = server.log();
    for pair in log.windows(2) {
        let gap = pair[1].0 - pair[0].0;
        assert!(gap + LATE >= DELAY, "{gap:?} between {pair:?}");
    }
}

#[test]
fn a_retry_after_holds_through_a_kill() {
    const WAIT: Duration = Duration::from_secs(4);
    let server = RequestLogServer::start(|path, asked| match (path, asked) {
        ("/robots.txt", _) => (404, String::new(), String::new()),
        (_, 0) => (429, "Retry-After: 4\r\n".to_owned(), String::new()),
        _ => page(""),
    });
    let program = TestProgram::new();
    let url = server.url("/");
    let child = program.start(&["crawl", &url]);
    server.until(2);
    let before = archived(&program);
    while archived(&program) == before {
        std::thread::sleep(Duration::from_millis(2));
    }
    // The 429 is being committed: it is in the archive, and perhaps in the ledger.
    kill(child);
    assert_eq!(program.json(&["crawl", &url])["pages"], 1);
    let log = server.log();
    assert_eq!(log.len(), 3, "{log:?}");
    assert!(log[2].0 - log[1].0 + LATE >= WAIT, "{log:?}");
}

/// Returns a command that runs with a shifted clock, or `None` if faketime is not installed.
fn at_another_time(program: &TestProgram, shift: &str, arguments: &[&str]) -> Option<Command> {
    if Command::new("faketime").arg("--version").output().is_err() {
        eprintln!("skipped: there is no faketime (apt-get install faketime)");
        return None;
    }
    let command = program.command(arguments);
    let mut shifted = Command::new("faketime");
    shifted
        .args(["-f", shift])
        .arg(command.get_program())
        .args(command.get_args())
        .env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
    Some(shifted)
}

#[test]
fn a_clock_that_was_wrong_does_not_stop_a_crawl() {
    // Ahead, far ahead, and behind. A clock that was behind only makes facts look old.
    for (shift, noticed) in [("+2h", true), ("+30d", true), ("-30d", false)] {
        let server = RequestLogServer::start(|path, asked| match (path, asked) {
            ("/robots.txt", _) => (404, String::new(), String::new()),
            ("/1", 0) => (500, String::new(), String::new()),
            ("/0", _) => page("/2 /3"),
            _ => page(""),
        });
        let program = TestProgram::new();
        let urls = [server.url("/1"), server.url("/0")];
        let crawl = ["crawl", &urls[0], &urls[1]];
        let mut one = crawl.to_vec();
        one.extend(["--pages", "1"]);
        let Some(mut shifted) = at_another_time(&program, shift, &one) else {
            return;
        };
        let output = shifted.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert_eq!(program.fetched(), [server.url("/0")]);

        // With a time limit, a crawl that waits for the clock fails the test instead of hanging.
        let mut limited = crawl.to_vec();
        limited.extend(["--time", "60s"]);
        let output = program.run(&limited);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(said.contains("in the future"), noticed, "{shift}: {said}");
        let all: Vec<String> = (0..4).map(|page| server.url(&format!("/{page}"))).collect();
        assert_eq!(program.fetched(), all, "{shift}: {said}");
    }
}

#[test]
fn a_clock_that_was_ahead_does_not_stop_refreshing() {
    let server = RequestLogServer::start(|path, _| match path {
        "/robots.txt" => (404, String::new(), String::new()),
        _ => page(""),
    });
    let program = TestProgram::new();
    let url = server.url("/");
    let Some(mut shifted) = at_another_time(&program, "+30d", &["crawl", &url]) else {
        return;
    };
    assert!(shifted.output().unwrap().status.success());
    assert_eq!(server.log().len(), 2);
    let mut run = program.start(&["run", &url, "--budget", "5/s"]);
    // The stored robots.txt and copy are dated 30 days ahead. Still two more requests must come:
    // for the page, for robots.txt, or a probe for a page that cannot exist.
    server.until(4);
    run.kill().unwrap();
    run.wait().unwrap();
}
