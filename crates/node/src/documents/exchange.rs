//! The exchange with a child that reads a document: the document goes in, its text comes out.
//!
//! **Invariant:** the exchange ends after a given time, and keeps a given number of bytes at most,
//! whatever the child does.

use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, ExitStatus};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

/// Bytes of standard error that are kept.
const SAID: usize = 4_096;
/// Bytes that one call reads.
const PIECE: usize = 64 << 10;

/// How a child ended.
#[derive(Debug)]
pub(super) struct ChildEnd {
    /// What it sent.
    pub output: Vec<u8>,
    /// Whether it sent more than it may.
    pub is_too_long: bool,
    /// Whether it did not end in time.
    pub is_late: bool,
    /// Its exit status.
    pub status: ExitStatus,
    said: Vec<u8>,
}

impl ChildEnd {
    pub fn is_success(&self) -> bool {
        self.status.success()
    }

    /// Returns whether the limit on processor time ended the child.
    pub fn is_out_of_time(&self) -> bool {
        self.status.signal() == Some(Signal::XCPU.as_raw())
    }

    /// Returns whether an allocation failed: the standard library says so, and aborts. Or the
    /// kernel ended the child because the machine had no memory left.
    pub fn is_out_of_memory(&self) -> bool {
        let is_killed = self.status.signal() == Some(Signal::KILL.as_raw());
        is_killed || self.said().contains("memory allocation of")
    }

    /// Returns the beginning of its standard error.
    pub fn said(&self) -> String {
        String::from_utf8_lossy(&self.said).into_owned()
    }
}

/// Sends the body to a child, and waits for its answer and its end.
pub(super) fn exchange(
    mut child: Child,
    body: &[u8],
    longest: usize,
    patience: Duration,
) -> io::Result<ChildEnd> {
    let talked = talk(&mut child, body, longest, patience);
    // The child closes its outputs by ending, and then the signal does not change its status. A
    // child that closed them otherwise must not run on.
    child.kill().ok();
    let status = child.wait()?;
    let Talk {
        output,
        said,
        is_too_long,
        is_late,
    } = talked?;
    Ok(ChildEnd {
        output,
        is_too_long,
        is_late,
        status,
        said,
    })
}

#[derive(Default)]
struct Talk {
    output: Vec<u8>,
    said: Vec<u8>,
    is_too_long: bool,
    is_late: bool,
}

fn talk(child: &mut Child, body: &[u8], longest: usize, patience: Duration) -> io::Result<Talk> {
    let missing = || io::Error::other("the child has no pipes");
    let mut input = Some(child.stdin.take().ok_or_else(missing)?);
    let mut output = Some(child.stdout.take().ok_or_else(missing)?);
    let mut errors = Some(child.stderr.take().ok_or_else(missing)?);
    if let Some(input) = &input {
        rustix::io::ioctl_fionbio(input, true)?;
    }
    let deadline = Instant::now() + patience;
    let mut talk = Talk::default();
    let mut rest = body;
    while output.is_some() || errors.is_some() {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            talk.is_late = true;
            break;
        }
        let (writes, reads, says) = {
            // A descriptor that is closed is left out; its place has another one that is open.
            let mut ready = Vec::with_capacity(3);
            ready.extend(input.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::OUT)));
            ready.extend(output.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
            ready.extend(errors.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
            let timeout = Timespec {
                tv_sec: i64::try_from(left.as_secs()).unwrap_or(i64::MAX),
                tv_nsec: left.subsec_nanos().into(),
            };
            match poll(&mut ready, Some(&timeout)) {
                Err(rustix::io::Errno::INTR) => continue,
                other => other?,
            };
            let mut events = ready.iter().map(|one| !one.revents().is_empty());
            let mut next = |is_open: bool| is_open && events.next().unwrap_or(false);
            (
                next(input.is_some()),
                next(output.is_some()),
                next(errors.is_some()),
            )
        };
        if writes {
            rest = feed(&mut input, rest)?;
        }
        if reads && take(&mut output, &mut talk.output)? {
            output = None;
        }
        if says && take(&mut errors, &mut talk.said)? {
            errors = None;
        }
        talk.said.truncate(SAID);
        if talk.output.len() > longest {
            talk.is_too_long = true;
            break;
        }
    }
    Ok(talk)
}

/// Writes what the pipe takes. Returns the rest, and closes the pipe after all of it.
fn feed<'b>(input: &mut Option<ChildStdin>, rest: &'b [u8]) -> io::Result<&'b [u8]> {
    let Some(pipe) = input else {
        return Ok(rest);
    };
    let rest = match pipe.write(rest) {
        Ok(written) => &rest[written..],
        // The child has refused before it read everything.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => &[],
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {
            rest
        }
        Err(error) => return Err(error),
    };
    if rest.is_empty() {
        *input = None;
    }
    Ok(rest)
}

/// Reads what a pipe has. Returns whether it has ended.
fn take(pipe: &mut Option<impl Read>, into: &mut Vec<u8>) -> io::Result<bool> {
    let Some(pipe) = pipe else {
        return Ok(true);
    };
    let mut piece = vec![0; PIECE];
    match pipe.read(&mut piece) {
        Ok(length) => {
            into.extend_from_slice(&piece[..length]);
            Ok(length == 0)
        }
        Err(error) if error.kind() == ErrorKind::Interrupted => Ok(false),
        Err(error) => Err(error),
    }
}
