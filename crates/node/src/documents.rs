//! Reads documents (PDF, Office, OpenDocument and EPUB files) in child processes.
//!
//! Parsers of these formats are large, and their input is hostile. So each document is read by a
//! process of its own: this program with the argument [`child::ARGUMENT`]. It limits its memory
//! and processor time, gives up files and network, and only then takes the document from its
//! standard input ([`sandbox`]). A crash, a loop or a bomb ends that process, and is an error code
//! of the page.
//!
//! The program has one [`DocumentReader`], which it [installs](install) at its start. Without it
//! documents are not read.
//!
//! **Invariant:** the answer of a child is bounded in size and time, and is data: codes and formats
//! other than known ones are refused.

pub mod child;
mod exchange;
pub mod sandbox;

use std::num::NonZero;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use crawl::{Answer, DocumentText};
use document::{DocumentFormat, Unreadable};
use page::media;
use serde::{Deserialize, Serialize};
use tokio::runtime::{Handle, RuntimeFlavor};

use crate::settings::DocumentSettings;
use exchange::ChildEnd;

/// The error code of a document whose reader exceeded its time.
const TIME: &str = "document:time";
/// The error code of a document whose reader exceeded its memory.
const MEMORY: &str = "document:memory";
/// The error code of a document whose reader crashed.
const CRASHED: &str = "document:crashed";
/// The error code of a document that was not read, because its reader could not be confined.
const NO_SANDBOX: &str = "document:no-sandbox";

/// Maximum number of bytes of the first line that a child sends.
const HEAD: usize = 256;
/// Maximum number of bytes of the HTML that a child sends. Its text has at most 4 MiB; links and
/// escaped characters make it longer.
const HTML: usize = 32 << 20;

static READER: OnceLock<DocumentReader> = OnceLock::new();

/// Reads documents in child processes, at most as many at once as the machine has processors.
#[derive(Debug)]
pub struct DocumentReader {
    program: PathBuf,
    settings: Mutex<DocumentSettings>,
    slots: ReaderSlots,
}

/// The first line of what a child sends.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
enum ReaderHead {
    /// The HTML follows.
    Read {
        format: String,
        cut: bool,
        bytes: usize,
    },
    /// The document was not read, with an error code.
    Refused(String),
}

/// Makes the program read documents, by itself as the child.
pub fn install(settings: &DocumentSettings) {
    // The link names the running program also after its file was replaced.
    let link = PathBuf::from("/proc/self/exe");
    let program = match link.exists() {
        true => Ok(link),
        false => std::env::current_exe(),
    };
    match program {
        Ok(program) => {
            READER.get_or_init(|| DocumentReader::new(program, settings.clone()));
        }
        Err(error) => tracing::warn!(%error, "documents are not read: the program is not found"),
    }
}

/// Replaces the settings of the installed reader.
pub fn configure(settings: &DocumentSettings) {
    if let Some(reader) = READER.get() {
        *reader.settings() = settings.clone();
    }
}

/// Reads the body of an answer if it is a whole document. This can take seconds: other tasks of a
/// runtime with several threads go on.
pub fn read(answer: &mut Answer) {
    let is_whole = (200..300).contains(&answer.status)
        && answer.truncated.is_none()
        && !answer.content.is_empty();
    if !is_whole || !media::is_document(answer.content_type.as_deref(), &answer.content) {
        return;
    }
    let Some(reader) = READER.get().filter(|reader| reader.settings().read) else {
        return;
    };
    let read = || reader.read(&answer.content);
    let flavor = Handle::try_current().map(|runtime| runtime.runtime_flavor());
    let found = match flavor {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(read),
        _ => read(),
    };
    answer.document = Some(found);
}

impl DocumentReader {
    /// Creates a reader that starts this program.
    pub fn new(program: PathBuf, settings: DocumentSettings) -> Self {
        let processors = std::thread::available_parallelism().map_or(1, NonZero::get);
        Self {
            program,
            settings: Mutex::new(settings),
            slots: ReaderSlots::new(processors),
        }
    }

    fn settings(&self) -> std::sync::MutexGuard<'_, DocumentSettings> {
        let locked = self.settings.lock();
        locked.unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads a document. Returns its text, or the error code of the reason why there is none.
    pub fn read(&self, body: &[u8]) -> Result<DocumentText, &'static str> {
        let (seconds, memory) = {
            let settings = self.settings();
            (settings.seconds, settings.memory)
        };
        let _slot = self.slots.take();
        let mut command = Command::new(&self.program);
        command
            .args([child::ARGUMENT, &seconds.to_string(), &memory.to_string()])
            .env_clear()
            // The allocator then maps memory piece by piece, so that a refusal by the limit is a
            // failed allocation. Within an area mapped at its start it would be a page fault.
            .env("MIMALLOC_ARENA_RESERVE", "0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let started = command.spawn();
        // A waiting process does not use processor time: on a busy machine a reader needs longer.
        let patience = Duration::from_secs(u64::from(seconds)) * 3 + Duration::from_secs(10);
        let end = started.and_then(|child| exchange::exchange(child, body, HEAD + HTML, patience));
        match end {
            Ok(end) => outcome(&end),
            Err(error) => {
                tracing::warn!(%error, "a document was not read: its reader cannot be started");
                Err(NO_SANDBOX)
            }
        }
    }
}

/// Returns what the end of a child says about its document.
fn outcome(end: &ChildEnd) -> Result<DocumentText, &'static str> {
    if end.is_late || end.is_out_of_time() {
        return Err(TIME);
    }
    if end.is_too_long {
        return Err(Unreadable::TooLarge.code());
    }
    if end.is_success() {
        return parsed(&end.output).unwrap_or(Err(CRASHED));
    }
    if end.is_out_of_memory() {
        return Err(MEMORY);
    }
    tracing::warn!(status = %end.status, "the reader of a document crashed: {}", end.said());
    Err(CRASHED)
}

/// Parses what a child sent; `None` if it is not as it must be.
fn parsed(output: &[u8]) -> Option<Result<DocumentText, &'static str>> {
    let end = output.iter().take(HEAD).position(|byte| *byte == b'\n')?;
    let (head, html) = (&output[..end], &output[end + 1..]);
    Some(match serde_json::from_slice(head).ok()? {
        ReaderHead::Refused(code) if html.is_empty() => Err(known_code(&code)?),
        ReaderHead::Refused(_) => return None,
        ReaderHead::Read { format, cut, bytes } => {
            if html.len() != bytes {
                return None;
            }
            Ok(DocumentText {
                format: DocumentFormat::named(&format)?.name(),
                html: std::str::from_utf8(html).ok()?.to_owned(),
                cut,
            })
        }
    })
}

/// Returns the error code with this name that a child may send.
fn known_code(name: &str) -> Option<&'static str> {
    let codes = Unreadable::ALL.map(Unreadable::code);
    codes
        .into_iter()
        .chain([NO_SANDBOX])
        .find(|code| *code == name)
}

/// Returns a sentence about the error code of a document; `None` for other codes.
pub fn explained(code: &str) -> Option<&'static str> {
    Some(match code {
        "document:encrypted" => "its document is encrypted and needs a password",
        "document:no-text" => "its document has no text, as scanned pages have none",
        "document:too-large" => "its document is too large when it is decompressed",
        "document:damaged" => "its document is damaged",
        "document:unsupported" => "its document has a format that is not read",
        "document:cut" => "its document is too long: only the first part of its text was read",
        TIME => "reading its document took too long ([documents] seconds)",
        MEMORY => "reading its document took too much memory ([documents] memory)",
        CRASHED => "the reader of its document crashed: report it, this is a bug in Avocet",
        NO_SANDBOX => "its document was not read: the reader could not be confined",
        _ => return None,
    })
}

/// Limits the number of children.
#[derive(Debug)]
struct ReaderSlots {
    free: Mutex<usize>,
    freed: Condvar,
}

/// The right to run one child.
struct ReaderSlot<'a>(&'a ReaderSlots);

impl ReaderSlots {
    fn new(count: usize) -> Self {
        Self {
            free: Mutex::new(count),
            freed: Condvar::new(),
        }
    }

    /// Waits until a child may start.
    fn take(&self) -> ReaderSlot<'_> {
        let free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.freed.wait_while(free, |free| *free == 0);
        *waited.unwrap_or_else(PoisonError::into_inner) -= 1;
        ReaderSlot(self)
    }
}

impl Drop for ReaderSlot<'_> {
    fn drop(&mut self) {
        *self.0.free.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        self.0.freed.notify_one();
    }
}

#[cfg(test)]
mod tests;
