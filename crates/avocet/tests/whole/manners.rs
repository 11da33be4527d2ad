//! The distance between requests to a server, through kills and wrong clocks. The oracle is the server's own log.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::program::Program;

/// How late a busy machine may be to see a request: so much nearer two requests may seem to be.
const LATE: Duration = Duration::from_millis(500);

/// What is answered to a path, asked for the n-th time in all, counted from zero.
type Answers = fn(path: &str, asked: usize) -> (u16, String, String);

/// A server that writes down when it was asked for what.
struct Server {
    address: String,
    log: Arc<Mutex<Vec<(Instant, String)>>>,
}

impl Server {
    fn start(answers: Answers) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let log = Arc::new(Mutex::new(Vec::new()));
        let written = Arc::clone(&log);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let log = Arc::clone(&written);
                std::thread::spawn(move || attend(stream, answers, &log));
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

    /// Waits until this many requests have come.
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

fn attend(mut stream: TcpStream, answers: Answers, log: &Mutex<Vec<(Instant, String)>>) {
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

/// Bytes of the archive.
fn archived(program: &Program) -> u64 {
    let sizes = program.warcs().into_iter();
    let sizes = sizes.filter_map(|file| file.metadata().ok());
    sizes.map(|file| file.len()).sum()
}

#[test]
fn a_crawl_delay_holds_through_kills_at_any_instant() {
    const DELAY: Duration = Duration::from_secs(2);
    let server = Server::start(|path, _| match path {
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
    let program = Program::new();
    let url = server.url("/");
    let start = || program.start(&["crawl", &url]);
    // The first run learns what the server asks for.
    let first = start();
    server.until(2);
    kill(first);
    for round in 0u64..4 {
        // One that is killed before it may ask.
        let hasty = start();
        std::thread::sleep(Duration::from_millis(100 + 90 * round));
        kill(hasty);
        // One that is killed at some instant after it has asked.
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
    let server = Server::start(|path, asked| match (path, asked) {
        ("/robots.txt", _) => (404, String::new(), String::new()),
        (_, 0) => (429, "Retry-After: 4\r\n".to_owned(), String::new()),
        _ => page(""),
    });
    let program = Program::new();
    let url = server.url("/");
    let child = program.start(&["crawl", &url]);
    server.until(2);
    let before = archived(&program);
    while archived(&program) == before {
        std::thread::sleep(Duration::from_millis(2));
    }
    // The refusal is being committed: its page is in the archive, and perhaps in the ledger.
    kill(child);
    assert_eq!(program.json(&["crawl", &url])["pages"], 1);
    let log = server.log();
    assert_eq!(log.len(), 3, "{log:?}");
    assert!(log[2].0 - log[1].0 + LATE >= WAIT, "{log:?}");
}

/// The program under another clock; `None` where libfaketime is not installed.
fn at_another_time(program: &Program, shift: &str, arguments: &[&str]) -> Option<Command> {
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
    // Ahead, far ahead, and behind: then the facts are old, and no more than that.
    for (shift, noticed) in [("+2h", true), ("+30d", true), ("-30d", false)] {
        let server = Server::start(|path, asked| match (path, asked) {
            ("/robots.txt", _) => (404, String::new(), String::new()),
            ("/1", 0) => (500, String::new(), String::new()),
            ("/0", _) => page("/2 /3"),
            _ => page(""),
        });
        let program = Program::new();
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

        // A time limit, so that a crawl that waits for the clock fails the test instead of standing still.
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
    let server = Server::start(|path, _| match path {
        "/robots.txt" => (404, String::new(), String::new()),
        _ => page(""),
    });
    let program = Program::new();
    let url = server.url("/");
    let Some(mut shifted) = at_another_time(&program, "+30d", &["crawl", &url]) else {
        return;
    };
    assert!(shifted.output().unwrap().status.success());
    assert_eq!(server.log().len(), 2);
    let mut run = program.start(&["run", &url, "--budget", "5/s"]);
    // robots.txt is a month younger than now and good for a day; a page is asked for, or one that cannot exist.
    server.until(4);
    run.kill().unwrap();
    run.wait().unwrap();
}
