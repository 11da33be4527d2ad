//! Tests when a connection may be reused: unsolicited bytes, stale connections, verbatim heads.

use std::io::Write;
use std::time::Duration;

use crate::hostile_http::gzip;
use crate::rows::head;
use crate::scripted::{
    ScriptedServer, ServerAction, TestClient, open_settings, request, send, summary,
};
use fetch::{HttpMode, PipelineDepth, Trouble};

/// Rows 13, 16, 19: unsolicited bytes are never taken for an answer.
#[tokio::test]
async fn stray_bytes_end_the_connection() {
    let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL";
    let fair = head("Content-Length: 4\r\n") + "fair";
    let pause = Duration::from_millis(50);
    let cases: Vec<(&str, Vec<ServerAction>)> = vec![
        ("in the same packet", vec![send(fair.clone() + evil)]),
        (
            "a moment later",
            vec![
                send(&fair),
                ServerAction::Drip(evil.as_bytes().to_vec(), Duration::ZERO),
            ],
        ),
        (
            "much later",
            vec![
                send(&fair),
                ServerAction::Drip(b"\r".to_vec(), pause),
                send(evil),
            ],
        ),
        (
            "after no content",
            vec![send(format!("HTTP/1.1 304 Not Modified\r\n\r\n{evil}"))],
        ),
    ];
    for (name, steps) in cases {
        let server = ScriptedServer::start(move |_| steps.clone()).await;
        let mut client = TestClient::new(open_settings());
        client.get(&server.url("/first")).await.outcome.unwrap();
        tokio::time::sleep(pause * 4).await;
        let url = server.url("/next");
        let kept = client.connection.as_mut().unwrap();
        let refused = kept.get(&request(&url)).await;
        assert_eq!(refused.outcome.unwrap_err(), Trouble::Unsolicited, "{name}");
        assert!(!kept.is_open(), "{name}");
        let next = client.get(&url).await.outcome.unwrap();
        assert_eq!(&next.content[..], b"next", "{name}");
    }
}

/// Row 19: stray bytes are found by peeking through the kernel.
///
/// The reactor cannot know of them, because nothing is awaited between the stray bytes and the
/// next request.
#[tokio::test]
async fn stray_bytes_are_seen_before_the_reactor_reports_them() {
    use std::io::Read;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (say, said) = std::sync::mpsc::channel();
    let (done, is_done) = std::sync::mpsc::channel();
    let server = std::thread::spawn(move || {
        let (mut tcp, _) = listener.accept().unwrap();
        assert!(tcp.read(&mut [0; 4096]).unwrap() > 0);
        tcp.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfair")
            .unwrap();
        let () = said.recv().unwrap();
        tcp.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL")
            .unwrap();
        done.send(()).unwrap();
    });
    let url = page::PageUrl::parse(&format!("http://{address}/")).unwrap();
    let mut connection = TestClient::new(open_settings())
        .connect(&url)
        .await
        .unwrap();
    let request = request(&url);
    assert_eq!(summary(&connection.get(&request).await), "200");
    say.send(()).unwrap();
    is_done.recv().unwrap();
    let refused = connection.get(&request).await;
    assert_eq!(refused.outcome.unwrap_err(), Trouble::Unsolicited);
    server.join().unwrap();
}

/// Row 14: a server that sends an answer over a new connection before the request.
#[tokio::test]
async fn an_answer_before_the_first_request_is_refused() {
    for http in [
        HttpMode::Auto,
        HttpMode::Http10,
        HttpMode::Pipelined(PipelineDepth::default()),
    ] {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let url = page::PageUrl::parse(&url).unwrap();
        let client = TestClient::new(fetch::FetchOptions {
            http,
            ..open_settings()
        });
        let (connection, accepted) = tokio::join!(client.connect(&url), listener.accept());
        let (mut connection, (mut tcp, _)) = (connection.unwrap(), accepted.unwrap());
        let evil = head("Content-Length: 4\r\n") + "EVIL";
        tokio::io::AsyncWriteExt::write_all(&mut tcp, evil.as_bytes())
            .await
            .unwrap();
        let answer = connection.get(&request(&url)).await;
        assert_eq!(summary(&answer), "protocol-error", "{http:?}");
        assert!(!connection.is_open(), "{http:?}");
    }
}

/// Row 19: a connection that the server promised to keep open and closed.
#[tokio::test]
async fn a_stale_connection_is_reported() {
    let server = ScriptedServer::start(|asked| match asked.path.as_str() {
        "/ok" => vec![send(head("Content-Length: 2\r\n") + "ok")],
        "/ok-then-close" => vec![
            send(head("Content-Length: 2\r\n") + "ok"),
            ServerAction::Close,
        ],
        _ => vec![ServerAction::Close],
    })
    .await;
    let mut client = TestClient::new(open_settings());
    let url = server.url("/ok");
    let mut connection = client.connect(&url).await.unwrap();
    assert_eq!(summary(&connection.get(&request(&url)).await), "200");
    assert_eq!(connection.served(), 1);
    assert!(connection.is_open());
    // Closed without a byte of an answer: it may have been closed before the request arrived.
    let gone = server.url("/gone");
    assert_eq!(summary(&connection.get(&request(&gone)).await), "stale");
    assert!(!connection.is_open());
    assert_eq!(
        summary(&connection.get(&request(&url)).await),
        "stale",
        "a stale connection stays stale"
    );
    // On a fresh connection the same is a reset.
    assert_eq!(summary(&client.get(&gone).await), "reset");
    // Closed while idle.
    assert_eq!(
        summary(&client.get(&server.url("/ok-then-close")).await),
        "200"
    );
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(summary(&client.get(&server.url("/next")).await), "200");
}

#[tokio::test]
async fn a_connection_serves_one_host_and_ends_with_an_abandoned_request() {
    let server = ScriptedServer::start(|_| vec![ServerAction::Hang]).await;
    let other = ScriptedServer::start(|_| vec![ServerAction::Hang]).await;
    let client = TestClient::new(open_settings());
    let next = server.url("/next");
    let mut connection = client.connect(&next).await.unwrap();
    let elsewhere = other.url("/next");
    assert_eq!(
        summary(&connection.get(&request(&elsewhere)).await),
        "refused:other-server"
    );
    assert_eq!(
        summary(&connection.get(&request(&next)).await),
        "200",
        "nothing was sent, so it is as good as before"
    );
    let route = client.fetcher.route(&next).await.unwrap();
    let crossed = client
        .fetcher
        .connect(&elsewhere, &route)
        .await
        .err()
        .unwrap();
    assert_eq!(crossed.kind(), "refused:other-server");
    let hang = server.url("/hang");
    let abandoned =
        tokio::time::timeout(Duration::from_millis(50), connection.get(&request(&hang))).await;
    assert!(abandoned.is_err());
    assert!(!connection.is_open());
    assert_eq!(summary(&connection.get(&request(&next)).await), "stale");
}

/// The archived head and body are exactly the bytes received.
#[tokio::test]
async fn the_head_is_verbatim() {
    let odd = "HTTP/1.1 200  Fine\r\nX-oDD:   spaced  \r\nset-cookie: a\r\nSet-Cookie: b\r\nContent-Encoding: gzip\r\n";
    let body = gzip(b"hello");
    let whole = format!("{odd}Content-Length: {}\r\n\r\n", body.len());
    let bytes = [whole.as_bytes(), &body].concat();
    let early = b"HTTP/1.1 100 Continue\r\n\r\n".to_vec();
    let length = (early.len() + bytes.len()) as u64;
    let server = ScriptedServer::start(move |_| {
        vec![
            ServerAction::Drip(early.clone(), Duration::ZERO),
            send(bytes.clone()),
        ]
    })
    .await;
    let mut client = TestClient::new(open_settings());
    for _ in 0..2 {
        let answer = client.get(&server.url("/")).await;
        assert_eq!(answer.wire_bytes, length);
        let response = answer.outcome.unwrap();
        assert_eq!(response.head, whole);
        assert_eq!(response.body, body);
        assert_eq!(&response.content[..], b"hello");
    }
    assert_eq!(client.connection.unwrap().served(), 2);
}
