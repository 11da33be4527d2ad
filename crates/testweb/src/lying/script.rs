//! Scripts: the bytes and pauses that are sent for a lie.
//!
//! **Invariant:** a script is data. It states what is sent and when to wait, and does not use a
//! socket. The [`Pace`] ends steps that have no end of their own.

use std::time::Duration;

use bytes::Bytes;

/// A word in all text that belongs to no URL. A crawler must not store it.
pub const SMUGGLED: &str = "smuggled";

/// The timing of slow lies and the size of endless ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Wait between two pieces of a drip.
    pub pause: Duration,
    /// Time after which any answer is cut off.
    pub longest: Duration,
    /// Bytes after which an endless answer is cut off.
    pub most_bytes: u64,
}

impl Pace {
    /// For tests whose client has limits of a fraction of a second.
    pub const QUICK: Self = Self {
        pause: Duration::from_millis(20),
        longest: Duration::from_secs(2),
        most_bytes: 64 << 20,
    };
}

/// A request, as far as lies need it.
pub(super) struct ScriptRequest<'a> {
    /// Path and query.
    pub path: &'a str,
    /// Number of earlier requests for the same path.
    pub earlier: u32,
    /// Header names, in lower case, and values.
    pub headers: &'a [(String, String)],
}

impl ScriptRequest<'_> {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// Returns the part of the path after a prefix.
    pub fn after(&self, prefix: &str) -> &str {
        self.path.strip_prefix(prefix).unwrap_or_default()
    }
}

/// An answer to send, step by step.
#[derive(Debug, Clone, Default)]
pub(super) struct Script {
    pub steps: Vec<ScriptStep>,
    pub then: AfterScript,
}

#[derive(Debug, Clone)]
pub(super) enum ScriptStep {
    Send(Bytes),
    /// Repeats the same bytes without pauses.
    Flood(Bytes),
    /// Repeats the same bytes with a pause after each.
    Drip(Bytes),
    Pause,
    /// Sends nothing until the time limit.
    Silence,
}

/// What happens to the connection after the answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum AfterScript {
    /// It stays open for the next request.
    #[default]
    Keep,
    /// It is closed normally.
    Close,
    /// It is closed with a reset.
    Reset,
}

impl Script {
    /// Sends bytes exactly as given.
    pub fn raw(bytes: impl Into<Bytes>) -> Self {
        Self::default().send(bytes)
    }

    /// Sends a correctly framed answer: the status line and headers as given (without a final
    /// line end), the true length and the body.
    pub fn framed(head: &str, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let head = format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n", body.len());
        Self::raw(head).send(body)
    }

    /// Sends a correctly framed HTML page.
    pub fn html(body: impl Into<Bytes>) -> Self {
        Self::framed("200 OK\r\nContent-Type: text/html; charset=utf-8", body)
    }

    pub fn not_found() -> Self {
        Self::framed("404 Not Found\r\nContent-Type: text/plain", "not found\n")
    }

    pub fn send(self, bytes: impl Into<Bytes>) -> Self {
        self.step(ScriptStep::Send(bytes.into()))
    }

    pub fn flood(self, bytes: impl Into<Bytes>) -> Self {
        self.step(ScriptStep::Flood(bytes.into()))
    }

    pub fn drip(self, bytes: impl Into<Bytes>) -> Self {
        self.step(ScriptStep::Drip(bytes.into()))
    }

    pub fn pause(self) -> Self {
        self.step(ScriptStep::Pause)
    }

    pub fn silence(self) -> Self {
        self.step(ScriptStep::Silence)
    }

    pub fn then(self, then: AfterScript) -> Self {
        Self { then, ..self }
    }

    fn step(mut self, step: ScriptStep) -> Self {
        self.steps.push(step);
        self
    }
}

/// Returns a page with a title and a body.
pub(super) fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html><head><title>{title}</title></head>\n<body>{body}</body></html>\n"
    )
}

/// Returns a complete answer that no request asked for.
pub(super) fn smuggled_answer() -> String {
    let body = page(SMUGGLED, SMUGGLED);
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n{body}")
}
