//! Tests of the protocols on one port: HTTP/1.0, HTTP/1.1, pipelining and HTTP/2.

use std::net::SocketAddr;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty};
use hyper::Request;
use hyper::client::conn::http2::SendRequest;
use hyper_util::rt::{TokioExecutor, TokioIo};
use testweb::site::{Latency, PageNumber, ServedWeb, ServerNumber, WebPlan};
use tokio::net::TcpStream;

use crate::client::ByteClient;
use crate::site::{address_of, fixed_latency, start};

/// A small web without changes and faults, whose servers differ in requests per connection.
fn plan() -> WebPlan {
    WebPlan {
        servers: 40,
        pages: 400,
        latency: Latency::None,
        ..WebPlan::two_level(3)
    }
}

/// Returns the first server whose number of requests per connection fulfils a condition.
fn server_with(serving: &ServedWeb, requests: impl Fn(u32) -> bool) -> (ServerNumber, u32) {
    let mut servers = serving.web().servers();
    let found = servers.find(|(_, habits)| requests(habits.requests_per_connection));
    let (server, habits) = found.unwrap();
    (server, habits.requests_per_connection)
}

type Http2 = SendRequest<Empty<Bytes>>;

/// Connects over HTTP/2 with prior knowledge. The task ends when the server closes the
/// connection.
async fn http2(address: SocketAddr) -> (Http2, tokio::task::JoinHandle<hyper::Result<()>>) {
    let stream = TcpStream::connect(address).await.unwrap();
    let io = TokioIo::new(stream);
    let handshake = hyper::client::conn::http2::handshake(TokioExecutor::new(), io);
    let (sender, connection) = handshake.await.unwrap();
    (sender, tokio::spawn(connection))
}

async fn get(sender: &mut Http2, url: String) -> hyper::Result<(u16, Bytes)> {
    let request = Request::get(url).body(Empty::new()).unwrap();
    let answer = sender.send_request(request).await?;
    let status = answer.status().as_u16();
    Ok((status, answer.into_body().collect().await?.to_bytes()))
}

#[tokio::test]
async fn http_1_0_is_answered_and_closed() {
    let serving = start(&plan()).await;
    let (server, _) = server_with(&serving, |requests| requests == 100);
    let mut client = ByteClient::connect(address_of(&serving, server)).await;
    client.write("GET / HTTP/1.0\r\n\r\n").await;
    let got = client.answer().await.unwrap();
    assert_eq!(got.status, 200);
    assert!(got.head.starts_with("HTTP/1.0 "), "{}", got.head);
    assert!(client.is_closed().await);
}

#[tokio::test]
async fn pipelined_requests_are_answered_in_order_up_to_the_last() {
    let serving = start(&plan()).await;
    for (server, habits) in serving.web().servers() {
        let limit = habits.requests_per_connection as usize;
        let pages: Vec<_> = (serving.web().pages())
            .filter(|page| page.server() == server)
            .collect();
        // Sends far more requests than the server answers, before the first answer is read.
        let asked: Vec<_> = pages.iter().cycle().take(limit + 50).collect();
        let requests: String = asked
            .iter()
            .map(|page| format!("GET {} HTTP/1.1\r\nHost: lab\r\n\r\n", page.path()))
            .collect();
        let mut client = ByteClient::connect(address_of(&serving, server)).await;
        client.write(&requests).await;
        for (number, page) in asked.iter().take(limit).enumerate() {
            let got = client.answer().await.unwrap();
            let html = serving.web().html(page.number(), 0.0, serving.port());
            assert_eq!(got.text(), html, "answer {number} of {limit}");
            let closes = got.header("connection") == Some("close");
            assert_eq!(closes, number + 1 == limit);
        }
        // The connection is closed and not reset, although requests were left unread.
        assert!(client.is_closed().await);
        let visits = serving.log().visits(server);
        let seen: Vec<&str> = visits.iter().map(|visit| &*visit.path).collect();
        let expected: Vec<&str> = asked.iter().take(limit).map(|page| page.path()).collect();
        assert_eq!(seen, expected);
        assert_eq!(serving.log().most_at_once(server), 1);
    }
}

#[tokio::test]
async fn http_2_ends_after_the_number_of_requests() {
    let serving = start(&plan()).await;
    for (server, habits) in serving.web().servers() {
        let limit = habits.requests_per_connection;
        let (mut sender, connection) = http2(address_of(&serving, server)).await;
        let page = serving.web().home(server);
        let html = serving.web().html(page, 0.0, serving.port());
        for _ in 0..limit {
            let (status, body) = get(&mut sender, serving.url(page)).await.unwrap();
            assert_eq!((status, &*body), (200, html.as_bytes()));
        }
        // A GOAWAY ends the connection without an error.
        connection.await.unwrap().unwrap();
        assert!(get(&mut sender, serving.url(page)).await.is_err());
        assert_eq!(serving.log().visits(server).len() as u32, limit);
        assert_eq!(serving.log().connections(server), 1);
    }
}

#[tokio::test]
async fn http_2_streams_run_side_by_side() {
    // The server takes an hour, so streams are under way for as long as the test needs.
    let latency = fixed_latency(0.0, 3_600.0);
    let serving = start(&WebPlan { latency, ..plan() }).await;
    let (server, _) = server_with(&serving, |requests| requests == 100);
    let (sender, _connection) = http2(address_of(&serving, server)).await;
    let mut asking = tokio::task::JoinSet::new();
    for _ in 0..16 {
        let (mut sender, url) = (sender.clone(), serving.url(serving.web().home(server)));
        asking.spawn(async move { get(&mut sender, url).await.is_ok() });
    }
    while serving.log().most_at_once(server) < 16 {
        tokio::task::yield_now().await;
    }
    assert_eq!(serving.log().connections(server), 1);
}

/// Opens many streams at once on a server that answers few. It answers its number of requests,
/// and every other stream fails with an error that allows a retry.
#[tokio::test]
async fn http_2_streams_beyond_the_last_are_refused() {
    let latency = fixed_latency(0.001, 0.001);
    let serving = start(&WebPlan { latency, ..plan() }).await;
    let one = server_with(&serving, |requests| requests == 1);
    let some = server_with(&serving, |requests| (2..50).contains(&requests));
    let hundred = server_with(&serving, |requests| requests == 100);
    // The last server may open more streams at once than it has requests left.
    for ((server, limit), before) in [(one, 0), (some, 0), (hundred, 90)] {
        let (mut sender, connection) = http2(address_of(&serving, server)).await;
        let url = serving.url(serving.web().home(server));
        for _ in 0..before {
            get(&mut sender, url.clone()).await.unwrap();
        }
        let mut asking = tokio::task::JoinSet::new();
        for _ in 0..60 {
            let (mut sender, url) = (sender.clone(), url.clone());
            asking.spawn(async move { get(&mut sender, url).await });
        }
        drop(sender);
        let mut answered = before;
        while let Some(done) = asking.join_next().await {
            match done.unwrap() {
                Ok((status, _)) => answered += u32::from(status == 200),
                Err(error) => {
                    let mut cause: Option<&dyn std::error::Error> = Some(&error);
                    while let Some(inner) = cause {
                        if let Some(h2) = inner.downcast_ref::<h2::Error>() {
                            let refused = h2.reason() == Some(h2::Reason::REFUSED_STREAM);
                            assert!(refused || h2.is_go_away(), "{h2:?}");
                        }
                        cause = inner.source();
                    }
                }
            }
        }
        assert_eq!(answered, limit);
        assert_eq!(serving.log().visits(server).len() as u32, limit);
        drop(connection);
    }
}

#[tokio::test]
async fn a_request_after_an_answer_takes_another_round_trip() {
    let latency = fixed_latency(0.02, 0.0);
    let serving = start(&WebPlan { latency, ..plan() }).await;
    let (server, _) = server_with(&serving, |requests| requests == 100);
    let way = serving.web().server(server).round_trip;
    let mut client = ByteClient::connect(address_of(&serving, server)).await;
    for _ in 0..4 {
        assert_eq!(client.get("/", "").await.unwrap().status, 200);
    }
    for gap in serving.log().gaps(server) {
        assert!(gap >= way, "{gap:?}");
    }
    // Connecting takes a round trip, and the first request another.
    assert!(serving.log().visits(server)[0].arrived >= 2 * way);
}

#[tokio::test]
async fn fetched_lists_each_page_once_by_the_end_of_its_first_200() {
    let serving = start(&plan()).await;
    let web = serving.web();
    assert!(serving.fetched().is_empty());
    let order = [7, 3, 60, 3, 7, 1].map(PageNumber);
    for page in order {
        let page = web.page(page);
        let got = ByteClient::get_once(address_of(&serving, page.server()), page.path()).await;
        assert_eq!(got.status, 200);
    }
    let got = ByteClient::get_once(address_of(&serving, ServerNumber(5)), "/nowhere").await;
    assert_eq!(got.status, 404);
    // A page that was only answered with 304 was not fetched.
    let mut servers = web.servers().skip(10);
    let (tagged, _) = servers.find(|(_, habits)| habits.etag).unwrap();
    let mut client = ByteClient::connect(address_of(&serving, tagged)).await;
    let unchanged = client.get("/", "If-None-Match: *\r\n").await.unwrap();
    assert_eq!(unchanged.status, 304);
    let fetched = serving.fetched();
    let pages: Vec<PageNumber> = fetched.iter().map(|&(page, _)| page).collect();
    assert_eq!(pages, [7, 3, 60, 1].map(PageNumber));
    assert!(fetched.is_sorted_by_key(|&(_, at)| at));
    let first = &serving.log().visits(web.page(PageNumber(7)).server())[0];
    assert_eq!(fetched[0].1, first.answered.unwrap().as_secs_f64());
}
