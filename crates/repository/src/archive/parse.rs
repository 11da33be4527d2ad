//! The parser for the header of a WARC record.
//!
//! **Invariant:** whatever the input is, at most [`HEADER_LIMIT`] bytes of it are held in
//! memory, and a returned header has a block length. The parser accepts the deviations that
//! other tools are known to produce.

use std::io::{self, BufRead, Read};

use super::Fault;

/// Maximum bytes of a header; a longer one is rejected. The limit for HTTP response heads is the
/// same (hostile-web.md, row 8).
pub(super) const HEADER_LIMIT: usize = 64 * 1024;

/// The fields of a header in their order, and the length of the block in bytes.
#[derive(Debug, PartialEq)]
pub(super) struct Header {
    pub(super) fields: Vec<(String, String)>,
    pub(super) length: u64,
}

/// Why no record could be read.
#[derive(Debug)]
pub(super) enum ReadFailure {
    /// The input ends within the record.
    End,
    /// The bytes of the record are invalid.
    Fault(Fault),
    /// The disk failed.
    Io(io::Error),
}

impl From<io::Error> for ReadFailure {
    /// Errors of the operating system carry an error number. All others come from the decoder.
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::UnexpectedEof {
            return Self::End;
        }
        if error.raw_os_error().is_some() {
            return Self::Io(error);
        }
        Self::Fault(Fault::Gzip(error))
    }
}

impl From<Fault> for ReadFailure {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Reads a header and the blank line after it.
pub(super) fn header(input: &mut impl BufRead) -> Result<Header, ReadFailure> {
    let mut budget = HEADER_LIMIT;
    let mut line = Vec::new();
    let first = read_line(input, &mut line, &mut budget);
    if line
        .iter()
        .zip(b"WARC/")
        .any(|(found, wanted)| found != wanted)
    {
        return Err(Fault::NotWarc.into());
    }
    first?;
    let mut fields: Vec<(String, String)> = Vec::new();
    loop {
        read_line(input, &mut line, &mut budget)?;
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches(['\r', '\n']);
        if text.is_empty() {
            break;
        }
        // A folded line continues the value before it (allowed by WARC 1.0).
        if text.starts_with([' ', '\t'])
            && let Some((_, value)) = fields.last_mut()
        {
            value.push(' ');
            value.push_str(text.trim());
            continue;
        }
        // Lines without a colon are ignored; wpull and wget write some.
        if let Some((name, value)) = text.split_once(':') {
            fields.push((name.trim().to_owned(), value.trim().to_owned()));
        }
    }
    let length = fields
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case("content-length"))
        .and_then(|(_, value)| value.parse().ok())
        .ok_or(Fault::Length)?;
    Ok(Header { fields, length })
}

/// Skips the line ends between records. Returns whether anything follows.
pub(super) fn skip_line_ends(input: &mut impl BufRead) -> Result<bool, ReadFailure> {
    let mut budget = HEADER_LIMIT;
    loop {
        let bytes = input.fill_buf()?;
        let Some(&first) = bytes.first() else {
            return Ok(false);
        };
        if !matches!(first, b'\r' | b'\n') {
            return Ok(true);
        }
        input.consume(1);
        budget = budget
            .checked_sub(1)
            .ok_or(Fault::LongHeader(HEADER_LIMIT))?;
    }
}

fn read_line(
    input: &mut impl BufRead,
    line: &mut Vec<u8>,
    budget: &mut usize,
) -> Result<(), ReadFailure> {
    line.clear();
    let read = input
        .by_ref()
        .take(*budget as u64)
        .read_until(b'\n', line)?;
    *budget -= read;
    if line.ends_with(b"\n") {
        return Ok(());
    }
    if *budget == 0 {
        return Err(Fault::LongHeader(HEADER_LIMIT).into());
    }
    Err(ReadFailure::End)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_other_tools_are_parsed() {
        let check = |text: &[u8], fields: &[(&str, &str)], length| {
            let header = header(&mut &text[..]).unwrap();
            let found: Vec<_> = header
                .fields
                .iter()
                .map(|(n, v)| (n.as_str(), v.as_str()))
                .collect();
            assert_eq!((found.as_slice(), header.length), (fields, length));
        };
        check(
            b"WARC/1.1\r\nContent-Length: 3\r\n\r\n",
            &[("Content-Length", "3")],
            3,
        );
        check(
            b"WARC/0.18\ncontent-length:3\nA: b:c\n\td\nno colon\n\n",
            &[("content-length", "3"), ("A", "b:c d")],
            3,
        );
        check(
            b"WARC/1.0\nA: \xff\nContent-Length: 0\n\n",
            &[("A", "\u{fffd}"), ("Content-Length", "0")],
            0,
        );
    }

    #[test]
    fn each_wrong_header_has_its_error() {
        let check = |text: &[u8], expected: &str| {
            let found = format!("{:?}", header(&mut &text[..]).unwrap_err());
            assert_eq!(found, expected, "{}", text.escape_ascii());
        };
        check(b"", "End");
        check(b"WAR", "End");
        check(b"WAX", "Fault(NotWarc)");
        check(b"WARC\n", "Fault(NotWarc)");
        check(b"WARC/1.1\r\nA: b", "End");
        check(b"WARC/1.1\r\nA: b\r\n\r\n", "Fault(Length)");
        for length in ["-1", "x", "1 2", "18446744073709551616", ""] {
            let text = format!("WARC/1.1\r\nContent-Length: {length}\r\n\r\n");
            check(text.as_bytes(), "Fault(Length)");
        }
        let arc = b"filedesc://a.arc.gz 0.0.0.0 20140216050221 text/plain 75\n";
        check(arc, "Fault(NotWarc)");
        let long = format!("WARC/1.1\r\nA: {}", "a".repeat(HEADER_LIMIT));
        let many = format!("WARC/1.1\r\n{}", "A: b\r\n".repeat(HEADER_LIMIT / 6));
        for text in [long, many] {
            check(text.as_bytes(), "Fault(LongHeader(65536))");
        }
    }
}
