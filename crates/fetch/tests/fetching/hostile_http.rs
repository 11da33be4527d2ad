//! Misbehaviour of servers over HTTP: each case gets a typed answer, and the next page is still
//! fetched.
//!
//! **Invariant:** each case names its row of hostile-web.md. Row 0 marks a correct answer.

use std::io::Write;
use std::time::Duration;

use crate::rows::{cases, head, limits, row, run};
use crate::scripted::{ScriptedServer, ServerAction, TestClient, open_settings, send, summary};
use fetch::FetchLimits;

fn with_body(fields: &str, body: &[u8]) -> ServerAction {
    let mut bytes = head(&format!("{fields}Content-Length: {}\r\n", body.len())).into_bytes();
    bytes.extend_from_slice(body);
    send(bytes)
}

pub fn gzip(data: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

fn zstd_with_window(data: &[u8], window_log: u32) -> Vec<u8> {
    let mut encoder = zstd::stream::write::Encoder::new(Vec::new(), 3).unwrap();
    encoder.window_log(window_log).unwrap();
    encoder.write_all(data).unwrap();
    encoder.finish().unwrap()
}

/// 20 MB of zeros, compressed by `brotli --quality=11`.
const BROTLI_BOMB: &str =
    "cbffff3ff82700e2b14020f7fe8fffff7ff04f00c4611180eefd5ffeffffe09f0088c30200ddfb1f";
/// `hello, br`.
const BROTLI: &str = "0b048068656c6c6f2c20627203";

fn hex(digits: &str) -> Vec<u8> {
    let pairs = digits.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn coded(coding: &str, body: &[u8]) -> ServerAction {
    with_body(&format!("Content-Encoding: {coding}\r\n"), body)
}

#[tokio::test]
async fn every_coding_is_decoded_or_cut_at_its_limit() {
    use flate2::Compression;
    let zeros = vec![0; 4 << 20];
    let mut raw = flate2::write::DeflateEncoder::new(Vec::new(), Compression::fast());
    raw.write_all(b"hello, raw").unwrap();
    let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), Compression::fast());
    zlib.write_all(b"hello, zlib").unwrap();
    let numbers: Vec<u8> = (0..100_000u32).flat_map(u32::to_le_bytes).collect();
    let half = gzip(&numbers);
    let two_members = [gzip(b"hello, "), gzip(b"members")].concat();
    let zstd = |data: &[u8]| zstd::encode_all(data, 3).unwrap();
    let two_fields = "gzip\r\nContent-Encoding: gzip";
    let rows = cases! {
        1 "gzip bomb": [coded("gzip", &gzip(&zeros))] => "200 truncated:size" open;
        1 "gzip bomb of few bytes": [coded("gzip", &gzip(&zeros[..600_000]))]
            => "200 truncated:ratio" open;
        2 "brotli bomb": [coded("br", &hex(BROTLI_BOMB))] => "200 truncated:ratio" open;
        2 "zstd bomb": [coded("zstd", &zstd(&zeros[..2 << 20]))] => "200 truncated:ratio" open;
        2 "zstd window of 128 MB": [coded("zstd", &zstd_with_window(b"x", 27))] => "200" open;
        3 "three layers": [coded("gzip, gzip, br", b"raw")] => "200" "raw" open;
        3 "two layers": [coded("gzip, zstd", &zstd(&gzip(b"hello, two")))]
            => "200" "hello, two" open;
        3 "two layers in two fields": [coded(two_fields, &gzip(&gzip(b"hi")))] => "200" "hi" open;
        3 "a bomb inside a layer": [coded("gzip, gzip", &gzip(&gzip(&zeros)))]
            => "200 truncated:ratio" open;
        4 "unknown coding": [coded("rot13", b"uryyb")] => "200" "uryyb" open;
        4 "plain text declared as gzip": [coded("gzip", b"hello")] => "200" "hello" open;
        4 "half a gzip": [coded("gzip", &half[..half.len() / 2])] => "200 truncated:coding" open;
        0 "gzip": [coded("X-GZIP", &two_members)] => "200" "hello, members" open;
        0 "raw deflate": [coded("deflate", &raw.finish().unwrap())] => "200" "hello, raw" open;
        0 "zlib deflate": [coded("deflate", &zlib.finish().unwrap())] => "200" "hello, zlib" open;
        0 "brotli": [coded("br", &hex(BROTLI))] => "200" "hello, br" open;
        0 "zstd": [coded("zstd", &zstd(b"hello, zstd"))] => "200" "hello, zstd" open;
        0 "identity": [coded("identity", b"hello")] => "200" "hello" open;
        0 "gzip of nothing": [coded("gzip", b"")] => "200" "" open;
    };
    run(rows, limits()).await;
}

/// Rows 2, 3, 4: content that could not be decoded is marked as such.
#[tokio::test]
async fn undecoded_content_is_marked() {
    let wide = zstd_with_window(&[b'x'; 100], 27);
    let cases: Vec<(&str, Vec<u8>, bool)> = vec![
        ("zstd", wide, true),
        ("gzip, gzip, br", gzip(b"x"), true),
        ("rot13", b"uryyb".to_vec(), true),
        ("gzip", b"hello".to_vec(), true),
        ("gzip", gzip(b"hello"), false),
        ("identity", b"hello".to_vec(), false),
    ];
    for (coding, body, undecoded) in cases {
        let step = coded(coding, &body);
        let server = ScriptedServer::start(move |_| vec![step.clone()]).await;
        let mut client = TestClient::new(open_settings());
        let response = client.get(&server.url("/")).await.outcome.unwrap();
        assert_eq!(response.undecoded, undecoded, "{coding}");
        assert_eq!(
            response.content == response.body,
            undecoded || coding == "identity",
            "{coding}"
        );
    }
}

#[tokio::test]
async fn bodies_end_at_their_framing_or_are_truncated() {
    let chunked = |body: &str| send(head("Transfer-Encoding: chunked\r\n") + body);
    let flood = |bytes: &[u8]| ServerAction::Flood(bytes.repeat(1000));
    let short = send(head("Content-Length: 100\r\n") + "hello");
    let terabyte = send(head("Content-Length: 1099511627776\r\n"));
    let closing = send(head("Connection: close\r\n") + "hello");
    let nothing = send(head("Content-Length: 0\r\n"));
    let no_content = "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello";
    let not_modified = "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello";
    let gone = "HTTP/1.1 404 Gone Fishing\r\nContent-Length: 2\r\n\r\nno";
    let (close, hang) = (|| ServerAction::Close, || ServerAction::Hang);
    let rows = cases! {
        5 "endless body": [send(head("")), flood(&[b'x'; 64])] => "200 truncated:size";
        5 "endless chunks": [chunked(""), flood(b"5\r\nhello\r\n")] => "200 truncated:size";
        5 "a declared terabyte": [terabyte, flood(&[b'x'; 64])] => "200 truncated:size";
        11 "invalid chunk size": [chunked("xyz\r\nhello\r\n0\r\n\r\n"), hang()]
            => "200 truncated:malformed" "";
        11 "chunk size that overflows": [chunked("5\r\nhello\r\nfffffffffffffffff\r\n"), hang()]
            => "200 truncated:malformed" "hello";
        11 "chunk without its end": [chunked("5\r\nhelloXX5\r\nhello\r\n0\r\n\r\n"), hang()]
            => "200 truncated:malformed" "hello";
        11 "endless trailers": [chunked("5\r\nhello\r\n0\r\n"), flood(b"A: b\r\n")]
            => "200 truncated:malformed" "hello";
        11 "endless chunk extension": [chunked("5"), flood(b";a=b")] => "200 truncated:malformed";
        12 "body shorter than declared": [short, close()] => "200 truncated:length" "hello";
        13 "body longer than declared": [send(head("Content-Length: 5\r\n") + "hello, world")]
            => "200" "hello";
        16 "204 with a body": [send(no_content)] => "204" "";
        16 "304 with a body": [send(not_modified)] => "304" "";
        17 "end within a chunk": [chunked("a\r\nhello"), close()] => "200 truncated:reset" "hello";
        17 "end between chunks": [chunked("5\r\nhello\r\n"), close()]
            => "200 truncated:reset" "hello";
        0 "body until the end": [closing, close()] => "200" "hello";
        0 "HTTP/1.0": [send("HTTP/1.0 200 OK\r\n\r\nhello"), close()] => "200" "hello";
        0 "chunks": [chunked("5;x=y\r\nhello\r\n2\r\n, \r\n0\r\nT: t\r\n\r\n")]
            => "200" "hello, " open;
        0 "no body": [nothing] => "200" "" open;
        0 "404": [send(gone)] => "404" "no" open;
    };
    run(rows, limits()).await;
}

/// Row 17. A reset may overtake the bytes sent before it, so the cases with a reset check only the
/// kind of outcome.
#[tokio::test]
async fn a_connection_that_ends_early_is_reported_and_the_prefix_kept() {
    let half = || send("HTTP/1.1 200 OK\r\nContent-");
    let rows = cases! {
        17 "reset before the head": [ServerAction::Reset] => "reset";
        17 "reset within the head": [half(), ServerAction::Reset] => "reset";
        17 "end before the head": [ServerAction::Close] => "reset";
        17 "end within the head": [send("HTTP/1.1 2"), ServerAction::Close] => "reset";
    };
    run(rows, limits()).await;
    let server = ScriptedServer::start(|_| {
        vec![
            send(head("Content-Length: 10\r\n") + "hello"),
            ServerAction::Hang,
        ]
    })
    .await;
    let limits = FetchLimits {
        total: Duration::from_secs(1),
        ..limits()
    };
    let mut client = TestClient::new(fetch::FetchOptions {
        limits,
        ..open_settings()
    });
    let answer = client.get(&server.url("/hang")).await;
    assert_eq!(summary(&answer), "200 truncated:time");
    assert_eq!(
        &answer.outcome.unwrap().content[..],
        b"hello",
        "the prefix is kept"
    );
}

#[tokio::test]
async fn malformed_and_oversized_heads_are_refused() {
    let flood = |bytes: &[u8]| ServerAction::Flood(bytes.repeat(1000));
    let early = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    let ok = head("Content-Length: 2\r\n") + "ok";
    let fields = |text: &str| send(head(&format!("{text}Content-Length: 0\r\n")));
    let lengths = |first: &str, second: &str, body: &str| {
        send(head(&format!("{first}\r\n{second}\r\n")) + body)
    };
    let chunks = "2\r\nok\r\n0\r\n\r\n";
    let chunked = "Transfer-Encoding: chunked";
    let other_coding = "Transfer-Encoding: gzip";
    let upgrade = "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n";
    let (close, hang) = (|| ServerAction::Close, || ServerAction::Hang);
    let rows = cases! {
        8 "100 fields": [fields(&"A: b\r\n".repeat(99))] => "200" open;
        8 "101 fields": [send(head(&"A: b\r\n".repeat(101)))] => "headers:too-large";
        8 "endless fields": [send("HTTP/1.1 200 OK\r\n"), flood(b"A: b\r\n")]
            => "headers:too-large";
        8 "an endless line": [send("HTTP/1.1 200 OK\r\nA: "), flood(&[b'x'; 64])]
            => "headers:too-large";
        8 "an endless reason": [send("HTTP/1.1 200 "), flood(&[b'x'; 64])] => "headers:too-large";
        8 "63 KB of fields": [fields(&format!("A: {}\r\n", "x".repeat(63 << 10)))] => "200" open;
        9 "folded line": [fields("A: b\r\n c\r\n")] => "protocol-error";
        9 "NUL in a value": [fields("A: b\0c\r\n")] => "protocol-error";
        9 "bare CR in a value": [fields("A: b\rc\r\n")] => "protocol-error";
        9 "space before the colon": [fields("A : b\r\n")] => "protocol-error";
        10 "two lengths that differ": [lengths("Content-Length: 2", "Content-Length: 3", "ok")]
            => "protocol-error";
        10 "two lengths that agree": [lengths("Content-Length: 2", "Content-Length: 2", "ok")]
            => "200" "ok";
        10 "an invalid length": [send(head("Content-Length: -2\r\n") + "ok")] => "protocol-error";
        10 "a length and chunks": [lengths("Content-Length: 9", chunked, chunks)]
            => "protocol-error";
        10 "chunks and a length": [lengths(chunked, "Content-Length: 12", chunks)]
            => "protocol-error";
        10 "a length and another transfer coding": [lengths("Content-Length: 2", other_coding, "ok"), close()]
            => "protocol-error";
        14 "SSH": [send("SSH-2.0-OpenSSH_9.6\r\n"), hang()] => "protocol-error";
        14 "SMTP": [send("220 mail.example ESMTP\r\n"), hang()] => "protocol-error";
        14 "HTTP/0.9": [send("<html>hello</html>\n"), close()] => "protocol-error";
        14 "HTTP/2 that was not requested": [send("HTTP/2 200 OK\r\n\r\n"), hang()]
            => "protocol-error";
        15 "ten informational": [send(early.repeat(10) + &ok)] => "200" "ok" open;
        15 "eleven informational": [send(early.repeat(11) + &ok)] => "headers:informational";
        15 "endless informational": [flood(early.as_bytes())] => "headers:informational";
        15 "an upgrade that was not requested": [send(upgrade), hang()] => "protocol-error";
    };
    run(rows, limits()).await;
}

#[tokio::test]
async fn slow_answers_end_at_their_deadlines() {
    let tight = FetchLimits {
        first_byte: Duration::from_secs(1),
        total: Duration::from_secs(2),
        slow_for: Duration::from_millis(300),
        bytes_per_second: 1000,
        ..limits()
    };
    let drip = |bytes: Vec<u8>| ServerAction::Drip(bytes, Duration::from_millis(10));
    let declared = send(head("Content-Length: 9999\r\n"));
    let fast = send(vec![b'x'; 5000]);
    let slow_head = head(&"A: b\r\n".repeat(99)).into_bytes();
    let rows = cases! {
        6 "slow drip": [declared, drip(vec![b'x'; 9999])] => "200 truncated:slow";
        6 "fast enough, but too long": [send(head("")), drip(vec![b'x']), fast, ServerAction::Hang]
            => "200 truncated:time";
        7 "no response": [ServerAction::Hang] => "timeout:first-byte";
        7 "slow head": [drip(slow_head)] => "timeout:first-byte";
    };
    run(rows, tight).await;
}
