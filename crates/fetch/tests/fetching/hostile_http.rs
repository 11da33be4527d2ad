//! Misbehaviour of servers over HTTP: each case gets a typed answer, and the next page is still
//! fetched.
//!
//! **Invariant:** each case belongs to one row of hostile-web.md.

use std::io::Write;
use std::time::Duration;

use crate::rows::{head, limits, row, run};
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

#[tokio::test]
async fn codings() {
    let zeros = vec![0; 4 << 20];
    let raw_deflate = {
        let mut encoder =
            flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(b"hello, raw").unwrap();
        encoder.finish().unwrap()
    };
    let zlib = {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(b"hello, zlib").unwrap();
        encoder.finish().unwrap()
    };
    let half = gzip(
        &(0..100_000u32)
            .flat_map(u32::to_le_bytes)
            .collect::<Vec<u8>>(),
    );
    let two_members = [gzip(b"hello, "), gzip(b"members")].concat();
    let zstd = |data: &[u8]| zstd::encode_all(data, 3).unwrap();
    let rows = vec![
        row(
            1,
            "gzip bomb",
            vec![with_body("Content-Encoding: gzip\r\n", &gzip(&zeros))],
            "200 truncated:size",
        )
        .open(),
        row(
            1,
            "gzip bomb of few bytes",
            vec![with_body(
                "Content-Encoding: gzip\r\n",
                &gzip(&zeros[..600_000]),
            )],
            "200 truncated:ratio",
        )
        .open(),
        row(
            2,
            "brotli bomb",
            vec![with_body("Content-Encoding: br\r\n", &hex(BROTLI_BOMB))],
            "200 truncated:ratio",
        )
        .open(),
        row(
            2,
            "zstd bomb",
            vec![with_body(
                "Content-Encoding: zstd\r\n",
                &zstd(&zeros[..2 << 20]),
            )],
            "200 truncated:ratio",
        )
        .open(),
        row(
            2,
            "zstd window of 128 MB",
            vec![with_body(
                "Content-Encoding: zstd\r\n",
                &zstd_with_window(b"x", 27),
            )],
            "200",
        )
        .open(),
        row(
            3,
            "three layers",
            vec![with_body("Content-Encoding: gzip, gzip, br\r\n", b"raw")],
            "200",
        )
        .content("raw")
        .open(),
        row(
            3,
            "two layers",
            vec![with_body(
                "Content-Encoding: gzip, zstd\r\n",
                &zstd(&gzip(b"hello, two")),
            )],
            "200",
        )
        .content("hello, two")
        .open(),
        row(
            3,
            "two layers in two fields",
            vec![with_body(
                "Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n",
                &gzip(&gzip(b"hi")),
            )],
            "200",
        )
        .content("hi")
        .open(),
        row(
            3,
            "a bomb inside a layer",
            vec![with_body(
                "Content-Encoding: gzip, gzip\r\n",
                &gzip(&gzip(&zeros)),
            )],
            "200 truncated:ratio",
        )
        .open(),
        row(
            4,
            "unknown coding",
            vec![with_body("Content-Encoding: rot13\r\n", b"uryyb")],
            "200",
        )
        .content("uryyb")
        .open(),
        row(
            4,
            "plain text said to be gzip",
            vec![with_body("Content-Encoding: gzip\r\n", b"hello")],
            "200",
        )
        .content("hello")
        .open(),
        row(
            4,
            "half a gzip",
            vec![with_body(
                "Content-Encoding: gzip\r\n",
                &half[..half.len() / 2],
            )],
            "200 truncated:coding",
        )
        .open(),
        row(
            0,
            "gzip",
            vec![with_body("Content-Encoding: X-GZIP\r\n", &two_members)],
            "200",
        )
        .content("hello, members")
        .open(),
        row(
            0,
            "raw deflate",
            vec![with_body("Content-Encoding: deflate\r\n", &raw_deflate)],
            "200",
        )
        .content("hello, raw")
        .open(),
        row(
            0,
            "zlib deflate",
            vec![with_body("Content-Encoding: deflate\r\n", &zlib)],
            "200",
        )
        .content("hello, zlib")
        .open(),
        row(
            0,
            "brotli",
            vec![with_body("Content-Encoding: br\r\n", &hex(BROTLI))],
            "200",
        )
        .content("hello, br")
        .open(),
        row(
            0,
            "zstd",
            vec![with_body(
                "Content-Encoding: zstd\r\n",
                &zstd(b"hello, zstd"),
            )],
            "200",
        )
        .content("hello, zstd")
        .open(),
        row(
            0,
            "identity",
            vec![with_body("Content-Encoding: identity\r\n", b"hello")],
            "200",
        )
        .content("hello")
        .open(),
        row(
            0,
            "gzip of nothing",
            vec![with_body("Content-Encoding: gzip\r\n", b"")],
            "200",
        )
        .content("")
        .open(),
    ];
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
        let step = with_body(&format!("Content-Encoding: {coding}\r\n"), &body);
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
async fn bodies() {
    let chunked = |body: &str| send(head("Transfer-Encoding: chunked\r\n") + body);
    let endless_trailers = vec![
        chunked("5\r\nhello\r\n0\r\n"),
        ServerAction::Flood(b"A: b\r\n".repeat(100)),
    ];
    let rows = vec![
        row(
            5,
            "endless body",
            vec![send(head("")), ServerAction::Flood(vec![b'x'; 1 << 16])],
            "200 truncated:size",
        ),
        row(
            5,
            "endless chunks",
            vec![
                chunked(""),
                ServerAction::Flood(b"5\r\nhello\r\n".repeat(1000)),
            ],
            "200 truncated:size",
        ),
        row(
            5,
            "a declared terabyte",
            vec![
                send(head("Content-Length: 1099511627776\r\n")),
                ServerAction::Flood(vec![b'x'; 1 << 16]),
            ],
            "200 truncated:size",
        ),
        row(
            11,
            "chunk size that is none",
            vec![chunked("xyz\r\nhello\r\n0\r\n\r\n"), ServerAction::Hang],
            "200 truncated:malformed",
        )
        .content(""),
        row(
            11,
            "chunk size that overflows",
            vec![
                chunked("5\r\nhello\r\nfffffffffffffffff\r\n"),
                ServerAction::Hang,
            ],
            "200 truncated:malformed",
        )
        .content("hello"),
        row(
            11,
            "chunk without its end",
            vec![
                chunked("5\r\nhelloXX5\r\nhello\r\n0\r\n\r\n"),
                ServerAction::Hang,
            ],
            "200 truncated:malformed",
        )
        .content("hello"),
        row(
            11,
            "endless trailers",
            endless_trailers,
            "200 truncated:malformed",
        )
        .content("hello"),
        row(
            11,
            "endless chunk extension",
            vec![chunked("5"), ServerAction::Flood(b";a=b".repeat(1000))],
            "200 truncated:malformed",
        ),
        row(
            12,
            "body shorter than declared",
            vec![
                send(head("Content-Length: 100\r\n") + "hello"),
                ServerAction::Close,
            ],
            "200 truncated:length",
        )
        .content("hello"),
        row(
            13,
            "body longer than declared",
            vec![send(head("Content-Length: 5\r\n") + "hello, world")],
            "200",
        )
        .content("hello"),
        row(
            16,
            "204 with a body",
            vec![send(
                "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
            )],
            "204",
        )
        .content(""),
        row(
            16,
            "304 with a body",
            vec![send(
                "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\nhello",
            )],
            "304",
        )
        .content(""),
        row(
            17,
            "end within a chunk",
            vec![chunked("a\r\nhello"), ServerAction::Close],
            "200 truncated:reset",
        )
        .content("hello"),
        row(
            17,
            "end between chunks",
            vec![chunked("5\r\nhello\r\n"), ServerAction::Close],
            "200 truncated:reset",
        )
        .content("hello"),
        row(
            0,
            "body until the end",
            vec![
                send(head("Connection: close\r\n") + "hello"),
                ServerAction::Close,
            ],
            "200",
        )
        .content("hello"),
        row(
            0,
            "HTTP/1.0",
            vec![send("HTTP/1.0 200 OK\r\n\r\nhello"), ServerAction::Close],
            "200",
        )
        .content("hello"),
        row(
            0,
            "chunks",
            vec![chunked("5;x=y\r\nhello\r\n2\r\n, \r\n0\r\nT: t\r\n\r\n")],
            "200",
        )
        .content("hello, ")
        .open(),
        row(
            0,
            "no body",
            vec![send(head("Content-Length: 0\r\n"))],
            "200",
        )
        .content("")
        .open(),
        row(
            0,
            "404",
            vec![send(
                "HTTP/1.1 404 Gone Fishing\r\nContent-Length: 2\r\n\r\nno",
            )],
            "404",
        )
        .content("no")
        .open(),
    ];
    run(rows, limits()).await;
}

/// Row 17: a reset may overtake the bytes sent before it, so only the kind of outcome is
/// certain.
#[tokio::test]
async fn reset() {
    let rows = vec![
        row(
            17,
            "reset before the head",
            vec![ServerAction::Reset],
            "reset",
        ),
        row(
            17,
            "reset within the head",
            vec![send("HTTP/1.1 200 OK\r\nContent-"), ServerAction::Reset],
            "reset",
        ),
        row(
            17,
            "end before the head",
            vec![ServerAction::Close],
            "reset",
        ),
        row(
            17,
            "end within the head",
            vec![send("HTTP/1.1 2"), ServerAction::Close],
            "reset",
        ),
    ];
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
async fn heads() {
    let flood = |count: usize| head(&"A: b\r\n".repeat(count)).into_bytes();
    let early = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    let ok = head("Content-Length: 2\r\n") + "ok";
    let lengths = "Content-Length: 2\r\nContent-Length: 2\r\n";
    let rows = vec![
        row(
            8,
            "100 fields",
            vec![send(head(
                &("A: b\r\n".repeat(99) + "Content-Length: 0\r\n"),
            ))],
            "200",
        )
        .open(),
        row(8, "101 fields", vec![send(flood(101))], "headers:too-large"),
        row(
            8,
            "endless fields",
            vec![
                send("HTTP/1.1 200 OK\r\n"),
                ServerAction::Flood(b"A: b\r\n".repeat(50)),
            ],
            "headers:too-large",
        ),
        row(
            8,
            "an endless line",
            vec![
                send("HTTP/1.1 200 OK\r\nA: "),
                ServerAction::Flood(vec![b'x'; 1 << 16]),
            ],
            "headers:too-large",
        ),
        row(
            8,
            "an endless reason",
            vec![
                send("HTTP/1.1 200 "),
                ServerAction::Flood(vec![b'x'; 1 << 16]),
            ],
            "headers:too-large",
        ),
        row(
            8,
            "63 KB of fields",
            vec![send(head(&format!(
                "A: {}\r\nContent-Length: 0\r\n",
                "x".repeat(63 << 10)
            )))],
            "200",
        )
        .open(),
        row(
            9,
            "folded line",
            vec![send(head("A: b\r\n c\r\nContent-Length: 0\r\n"))],
            "protocol-error",
        ),
        row(
            9,
            "NUL in a value",
            vec![send(head("A: b\0c\r\nContent-Length: 0\r\n"))],
            "protocol-error",
        ),
        row(
            9,
            "bare CR in a value",
            vec![send(head("A: b\rc\r\nContent-Length: 0\r\n"))],
            "protocol-error",
        ),
        row(
            9,
            "space before the colon",
            vec![send(head("A : b\r\nContent-Length: 0\r\n"))],
            "protocol-error",
        ),
        row(
            10,
            "two lengths that differ",
            vec![send(
                head("Content-Length: 2\r\nContent-Length: 3\r\n") + "ok",
            )],
            "protocol-error",
        ),
        row(
            10,
            "two lengths that agree",
            vec![send(head(lengths) + "ok")],
            "200",
        )
        .content("ok"),
        row(
            10,
            "a length that is none",
            vec![send(head("Content-Length: -2\r\n") + "ok")],
            "protocol-error",
        ),
        row(
            10,
            "a length and chunks",
            vec![send(
                head("Content-Length: 9\r\nTransfer-Encoding: chunked\r\n")
                    + "2\r\nok\r\n0\r\n\r\n",
            )],
            "protocol-error",
        ),
        row(
            10,
            "chunks and a length",
            vec![send(
                head("Transfer-Encoding: chunked\r\nContent-Length: 12\r\n")
                    + "2\r\nok\r\n0\r\n\r\n",
            )],
            "protocol-error",
        ),
        row(
            10,
            "a length and another transfer coding",
            vec![
                send(head("Content-Length: 2\r\nTransfer-Encoding: gzip\r\n") + "ok"),
                ServerAction::Close,
            ],
            "protocol-error",
        ),
        row(
            14,
            "SSH",
            vec![send("SSH-2.0-OpenSSH_9.6\r\n"), ServerAction::Hang],
            "protocol-error",
        ),
        row(
            14,
            "SMTP",
            vec![send("220 mail.example ESMTP\r\n"), ServerAction::Hang],
            "protocol-error",
        ),
        row(
            14,
            "HTTP/0.9",
            vec![send("<html>hello</html>\n"), ServerAction::Close],
            "protocol-error",
        ),
        row(
            14,
            "HTTP/2 unasked",
            vec![send("HTTP/2 200 OK\r\n\r\n"), ServerAction::Hang],
            "protocol-error",
        ),
        row(
            15,
            "ten informational",
            vec![send(early.repeat(10) + &ok)],
            "200",
        )
        .content("ok")
        .open(),
        row(
            15,
            "eleven informational",
            vec![send(early.repeat(11) + &ok)],
            "headers:informational",
        ),
        row(
            15,
            "endless informational",
            vec![ServerAction::Flood(early.as_bytes().to_vec())],
            "headers:informational",
        ),
        row(
            15,
            "an upgrade that was not requested",
            vec![
                send("HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
                ServerAction::Hang,
            ],
            "protocol-error",
        ),
    ];
    run(rows, limits()).await;
}

#[tokio::test]
async fn times() {
    let tight = FetchLimits {
        first_byte: Duration::from_secs(1),
        total: Duration::from_secs(2),
        slow_for: Duration::from_millis(300),
        bytes_per_second: 1000,
        ..limits()
    };
    let ten = Duration::from_millis(10);
    let rows = vec![
        row(
            6,
            "slow drip",
            vec![
                send(head("Content-Length: 9999\r\n")),
                ServerAction::Drip(vec![b'x'; 9999], ten),
            ],
            "200 truncated:slow",
        ),
        row(
            6,
            "fast enough, but too long",
            vec![
                send(head("")),
                ServerAction::Drip(vec![b'x'; 1], ten),
                send(vec![b'x'; 5000]),
                ServerAction::Hang,
            ],
            "200 truncated:time",
        ),
        row(
            7,
            "no response",
            vec![ServerAction::Hang],
            "timeout:first-byte",
        ),
        row(
            7,
            "slow head",
            vec![ServerAction::Drip(
                head(&"A: b\r\n".repeat(99)).into_bytes(),
                ten,
            )],
            "timeout:first-byte",
        ),
    ];
    run(rows, tight).await;
}
