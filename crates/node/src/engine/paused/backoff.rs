//! Tests the exponential backoff from a server that refuses, also across restarts of the crawl.
//!
//! Each crawl starts its clock at the wall clock, which is behind the paused clock of the crawl
//! before. So the facts of the crawl before have dates in the future. Their delays must hold
//! nevertheless.

use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use fetch::Pipes;
use page::PageUrl;
use policy::retry::Retry;
use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
use tokio::time::Instant;

use super::{PIPE, choice, plan};
use crate::engine::plan::EnginePlan;
use crate::live::Live;
use crate::live::progress::NoProgress;
use crate::store::Store;
use crawl::Summary;

/// The server's answer to a request for `path`; `page` counts requests for pages from zero.
type Answers = fn(path: &str, page: usize) -> String;

/// A server that logs when each page was requested.
struct LoggingServer {
    answers: Answers,
    pages: Mutex<Vec<Instant>>,
}

impl LoggingServer {
    fn new(answers: Answers) -> Arc<Self> {
        Arc::new(Self {
            answers,
            pages: Mutex::default(),
        })
    }

    /// Returns the seconds between requests for pages.
    fn gaps(&self) -> Vec<f64> {
        let pages = self.pages.lock().unwrap();
        let gaps = pages.windows(2).map(|pair| pair[1] - pair[0]);
        gaps.map(|gap| gap.as_secs_f64()).collect()
    }

    async fn attend(self: Arc<Self>, mut stream: DuplexStream) {
        let mut asked = Vec::new();
        while let Ok(byte) = stream.read_u8().await {
            asked.push(byte);
            if !asked.ends_with(b"\r\n\r\n") {
                continue;
            }
            let head = String::from_utf8(std::mem::take(&mut asked)).unwrap();
            let path = head.split(' ').nth(1).unwrap();
            let page = {
                let mut pages = self.pages.lock().unwrap();
                if path != "/robots.txt" {
                    pages.push(Instant::now());
                }
                pages.len().saturating_sub(1)
            };
            let answer = (self.answers)(path, page);
            if stream.write_all(answer.as_bytes()).await.is_err() {
                return;
            }
        }
    }

    /// Returns the plan of a crawl that starts at the server's first page.
    fn plan(self: &Arc<Self>) -> EnginePlan {
        let server = Arc::clone(self);
        let pipes: Pipes = Arc::new(move |_| {
            let (ours, theirs) = tokio::io::duplex(PIPE);
            tokio::spawn(Arc::clone(&server).attend(theirs));
            ours
        });
        let mut plan = plan(&[PageUrl::parse("http://127.0.0.1/").unwrap()], pipes);
        plan.rules.delay = None;
        plan.rules.retry = Retry {
            attempts: 100,
            first: Duration::from_millis(100),
            longest: Duration::from_secs(1),
            ..Retry::default()
        };
        plan
    }
}

fn answer(status: u16, more: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} X\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n{more}\r\n{body}"
    )
}

async fn crawl(root: &Path, plan: EnginePlan, interrupted: impl Future<Output = ()>) -> Summary {
    let store = Store::create(root).unwrap();
    let choice = choice("breadth-first", "quality");
    let live = Live::of(root);
    crate::engine::crawl(&store, plan, choice, NoProgress, &live, interrupted)
        .await
        .unwrap()
}

/// Returns whether a gap is at least `seconds`, and longer by less than 25 % and 0.1 s (jitter).
fn is_about(gap: f64, seconds: f64) -> bool {
    (seconds..seconds * 1.25 + 0.1).contains(&gap)
}

#[tokio::test(start_paused = true)]
async fn refusals_in_a_row_double_the_wait_and_a_success_resets_it() {
    let server = LoggingServer::new(|path, page| match (path, page) {
        ("/robots.txt", _) => answer(404, "", ""),
        (_, 0..=4 | 6) => answer(429, "", ""),
        (_, 8 | 9) => answer(503, "Retry-After: 1\r\n", ""),
        _ => answer(
            200,
            "",
            "<a href=/a>a</a> <a href=/b>b</a> <a href=/c>c</a>",
        ),
    });
    let directory = tempfile::tempdir().unwrap();
    let summary = crawl(directory.path(), server.plan(), std::future::pending()).await;
    assert_eq!(summary.pages, 4, "{summary:?} {:?}", server.gaps());
    let gaps = server.gaps();
    for (gap, seconds) in gaps.iter().zip([5.0, 10.0, 20.0, 40.0, 80.0]) {
        assert!(is_about(*gap, seconds), "{gaps:?}");
    }
    assert!(
        is_about(gaps[6], 5.0),
        "a success resets the backoff: {gaps:?}"
    );
    assert!((1.0..1.3).contains(&gaps[8]), "the Retry-After: {gaps:?}");
    assert!(
        is_about(gaps[9], 10.0),
        "the backoff after a second refusal: {gaps:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_delay_that_a_server_requires_outlives_the_crawl() {
    let server = LoggingServer::new(|path, page| match (path, page) {
        ("/robots.txt", _) => answer(200, "", "User-agent: *\nCrawl-delay: 20"),
        (_, 0) => answer(200, "", "<a href=/a>a</a> <a href=/b>b</a>"),
        (_, 1) => answer(503, "Retry-After: 90\r\n", ""),
        (_, 2) => answer(429, "", ""),
        _ => answer(200, "", ""),
    });
    let directory = tempfile::tempdir().unwrap();
    // Each crawl is stopped after one more page was requested.
    for pages in 1..4 {
        let asked = Arc::clone(&server);
        let interrupted = async move {
            while asked.pages.lock().unwrap().len() < pages {
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        crawl(directory.path(), server.plan(), interrupted).await;
    }
    let summary = crawl(directory.path(), server.plan(), std::future::pending()).await;
    assert_eq!(summary.queued, 0);
    let gaps = server.gaps();
    let least = [20.0, 90.0, 10.0 * 2.0, 20.0];
    for (gap, least) in gaps.iter().zip(least) {
        assert!(*gap >= least && *gap < least * 1.25 + 2.0, "{gaps:?}");
    }
    assert!(gaps.len() >= least.len(), "{gaps:?}");
}

#[tokio::test(start_paused = true)]
async fn a_crawl_ends_when_all_remaining_servers_must_wait_long() {
    let server = LoggingServer::new(|path, page| match (path, page) {
        ("/robots.txt", _) => answer(404, "", ""),
        (_, 0) => answer(429, "Retry-After: 3600\r\n", ""),
        _ => answer(200, "", ""),
    });
    let directory = tempfile::tempdir().unwrap();
    let begun = Instant::now();
    for _ in 0..2 {
        let summary = crawl(directory.path(), server.plan(), std::future::pending()).await;
        assert_eq!((summary.pages, summary.queued), (0, 1));
        assert!(begun.elapsed() < Duration::from_secs(60));
        assert_eq!(
            server.pages.lock().unwrap().len(),
            1,
            "the page is requested once"
        );
    }
}
