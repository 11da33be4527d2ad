//! Tests that pipelining neither loses nor swaps answers.
//!
//! **Invariant:** the body of a page is its path, so that swapped answers are detected.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::hostile_tls::{Authority, acceptor, begin, secure, settings};
use crate::scripted::{
    ScriptedServer, ServerAction, TestClient, ask_all, open_settings, request, send, summaries,
    summary,
};
use fetch::{FetchAnswer, FetchLimits, FetchOptions, HttpMode, PipelineDepth, Trouble};
use page::url::PageUrl;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

type Served = Pin<Box<dyn Future<Output = ()> + Send>>;

/// A server that runs a function for its n-th connection.
struct Raw {
    origin: String,
    connections: Arc<AtomicUsize>,
}

impl Raw {
    async fn start(serve: impl Fn(usize, TcpStream) -> Served + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        tokio::spawn(async move {
            while let Ok((tcp, _)) = listener.accept().await {
                tokio::spawn(serve(count.fetch_add(1, Ordering::SeqCst), tcp));
            }
        });
        Self {
            origin,
            connections,
        }
    }

    fn pages(&self, count: usize) -> Vec<PageUrl> {
        let page = |n| PageUrl::parse(&format!("{}/{n}", self.origin)).unwrap();
        (0..count).map(page).collect()
    }

    fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Returns the paths of the next `count` requests; fewer if the client sends no more.
async fn take(tcp: &mut TcpStream, count: usize) -> Vec<String> {
    let mut paths = Vec::new();
    let mut head = Vec::new();
    while paths.len() < count {
        match tcp.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
        if head.ends_with(b"\r\n\r\n") {
            let text = String::from_utf8(std::mem::take(&mut head)).unwrap();
            paths.push(text.split(' ').nth(1).unwrap().to_owned());
        }
    }
    paths
}

fn page(path: &str) -> Vec<u8> {
    format!(
        "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{path}",
        path.len()
    )
    .into_bytes()
}

/// Answers up to `count` requests. Returns whether the client sent that many.
async fn answer_up_to(tcp: &mut TcpStream, count: usize) -> bool {
    for _ in 0..count {
        match take(tcp, 1).await.pop() {
            Some(path) => tcp.write_all(&page(&path)).await.unwrap(),
            None => return false,
        }
    }
    true
}

/// Closes in an orderly way, so that no reset overtakes the bytes sent before.
async fn hang_up(mut tcp: TcpStream) {
    let _ = tcp.shutdown().await;
    let _ = tokio::io::copy(&mut tcp, &mut tokio::io::sink()).await;
}

fn depth(requests: u8) -> FetchOptions {
    FetchOptions {
        http: HttpMode::Pipelined(PipelineDepth::new(requests).unwrap()),
        ..open_settings()
    }
}

/// Asserts that every complete answer is that of its page.
fn each_its_own(urls: &[PageUrl], answers: &[FetchAnswer]) {
    for (url, answer) in urls.iter().zip(answers) {
        if summary(answer) == "200" {
            let content = &answer.outcome.as_ref().unwrap().content;
            assert_eq!(*content, url.path_and_query());
        }
    }
}

/// The server waits until it has as many requests as the depth allows, and answers them all in
/// one packet. Only then do the next ones arrive.
#[tokio::test]
async fn requests_are_in_flight_together_up_to_the_depth() {
    let server = Raw::start(|_, mut tcp| {
        Box::pin(async move {
            for _ in 0..2 {
                let paths = take(&mut tcp, 4).await;
                // A fifth request would be one too many.
                let early = tokio::time::timeout(Duration::from_millis(100), tcp.read_u8()).await;
                assert!(early.is_err());
                let answers: Vec<u8> = paths.iter().flat_map(|path| page(path)).collect();
                tcp.write_all(&answers).await.unwrap();
            }
            take(&mut tcp, 1).await;
        })
    })
    .await;
    let urls = server.pages(8);
    let mut client = TestClient::new(depth(4));
    let answers = client.get_all(&urls).await;
    assert_eq!(summaries(&answers), ["200"; 8]);
    each_its_own(&urls, &answers);
    for (url, answer) in urls.iter().zip(&answers) {
        let sent = page(url.path_and_query());
        assert_eq!(answer.wire_bytes, sent.len() as u64);
        let response = answer.outcome.as_ref().unwrap();
        assert_eq!([&response.head[..], &response.body].concat(), sent);
    }
    // These answers arrived together with the answer before them, so no time was spent waiting
    // for the server.
    for place in [1, 2, 3, 5, 6, 7] {
        assert_eq!(answers[place].first_byte, Duration::ZERO, "{place}");
    }
    let connection = client.connection.as_ref().unwrap();
    assert_eq!(
        (
            connection.served(),
            connection.is_open(),
            connection.width()
        ),
        (8, true, 4)
    );
    assert_eq!(connection.address().to_string(), server.origin[7..]);
    assert_eq!(server.connections(), 1);
}

/// Large requests and large answers: neither side waits for the other to read.
#[tokio::test]
async fn large_answers_do_not_block_large_requests() {
    let server = ScriptedServer::start(|asked| {
        let body = asked.path.repeat(100);
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        vec![send(head + &body)]
    })
    .await;
    let urls: Vec<PageUrl> = (0..64)
        .map(|n| server.url(&format!("/{n}/{}", "x".repeat(2000))))
        .collect();
    let mut client = TestClient::new(FetchOptions {
        hosts: [(
            format!("http://{}", server.address),
            fetch::HostSettings {
                headers: vec![(
                    http::HeaderName::from_static("x-long"),
                    "y".repeat(50_000).parse().unwrap(),
                )],
                basic_auth: None,
            },
        )]
        .into(),
        ..depth(32)
    });
    let answers = client.get_all(&urls).await;
    assert_eq!(summaries(&answers), vec!["200"; 64]);
    for (url, answer) in urls.iter().zip(&answers) {
        let content = &answer.outcome.as_ref().unwrap().content;
        assert!(content.starts_with(url.path_and_query().as_bytes()));
        assert_eq!(content.len(), url.path_and_query().len() * 100);
    }
}

/// A server that closes after k answers, in each possible way: k answers arrive, the other
/// requests are reported as unanswered, and repeating those delivers them all.
#[tokio::test]
async fn nothing_is_lost_when_the_server_hangs_up() {
    #[derive(Clone, Copy, Debug)]
    enum CloseStyle {
        Silently,
        Announced,
        WithinAHead,
        WithinABody,
        ByLength,
    }
    use CloseStyle::*;
    for way in [Silently, Announced, WithinAHead, WithinABody, ByLength] {
        for limit in 1..7usize {
            let server = Raw::start(move |_, mut tcp| {
                Box::pin(async move {
                    for nth in 1..=limit {
                        let Some(path) = take(&mut tcp, 1).await.pop() else {
                            return;
                        };
                        let mut bytes = page(&path);
                        match way {
                            Announced if nth == limit => {
                                let head = "HTTP/1.1 200 OK\r\nConnection: close\r\n";
                                bytes.splice(..17, head.bytes());
                            }
                            ByLength if nth == limit => {
                                bytes = format!("HTTP/1.1 200 OK\r\n\r\n{path}").into_bytes();
                            }
                            WithinAHead if nth == limit => {
                                bytes.extend_from_slice(b"HTTP/1.1 200 OK\r\nCont");
                            }
                            WithinABody if nth == limit => {
                                bytes.extend_from_slice(b"HTTP/1.1 200 OK\r\n");
                                bytes.extend_from_slice(b"Content-Length: 9\r\n\r\nhal");
                            }
                            _ => {}
                        }
                        tcp.write_all(&bytes).await.unwrap();
                    }
                    hang_up(tcp).await;
                })
            })
            .await;
            let label = format!("{way:?} after {limit}");
            let mut client = TestClient::new(depth(4));
            let mut left = server.pages(6);
            let mut rounds = 0;
            while !left.is_empty() {
                rounds += 1;
                assert!(rounds < 20, "{label}");
                let answers = client.get_all(&left).await;
                each_its_own(&left, &answers);
                let outcomes = summaries(&answers);
                let whole = outcomes
                    .iter()
                    .take_while(|outcome| *outcome == "200")
                    .count();
                assert_eq!(whole, limit.min(left.len()), "{label}: {outcomes:?}");
                let mut rest = outcomes[whole..].iter();
                // Half a body is a truncated answer.
                if outcomes
                    .get(whole)
                    .is_some_and(|outcome| outcome == "200 truncated:length")
                {
                    rest.next();
                }
                assert!(
                    rest.all(|outcome| outcome == "unanswered"),
                    "{label}: {outcomes:?}"
                );
                assert!(whole == left.len() || !client.is_open(), "{label}");
                left.drain(..whole);
            }
        }
    }
}

/// A server that mishandles pipelining and sends invalid bytes after its first answer. From then
/// on it gets one request at a time and delivers all pages.
#[tokio::test]
async fn a_server_that_breaks_under_pipelining_gets_one_request_at_a_time() {
    let two_lengths = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx";
    let no_chunks = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nhello";
    let upgrade = "HTTP/1.1 101 Switching\r\n\r\n";
    let cases: [(&str, &str, &str); 6] = [
        ("garbage", "<html>", "unanswered"),
        ("silence", "", "unanswered"),
        ("half a head", "HTTP/1.1 200 OK\r\nA", "unanswered"),
        ("two lengths", two_lengths, "200"),
        ("chunks that are none", no_chunks, "200 truncated:malformed"),
        ("an upgrade", upgrade, "unanswered"),
    ];
    for (name, second, wanted) in cases {
        let server = Raw::start(move |_, mut tcp| {
            Box::pin(async move {
                while let Some(path) = take(&mut tcp, 1).await.pop() {
                    // A second request that arrives before the answer to the first confuses it.
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    let confused = tcp.try_read(&mut [0; 1]).is_ok_and(|read| read > 0);
                    tcp.write_all(&page(&path)).await.unwrap();
                    if confused {
                        tcp.write_all(second.as_bytes()).await.unwrap();
                        let _ = tokio::io::copy(&mut tcp, &mut tokio::io::sink()).await;
                        return;
                    }
                }
            })
        })
        .await;
        let urls = server.pages(4);
        let mut client = TestClient::new(FetchOptions {
            limits: FetchLimits {
                first_byte: Duration::from_millis(1500),
                ..FetchLimits::default()
            },
            ..depth(4)
        });
        let answers = client.get_all(&urls).await;
        let outcomes = summaries(&answers);
        assert_eq!(
            outcomes,
            ["200", wanted, "unanswered", "unanswered"],
            "{name}"
        );
        assert!(!client.is_open(), "{name}");
        let again = client.get_all(&urls).await;
        assert_eq!(summaries(&again), ["200"; 4], "{name}");
        each_its_own(&urls, &again);
        let connection = client.connection.unwrap();
        assert_eq!((connection.width(), connection.served()), (1, 4), "{name}");
        assert_eq!(server.connections(), 2, "{name}");
    }
}

/// More answers than requests: their assignment is in doubt.
#[tokio::test]
async fn an_answer_too_many_ends_pipelining() {
    let server = Raw::start(|_, mut tcp| {
        Box::pin(async move {
            let paths = take(&mut tcp, 2).await;
            let mut bytes: Vec<u8> = paths.iter().flat_map(|path| page(path)).collect();
            bytes.extend(page("/evil"));
            tcp.write_all(&bytes).await.unwrap();
            take(&mut tcp, 1).await;
        })
    })
    .await;
    let urls = server.pages(2);
    let mut client = TestClient::new(depth(4));
    let answers = client.get_all(&urls).await;
    assert_eq!(summaries(&answers), ["200"; 2]);
    each_its_own(&urls, &answers);
    assert!(!client.is_open());
    assert_eq!(client.connect(&urls[0]).await.unwrap().width(), 1);
}

#[tokio::test]
async fn a_slow_first_page_does_not_reduce_the_width() {
    let server = ScriptedServer::start(|_| vec![ServerAction::Hang]).await;
    let mut client = TestClient::new(FetchOptions {
        limits: FetchLimits {
            first_byte: Duration::from_millis(200),
            ..FetchLimits::default()
        },
        ..depth(4)
    });
    let urls = ["/slow", "/next", "/next"].map(|path| server.url(path));
    let answers = client.get_all(&urls).await;
    let outcomes = summaries(&answers);
    assert_eq!(outcomes, ["timeout:first-byte", "unanswered", "unanswered"]);
    assert_eq!(client.connect(&urls[0]).await.unwrap().width(), 4);
}

/// A server closes each connection after `limit` answers, and eight pages are requested each time.
/// The third connection has the width that the server has shown it can answer.
#[tokio::test]
async fn the_width_is_what_a_server_answers() {
    let cases = [(0, 1), (1, 1), (2, 2), (5, 5), (7, 7), (8, 8), (100, 8)];
    for (limit, width) in cases {
        let server = Raw::start(move |_, mut tcp| {
            Box::pin(async move {
                if answer_up_to(&mut tcp, limit).await {
                    // Closes only after a request arrived, so that the connection does not end
                    // idle.
                    take(&mut tcp, 1).await;
                    hang_up(tcp).await;
                }
            })
        })
        .await;
        let urls = server.pages(8);
        let mut client = TestClient::new(depth(8));
        for round in 0..2 {
            assert_eq!(
                client.connect(&urls[0]).await.unwrap().width(),
                8,
                "{limit}, {round}"
            );
            client.get_all(&urls).await;
        }
        let third = client.connect(&urls[0]).await.unwrap();
        assert_eq!(third.width(), width, "{limit}");
    }
}

/// A server closes each connection after ten answers and gets four requests at a time. The third
/// group of four is cut each time, which is no reason to reduce the width.
#[tokio::test]
async fn a_limit_of_requests_per_connection_does_not_reduce_the_width() {
    let server = Raw::start(|_, mut tcp| {
        Box::pin(async move {
            if answer_up_to(&mut tcp, 10).await {
                hang_up(tcp).await;
            }
        })
    })
    .await;
    let urls = server.pages(4);
    let client = TestClient::new(depth(4));
    for round in 0..4 {
        let mut connection = client.connect(&urls[0]).await.unwrap();
        assert_eq!(connection.width(), 4, "{round}");
        for wanted in [4, 4, 2] {
            let answers = ask_all(&mut connection, &urls).await;
            let answers = answers.iter().filter(|answer| answer.outcome.is_ok());
            assert_eq!(answers.count(), wanted, "{round}");
        }
    }
}

/// A kept connection that closes before its first answer was kept too long; pipelining is not at
/// fault.
#[tokio::test]
async fn a_kept_connection_that_ends_does_not_reduce_the_width() {
    let server = Raw::start(|_, mut tcp| {
        Box::pin(async move {
            answer_up_to(&mut tcp, 1).await;
            // Closes only after a request arrived, so that the client cannot know.
            take(&mut tcp, 1).await;
            hang_up(tcp).await;
        })
    })
    .await;
    let urls = server.pages(4);
    let client = TestClient::new(depth(4));
    for round in 0..4 {
        let mut connection = client.connect(&urls[0]).await.unwrap();
        assert_eq!(connection.width(), 4, "{round}");
        assert_eq!(summary(&connection.get(&request(&urls[0])).await), "200");
        let answers = ask_all(&mut connection, &urls).await;
        assert_eq!(summaries(&answers), ["unanswered"; 4], "{round}");
    }
}

/// A kept connection that the server closed meanwhile: all requests can be repeated, pipelined
/// or not.
#[tokio::test]
async fn a_connection_that_ended_meanwhile_reports_all_requests() {
    for http in [HttpMode::Http11, depth(4).http] {
        let server = ScriptedServer::start(|_| vec![send(page("/a")), ServerAction::Close]).await;
        let mut client = TestClient::new(FetchOptions {
            http,
            ..open_settings()
        });
        let url = server.url("/a");
        assert_eq!(summary(&client.get(&url).await), "200");
        tokio::time::sleep(Duration::from_millis(100)).await;
        let urls = [url.clone(), url.clone(), url];
        let answers = ask_all(client.connection.as_mut().unwrap(), &urls).await;
        assert_eq!(summaries(&answers), ["unanswered"; 3], "{http:?}");
    }
}

/// A server that announces the close with the last requested page has answered everything.
#[tokio::test]
async fn a_close_after_the_last_page_does_not_reduce_the_width() {
    let server = ScriptedServer::start(|asked| {
        let close = if asked.path == "/last" {
            "Connection: close\r\n"
        } else {
            ""
        };
        let head = format!("HTTP/1.1 200 OK\r\n{close}Content-Length: 2\r\n\r\nok");
        vec![send(head)]
    })
    .await;
    let urls = ["/a", "/b", "/last"].map(|path| server.url(path));
    let mut client = TestClient::new(depth(4));
    for round in 0..4 {
        let answers = client.get_all(&urls).await;
        assert_eq!(summaries(&answers), ["200"; 3], "{round}");
        assert_eq!(client.connection.as_ref().unwrap().width(), 4, "{round}");
        assert!(!client.is_open(), "{round}");
    }
}

#[tokio::test]
async fn a_single_early_end_between_complete_batches_does_not_reduce_the_width() {
    let server = Raw::start(|nth, mut tcp| {
        Box::pin(async move {
            if answer_up_to(&mut tcp, if nth % 2 == 0 { 1 } else { 8 }).await {
                hang_up(tcp).await;
            }
        })
    })
    .await;
    let urls = server.pages(4);
    let mut client = TestClient::new(depth(4));
    for _ in 0..6 {
        client.get_all(&urls).await;
        assert_eq!(client.connection.as_ref().unwrap().width(), 4);
    }
}

/// A single request has the same outcome over a pipelined connection as over a plain one.
#[tokio::test]
async fn a_single_request_has_the_outcome_of_a_plain_connection() {
    let server = ScriptedServer::start(|asked| match asked.path.as_str() {
        "/close" => vec![ServerAction::Close],
        _ => vec![send("garbage\r\n")],
    })
    .await;
    let (next, close, bad) = (
        server.url("/next"),
        server.url("/close"),
        server.url("/bad"),
    );
    let client = TestClient::new(depth(4));
    let mut kept = client.connect(&next).await.unwrap();
    assert_eq!(summary(&kept.get(&request(&next)).await), "200");
    assert_eq!(summary(&kept.get(&request(&close)).await), "stale");
    assert_eq!(summary(&kept.get(&request(&next)).await), "stale");
    let mut new = client.connect(&next).await.unwrap();
    assert_eq!(summary(&new.get(&request(&close)).await), "reset");
    let mut other = client.connect(&next).await.unwrap();
    assert_eq!(summary(&other.get(&request(&bad)).await), "protocol-error");
    let elsewhere = PageUrl::parse("http://127.0.0.1:1/").unwrap();
    let mut mixed = client.connect(&next).await.unwrap();
    let answers = ask_all(&mut mixed, &[elsewhere.clone(), next, elsewhere]).await;
    let wanted = ["refused:other-server", "200", "refused:other-server"];
    assert_eq!(summaries(&answers), wanted);
    assert!(mixed.is_open());
    assert_eq!(mixed.width(), 4);
}

/// Bytes that arrive while no request is in flight end the connection.
#[tokio::test]
async fn stray_bytes_end_the_connection() {
    let server = Raw::start(|_, mut tcp| {
        Box::pin(async move {
            for path in take(&mut tcp, 2).await {
                tcp.write_all(&page(&path)).await.unwrap();
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
            tcp.write_all(&page("/evil")).await.unwrap();
            take(&mut tcp, 1).await;
        })
    })
    .await;
    let urls = server.pages(2);
    let mut client = TestClient::new(depth(4));
    client.get_all(&urls).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    let connection = client.connection.as_mut().unwrap();
    let refused = connection.get(&request(&urls[0])).await;
    assert_eq!(refused.outcome.unwrap_err(), Trouble::Unsolicited);
    assert!(!connection.is_open());
}

/// Answers to requests that are not written yet are refused, even if they are correct.
#[tokio::test]
async fn answers_before_their_requests_are_refused() {
    let server = Raw::start(|number, mut tcp| {
        Box::pin(async move {
            let mut paths = take(&mut tcp, 2).await;
            if number == 0 {
                paths.extend(["/2", "/3"].map(str::to_owned));
                let all: Vec<u8> = paths.iter().flat_map(|path| page(path)).collect();
                tcp.write_all(&all).await.unwrap();
                take(&mut tcp, 3).await;
            }
        })
    })
    .await;
    let urls = server.pages(4);
    let mut client = TestClient::new(depth(2));
    let answers = client.get_all(&urls).await;
    assert_eq!(
        summaries(&answers),
        ["200", "200", "unanswered", "unanswered"]
    );
    assert!(!client.is_open());
    assert_eq!(client.connect(&urls[0]).await.unwrap().width(), 1);
}

/// Dropping the future before it completes ends the connection.
#[tokio::test]
async fn an_abandoned_batch_ends_the_connection() {
    let server = ScriptedServer::start(|_| vec![ServerAction::Hang]).await;
    let client = TestClient::new(depth(4));
    let urls = ["/next", "/hang", "/next"].map(|path| server.url(path));
    let requests: Vec<_> = urls.iter().map(request).collect();
    let mut connection = client.connect(&urls[0]).await.unwrap();
    let mut outcomes = Vec::new();
    let batch = connection.get_all(&requests, |place, _| outcomes.push(place));
    assert!(
        tokio::time::timeout(Duration::from_millis(500), batch)
            .await
            .is_err()
    );
    assert_eq!(outcomes, [0]);
    assert!(!connection.is_open());
    assert_eq!(summary(&connection.get(&requests[0]).await), "stale");
}

/// Over TLS, stray bytes are detected only by reading.
#[tokio::test]
async fn answers_are_not_swapped_and_stray_bytes_end_the_connection_over_tls() {
    let authority = Authority::new("trusted");
    let accept = acceptor(authority.sign(&["127.0.0.1"], 2020..2090), &["http/1.1"]);
    let script = |asked: &crate::scripted::ReceivedRequest| {
        let stray = if asked.path == "/stray" {
            "HTTP/1.1 200 OK\r\n\r\n"
        } else {
            ""
        };
        vec![send(page(&asked.path)), send(stray)]
    };
    let server = ScriptedServer::start_with(script, begin(accept)).await;
    let mut client = TestClient::new(FetchOptions {
        http: HttpMode::Pipelined(PipelineDepth::new(4).unwrap()),
        ..settings(&authority)
    });
    let urls: Vec<PageUrl> = (0..10).map(|n| secure(&server, &format!("/{n}"))).collect();
    let answers = client.get_all(&urls).await;
    assert_eq!(summaries(&answers), ["200"; 10]);
    each_its_own(&urls, &answers);
    let connection = client.connection.as_mut().unwrap();
    assert!(connection.is_open());
    let stray = secure(&server, "/stray");
    assert_eq!(summary(&connection.get(&request(&stray)).await), "200");
    tokio::time::sleep(Duration::from_millis(300)).await;
    let refused = connection.get(&request(&urls[0])).await;
    assert_eq!(refused.outcome.unwrap_err(), Trouble::Unsolicited);
}
