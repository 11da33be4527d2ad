//! What goes over the wire for a lie, and how slowly?
//!
//! **Invariant:** a script is data: it says what is sent and when to wait, and knows no socket. The
//! steps that have no end of their own are ended by the [`Pace`].

use std::time::Duration;

use bytes::Bytes;

/// The word in every text that belongs to no URL.
pub const SMUGGLED: &str = "smuggled";

/// How slow the slow lies are, and how long the endless ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// The wait between two pieces of a drip.
    pub pause: Duration,
    /// After this time any answer is cut off.
    pub longest: Duration,
    /// After so many bytes an endless answer is cut off.
    pub most_bytes: u64,
}

impl Pace {
    /// As on the real web: a byte a second for a minute, a gigabyte without end.
    pub const REAL: Self = Self {
        pause: Duration::from_secs(1),
        longest: Duration::from_secs(60),
        most_bytes: 1 << 30,
    };

    /// For tests whose client has limits of a fraction of a second.
    pub const QUICK: Self = Self {
        pause: Duration::from_millis(20),
        longest: Duration::from_secs(2),
        most_bytes: 64 << 20,
    };
}

/// A request, as far as lies care.
pub(super) struct Asked<'a> {
    /// Path and query.
    pub path: &'a str,
    /// How often the same was asked for before.
    pub earlier: u32,
    /// Header names, in lower case, and values.
    pub headers: &'a [(String, String)],
}

impl Asked<'_> {
    pub fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    }

    /// What follows a prefix of the path.
    pub fn after(&self, prefix: &str) -> &str {
        self.path.strip_prefix(prefix).unwrap_or_default()
    }
}

/// An answer to play.
#[derive(Debug, Clone, Default)]
pub(super) struct Script {
    pub steps: Vec<Step>,
    pub then: Then,
}

#[derive(Debug, Clone)]
pub(super) enum Step {
    Send(Bytes),
    /// The same bytes again and again, as fast as they go.
    Flood(Bytes),
    /// The same bytes again and again, with a pause after each.
    Drip(Bytes),
    Pause,
    /// Nothing at all.
    Silence,
}

/// What happens to the connection.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Then {
    /// The next request is awaited.
    #[default]
    Keep,
    /// It is closed in order.
    Close,
    /// It is closed with a reset.
    Reset,
}

impl Script {
    /// Bytes exactly as given.
    pub fn raw(bytes: impl Into<Bytes>) -> Self {
        Self::default().send(bytes)
    }

    /// A well-framed answer: the status line and headers as given (no line end at the end), then
    /// the true length and the body.
    pub fn framed(head: &str, body: impl Into<Bytes>) -> Self {
        let body = body.into();
        let head = format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\n\r\n", body.len());
        Self::raw(head).send(body)
    }

    /// A well-framed page of HTML.
    pub fn html(body: impl Into<Bytes>) -> Self {
        Self::framed("200 OK\r\nContent-Type: text/html; charset=utf-8", body)
    }

    pub fn not_found() -> Self {
        Self::framed("404 Not Found\r\nContent-Type: text/plain", "not found\n")
    }

    pub fn send(self, bytes: impl Into<Bytes>) -> Self {
        self.step(Step::Send(bytes.into()))
    }

    pub fn flood(self, bytes: impl Into<Bytes>) -> Self {
        self.step(Step::Flood(bytes.into()))
    }

    pub fn drip(self, bytes: impl Into<Bytes>) -> Self {
        self.step(Step::Drip(bytes.into()))
    }

    pub fn pause(self) -> Self {
        self.step(Step::Pause)
    }

    pub fn silence(self) -> Self {
        self.step(Step::Silence)
    }

    pub fn then(self, then: Then) -> Self {
        Self { then, ..self }
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }
}

/// A page with a title and some body.
pub(super) fn page(title: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html><head><title>{title}</title></head>\n<body>{body}</body></html>\n"
    )
}

/// A whole answer that nobody asked for.
pub(super) fn smuggled_answer() -> String {
    let body = page(SMUGGLED, SMUGGLED);
    let length = body.len();
    format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n{body}")
}
