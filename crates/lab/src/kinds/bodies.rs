//! Bodies of pages: HTML or plain text.
//!
//! `bodies.ndjson` has one line per body, `{"body": "ID", "html": "…"}` or `{"body": "ID",
//! "text": "…"}`.
//!
//! **Invariant:** the bodies of a recorded history are streamed; this module holds one at a time.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use page::{Fingerprint, PageReading, PageUrl, ReadLimits, TextDigest};
use serde::{Deserialize, Serialize};
use zstd::stream::write::Encoder;

use crate::LabError;
use crate::table::{LineReader, find};

/// Greatest length of a line in bytes: a body with its JSON escapes.
const LONGEST_BODY: usize = 64 << 20;

/// Compression level of the file; the default of zstd.
const LEVEL: i32 = 3;

/// The content of a page at one time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Body {
    /// Its markup or its plain text.
    pub text: String,
    /// Whether it is HTML.
    pub html: bool,
}

/// The bodies of a history, by number.
#[derive(Debug, Clone)]
pub struct Bodies {
    count: u32,
    source: BodyStorage,
}

#[derive(Debug, Clone)]
enum BodyStorage {
    /// Nothing is known of the bodies except that they differ.
    Unknown,
    Kept(Vec<Body>),
    /// In a file; the map gives each body's number by its id.
    File(PathBuf, HashMap<Box<str>, u32>),
}

#[derive(Serialize, Deserialize)]
struct BodyLine<'a> {
    #[serde(borrow)]
    body: Cow<'a, str>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    html: Option<Cow<'a, str>>,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
}

impl Body {
    /// Creates a plain text.
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        Self { text, html: false }
    }

    /// Creates a page's markup.
    pub fn html(markup: impl Into<String>) -> Self {
        Self {
            text: markup.into(),
            html: true,
        }
    }

    /// Returns a hash of the readable text, which a change of markup alone does not change.
    pub fn fingerprint(&self) -> Fingerprint {
        let limits = ReadLimits {
            links: 0,
            ..ReadLimits::default()
        };
        let parsed = self.html.then(|| self.parsed(None, &limits)).flatten();
        let digest = parsed.map(|page| page.digest);
        digest.map_or_else(
            || TextDigest::of(&self.text).fingerprint,
            |read| read.fingerprint,
        )
    }

    /// Parses the markup as that of the page at this URL; `None` stands for a placeholder URL.
    pub(crate) fn parsed(&self, at: Option<&PageUrl>, limits: &ReadLimits) -> Option<PageReading> {
        let at = at.cloned().or_else(base)?;
        Some(page::read(&self.text, &at, limits))
    }
}

/// Returns a placeholder URL, for a caller that does not use the links.
fn base() -> Option<PageUrl> {
    PageUrl::parse("http://page.invalid/").ok()
}

impl Bodies {
    /// `count` bodies of unknown content, known only to differ.
    pub fn unknown(count: u32) -> Self {
        let source = BodyStorage::Unknown;
        Self { count, source }
    }

    /// Creates bodies that are kept in memory.
    pub fn kept(bodies: Vec<Body>) -> Self {
        Self {
            count: bodies.len() as u32,
            source: BodyStorage::Kept(bodies),
        }
    }

    /// Creates the bodies with these ids in a file, which is read on each use.
    pub(super) fn file(path: PathBuf, ids: HashMap<Box<str>, u32>) -> Self {
        Self {
            count: ids.len() as u32,
            source: BodyStorage::File(path, ids),
        }
    }

    /// Returns the number of bodies.
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Returns whether the content of the bodies is known.
    pub fn are_known(&self) -> bool {
        !matches!(self.source, BodyStorage::Unknown)
    }

    /// Passes every body to `see` once, in an arbitrary but fixed order. Passes none if their
    /// content is unknown.
    ///
    /// # Errors
    /// If the file cannot be read, lacks one of the bodies or has one of them twice.
    pub fn each(&self, mut see: impl FnMut(u32, Body)) -> Result<(), LabError> {
        match &self.source {
            BodyStorage::Unknown => Ok(()),
            BodyStorage::Kept(bodies) => {
                (0..).zip(bodies).for_each(|(n, body)| see(n, body.clone()));
                Ok(())
            }
            BodyStorage::File(path, ids) => each_of(path, ids, see),
        }
    }

    /// Renumbers the bodies with `order[new] = old`; bodies not in `order` are dropped.
    pub(super) fn reordered(self, order: &[u32]) -> Self {
        let count = order.len() as u32;
        let source = match self.source {
            BodyStorage::Unknown => BodyStorage::Unknown,
            BodyStorage::Kept(mut bodies) => {
                let taken = order
                    .iter()
                    .map(|&old| std::mem::take(&mut bodies[old as usize]));
                BodyStorage::Kept(taken.collect())
            }
            BodyStorage::File(path, ids) => {
                let new: HashMap<u32, u32> = order.iter().copied().zip(0..).collect();
                let ids = ids.into_iter();
                let kept = ids.filter_map(|(id, old)| Some((id, *new.get(&old)?)));
                BodyStorage::File(path, kept.collect())
            }
        };
        Self { count, source }
    }

    /// Writes `bodies.ndjson.zst` with numbers as ids; writes no file if the content is unknown.
    pub(crate) fn write(&self, directory: &Path) -> Result<(), LabError> {
        if !self.are_known() {
            return Ok(());
        }
        let mut file = BodyWriter::create(directory)?;
        let mut done = Ok(());
        self.each(|number, body| {
            if done.is_ok() {
                done = file.put(&number.to_string(), &body);
            }
        })?;
        done?;
        file.finish()
    }
}

/// Reads the bodies of a directory and passes each to `see` with its id.
pub(crate) fn read(
    directory: &Path,
    see: impl FnMut(&str, Body) -> Result<(), String>,
) -> Result<(), LabError> {
    stream(find(directory, "bodies.ndjson")?, see).map(drop)
}

/// A writer of `bodies.ndjson.zst`.
pub struct BodyWriter {
    path: PathBuf,
    sink: Encoder<'static, BufWriter<File>>,
}

impl BodyWriter {
    /// Creates the file in a directory.
    pub fn create(directory: &Path) -> Result<Self, LabError> {
        let path = directory.join("bodies.ndjson.zst");
        let sink = File::create(&path).and_then(|file| Encoder::new(BufWriter::new(file), LEVEL));
        match sink {
            Ok(sink) => Ok(Self { path, sink }),
            Err(source) => Err(LabError::Write { path, source }),
        }
    }

    /// Writes a body. The caller must use each id once.
    pub fn put(&mut self, id: &str, body: &Body) -> Result<(), LabError> {
        let said = Some(Cow::from(body.text.as_str()));
        let (html, text) = if body.html {
            (said, None)
        } else {
            (None, said)
        };
        let body = Cow::from(id);
        let line = serde_json::to_vec(&BodyLine { body, html, text });
        let written = line.map_err(std::io::Error::from).and_then(|mut line| {
            line.push(b'\n');
            self.sink.write_all(&line)
        });
        written.map_err(|source| LabError::Write {
            path: self.path.clone(),
            source,
        })
    }

    /// Finishes the file.
    pub fn finish(self) -> Result<(), LabError> {
        let flushed = self.sink.finish().and_then(|mut file| file.flush());
        flushed.map_err(|source| LabError::Write {
            path: self.path,
            source,
        })
    }
}

fn each_of(
    path: &Path,
    ids: &HashMap<Box<str>, u32>,
    mut see: impl FnMut(u32, Body),
) -> Result<(), LabError> {
    let mut seen = vec![false; ids.len()];
    let last = stream(path.to_owned(), |id, body| match ids.get(id) {
        Some(&number) if std::mem::replace(&mut seen[number as usize], true) => {
            Err(format!("the body {id:?} occurs twice"))
        }
        Some(&number) => {
            see(number, body);
            Ok(())
        }
        None => Ok(()),
    })?;
    let Some(missing) = seen.iter().position(|seen| !seen) else {
        return Ok(());
    };
    let id = ids.iter().find(|(_, number)| **number as usize == missing);
    let why = format!("the body {:?} is missing", id.map_or("", |(id, _)| id));
    Err(last.place().wrong(why))
}

/// Passes every line of a file of bodies to `see`; returns the reader at its end.
fn stream(
    path: PathBuf,
    mut see: impl FnMut(&str, Body) -> Result<(), String>,
) -> Result<LineReader, LabError> {
    let mut lines = LineReader::open(path, LONGEST_BODY)?;
    while !lines.only_an_empty_line_is_left()? {
        let Some((line, place)) = lines.next()? else {
            break;
        };
        let line: BodyLine<'_> =
            serde_json::from_str(line).map_err(|error| place.wrong(error.to_string()))?;
        let body = match (line.html, line.text) {
            (Some(html), None) => Body::html(html),
            (None, Some(text)) => Body::text(text),
            _ => return Err(place.wrong("either \"html\" or \"text\" is expected")),
        };
        see(&line.body, body).map_err(|why| place.wrong(why))?;
    }
    Ok(lines)
}
