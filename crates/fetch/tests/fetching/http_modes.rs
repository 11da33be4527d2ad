//! Tests that the HTTP version in use is the configured one, or the one that the server speaks.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::hostile_tls::{Authority, Begun, acceptor, secure, settings};
use crate::scripted::{
    NEXT, ScriptedServer, ServerAction, TestClient, open_settings, request, send, summaries,
    summary,
};
use fetch::{FetchOptions, HttpMode, PipelineDepth};
use http::Version;
use page::url::PageUrl;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::LazyConfigAcceptor;

fn speaking(http: HttpMode) -> FetchOptions {
    FetchOptions {
        http,
        ..open_settings()
    }
}

fn pipelined() -> HttpMode {
    HttpMode::Pipelined(PipelineDepth::default())
}

#[test]
fn a_depth_is_2_to_32() {
    let depths: Vec<u8> = (0..=255)
        .filter(|&n| PipelineDepth::new(n).is_some())
        .collect();
    assert_eq!(depths, (2..=32).collect::<Vec<u8>>());
}

/// HTTP/1.0 uses a connection for each request, even if the server would keep it open.
#[tokio::test]
async fn http10_uses_a_connection_for_each_request() {
    let kept = "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok";
    let newer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    for answer in [kept, newer] {
        let server = ScriptedServer::start(move |_| vec![send(answer)]).await;
        let mut client = TestClient::new(speaking(HttpMode::Http10));
        for path in ["/a", "/b"] {
            assert_eq!(summary(&client.get(&server.url(path)).await), "200");
            assert!(!client.is_open());
            let connection = client.connection.as_ref().unwrap();
            assert_eq!((connection.served(), connection.width()), (1, 1));
            assert_eq!(connection.version(), Version::HTTP_10);
        }
        for (head, path) in server.asked.lock().unwrap().iter().zip(["/a", "/b"]) {
            let lines: Vec<&str> = head.lines().collect();
            assert_eq!(lines[0], format!("GET {path} HTTP/1.0"));
            assert!(lines.contains(&"connection: close"), "{head}");
            assert!(lines.contains(&format!("host: {}", server.address).as_str()));
        }
        let answers = client.get_all(&[server.url("/c"), server.url("/d")]).await;
        assert_eq!(summaries(&answers), ["200", "unanswered"]);
    }
}

/// HTTP/1.1 requests have the same bytes, pipelined or not.
#[tokio::test]
async fn http11_requests_have_the_same_bytes() {
    let mut said = Vec::new();
    for http in [HttpMode::Auto, HttpMode::Http11, pipelined()] {
        let server = ScriptedServer::start(|_| vec![]).await;
        let mut client = TestClient::new(speaking(http));
        let next = server.url("/next");
        let request = fetch::FetchRequest {
            url: &next,
            etag: Some("\"x\""),
            last_modified: Some("Wed, 21 Oct 2015 07:28:00 GMT"),
        };
        for _ in 0..2 {
            assert_eq!(summary(&client.ask(&request).await), "200");
        }
        let connection = client.connection.unwrap();
        assert_eq!(connection.version(), Version::HTTP_11);
        assert_eq!((connection.served(), connection.is_open()), (2, true));
        let asked = server.asked.lock().unwrap();
        said.push(asked[0].replace(&server.address.to_string(), "server"));
        assert_eq!(asked[0], asked[1]);
    }
    assert!(said[0].starts_with("GET /next HTTP/1.1\r\n"));
    assert!(said[0].contains("\r\nif-none-match: \"x\"\r\n"));
    assert_eq!(said[0], said[1]);
    assert_eq!(said[0], said[2]);
}

/// Starts a server that records the ALPN protocols offered to it and selects one of its own.
async fn listening(
    authority: &Authority,
    speaks: &'static [&'static str],
) -> (ScriptedServer, Offers) {
    let accept = acceptor(authority.sign(&["127.0.0.1"], 2020..2090), speaks);
    let offers = Offers::default();
    let recorded = Arc::clone(&offers);
    let begin = move |tcp: TcpStream| -> Begun {
        let (config, recorded) = (Arc::clone(accept.config()), Arc::clone(&recorded));
        Box::pin(async move {
            let start = LazyConfigAcceptor::new(Default::default(), tcp)
                .await
                .ok()?;
            let offered = start.client_hello().alpn().into_iter().flatten();
            let offered: Vec<String> = offered
                .map(|name| String::from_utf8_lossy(name).into_owned())
                .collect();
            recorded.lock().unwrap().push(offered.join(","));
            let tls = start.into_stream(config).await.ok()?;
            if tls.get_ref().1.alpn_protocol() != Some(b"h2") {
                return Some(tls);
            }
            answer_http2(tls).await;
            None
        })
    };
    (ScriptedServer::start_with(|_| vec![], begin).await, offers)
}

type Offers = Arc<Mutex<Vec<String>>>;

/// Answers every request in HTTP/2.
async fn answer_http2(stream: impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin) {
    let Ok(mut connection) = h2::server::handshake(stream).await else {
        return;
    };
    while let Some(Ok((_, mut respond))) = connection.accept().await {
        let found = http::Response::new(());
        let mut body = respond.send_response(found, false).unwrap();
        body.send_data("two".into(), true).unwrap();
    }
}

#[tokio::test]
async fn the_mode_decides_which_protocols_are_offered_over_tls() {
    let authority = Authority::new("trusted");
    let both = "h2,http/1.1";
    let one = "http/1.1";
    // For each server, by the protocols it speaks, and for each mode: the protocols offered on
    // each connection, the outcome of the first request, and the final version.
    type Wanted = (&'static str, &'static str, Version);
    let cases: [(&[&str], [Wanted; 5]); 4] = [
        (
            &["h2", "http/1.1"],
            [
                (both, "200", Version::HTTP_2),
                (one, "200", Version::HTTP_10),
                (one, "200", Version::HTTP_11),
                (one, "200", Version::HTTP_11),
                ("h2", "200", Version::HTTP_2),
            ],
        ),
        (
            &["http/1.1"],
            [
                (both, "200", Version::HTTP_11),
                (one, "200", Version::HTTP_10),
                (one, "200", Version::HTTP_11),
                (one, "200", Version::HTTP_11),
                ("h2 http/1.1", "http2:not-spoken", Version::HTTP_11),
            ],
        ),
        (
            &[],
            [
                (both, "200", Version::HTTP_11),
                (one, "200", Version::HTTP_10),
                (one, "200", Version::HTTP_11),
                (one, "200", Version::HTTP_11),
                ("h2 http/1.1", "http2:not-spoken", Version::HTTP_11),
            ],
        ),
        (
            &["h2"],
            [
                (both, "200", Version::HTTP_2),
                (one, "http1:not-spoken", Version::HTTP_09),
                (one, "http1:not-spoken", Version::HTTP_09),
                (one, "http1:not-spoken", Version::HTTP_09),
                ("h2", "200", Version::HTTP_2),
            ],
        ),
    ];
    let modes = [
        HttpMode::Auto,
        HttpMode::Http10,
        HttpMode::Http11,
        pipelined(),
        HttpMode::Http2,
    ];
    for (speaks, wanted) in cases {
        for (http, (offered, first, version)) in modes.into_iter().zip(wanted) {
            let (server, offers) = listening(&authority, speaks).await;
            let mut client = TestClient::new(FetchOptions {
                http,
                ..settings(&authority)
            });
            let page = secure(&server, "/next");
            let label = format!("{http:?} to a server of {speaks:?}");
            assert_eq!(summary(&client.get(&page).await), first, "{label}");
            if first == "http2:not-spoken" {
                assert_eq!(summary(&client.get(&page).await), "200", "{label}: again");
            }
            assert_eq!(offers.lock().unwrap().join(" "), offered, "{label}");
            let spoken = client.connection.map(|connection| connection.version());
            assert_eq!(spoken.unwrap_or(Version::HTTP_09), version, "{label}");
        }
    }
}

/// A server that speaks only HTTP/2 is asked in it again, although it violated HTTP/2 once.
#[tokio::test]
async fn a_server_without_http11_is_asked_in_http2_again() {
    let authority = Authority::new("trusted");
    let accept = acceptor(authority.sign(&["127.0.0.1"], 2020..2090), &["h2"]);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let page = format!("https://{}/", listener.local_addr().unwrap());
    let page = PageUrl::parse(&page).unwrap();
    tokio::spawn(async move {
        let mut broken = false;
        while let Ok((tcp, _)) = listener.accept().await {
            let Ok(mut tls) = accept.accept(tcp).await else {
                continue;
            };
            if std::mem::replace(&mut broken, true) {
                answer_http2(tls).await;
            } else {
                tls.write_all(b"no HTTP/2 at all").await.unwrap();
                tls.read_to_end(&mut Vec::new()).await.ok();
            }
        }
    });
    let mut client = TestClient::new(settings(&authority));
    for wanted in ["http2", "http1:not-spoken", "200"] {
        assert_eq!(summary(&client.get(&page).await), wanted);
    }
    assert_eq!(client.connection.unwrap().version(), Version::HTTP_2);
}

/// Without TLS, HTTP/2 is used from the first byte.
#[tokio::test]
async fn http2_without_tls_is_used_from_the_first_byte() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let page = PageUrl::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
    tokio::spawn(async move {
        let (tcp, _) = listener.accept().await.unwrap();
        answer_http2(tcp).await;
    });
    let mut client = TestClient::new(speaking(HttpMode::Http2));
    for _ in 0..2 {
        let response = client.get(&page).await.outcome.unwrap();
        assert_eq!(&response.content[..], b"two");
    }
    let connection = client.connection.unwrap();
    assert_eq!(
        (connection.version(), connection.served()),
        (Version::HTTP_2, 2)
    );
}

/// Starts a server that sends `reply` to anything but HTTP/1.1, and records the first line
/// received on each connection.
async fn only_http1(reply: &'static str) -> (PageUrl, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let page = format!("http://{}/next", listener.local_addr().unwrap());
    let first_lines = Arc::new(Mutex::new(Vec::new()));
    let recorded = Arc::clone(&first_lines);
    tokio::spawn(async move {
        while let Ok((mut tcp, _)) = listener.accept().await {
            let mut said = vec![0; 4096];
            let length = tcp.read(&mut said).await.unwrap();
            let line = String::from_utf8_lossy(&said[..length]);
            let line = line.lines().next().unwrap().to_owned();
            let is_http1 = line.ends_with("HTTP/1.1");
            recorded.lock().unwrap().push(line);
            let reply = if is_http1 { NEXT } else { reply };
            let _ = tcp.write_all(reply.as_bytes()).await;
        }
    });
    (PageUrl::parse(&page).unwrap(), first_lines)
}

/// A server without HTTP/2 is asked once in HTTP/2, then in HTTP/1.1: its page is late but not
/// lost.
#[tokio::test]
async fn a_server_without_http2_is_asked_in_http11() {
    let complaint = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
    #[derive(Clone, Copy, PartialEq)]
    enum RequestTiming {
        AtOnce,
        /// After the server has replied to the beginning of the connection.
        Later,
        ForSeveral,
    }
    for (name, reply, asked) in [
        ("complains", complaint, RequestTiming::AtOnce),
        ("hangs up", "", RequestTiming::AtOnce),
        ("complained", complaint, RequestTiming::Later),
        ("hung up", "", RequestTiming::Later),
        ("complains to several", complaint, RequestTiming::ForSeveral),
        ("hangs up on several", "", RequestTiming::ForSeveral),
    ] {
        let (page, first_lines) = only_http1(reply).await;
        let mut client = TestClient::new(speaking(HttpMode::Http2));
        if asked == RequestTiming::ForSeveral {
            let answers = client.get_all(&[page.clone(), page.clone()]).await;
            assert_eq!(summaries(&answers), ["unanswered"; 2], "{name}");
        } else {
            let mut connection = client.connect(&page).await.unwrap();
            if asked == RequestTiming::Later {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
            let first = connection.get(&request(&page)).await;
            assert_eq!(summary(&first), "http2:not-spoken", "{name}");
            client.connection = Some(connection);
        }
        assert!(!client.is_open(), "{name}");
        assert_eq!(summary(&client.get(&page).await), "200", "{name}");
        assert_eq!(
            client.connection.unwrap().version(),
            Version::HTTP_11,
            "{name}"
        );
        let recorded = first_lines.lock().unwrap();
        assert_eq!(
            *recorded,
            ["PRI * HTTP/2.0", "GET /next HTTP/1.1"],
            "{name}"
        );
    }
}

/// The request for robots.txt is repeated at once in the other HTTP version, not at the next
/// visit.
#[tokio::test]
async fn the_robots_request_is_repeated_at_once() {
    let (page, first_lines) = only_http1("").await;
    let mut client = TestClient::new(speaking(HttpMode::Http2));
    let answer = client.fetcher.robots(&page, &mut client.connection).await;
    assert_eq!(answer.verdict, fetch::RobotsVerdict::Found("next".into()));
    let recorded = first_lines.lock().unwrap();
    assert_eq!(*recorded, ["PRI * HTTP/2.0", "GET /robots.txt HTTP/1.1"]);
}

/// Without pipelining, several requests are sent one after the other while the connection lasts.
#[tokio::test]
async fn requests_without_pipelining_are_sent_in_turn() {
    let server = ScriptedServer::start(|asked| {
        let close = if asked.path == "/last" {
            "Connection: close\r\n"
        } else {
            ""
        };
        let head = format!("HTTP/1.1 200 OK\r\n{close}Content-Length: 2\r\n\r\nok");
        let mut steps = vec![send(head)];
        steps.extend((asked.path == "/last").then_some(ServerAction::Close));
        steps
    })
    .await;
    let mut client = TestClient::new(speaking(HttpMode::Http11));
    let urls = ["/a", "/b", "/last", "/c", "/d"].map(|path| server.url(path));
    let answers = client.get_all(&urls).await;
    let outcomes = summaries(&answers);
    assert_eq!(outcomes, ["200", "200", "200", "unanswered", "unanswered"]);
    assert_eq!(client.connection.unwrap().width(), 1);
}
