//! Compares our parser with hyper.
//!
//! The parser is tested as a function of bytes: a sequence of responses, split anywhere.
//!
//! **Invariant:** hyper is the reference. It reads the same bytes over a pipe, one response
//! after another. Each one starts where our parser says that the previous one ended.

use super::{ReadResponse as Read, *};
use crate::hyper_connection::NoBody;
use crate::reply::{self, NoReply};
use crate::settings::FetchLimits;
use hyper_util::rt::TokioIo;
use proptest::prelude::*;
use tokio::io::AsyncWriteExt;
use tokio::time::Instant;

/// Maximum number of responses read from one sequence.
const RESPONSES: usize = 8;

fn limits() -> FetchLimits {
    FetchLimits {
        head: 4096,
        headers: 20,
        ..FetchLimits::default()
    }
}

fn read_one(pieces: &[&[u8]]) -> (Read, bool, Vec<u8>) {
    read_response(pieces, &limits())
}

/// Reads all responses of a sequence, each with the bytes that it was read from.
fn read_all(bytes: &[u8]) -> Vec<(Read, Vec<u8>)> {
    let mut left = bytes.to_vec();
    let mut all = Vec::new();
    while !left.is_empty() && all.len() < RESPONSES {
        let (read, more, rest) = read_one(&[&left]);
        assert!(left.ends_with(&rest), "the rest is as it came");
        assert!(rest.len() < left.len() || !more, "every response has bytes");
        all.push((read, std::mem::replace(&mut left, rest)));
        if !more {
            break;
        }
    }
    all
}

/// Returns how hyper reads the first response in these bytes.
fn hyper_reads(bytes: &[u8]) -> Read {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    runtime.block_on(async {
        let (ours, mut theirs) = tokio::io::duplex(1 << 20);
        let limits = limits();
        let (mut sender, connection) = hyper::client::conn::http1::Builder::new()
            .max_header_size(limits.head)
            .max_headers(limits.headers)
            .handshake::<_, NoBody>(TokioIo::new(ours))
            .await
            .unwrap();
        let driver = tokio::spawn(connection);
        let sent = sender.send_request(http::Request::new(NoBody));
        let reading = reply::read(sent, usize::MAX, &limits, Instant::now());
        let serving = async {
            // Hyper refuses bytes that arrive before it has sent a request.
            let mut request = [0; 5];
            tokio::io::AsyncReadExt::read_exact(&mut theirs, &mut request)
                .await
                .unwrap();
            let _ = theirs.write_all(bytes).await;
            let _ = theirs.shutdown().await;
        };
        let (outcome, ()) = tokio::join!(reading, serving);
        driver.abort();
        match outcome {
            Ok(reply) => Read::Whole {
                status: reply.status.as_u16(),
                headers: reply.headers,
                body: reply.body.to_vec(),
                cut: reply.cut,
            },
            Err(NoReply::Broken(error)) if error.is_parse() => Read::Refused("protocol-error"),
            Err(NoReply::Broken(_)) => Read::Ended,
            Err(NoReply::Refused(trouble)) => Read::Refused(trouble.kind()),
            Err(NoReply::Late) => panic!("hyper waits for bytes after the end"),
        }
    })
}

/// Asserts that hyper reads each response as we do.
///
/// The reasons for a refusal may differ: hyper reports a head that is too large as malformed.
fn agrees_with_hyper(bytes: &[u8]) -> Result<(), TestCaseError> {
    for (ours, from) in read_all(bytes) {
        match (ours, hyper_reads(&from)) {
            (Read::Refused(_), Read::Refused(_)) => {}
            (ours, hypers) => prop_assert_eq!(ours, hypers, "{:?}", String::from_utf8_lossy(&from)),
        }
    }
    Ok(())
}

/// Asserts that the result does not depend on how the bytes are split.
fn cuts_do_not_matter(bytes: &[u8], mut cuts: Vec<usize>) -> Result<(), TestCaseError> {
    cuts.iter_mut().for_each(|cut| *cut %= bytes.len() + 1);
    cuts.extend([0, bytes.len()]);
    cuts.sort_unstable();
    let pieces: Vec<&[u8]> = cuts
        .windows(2)
        .map(|pair| &bytes[pair[0]..pair[1]])
        .collect();
    match (read_one(&[bytes]), read_one(&pieces)) {
        ((Read::Refused(_), ..), (Read::Refused(_), ..)) => {}
        (whole, pieces) => prop_assert_eq!(whole, pieces),
    }
    Ok(())
}

/// Difficult sequences of responses, and what each response must be read as.
const CORPUS: &[(&str, &[&str])] = &[
    (
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n",
        &["200 ok", "404 "],
    ),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\nHTTP/1.1 304 Same\r\nContent-Length: 9\r\n\r\nHTTP/1.1 204 None\r\n\r\n",
        &["200 ok", "304 ", "204 "],
    ),
    (
        "\r\n\nHTTP/1.1 200 OK\nContent-Length: 2\n\nok\r\n",
        &["200 ok", "ended"],
    ),
    (
        "HTTP/1.1 103 Early\r\nContent-Length: 3\r\n\r\nHTTP/1.1 100 Go\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx",
        &["200 x"],
    ),
    (
        "HTTP/1.1 103 Early\r\nA : b\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
        &["protocol-error"],
    ),
    ("HTTP/1.1 101 Switching\r\n\r\n", &["protocol-error"]),
    ("HTTP/1.1 200 OK\r\n\r\nto the end", &["200 to the end"]),
    (
        "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.0 200 OK\r\n\r\n",
        &["200 ok"],
    ),
    (
        "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nConnection: x, CLOSE\r\nContent-Length: 0\r\n\r\nHTTP",
        &["200 ok", "200 "],
    ),
    (
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        &["protocol-error"],
    ),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
        &["200 0\r\n\r\n"],
    ),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: Chunked \r\n\r\n1\r\nx\r\n0\r\n\r\n",
        &["200 x"],
    ),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: xchunked\r\nContent-Length: 1\r\n\r\nabc",
        &["protocol-error"],
    ),
    (
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
        &["protocol-error"],
    ),
    (
        "HTTP/1.1 200 OK\r\nContent-Length: 2, 2\r\nContent-Length:2\r\n\r\nok",
        &["200 ok"],
    ),
    (
        "HTTP/1.1 200 OK\r\nContent-Length: 2, 3\r\n\r\nok",
        &["protocol-error"],
    ),
    (
        "HTTP/1.1 200 OK\r\nContent-Length: +2\r\n\r\nok",
        &["protocol-error"],
    ),
    (
        "HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nok",
        &["protocol-error"],
    ),
    (
        "HTTP/1.1 200 OK\r\nContent-Length:\r\n\r\nok",
        &["protocol-error"],
    ),
    (
        "HTTP/1.1 200 OK\r\nContent-Length: 2,\r\n\r\nok",
        &["protocol-error"],
    ),
    (
        "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nok",
        &["protocol-error"],
    ),
    (
        "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551616\r\n\r\nok",
        &["protocol-error"],
    ),
    (
        "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551613\r\n\r\nok",
        &["200 ok truncated:length"],
    ),
    (
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok",
        &["200 ok truncated:length"],
    ),
    (
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokay, this is moreHTTP/1.1 200 OK\r\n\r\n",
        &["200 ok", "protocol-error"],
    ),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2 ;a=\"b\"\r\nok\r\n00;x\r\nA: b\r\n\r\nSSH-2.0\r\n",
        &["200 ok", "protocol-error"],
    ),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a\nb\r\nok\r\n0\r\n\r\n",
        &["200  truncated:malformed"],
    ),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\nok\n0\n\n",
        &["200  truncated:malformed"],
    ),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\nok\r\n0\r\n\r\n",
        &["200  truncated:malformed"],
    ),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\nok\r\n0\r\n\r\n",
        &["200  truncated:malformed"],
    ),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n",
        &["200  truncated:malformed"],
    ),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nok",
        &["200 ok truncated:reset"],
    ),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nA : b\r\n\r\n",
        &["200 ok truncated:malformed"],
    ),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nA: b\r\r\n\r\n",
        &["200 ok truncated:malformed"],
    ),
    (
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n",
        &["200 ok truncated:reset"],
    ),
    ("HTTP/1.1 099 Low\r\n\r\n", &["protocol-error"]),
    ("HTTP/1.1 20 Short\r\n\r\n", &["protocol-error"]),
    ("HTTP/1.1 2000 Long\r\n\r\n", &["protocol-error"]),
    ("HTTP/1.1 999\r\nContent-Length: 0\r\n\r\n", &["999 "]),
    ("HTTP/1.2 200 OK\r\n\r\n", &["protocol-error"]),
    ("HTTP/2.0 200 OK\r\n\r\n", &["protocol-error"]),
    ("http/1.1 200 OK\r\n\r\n", &["protocol-error"]),
    ("<html>hello", &["protocol-error"]),
    ("HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", &["protocol-error"]),
    ("HTTP/1.1 200 OK\r\n A: b\r\n\r\n", &["protocol-error"]),
    ("HTTP/1.1 200 OK\r\n: b\r\n\r\n", &["protocol-error"]),
    ("HTTP/1.1 200 OK\r\nA: b\0\r\n", &["protocol-error"]),
    ("HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n", &["protocol-error"]),
    ("HTTP/1.1 200 O\x7fK\r\n\r\n", &["protocol-error"]),
    (
        "HTTP/1.1 200 \u{e9}\r\nA: \u{e9}\r\nContent-Length: 0\r\n\r\n",
        &["200 "],
    ),
    ("HTTP/1.1 2", &["ended"]),
    ("HTTP/1.1 200 OK\r\nA: b\0", &["protocol-error"]),
];

#[test]
fn responses_of_the_corpus_are_read_as_listed() {
    for (bytes, wanted) in CORPUS {
        let all = read_all(bytes.as_bytes());
        let told: Vec<String> = all.iter().map(|(read, _)| summary(read)).collect();
        assert_eq!(&told, wanted, "{bytes:?}");
        for cut in 0..=bytes.len() {
            cuts_do_not_matter(bytes.as_bytes(), vec![cut]).unwrap();
        }
        cuts_do_not_matter(bytes.as_bytes(), (0..bytes.len()).collect()).unwrap();
    }
}

#[test]
fn hyper_reads_the_corpus_in_the_same_way() {
    for (bytes, _) in CORPUS {
        agrees_with_hyper(bytes.as_bytes()).unwrap();
    }
}

fn summary(read: &Read) -> String {
    match read {
        Read::Whole {
            status, body, cut, ..
        } => {
            let cut = cut.map_or(String::new(), |cut| format!(" {}", cut.name()));
            format!("{status} {}{cut}", String::from_utf8_lossy(body))
        }
        Read::Ended => "ended".to_owned(),
        Read::Refused(kind) => (*kind).to_owned(),
    }
}

fn is_whole(read: &Read) -> bool {
    matches!(read, Read::Whole { cut: None, .. })
}

/// Reading stops at the limit, before the end of the input.
#[test]
fn endless_heads_and_framing_end_at_their_limits() {
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let long = |text: &str| text.repeat(40_000 / text.len());
    let cases = [
        (format!("HTTP/1.1 200 {}", long("x")), "headers:too-large"),
        (
            format!("HTTP/1.1 200 OK\r\n{}", long("A: b\r\n")),
            "headers:too-large",
        ),
        (long("HTTP/1.1 100 Go\r\n\r\n"), "headers:informational"),
        (long("\r\n"), "headers:too-large"),
        (
            format!("{chunked}5{}", long(";a=b")),
            "200  truncated:malformed",
        ),
        (
            format!("{chunked}5{}", long(" ")),
            "200  truncated:malformed",
        ),
        (
            format!("{chunked}{}", long("0")),
            "200  truncated:malformed",
        ),
        (
            format!("{chunked}0\r\n{}", long("A: b\r\n")),
            "200  truncated:malformed",
        ),
        (
            format!("{chunked}0\r\nA: {}", long("b")),
            "200  truncated:malformed",
        ),
    ];
    for (bytes, wanted) in cases {
        let (read, more, left) = read_one(&[bytes.as_bytes()]);
        let taken = bytes.len() - left.len();
        assert_eq!((summary(&read).as_str(), more), (wanted, false));
        assert!(taken < 20_000, "{wanted}: {taken} bytes were taken");
    }
}

/// A well-formed response with any framing.
fn response() -> impl Strategy<Value = Vec<u8>> {
    let chunk = prop::collection::vec(any::<u8>(), 1..20);
    let body = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40).prop_map(|body| {
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            [head.as_bytes(), &body].concat()
        }),
        (prop::collection::vec(chunk, 0..4), any::<bool>()).prop_map(|(chunks, trailer)| {
            let mut bytes = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
            for chunk in chunks {
                bytes.extend_from_slice(format!("{:X};e=1\r\n", chunk.len()).as_bytes());
                bytes.extend_from_slice(&chunk);
                bytes.extend_from_slice(b"\r\n");
            }
            bytes.extend_from_slice(if trailer {
                b"0\r\nT: t\r\n\r\n"
            } else {
                b"0\r\n\r\n"
            });
            bytes
        }),
        Just(b"HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n".to_vec()),
        Just(b"HTTP/1.1 204 None\r\nContent-Length: 7\r\n\r\n".to_vec()),
        Just(b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\nx".to_vec()),
    ];
    let early = Just(b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".to_vec());
    (prop::option::of(early), body)
        .prop_map(|(early, body)| [early.unwrap_or_default(), body].concat())
}

/// Well-formed responses with some bytes replaced, removed or inserted: mostly bytes with a
/// meaning in HTTP.
fn damaged() -> impl Strategy<Value = Vec<u8>> {
    let telling = prop::sample::select(&b"\r\n\t :;,0159afHT/.\0\x7f\x80-+"[..]);
    let byte = prop_oneof![4 => telling, 1 => any::<u8>()];
    let change = (any::<prop::sample::Index>(), 0..3usize, byte);
    let sequence = prop::collection::vec(response(), 1..4);
    (sequence, prop::collection::vec(change, 0..4)).prop_map(|(sequence, changes)| {
        let mut bytes = sequence.concat();
        for (place, kind, byte) in changes {
            let place = place.index(bytes.len());
            match kind {
                0 => bytes[place] = byte,
                1 => bytes.insert(place, byte),
                _ => _ = bytes.remove(place),
            }
        }
        bytes
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// Well-formed responses are all found, each with its own bytes.
    #[test]
    fn well_formed_responses_are_separated(sequence in prop::collection::vec(response(), 1..RESPONSES)) {
        let all = read_all(&sequence.concat());
        prop_assert_eq!(all.len(), sequence.len());
        for (nth, ((read, from), sent)) in all.iter().zip(&sequence).enumerate() {
            prop_assert!(is_whole(read));
            let next = all.get(nth + 1).map_or(0, |(_, from)| from.len());
            prop_assert_eq!(&from[..from.len() - next], &sent[..]);
        }
    }

    #[test]
    fn any_bytes_are_read_alike_however_they_are_split(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        cuts in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        read_all(&bytes);
        cuts_do_not_matter(&bytes, cuts)?;
    }

    #[test]
    fn damaged_bytes_are_read_alike_however_they_are_split(
        bytes in damaged(),
        cuts in prop::collection::vec(any::<usize>(), 0..8),
    ) {
        cuts_do_not_matter(&bytes, cuts)?;
    }

    #[test]
    fn damaged_bytes_are_read_as_hyper_reads_them(bytes in damaged()) {
        agrees_with_hyper(&bytes)?;
    }
}
