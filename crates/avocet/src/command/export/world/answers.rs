//! The answers of the archive: versions of pages and their texts.
//!
//! The archive is nearly in the order of time, but garbage collection and imports disturb it. So
//! versions are collected and sorted, at 24 bytes each.

use std::collections::HashMap;
use std::path::Path;

use anyhow::Result;
use crawl::verdict::{Asked, Verdict};
use crawl::{Answer, AnswerText, TOKEN};
use frontier::{PageCopy, Visited};
use lab::table::schema::{GONE, VERSIONS};
use lab::table::{TableWriter, time_text};
use lab::workers::ExperimentProgress;
use lab::world::{Body, BodyWriter};
use node::answer;
use page::{PageUrl, RecordLocation};
use policy::{Moment, Outcome};
use repository::archive::{self, ArchiveError, RecordKind, WarcRecord};

use super::WorldCounts;
use super::pages::WorldPages;
use crate::logs::say;
use crate::progress_bar::Bar;

/// Bytes of the archive for each step of the progress.
const STEP: u64 = 1 << 20;

/// A version of a page.
#[derive(Debug, Clone, Copy)]
struct WorldVersion {
    at: Moment,
    page: u32,
    /// Number of the body; `None` if the page is gone.
    body: Option<u32>,
}

/// An answer of a source with a body.
#[derive(Debug, Clone, Copy)]
pub(super) struct SourceAnswer {
    pub at: Moment,
    pub source: u32,
    pub place: RecordLocation,
}

/// What the archive says about the pages of the ledger.
#[derive(Debug, Default)]
pub(super) struct Answers {
    versions: Vec<WorldVersion>,
    /// The answers of sources, sorted by time.
    pub of_sources: Vec<SourceAnswer>,
    /// Times of the first and the last answer.
    first: Option<Moment>,
    last: Option<Moment>,
}

impl Answers {
    /// Reads all answers, and writes the different texts. Stores in `pages` which pages have text
    /// and where redirects lead. Skips damaged records.
    pub fn read(
        archive: &Path,
        pages: &mut WorldPages,
        out: &Path,
        bar: &Bar,
        counts: &mut WorldCounts,
    ) -> Result<Self> {
        let mut answers = Self::default();
        let mut bodies: HashMap<Option<[u8; 20]>, u32> = HashMap::new();
        let mut writer = BodyWriter::create(out)?;
        let mut progress = ArchiveProgress::begin(archive, bar)?;
        for found in archive::scan(archive)? {
            let (place, record) = match found {
                Ok(found) => found,
                // The tail that a killed crawl left.
                Err(ArchiveError::Torn { .. }) => continue,
                Err(error) => {
                    say(&format!("skipped: {error}"));
                    counts.damaged += 1;
                    continue;
                }
            };
            progress.read(u64::from(place.length));
            let Some((number, at)) = page_and_time(&record, pages) else {
                continue;
            };
            let Some((answer, verdict)) = judged(&record, pages, number) else {
                continue;
            };
            answers.first = Some(answers.first.map_or(at, |first| first.min(at)));
            answers.last = answers.last.max(Some(at));
            // An answer without a body has a lead only if it is a redirect: its target.
            let redirect = verdict.leads.first().filter(|_| !verdict.copied);
            if redirect.is_some() || verdict.copied {
                let target = redirect.and_then(|lead| pages.number(lead.id));
                pages.get_mut(number).redirect = target;
            }
            if verdict.copied && pages.get(number).source {
                answers.of_sources.push(SourceAnswer {
                    at,
                    source: number,
                    place,
                });
            }
            let body = match (&verdict.text, verdict.visited.history.outcome) {
                (Some(_), _) => {
                    let next = bodies.len() as u32;
                    let body = *bodies.entry(answer.payload).or_insert(next);
                    if body == next {
                        let content = match answer.text() {
                            Some(AnswerText::Html(html)) => Body {
                                text: html.into_owned(),
                                html: true,
                            },
                            Some(AnswerText::Plain(text)) => Body {
                                text: text.into_owned(),
                                html: false,
                            },
                            None => continue,
                        };
                        writer.put(&body.to_string(), &content)?;
                    }
                    pages.get_mut(number).shown = true;
                    Some(body)
                }
                (None, Some(Outcome::Gone)) => None,
                (None, _) if verdict.copied => None,
                _ => continue,
            };
            answers.versions.push(WorldVersion {
                at,
                page: number,
                body,
            });
        }
        writer.finish()?;
        counts.bodies = bodies.len() as u64;
        answers.versions.sort_by_key(|version| version.at);
        answers.of_sources.sort_by_key(|answer| answer.at);
        Ok(answers)
    }

    /// Writes the versions that differ from the previous version of their page.
    pub fn write_versions(
        &self,
        out: &Path,
        pages: &WorldPages,
        counts: &mut WorldCounts,
    ) -> Result<()> {
        let mut table = TableWriter::create(out, VERSIONS)?;
        let mut current: HashMap<u32, Option<u32>> = HashMap::new();
        for WorldVersion { at, page, body } in &self.versions {
            let before = current.insert(*page, *body).flatten();
            if *body == before || !pages.get(*page).shown {
                continue;
            }
            let body = body.map_or(GONE.to_owned(), |body| body.to_string());
            table.row([page, &time_text(*at), &body])?;
            counts.versions += 1;
        }
        Ok(table.finish()?)
    }

    /// Returns the times of the first and the last answer.
    pub fn span(&self) -> [Option<Moment>; 2] {
        [self.first, self.last]
    }
}

/// Returns the page of a record and the time of its answer; `None` if the record holds no new
/// answer of a page that the ledger knows.
fn page_and_time(record: &WarcRecord, pages: &WorldPages) -> Option<(u32, Moment)> {
    // A revisit record says that the page had not changed.
    if *record.kind() != RecordKind::Response {
        return None;
    }
    let number = pages.number(record.url()?.id())?;
    let micros = u64::try_from(record.at()?.as_microsecond()).ok()?;
    Some((number, Moment::from_micros(micros)))
}

/// Judges an archived answer as the crawl does; `None` if the record holds no HTTP answer.
///
/// The verdict is about this answer alone: a single 404 means that the page is gone.
pub(super) fn judged(
    record: &WarcRecord,
    pages: &WorldPages,
    number: u32,
) -> Option<(Answer, Verdict)> {
    let url = record.url()?;
    let answer = answer::kept(record, &url, TOKEN).ok()?;
    // If there is a copy, an answer that was cut off by accident does not replace it.
    let copied = Visited {
        copy: Some(PageCopy::default()),
        ..Visited::default()
    };
    let asked = Asked {
        before: pages.get(number).shown.then_some(&copied),
        ..Asked::again(&url)
    };
    let verdict = asked.judge(&answer, 0, &|url: &PageUrl| {
        pages.number(url.id()).is_some()
    });
    Some((answer, verdict))
}

/// Shows how much of the archive was read.
struct ArchiveProgress<'a> {
    bar: &'a Bar,
    bytes: u64,
}

impl<'a> ArchiveProgress<'a> {
    fn begin(archive: &Path, bar: &'a Bar) -> Result<Self> {
        let sizes = archive::sizes(archive)?;
        let all: u64 = sizes.iter().map(|(_, bytes)| bytes).sum();
        bar.begin("MiB of the archive", all.div_ceil(STEP) as usize);
        Ok(Self { bar, bytes: 0 })
    }

    fn read(&mut self, bytes: u64) {
        let before = self.bytes / STEP;
        self.bytes += bytes;
        (before..self.bytes / STEP).for_each(|_| self.bar.step());
    }
}
