//! Tests concurrent requests over the streams of HTTP/2.
//!
//! **Invariant:** the body of a page is its path, so that swapped answers are detected.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::scripted::{TestClient, ask_all, open_settings, summaries, summary};
use bytes::Bytes;
use fetch::{FetchAnswer, FetchLimits, FetchOptions, HttpMode};
use h2::server::SendResponse;
use page::url::PageUrl;
use tokio::net::{TcpListener, TcpStream};

type Session = h2::server::Connection<TcpStream, Bytes>;
type Respond = SendResponse<Bytes>;

/// Starts an HTTP/2 server that allows `streams` streams and calls `serve` for each connection.
async fn server<F>(
    streams: u32,
    serve: impl Fn(Session) -> F + Send + 'static,
) -> (impl Fn(&str) -> PageUrl, Arc<AtomicUsize>)
where
    F: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let connections = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((tcp, _)) = listener.accept().await {
            count.fetch_add(1, Ordering::SeqCst);
            let mut builder = h2::server::Builder::new();
            builder.max_concurrent_streams(streams);
            if let Ok(session) = builder.handshake(tcp).await {
                tokio::spawn(serve(session));
            }
        }
    });
    let page = move |path: &str| PageUrl::parse(&format!("http://{address}{path}")).unwrap();
    (page, connections)
}

/// Waits until `count` requests are in flight.
async fn take(session: &mut Session, count: usize) -> Vec<(String, Respond)> {
    let mut taken = Vec::new();
    while taken.len() < count {
        match session.accept().await {
            Some(Ok((request, respond))) => taken.push((request.uri().path().to_owned(), respond)),
            _ => break,
        }
    }
    taken
}

fn answer((path, mut respond): (String, Respond)) {
    let mut body = respond
        .send_response(http::Response::new(()), false)
        .unwrap();
    body.send_data(path.into(), true).unwrap();
}

fn client(limits: FetchLimits) -> TestClient {
    TestClient::new(FetchOptions {
        http: HttpMode::Http2,
        limits,
        ..open_settings()
    })
}

/// Asserts that every answer is the requested page.
fn each_its_own(urls: &[PageUrl], answers: Vec<FetchAnswer>) {
    for (url, answer) in urls.iter().zip(answers) {
        let response = answer.outcome.unwrap();
        assert_eq!(response.content, url.path_and_query());
        assert_eq!(response.head, "HTTP/1.1 200 OK\r\n\r\n");
        assert_eq!(
            answer.wire_bytes,
            (response.head.len() + response.body.len()) as u64
        );
    }
}

/// The server answers only when it has all requests, and answers the last one first.
#[tokio::test]
async fn requests_are_in_flight_together_and_answered_in_any_order() {
    let (page, connections) = server(100, |mut session| async move {
        loop {
            let taken = take(&mut session, 5).await;
            if taken.is_empty() {
                return;
            }
            taken.into_iter().rev().for_each(answer);
        }
    })
    .await;
    let urls = ["/a", "/b", "/c", "/d", "/e"].map(&page);
    let mut client = client(FetchLimits::default());
    let answers = client.get_all(&urls).await;
    each_its_own(&urls, answers);
    let connection = client.connection.as_mut().unwrap();
    assert_eq!(
        (
            connection.served(),
            connection.is_open(),
            connection.width()
        ),
        (5, true, 16)
    );
    // The same connection again.
    let answers = ask_all(connection, &urls).await;
    each_its_own(&urls, answers);
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

/// The fetcher never uses more streams than the server allows, once it has announced its limit.
/// Before that, refused requests can be repeated.
#[tokio::test]
async fn no_more_streams_are_used_than_the_server_allows() {
    let most = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&most);
    let (page, _) = server(3, move |mut session| {
        let seen = Arc::clone(&seen);
        async move {
            if let Some(first) = take(&mut session, 1).await.pop() {
                answer(first);
            }
            loop {
                let taken = take(&mut session, 3).await;
                if taken.is_empty() {
                    return;
                }
                seen.fetch_max(taken.len(), Ordering::SeqCst);
                taken.into_iter().for_each(answer);
            }
        }
    })
    .await;
    let mut client = client(FetchLimits::default());
    assert_eq!(summary(&client.get(&page("/first")).await), "200");
    let connection = client.connection.as_mut().unwrap();
    assert_eq!(connection.width(), 3);
    let urls: Vec<PageUrl> = (0..12).map(|n| page(&format!("/{n}"))).collect();
    let answers = ask_all(connection, &urls).await;
    each_its_own(&urls, answers);
    assert_eq!(most.load(Ordering::SeqCst), 3);
    assert!(connection.is_open());
}

/// Resets the stream of `/b` for this reason, and answers all others.
async fn reset_b(mut session: Session, reason: h2::Reason) {
    while let Some((path, mut respond)) = take(&mut session, 1).await.pop() {
        if path == "/b" {
            respond.send_reset(reason);
        } else {
            answer((path, respond));
        }
    }
}

/// A page whose stream the server refuses can be requested again. The connection carries the other
/// pages.
#[tokio::test]
async fn a_reset_stream_affects_only_its_own_page() {
    let reasons = [
        (h2::Reason::REFUSED_STREAM, "unanswered"),
        (h2::Reason::INTERNAL_ERROR, "http2"),
        (h2::Reason::CANCEL, "http2"),
    ];
    for (reason, wanted) in reasons {
        let (page, connections) = server(100, move |session| reset_b(session, reason)).await;
        let mut client = client(FetchLimits::default());
        let answers = client.get_all(&["/a", "/b", "/c"].map(&page)).await;
        assert_eq!(summaries(&answers), ["200", wanted, "200"], "{reason:?}");
        let urls: Vec<PageUrl> = (0..40).map(|n| page(&format!("/{n}"))).collect();
        let answers = ask_all(client.connection.as_mut().unwrap(), &urls).await;
        assert_eq!(summaries(&answers), ["200"; 40], "{reason:?}");
        assert_eq!(connections.load(Ordering::SeqCst), 1, "{reason:?}");
    }
}

/// Sends one request at a time. The very first stream is reset.
#[tokio::test]
async fn a_reset_stream_does_not_end_http2() {
    let (page, connections) =
        server(100, |session| reset_b(session, h2::Reason::INTERNAL_ERROR)).await;
    let mut client = client(FetchLimits::default());
    for path in ["/b", "/a", "/b", "/b", "/b", "/b", "/c"] {
        let wanted = if path == "/b" { "http2" } else { "200" };
        assert_eq!(summary(&client.get(&page(path)).await), wanted, "{path}");
        assert!(client.is_open(), "{path}");
    }
    assert_eq!(connections.load(Ordering::SeqCst), 1);
    let again = client.connect(&page("/d")).await.unwrap();
    assert_eq!(again.version(), http::Version::HTTP_2);
}

/// A server that resets every stream gets HTTP/1.1 after three, or at once if it asks for it.
#[tokio::test]
async fn a_server_that_resets_all_is_asked_in_http11() {
    for (reason, tries) in [
        (h2::Reason::INTERNAL_ERROR, 3),
        (h2::Reason::HTTP_1_1_REQUIRED, 1),
    ] {
        let (page, _) = server(100, move |session| reset_b(session, reason)).await;
        let mut client = client(FetchLimits::default());
        for _ in 0..tries {
            let connection = client.connect(&page("/b")).await.unwrap();
            assert_eq!(connection.version(), http::Version::HTTP_2, "{reason:?}");
            assert_eq!(summary(&client.get(&page("/b")).await), "http2");
        }
        let after = client.connect(&page("/b")).await.unwrap();
        assert_eq!(after.version(), http::Version::HTTP_11, "{reason:?}");
    }
}

/// When the connection ends, every request in flight is reported and can be repeated.
#[tokio::test]
async fn requests_in_flight_can_be_repeated_when_the_connection_ends() {
    let (page, _) = server(100, |mut session| async move {
        let mut taken = take(&mut session, 4).await;
        answer(taken.remove(0));
        // Lets the answer be sent, then closes the connection.
        let _ = tokio::time::timeout(Duration::from_millis(50), session.accept()).await;
    })
    .await;
    let mut client = client(FetchLimits::default());
    let answers = client.get_all(&["/a", "/b", "/c", "/d"].map(page)).await;
    let outcomes = summaries(&answers);
    assert_eq!(outcomes, ["200", "unanswered", "unanswered", "unanswered"]);
    assert!(!client.is_open());
}

/// Only the slow page is late. After it, no new stream is opened over the connection.
#[tokio::test]
async fn only_the_slow_page_is_late() {
    let (page, _) = server(100, |mut session| async move {
        let mut held = Vec::new();
        while let Some(one) = take(&mut session, 1).await.pop() {
            if one.0 == "/late" {
                held.push(one);
            } else {
                answer(one);
            }
        }
    })
    .await;
    let mut client = client(FetchLimits {
        first_byte: Duration::from_secs(1),
        ..FetchLimits::default()
    });
    let answers = client.get_all(&["/a", "/late", "/b"].map(page)).await;
    assert_eq!(summaries(&answers), ["200", "timeout:first-byte", "200"]);
    assert!(!client.is_open());
}
