//! Does a server that lies get a typed answer, and the next page still fetched?
//!
//! **Invariant:** one row, one lie of hostile-web.md; after each the same server is asked for a proper
//! page and gives it.

use std::io::Write;
use std::time::Duration;

use crate::scripted::{Client, Server, Step, open_settings, request, send, summaries, summary};
use fetch::{Depth, Http, Limits, Trouble};

/// One lie, and what must come of it.
struct Row {
    /// The row in hostile-web.md.
    number: u32,
    name: &'static str,
    steps: Vec<Step>,
    /// What [`summary`] says.
    wanted: &'static str,
    /// The content, where it matters.
    content: Option<&'static str>,
    /// Whether the connection may be used again.
    open: bool,
}

fn row(number: u32, name: &'static str, steps: Vec<Step>, wanted: &'static str) -> Row {
    Row {
        number,
        name,
        steps,
        wanted,
        content: None,
        open: false,
    }
}

impl Row {
    fn content(self, content: &'static str) -> Self {
        Self {
            content: Some(content),
            ..self
        }
    }

    fn open(self) -> Self {
        Self { open: true, ..self }
    }
}

fn limits() -> Limits {
    Limits {
        body: 256 * 1024,
        decoded: 256 * 1024,
        ratio_from: 64 * 1024,
        ..Limits::default()
    }
}

/// Every row in plain HTTP/1.1, and by the reader of pipelined answers.
async fn run(rows: Vec<Row>, limits: Limits) {
    for http in [Http::Auto, Http::Pipelined(Depth::default())] {
        run_over(http, &rows, &limits).await;
    }
    run_in_company(&rows, &limits).await;
}

async fn run_over(http: Http, rows: &[Row], limits: &Limits) {
    for row in rows {
        let steps = row.steps.clone();
        let server = Server::start(move |_| steps.clone()).await;
        let mut client = Client::new(fetch::Settings {
            http,
            limits: limits.clone(),
            ..open_settings()
        });
        let label = format!("row {}, {}, {http:?}", row.number, row.name);
        let answer = client.get(&server.url("/lie")).await;
        assert_eq!(
            summary(&answer),
            row.wanted,
            "{label}: {:?}",
            answer.outcome.as_ref().err()
        );
        if let Some(content) = row.content {
            let response = answer.outcome.unwrap();
            assert_eq!(
                String::from_utf8_lossy(&response.content),
                content,
                "{label}"
            );
        }
        assert_eq!(
            client.is_open(),
            row.open,
            "{label}: whether the connection is kept"
        );
        let next = client.get(&server.url("/next")).await;
        assert_eq!(summary(&next), "200", "{label}: the next page");
        assert_eq!(
            &next.outcome.unwrap().content[..],
            b"next",
            "{label}: the next page"
        );
    }
}

/// The lie among pages that are pipelined with it: it is what it is alone or is to be asked for again,
/// and the others are themselves or are to be asked for again.
async fn run_in_company(rows: &[Row], limits: &Limits) {
    for row in rows {
        let steps = row.steps.clone();
        let server = Server::start(move |_| steps.clone()).await;
        let mut client = Client::new(fetch::Settings {
            http: Http::Pipelined(Depth::default()),
            limits: limits.clone(),
            ..open_settings()
        });
        let urls = ["/next", "/lie", "/next", "/next"].map(|path| server.url(path));
        let answers = client.get_all(&urls).await;
        let label = format!(
            "row {}, {}: {:?}",
            row.number,
            row.name,
            summaries(&answers)
        );
        for (place, answer) in answers.into_iter().enumerate() {
            let told = summary(&answer);
            if place == 1 {
                assert!(
                    [row.wanted, "unanswered"].contains(&told.as_str()),
                    "{label}"
                );
            } else if told == "200" {
                assert_eq!(&answer.outcome.unwrap().content[..], b"next", "{label}");
            } else {
                assert!(place > 1 && !row.open && told == "unanswered", "{label}");
            }
        }
        assert_eq!(
            client.is_open(),
            row.open,
            "{label}: whether the connection is kept"
        );
        let again = client.get(&server.url("/lie")).await;
        assert_eq!(summary(&again), row.wanted, "{label}: alone");
    }
}

fn head(fields: &str) -> String {
    format!("HTTP/1.1 200 OK\r\n{fields}\r\n")
}

fn with_body(fields: &str, body: &[u8]) -> Step {
    let mut bytes = head(&format!("{fields}Content-Length: {}\r\n", body.len())).into_bytes();
    bytes.extend_from_slice(body);
    send(bytes)
}

fn gzip(data: &[u8]) -> Vec<u8> {
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

/// 20 MB of zeros, as `brotli --quality=11` packs them.
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

/// Rows 2, 3, 4: whoever reads the content is told that it is still packed.
#[tokio::test]
async fn what_stays_packed_says_so() {
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
        let server = Server::start(move |_| vec![step.clone()]).await;
        let mut client = Client::new(open_settings());
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
        Step::Flood(b"A: b\r\n".repeat(100)),
    ];
    let rows = vec![
        row(
            5,
            "endless body",
            vec![send(head("")), Step::Flood(vec![b'x'; 1 << 16])],
            "200 truncated:size",
        ),
        row(
            5,
            "endless chunks",
            vec![chunked(""), Step::Flood(b"5\r\nhello\r\n".repeat(1000))],
            "200 truncated:size",
        ),
        row(
            5,
            "a declared terabyte",
            vec![
                send(head("Content-Length: 1099511627776\r\n")),
                Step::Flood(vec![b'x'; 1 << 16]),
            ],
            "200 truncated:size",
        ),
        row(
            11,
            "chunk size that is none",
            vec![chunked("xyz\r\nhello\r\n0\r\n\r\n"), Step::Hang],
            "200 truncated:malformed",
        )
        .content(""),
        row(
            11,
            "chunk size that overflows",
            vec![chunked("5\r\nhello\r\nfffffffffffffffff\r\n"), Step::Hang],
            "200 truncated:malformed",
        )
        .content("hello"),
        row(
            11,
            "chunk without its end",
            vec![chunked("5\r\nhelloXX5\r\nhello\r\n0\r\n\r\n"), Step::Hang],
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
            vec![chunked("5"), Step::Flood(b";a=b".repeat(1000))],
            "200 truncated:malformed",
        ),
        row(
            12,
            "body shorter than declared",
            vec![send(head("Content-Length: 100\r\n") + "hello"), Step::Close],
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
            vec![chunked("a\r\nhello"), Step::Close],
            "200 truncated:reset",
        )
        .content("hello"),
        row(
            17,
            "end between chunks",
            vec![chunked("5\r\nhello\r\n"), Step::Close],
            "200 truncated:reset",
        )
        .content("hello"),
        row(
            0,
            "body until the end",
            vec![send(head("Connection: close\r\n") + "hello"), Step::Close],
            "200",
        )
        .content("hello"),
        row(
            0,
            "HTTP/1.0",
            vec![send("HTTP/1.0 200 OK\r\n\r\nhello"), Step::Close],
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

/// Row 17: a reset may overtake what was sent before it, so that only the kind is certain.
#[tokio::test]
async fn reset() {
    let rows = vec![
        row(17, "reset before the head", vec![Step::Reset], "reset"),
        row(
            17,
            "reset within the head",
            vec![send("HTTP/1.1 200 OK\r\nContent-"), Step::Reset],
            "reset",
        ),
        row(17, "end before the head", vec![Step::Close], "reset"),
        row(
            17,
            "end within the head",
            vec![send("HTTP/1.1 2"), Step::Close],
            "reset",
        ),
    ];
    run(rows, limits()).await;
    let server =
        Server::start(|_| vec![send(head("Content-Length: 10\r\n") + "hello"), Step::Hang]).await;
    let limits = Limits {
        total: Duration::from_secs(1),
        ..limits()
    };
    let mut client = Client::new(fetch::Settings {
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
                Step::Flood(b"A: b\r\n".repeat(50)),
            ],
            "headers:too-large",
        ),
        row(
            8,
            "an endless line",
            vec![
                send("HTTP/1.1 200 OK\r\nA: "),
                Step::Flood(vec![b'x'; 1 << 16]),
            ],
            "headers:too-large",
        ),
        row(
            8,
            "an endless reason",
            vec![send("HTTP/1.1 200 "), Step::Flood(vec![b'x'; 1 << 16])],
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
                Step::Close,
            ],
            "protocol-error",
        ),
        row(
            14,
            "SSH",
            vec![send("SSH-2.0-OpenSSH_9.6\r\n"), Step::Hang],
            "protocol-error",
        ),
        row(
            14,
            "SMTP",
            vec![send("220 mail.example ESMTP\r\n"), Step::Hang],
            "protocol-error",
        ),
        row(
            14,
            "HTTP/0.9",
            vec![send("<html>hello</html>\n"), Step::Close],
            "protocol-error",
        ),
        row(
            14,
            "HTTP/2 unasked",
            vec![send("HTTP/2 200 OK\r\n\r\n"), Step::Hang],
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
            vec![Step::Flood(early.as_bytes().to_vec())],
            "headers:informational",
        ),
        row(
            15,
            "an upgrade nobody asked for",
            vec![
                send("HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"),
                Step::Hang,
            ],
            "protocol-error",
        ),
    ];
    run(rows, limits()).await;
}

#[tokio::test]
async fn times() {
    let tight = Limits {
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
                Step::Drip(vec![b'x'; 9999], ten),
            ],
            "200 truncated:slow",
        ),
        row(
            6,
            "fast enough, but too long",
            vec![
                send(head("")),
                Step::Drip(vec![b'x'; 1], ten),
                send(vec![b'x'; 5000]),
                Step::Hang,
            ],
            "200 truncated:time",
        ),
        row(7, "no response", vec![Step::Hang], "timeout:first-byte"),
        row(
            7,
            "slow head",
            vec![Step::Drip(head(&"A: b\r\n".repeat(99)).into_bytes(), ten)],
            "timeout:first-byte",
        ),
    ];
    run(rows, tight).await;
}

/// Rows 13, 16, 19: what comes unasked is nobody's answer.
#[tokio::test]
async fn stray_bytes_are_nobodys() {
    let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nEVIL";
    let fair = head("Content-Length: 4\r\n") + "fair";
    let pause = Duration::from_millis(50);
    let cases: Vec<(&str, Vec<Step>)> = vec![
        ("in the same packet", vec![send(fair.clone() + evil)]),
        (
            "a moment later",
            vec![
                send(&fair),
                Step::Drip(evil.as_bytes().to_vec(), Duration::ZERO),
            ],
        ),
        (
            "much later",
            vec![send(&fair), Step::Drip(b"\r".to_vec(), pause), send(evil)],
        ),
        (
            "after no content",
            vec![send(format!("HTTP/1.1 304 Not Modified\r\n\r\n{evil}"))],
        ),
    ];
    for (name, steps) in cases {
        let server = Server::start(move |_| steps.clone()).await;
        let mut client = Client::new(open_settings());
        client.get(&server.url("/first")).await.outcome.unwrap();
        tokio::time::sleep(pause * 4).await;
        let url = server.url("/next");
        let kept = client.connection.as_mut().unwrap();
        let refused = kept.get(&request(&url)).await;
        assert_eq!(refused.outcome.unwrap_err(), Trouble::Unasked, "{name}");
        assert!(!kept.is_open(), "{name}");
        let next = client.get(&url).await.outcome.unwrap();
        assert_eq!(&next.content[..], b"next", "{name}");
    }
}

/// Row 19: the kernel is asked, not the reactor, which has had no chance to hear of it here: nothing is
/// awaited between the stray bytes and the next request.
#[tokio::test]
async fn stray_bytes_are_seen_before_the_reactor_hears() {
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
    let mut connection = Client::new(open_settings()).connect(&url).await.unwrap();
    let request = fetch::Request {
        url: &url,
        etag: None,
        last_modified: None,
    };
    assert_eq!(summary(&connection.get(&request).await), "200");
    say.send(()).unwrap();
    is_done.recv().unwrap();
    let refused = connection.get(&request).await;
    assert_eq!(refused.outcome.unwrap_err(), Trouble::Unasked);
    server.join().unwrap();
}

/// Row 14: a server that sends an answer over a new connection before it is asked.
#[tokio::test]
async fn an_answer_before_the_first_request_is_none() {
    for http in [Http::Auto, Http::Http10, Http::Pipelined(Depth::default())] {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let url = page::PageUrl::parse(&url).unwrap();
        let client = Client::new(fetch::Settings {
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

/// Row 19: a connection that was said to be kept and is not.
#[tokio::test]
async fn a_stale_connection_says_so() {
    let server = Server::start(|asked| match asked.path.as_str() {
        "/ok" => vec![send(head("Content-Length: 2\r\n") + "ok")],
        "/ok-then-close" => vec![send(head("Content-Length: 2\r\n") + "ok"), Step::Close],
        _ => vec![Step::Close],
    })
    .await;
    let mut client = Client::new(open_settings());
    let url = server.url("/ok");
    let mut connection = client.connect(&url).await.unwrap();
    let request = |url| fetch::Request {
        url,
        etag: None,
        last_modified: None,
    };
    assert_eq!(summary(&connection.get(&request(&url)).await), "200");
    assert_eq!(connection.served(), 1);
    assert!(connection.is_open());
    // Closed instead of answered, without a byte: it may have been closed before the request came.
    let gone = server.url("/gone");
    assert_eq!(summary(&connection.get(&request(&gone)).await), "stale");
    assert!(!connection.is_open());
    assert_eq!(
        summary(&connection.get(&request(&url)).await),
        "stale",
        "and stays so"
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

/// A connection is for one server, and an abandoned request ends it.
#[tokio::test]
async fn a_connection_is_not_misused() {
    let server = Server::start(|_| vec![Step::Hang]).await;
    let other = Server::start(|_| vec![Step::Hang]).await;
    let client = Client::new(open_settings());
    let next = server.url("/next");
    let mut connection = client.connect(&next).await.unwrap();
    let elsewhere = other.url("/next");
    let ask = |url| fetch::Request {
        url,
        etag: None,
        last_modified: None,
    };
    assert_eq!(
        summary(&connection.get(&ask(&elsewhere)).await),
        "refused:other-server"
    );
    assert_eq!(
        summary(&connection.get(&ask(&next)).await),
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
        tokio::time::timeout(Duration::from_millis(50), connection.get(&ask(&hang))).await;
    assert!(abandoned.is_err());
    assert!(!connection.is_open());
    assert_eq!(summary(&connection.get(&ask(&next)).await), "stale");
}

/// What the archive keeps is what came.
#[tokio::test]
async fn the_head_is_verbatim() {
    let odd = "HTTP/1.1 200  Fine\r\nX-oDD:   spaced  \r\nset-cookie: a\r\nSet-Cookie: b\r\nContent-Encoding: gzip\r\n";
    let body = gzip(b"hello");
    let whole = format!("{odd}Content-Length: {}\r\n\r\n", body.len());
    let bytes = [whole.as_bytes(), &body].concat();
    let early = b"HTTP/1.1 100 Continue\r\n\r\n".to_vec();
    let length = (early.len() + bytes.len()) as u64;
    let server = Server::start(move |_| {
        vec![
            Step::Drip(early.clone(), Duration::ZERO),
            send(bytes.clone()),
        ]
    })
    .await;
    let mut client = Client::new(open_settings());
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
