//! The head of an HTTP response, as bytes.
//!
//! **Invariant:** the result of [`stored`] ends with its first blank line and states no transfer
//! encoding. If the length of the body is known, at most one `Content-Length` remains, and it is
//! right. All other fields before the first blank line stay as the server sent them.

/// Prefix for the name of a header field that does not describe the stored body. The files of
/// Common Crawl use the same prefix.
const SET_ASIDE: &[u8] = b"X-Crawler-";

/// Returns where the head ends: after the first blank line. Returns `None` if there is no blank
/// line.
pub(super) fn end(block: &[u8]) -> Option<usize> {
    let mut end = 0;
    for line in block.split_inclusive(|&byte| byte == b'\n') {
        end += line.len();
        if line.trim_ascii().is_empty() && line.ends_with(b"\n") {
            return Some(end);
        }
    }
    None
}

/// Returns the head to store for a body of `length` bytes without transfer encoding. `None` means
/// that the length is unknown, because the answer has no body (a 304).
///
/// A `Transfer-Encoding` would make readers look for chunks, and a wrong `Content-Length` would
/// make them truncate the body. Both fields are stored under another name. Bytes after a blank
/// line are dropped: they would become part of the body, and the digest would be wrong.
pub(super) fn stored(head: &[u8], length: Option<usize>) -> Vec<u8> {
    let mut out = Vec::with_capacity(head.len() + 64);
    let mut right_length = false;
    let mut wrong_length = false;
    for (number, line) in head.split_inclusive(|&byte| byte == b'\n').enumerate() {
        if line.trim_ascii().is_empty() {
            break;
        }
        if number > 0 {
            let (name, value) = field(line);
            if name.eq_ignore_ascii_case(b"transfer-encoding") {
                out.extend_from_slice(SET_ASIDE);
            } else if name.eq_ignore_ascii_case(b"content-length") && length.is_some() {
                let right = !right_length && number_in(value) == length;
                right_length |= right;
                wrong_length |= !right;
                if !right {
                    out.extend_from_slice(SET_ASIDE);
                }
            }
        }
        out.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            out.extend_from_slice(b"\r\n");
        }
    }
    if let Some(length) = length.filter(|_| wrong_length && !right_length) {
        out.extend_from_slice(format!("Content-Length: {length}\r\n").as_bytes());
    }
    out.extend_from_slice(b"\r\n");
    out
}

/// Returns the status code of the first line. The reason phrase may be missing.
pub(super) fn status(head: &[u8]) -> Option<u16> {
    let line = head.split(|&byte| byte == b'\n').next()?;
    if !line.starts_with(b"HTTP/") {
        return None;
    }
    let code = line
        .split(u8::is_ascii_whitespace)
        .filter(|word| !word.is_empty())
        .nth(1)?;
    let code = std::str::from_utf8(code)
        .ok()
        .filter(|code| code.len() == 3)?;
    code.parse().ok()
}

/// Returns the values of all fields with this name, in order.
pub(super) fn values<'h, 'n>(
    head: &'h [u8],
    name: &'n str,
) -> impl Iterator<Item = &'h [u8]> + use<'h, 'n> {
    head.split(|&byte| byte == b'\n')
        .skip(1)
        .map(field)
        .filter(move |(found, _)| found.eq_ignore_ascii_case(name.as_bytes()))
        .map(|(_, value)| value)
}

/// Returns the media type in lower case, without parameters.
pub(super) fn media_type(head: &[u8]) -> Option<String> {
    let value = values(head, "content-type").next()?;
    let name = value
        .split(|&byte| byte == b';' || byte == b',')
        .next()?
        .trim_ascii();
    let name = String::from_utf8_lossy(name).to_ascii_lowercase();
    (!name.is_empty()).then_some(name)
}

/// Splits a line at its colon. A line without a colon has an empty name.
fn field(line: &[u8]) -> (&[u8], &[u8]) {
    match line.iter().position(|&byte| byte == b':') {
        Some(colon) => (line[..colon].trim_ascii(), line[colon + 1..].trim_ascii()),
        None => (&[], line),
    }
}

fn number_in(value: &[u8]) -> Option<usize> {
    std::str::from_utf8(value).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_fields_that_do_not_describe_the_stored_body_are_renamed() {
        let check = |head: &str, length: Option<usize>, expected: &str| {
            let stored = stored(head.as_bytes(), length);
            assert_eq!(String::from_utf8_lossy(&stored), expected, "{head:?}");
            assert_eq!(end(&stored), Some(stored.len()), "{head:?}");
        };
        let plain = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nsErVeR:  x \r\n\r\n";
        check(plain, Some(5), plain);
        check(plain, None, plain);
        check(
            plain,
            Some(7),
            "HTTP/1.1 200 OK\r\nX-Crawler-Content-Length: 5\r\nsErVeR:  x \r\nContent-Length: 7\r\n\r\n",
        );
        check(
            "HTTP/1.1 200 OK\r\ntransfer-ENCODING: chunked\r\n\r\n",
            Some(5),
            "HTTP/1.1 200 OK\r\nX-Crawler-transfer-ENCODING: chunked\r\n\r\n",
        );
        // Of several lengths, the first right one stays, wherever it is.
        check(
            "HTTP/1.1 200\r\nContent-Length: 4\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\n",
            Some(5),
            "HTTP/1.1 200\r\nX-Crawler-Content-Length: 4\r\nContent-Length: 5\r\nX-Crawler-Content-Length: 5\r\n\r\n",
        );
        // A length that overflows `usize` is wrong.
        check(
            "HTTP/1.1 200\r\nContent-Length: 99999999999999999999999\r\n\r\n",
            Some(0),
            "HTTP/1.1 200\r\nX-Crawler-Content-Length: 99999999999999999999999\r\nContent-Length: 0\r\n\r\n",
        );
        check("HTTP/1.1 200 OK", Some(0), "HTTP/1.1 200 OK\r\n\r\n");
        check(
            "HTTP/1.1 200 OK\n\nsmuggled",
            Some(0),
            "HTTP/1.1 200 OK\n\r\n",
        );
        check(
            "HTTP/1.1 200 OK\r\nA: b\r\n \t\r\nC: d\r\n\r\n",
            Some(0),
            "HTTP/1.1 200 OK\r\nA: b\r\n\r\n",
        );
        check("", Some(0), "\r\n");
    }

    #[test]
    fn status_codes_are_read_from_status_lines() {
        let check = |head: &[u8], expected| assert_eq!(status(head), expected, "{head:?}");
        check(b"HTTP/1.1 200 OK\r\n\r\n", Some(200));
        check(b"HTTP/1.0  404\r\n\r\n", Some(404));
        check(b"HTTP/2 304\n\n", Some(304));
        check(b"HTTP/1.1 20 OK\r\n\r\n", None);
        check(b"HTTP/1.1 2000 OK\r\n\r\n", None);
        check(b"HTTP/1.1\r\n\r\n", None);
        check(b"SSH-2.0 200\r\n\r\n", None);
        check(b"", None);
        check(b"HTTP/1.1 \xff\xff\xff\r\n", None);
    }

    #[test]
    fn fields_are_found_in_any_case() {
        let head =
            b"HTTP/1.1 200 OK\r\nCONTENT-type : Text/HTML; charset=x\r\nx: 1\r\nX: 2\r\n\r\n";
        assert_eq!(media_type(head).as_deref(), Some("text/html"));
        assert_eq!(values(head, "X").collect::<Vec<_>>(), [b"1", b"2"]);
        assert_eq!(
            media_type(b"HTTP/1.1 200 OK\r\nContent-Type: ;\r\n\r\n"),
            None
        );
    }
}
