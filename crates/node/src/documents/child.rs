//! The child process that reads one document.
//!
//! It takes the document from standard input and writes to standard output: one line of JSON, and
//! the HTML. It reads nothing before the [sandbox] is in force.
//!
//! [sandbox]: super::sandbox

use std::ffi::OsString;
use std::io::{self, ErrorKind, Read, Write};
use std::process::ExitCode;

use document::ReadingLimits;

use super::sandbox::{self, SandboxLimits};
use super::{NO_SANDBOX, ReaderHead};

/// The first argument of a child. The processor time in seconds and the memory in megabytes follow.
pub const ARGUMENT: &str = "read-document";

/// Runs this process as a child if its arguments say so, and returns its exit code.
///
/// This is for the very beginning of the program, because a child needs nothing else of it.
pub fn run_if_asked() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next()? != ARGUMENT {
        return None;
    }
    Some(match limits(arguments) {
        Some(limits) => run(limits),
        None => {
            eprintln!("avocet: {ARGUMENT} is how Avocet reads documents; it is not for people");
            ExitCode::from(2)
        }
    })
}

fn limits(arguments: impl Iterator<Item = OsString>) -> Option<SandboxLimits> {
    let numbers = arguments.map(|one| one.to_str()?.parse().ok());
    let numbers: Vec<u32> = numbers.collect::<Option<_>>()?;
    match numbers[..] {
        [seconds, megabytes] => Some(SandboxLimits { seconds, megabytes }),
        _ => None,
    }
}

fn run(limits: SandboxLimits) -> ExitCode {
    let sent = match sandbox::enter(limits) {
        Ok(()) => read_document(),
        Err(error) => {
            eprintln!("avocet: {error}");
            send(&ReaderHead::Refused(NO_SANDBOX.into()), "")
        }
    };
    match sent {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            match error.kind() {
                // As the standard library says it elsewhere. The parent looks for these words.
                ErrorKind::OutOfMemory => eprintln!("memory allocation of the body failed"),
                _ => eprintln!("avocet: {error}"),
            }
            ExitCode::FAILURE
        }
    }
}

fn read_document() -> io::Result<()> {
    let mut body = Vec::new();
    io::stdin().lock().read_to_end(&mut body)?;
    match document::read(&body, ReadingLimits::default()) {
        Ok(read) => {
            let head = ReaderHead::Read {
                format: read.format.name().to_owned(),
                cut: read.cut,
                bytes: read.html.len(),
            };
            send(&head, &read.html)
        }
        Err(why) => send(&ReaderHead::Refused(why.code().to_owned()), ""),
    }
}

fn send(head: &ReaderHead, html: &str) -> io::Result<()> {
    let mut output = io::stdout().lock();
    let mut line = serde_json::to_vec(head)?;
    line.push(b'\n');
    output.write_all(&line)?;
    output.write_all(html.as_bytes())?;
    output.flush()
}
