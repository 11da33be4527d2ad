//! Attacks by message framing: wrong ends of answers, and answers without end (rows 5 to 19).
//!
//! **Invariant:** bytes after the true end of an answer contain [`SMUGGLED`](super::SMUGGLED).
//! So a client that treats them as a page can be detected.

use super::script::{AfterScript, SMUGGLED, Script, ScriptRequest, page, smuggled_answer};

const OK_HTML: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n";

/// Returns a chunk of 64 KiB.
fn big_chunk() -> Vec<u8> {
    let mut chunk = b"10000\r\n".to_vec();
    chunk.extend_from_slice(&b"endless ".repeat(8_192));
    chunk.extend_from_slice(b"\r\n");
    chunk
}

fn with_headers(headers: impl AsRef<[u8]>) -> Script {
    let body = page("odd headers", "a page");
    let head = [OK_HTML.as_bytes(), headers.as_ref()].concat();
    let length = format!("Content-Length: {}\r\n\r\n{body}", body.len());
    Script::raw([head, length.into_bytes()].concat()).then(AfterScript::Close)
}

fn chunked(rest: impl AsRef<[u8]>) -> Script {
    let head = format!("{OK_HTML}Transfer-Encoding: chunked\r\n\r\n");
    Script::raw([head.as_bytes(), rest.as_ref()].concat()).then(AfterScript::Close)
}

fn with_length(length: &str, body: impl AsRef<str>) -> Script {
    Script::raw(format!(
        "{OK_HTML}Content-Length: {length}\r\n\r\n{}",
        body.as_ref()
    ))
}

pub(super) fn endless(_: &ScriptRequest<'_>) -> Script {
    chunked("").flood(big_chunk())
}

/// Announces an exabyte and sends until the pace limit is reached.
pub(super) fn endless_length(_: &ScriptRequest<'_>) -> Script {
    with_length("1152921504606846976", "")
        .flood(b"endless ".repeat(8_192))
        .then(AfterScript::Close)
}

pub(super) fn drip(_: &ScriptRequest<'_>) -> Script {
    with_length("1000000", "<title>drip</title>")
        .drip("a")
        .then(AfterScript::Close)
}

pub(super) fn slow_headers(_: &ScriptRequest<'_>) -> Script {
    Script::raw("HTTP/1.1 200 OK\r\nX-Slow: ")
        .drip("a")
        .then(AfterScript::Close)
}

pub(super) fn silence(_: &ScriptRequest<'_>) -> Script {
    Script::default().silence().then(AfterScript::Close)
}

pub(super) fn header_flood(_: &ScriptRequest<'_>) -> Script {
    with_headers(
        (0..10_000)
            .map(|n| format!("X-Flood-{n}: {n}\r\n"))
            .collect::<String>(),
    )
}

pub(super) fn header_forever(_: &ScriptRequest<'_>) -> Script {
    Script::raw(OK_HTML)
        .flood("X-Flood: more\r\n".repeat(1_024))
        .then(AfterScript::Close)
}

pub(super) fn one_long_header(_: &ScriptRequest<'_>) -> Script {
    with_headers(format!("X-Long: {}\r\n", "x".repeat(10_000_000)))
}

pub(super) fn obs_fold(_: &ScriptRequest<'_>) -> Script {
    with_headers("X-Folded: one\r\n two\r\n\tthree\r\n")
}

pub(super) fn nul_header(_: &ScriptRequest<'_>) -> Script {
    with_headers("X-Nul: a\0b\r\n")
}

pub(super) fn bare_cr(_: &ScriptRequest<'_>) -> Script {
    with_headers("X-Bare: a\rX-Hidden: b\r\n")
}

pub(super) fn two_lengths(_: &ScriptRequest<'_>) -> Script {
    let body = page("two lengths", SMUGGLED);
    let lengths = format!(
        "Content-Length: 5\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    Script::raw(format!("{OK_HTML}{lengths}"))
}

pub(super) fn length_and_chunked(_: &ScriptRequest<'_>) -> Script {
    let rest = "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n6\r\n<p>one\r\n0\r\n\r\n";
    Script::raw(format!("{OK_HTML}{rest}")).send(smuggled_answer())
}

pub(super) fn bad_chunk(_: &ScriptRequest<'_>) -> Script {
    chunked("5\r\nfirst\r\nnot-a-size\r\nsecond\r\n0\r\n\r\n")
}

/// A chunk size that does not fit into 64 bits.
pub(super) fn chunk_overflow(_: &ScriptRequest<'_>) -> Script {
    chunked("5\r\nfirst\r\n10000000000000005\r\nsecond\r\n0\r\n\r\n")
}

pub(super) fn endless_chunk_extension(_: &ScriptRequest<'_>) -> Script {
    chunked("5;x=").flood("x".repeat(65_536))
}

pub(super) fn endless_trailers(_: &ScriptRequest<'_>) -> Script {
    chunked("5\r\nfirst\r\n0\r\n").flood("X-Trailer: more\r\n".repeat(1_024))
}

pub(super) fn short_body(_: &ScriptRequest<'_>) -> Script {
    with_length("100000", page("short", "less than was promised")).then(AfterScript::Close)
}

pub(super) fn long_body(_: &ScriptRequest<'_>) -> Script {
    let body = page("long", "as much as was promised");
    with_length(&body.len().to_string(), format!("{body}<p>{SMUGGLED}"))
}

/// The page without a status line.
pub(super) fn http_0_9(_: &ScriptRequest<'_>) -> Script {
    Script::raw(page(SMUGGLED, "an answer of 1991")).then(AfterScript::Close)
}

pub(super) fn banner(_: &ScriptRequest<'_>) -> Script {
    Script::raw("SSH-2.0-OpenSSH_9.6\r\n").then(AfterScript::Close)
}

pub(super) fn informational_flood(_: &ScriptRequest<'_>) -> Script {
    Script::raw("HTTP/1.1 100 Continue\r\n\r\n".repeat(1_000))
        .send(with_late_page())
        .then(AfterScript::Close)
}

pub(super) fn endless_hints(_: &ScriptRequest<'_>) -> Script {
    let hint = "HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n";
    Script::default()
        .flood(hint.repeat(256))
        .then(AfterScript::Close)
}

fn with_late_page() -> String {
    let body = page("late", "after a thousand promises");
    format!("{OK_HTML}Content-Length: {}\r\n\r\n{body}", body.len())
}

pub(super) fn no_content_with_body(_: &ScriptRequest<'_>) -> Script {
    let body = smuggled_answer();
    let length = body.len();
    Script::raw(format!(
        "HTTP/1.1 204 No Content\r\nContent-Length: {length}\r\n\r\n{body}"
    ))
}

pub(super) fn not_modified_with_body(_: &ScriptRequest<'_>) -> Script {
    let body = smuggled_answer();
    let length = body.len();
    Script::raw(format!(
        "HTTP/1.1 304 Not Modified\r\nContent-Length: {length}\r\n\r\n{body}"
    ))
}

pub(super) fn reset(_: &ScriptRequest<'_>) -> Script {
    // The pause lets the client read the prefix before the reset discards unread bytes.
    with_length("100000", "<title>reset</title><p>a prefix")
        .pause()
        .then(AfterScript::Reset)
}

pub(super) fn fin(_: &ScriptRequest<'_>) -> Script {
    chunked("1a\r\n<title>fin</title>a prefix\r\n")
}

/// Sends a second answer together with the first.
pub(super) fn early_bytes(_: &ScriptRequest<'_>) -> Script {
    let body = page("early", "the answer to this request");
    let answer = format!("{OK_HTML}Content-Length: {}\r\n\r\n{body}", body.len());
    Script::raw(answer + &smuggled_answer())
}

/// Announces `Connection: close`, stays open and sends another answer.
pub(super) fn close_lies(_: &ScriptRequest<'_>) -> Script {
    let body = page("closed", "this connection is closed");
    let length = body.len();
    let answer = format!("{OK_HTML}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}");
    Script::raw(answer + &smuggled_answer())
}

/// Announces `Connection: keep-alive` and closes.
pub(super) fn keep_alive_lies(_: &ScriptRequest<'_>) -> Script {
    let body = page("kept", "this connection is kept");
    let length = body.len();
    let head = format!("{OK_HTML}Connection: keep-alive\r\nContent-Length: {length}\r\n\r\n");
    Script::raw(head + &body).then(AfterScript::Close)
}
