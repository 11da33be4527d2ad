//! Where does the head of a response end?
//!
//! Goes through a head line by line as it comes, keeps it as it was sent, for the archive, and bounds it
//! together with the informational heads before it.
//!
//! **Invariant:** no more is kept than the limit, and however the bytes are cut into reads, the head is
//! the same.

use bytes::{Bytes, BytesMut};

use crate::settings::Limits;

/// The heads of one response: informational ones, then the final one.
#[derive(Default)]
pub(crate) struct Heads {
    head: BytesMut,
    /// Where in `head` the line begins that has not ended yet.
    line: usize,
    /// Lines of the head at hand, the status line and the empty one included.
    lines: usize,
    /// Bytes of all heads, the dropped informational ones included.
    bytes: usize,
    informational: u32,
    /// The head at hand is complete and was informational.
    passed: bool,
    limits: HeadLimits,
}

/// The limits of a head, from [`Limits`].
#[derive(Default, Clone, Copy)]
pub(crate) struct HeadLimits {
    pub(crate) bytes: usize,
    pub(crate) fields: usize,
    pub(crate) informational: u32,
}

/// What the bytes that were taken have led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// The line has not ended.
    Within,
    /// A line of the head ended.
    Line,
    /// An informational head is complete; another follows.
    Informational,
    /// The final head is complete.
    Final,
}

/// Which limit the head broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Excess {
    Size,
    Informational,
}

impl From<&Limits> for HeadLimits {
    fn from(limits: &Limits) -> Self {
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

    /// Takes bytes to the end of the line, or all. Returns how many.
    pub(crate) fn take(&mut self, new: &[u8]) -> Result<(usize, Step), Excess> {
        if std::mem::take(&mut self.passed) {
            self.begin();
        }
        let end = new.iter().position(|&byte| byte == b'\n');
        let taken = &new[..end.map_or(new.len(), |end| end + 1)];
        self.bytes += taken.len();
        // What exceeds the limit is not kept.
        if self.bytes > self.limits.bytes {
            return Err(Excess::Size);
        }
        self.head.extend_from_slice(taken);
        let step = match end {
            Some(_) => self.end_line()?,
            None => Step::Within,
        };
        Ok((taken.len(), step))
    }

    /// The head at hand, as far as it came.
    pub(crate) fn so_far(&self) -> &[u8] {
        &self.head
    }

    /// The lines of the head at hand that have ended.
    pub(crate) fn lines_so_far(&self) -> &[u8] {
        &self.head[..self.line]
    }

    /// The final head, verbatim.
    pub(crate) fn into_final(self) -> Bytes {
        self.head.freeze()
    }

    fn end_line(&mut self) -> Result<Step, Excess> {
        let whole = &self.head[self.line..];
        let is_empty = whole == b"\r\n" || whole == b"\n";
        let is_first = self.line == 0;
        self.line = self.head.len();
        self.lines += 1;
        if self.lines > self.limits.fields + 2 {
            return Err(Excess::Size);
        }
        if !is_empty {
            return Ok(Step::Line);
        }
        // Servers may send an empty line before the status line (RFC 9112, 2.2).
        if is_first {
            self.begin();
            return Ok(Step::Line);
        }
        if !is_informational(&self.head) {
            return Ok(Step::Final);
        }
        self.passed = true;
        self.informational += 1;
        if self.informational > self.limits.informational {
            Err(Excess::Informational)
        } else {
            Ok(Step::Informational)
        }
    }

    fn begin(&mut self) {
        self.head.clear();
        (self.line, self.lines) = (0, 0);
    }
}

/// Whether a head is that of a 1xx response (`HTTP/1.1 103 …`). 101 is final: we never ask to upgrade.
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

    /// Takes all, to the end of the final head. Returns what is left.
    fn take_all<'a>(heads: &mut Heads, mut new: &'a [u8]) -> Result<Option<&'a [u8]>, Excess> {
        while !new.is_empty() {
            let (taken, step) = heads.take(new)?;
            new = &new[taken..];
            if step == Step::Final {
                return Ok(Some(new));
            }
        }
        Ok(None)
    }

    proptest! {
        /// However the bytes are cut into reads, the head is the same.
        #[test]
        fn cuts_do_not_matter(cuts in prop::collection::vec(0usize..60, 0..10)) {
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
        let check = |bytes: &[u8], wanted: Result<Option<&[u8]>, Excess>| {
            assert_eq!(take_all(&mut Heads::new(LIMITS), bytes), wanted);
        };
        let head =
            |padding: usize| format!("HTTP/1.1 200 OK\r\nA: {}\r\n\r\n", "x".repeat(padding));
        let fixed = head(0).len();
        check(head(200 - fixed).as_bytes(), Ok(Some(b"")));
        check(head(201 - fixed).as_bytes(), Err(Excess::Size));
        check(&[b'x'; 200], Ok(None));
        check(&[b'x'; 201], Err(Excess::Size));
        let fields = |count: usize| format!("HTTP/1.1 200 OK\r\n{}\r\n", "A: b\r\n".repeat(count));
        check(fields(3).as_bytes(), Ok(Some(b"")));
        check(fields(4).as_bytes(), Err(Excess::Size));
        let early = b"HTTP/1.1 103 Early\r\n\r\n";
        check(&early.repeat(2), Ok(None));
        check(&early.repeat(3), Err(Excess::Informational));
    }

    #[test]
    fn bare_line_feeds_and_leading_empty_lines_are_understood() {
        let mut lenient = Heads::new(LIMITS);
        let left = take_all(&mut lenient, b"\r\n\nHTTP/1.1 200 OK\nA: b\n\nbody");
        assert_eq!(left, Ok(Some(&b"body"[..])));
        assert_eq!(&lenient.into_final()[..], b"HTTP/1.1 200 OK\nA: b\n\n");
    }
}
