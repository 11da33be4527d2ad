//! Finds the end of a response head.
//!
//! Scans the head line by line as it arrives, keeps it verbatim for the archive, and bounds it
//! together with the informational heads before it.
//!
//! **Invariant:** no more bytes are kept than the limit. The result does not depend on how the
//! bytes are split into reads.

use bytes::{Bytes, BytesMut};

use crate::settings::FetchLimits;
use crate::trouble::Trouble;

/// The heads of one response: informational ones, then the final one.
#[derive(Default)]
pub(crate) struct Heads {
    head: BytesMut,
    /// Offset in `head` of the line that is not complete yet.
    line: usize,
    /// Lines of the current head, including the status line and the empty line.
    lines: usize,
    /// Bytes of all heads, including informational ones that were dropped.
    bytes: usize,
    informational: u32,
    /// Whether the current head is complete and was informational.
    passed: bool,
    limits: HeadLimits,
}

/// The limits of a head, from [`FetchLimits`].
#[derive(Default, Clone, Copy)]
pub(crate) struct HeadLimits {
    pub(crate) bytes: usize,
    pub(crate) fields: usize,
    pub(crate) informational: u32,
}

/// How far the head is after the last bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeadStep {
    /// The current line is incomplete.
    Within,
    /// A line of the head is complete.
    Line,
    /// An informational head is complete; another head follows.
    Informational,
    /// The final head is complete.
    Final,
}

impl From<&FetchLimits> for HeadLimits {
    fn from(limits: &FetchLimits) -> Self {
        Self {
            bytes: limits.head,
            fields: limits.headers,
            informational: limits.informational,
        }
    }
}

impl Heads {
    pub(crate) fn new(limits: HeadLimits) -> Self {
        Self {
            limits,
            ..Self::default()
        }
    }

    /// Consumes bytes up to the end of the line, or all of them. Returns how many, and how far the
    /// head is. Fails if the head exceeds a limit.
    pub(crate) fn take(&mut self, new: &[u8]) -> Result<(usize, HeadStep), Trouble> {
        if std::mem::take(&mut self.passed) {
            self.begin();
        }
        let end = new.iter().position(|&byte| byte == b'\n');
        let taken = &new[..end.map_or(new.len(), |end| end + 1)];
        self.bytes += taken.len();
        // Bytes beyond the limit are not stored.
        if self.bytes > self.limits.bytes {
            return Err(Trouble::HeadTooLarge);
        }
        self.head.extend_from_slice(taken);
        let step = match end {
            Some(_) => self.end_line()?,
            None => HeadStep::Within,
        };
        Ok((taken.len(), step))
    }

    /// Returns the current head as received so far.
    pub(crate) fn so_far(&self) -> &[u8] {
        &self.head
    }

    /// Returns the complete lines of the current head.
    pub(crate) fn lines_so_far(&self) -> &[u8] {
        &self.head[..self.line]
    }

    /// Returns the final head, verbatim.
    pub(crate) fn into_final(self) -> Bytes {
        self.head.freeze()
    }

    fn end_line(&mut self) -> Result<HeadStep, Trouble> {
        let whole = &self.head[self.line..];
        let is_empty = whole == b"\r\n" || whole == b"\n";
        let is_first = self.line == 0;
        self.line = self.head.len();
        self.lines += 1;
        if self.lines > self.limits.fields + 2 {
            return Err(Trouble::HeadTooLarge);
        }
        if !is_empty {
            return Ok(HeadStep::Line);
        }
        // Empty lines before the status line are skipped, as hyper does.
        if is_first {
            self.begin();
            return Ok(HeadStep::Line);
        }
        if !is_informational(&self.head) {
            return Ok(HeadStep::Final);
        }
        self.passed = true;
        self.informational += 1;
        if self.informational > self.limits.informational {
            Err(Trouble::Informational)
        } else {
            Ok(HeadStep::Informational)
        }
    }

    fn begin(&mut self) {
        self.head.clear();
        (self.line, self.lines) = (0, 0);
    }
}

/// Returns whether a head is that of a 1xx response (`HTTP/1.1 103 …`). Status 101 counts as
/// final, because we never request an upgrade.
fn is_informational(head: &[u8]) -> bool {
    let status = head
        .iter()
        .position(|&byte| byte == b' ')
        .and_then(|space| head.get(space + 1..space + 4));
    matches!(status, Some([b'1', _, _])) && status != Some(b"101")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LIMITS: HeadLimits = HeadLimits {
        bytes: 200,
        fields: 3,
        informational: 2,
    };
    const FINAL: &[u8] = b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n";

    /// Consumes bytes up to the end of the final head. Returns the rest.
    fn take_all<'a>(heads: &mut Heads, mut new: &'a [u8]) -> Result<Option<&'a [u8]>, Trouble> {
        while !new.is_empty() {
            let (taken, step) = heads.take(new)?;
            new = &new[taken..];
            if step == HeadStep::Final {
                return Ok(Some(new));
            }
        }
        Ok(None)
    }

    proptest! {
        #[test]
        fn the_split_into_reads_does_not_matter(cuts in prop::collection::vec(0usize..60, 0..10)) {
            let all = [b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n", FINAL].concat();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(all.len())).collect();
            cuts.extend([0, all.len()]);
            cuts.sort_unstable();
            let mut heads = Heads::new(LIMITS);
            for pair in cuts.windows(2) {
                let left = take_all(&mut heads, &all[pair[0]..pair[1]]).unwrap();
                prop_assert!(left.is_none_or(<[u8]>::is_empty));
            }
            prop_assert_eq!(heads.informational, 1);
            prop_assert_eq!(&heads.into_final()[..], FINAL);
        }
    }

    #[test]
    fn limits_hold_to_the_byte() {
        let check = |bytes: &[u8], wanted: Result<Option<&[u8]>, Trouble>| {
            assert_eq!(take_all(&mut Heads::new(LIMITS), bytes), wanted);
        };
        let head =
            |padding: usize| format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "x".repeat(padding));
        let fixed = head(0).len();
        check(head(200 - fixed).as_bytes(), Ok(Some(b"")));
        check(head(201 - fixed).as_bytes(), Err(Trouble::HeadTooLarge));
        check(&[b'x'; 200], Ok(None));
        check(&[b'x'; 201], Err(Trouble::HeadTooLarge));
        let fields = |count: usize| format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(count));
        check(fields(3).as_bytes(), Ok(Some(b"")));
        check(fields(4).as_bytes(), Err(Trouble::HeadTooLarge));
        let early = b"HTTP/1.1 103 Early\r\n\r\n";
        check(&early.repeat(2), Ok(None));
        check(&early.repeat(3), Err(Trouble::Informational));
    }

    #[test]
    fn bare_line_feeds_and_leading_empty_lines_are_understood() {
        let mut lenient = Heads::new(LIMITS);
        let left = take_all(&mut lenient, b"\r\n\nHTTP/1.1 200 OK\nA: b\n\nbody");
        assert_eq!(left, Ok(Some(&b"body"[..])));
        assert_eq!(&lenient.into_final()[..], b"HTTP/1.1 200 OK\nA: b\n\n");
    }
}
