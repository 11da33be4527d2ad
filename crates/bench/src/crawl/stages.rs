//! `bench crawl --stages`: the CPU time of each stage of a page, from its bytes to archive and
//! index.
//!
//! The pages of a directory are read into memory. Each stage then goes over all of them in this
//! process, with the code of a crawl. The fetch is not among the stages: it is what the rest of
//! the table leaves of a whole crawl (`bench crawl`).
//!
//! **Invariant:** a stage is charged with the CPU time of all threads of the process, until they
//! rest. A stage that contains another one is charged with the difference only.

use std::fmt;
use std::fs;
use std::hint::black_box;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use bytes::Bytes;
use crawl::scope::{Reach, Scope, ScopeRules};
use crawl::verdict::{Asked, Details, IndexText, Lead, Verdict};
use crawl::{Admitter, Answer, Ownership, Source, Tally, Work, link_facts};
use frontier::bench::Manners;
use frontier::{Entry, Frontier, PageKey, Reading};
use jiff::Timestamp;
use ledger::Ledger;
use node::clock::Clock;
use node::engine::committer::{CommitWork, Committer, Record};
use page::url::traps::Rules;
use page::{Directives, PageParts, PageUrl, ReadLimits, TextDigest, charset, language};
use policy::server::BestPrefix;
use policy::{Crawl, History, Moment, Price};
use repository::archive::{self, Capture, Level, seal};
use repository::index::{HEAP, Index};
use serde::Serialize;

use crate::machine::{process_time, rest};
use crate::report::median;

/// Pages per commit.
const GROUP: usize = 20;
/// Pages per commit of the index: those of 15 seconds at a few hundred pages per second.
const INDEX_GROUP: usize = 5_000;
const NOW: Moment = Moment::from_micros(1_700_000_000_000_000);
const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n";

/// The stages, in the order of a page.
const STAGES: [&str; 10] = [
    "decode",
    "tokenize, text",
    "fingerprint",
    "links",
    "sections, metadata",
    "language",
    "scope, frontier, policy",
    "ledger",
    "archive",
    "index",
];

/// The table of `bench crawl --stages`.
#[derive(Debug, Serialize)]
pub struct StagesReport {
    pages: usize,
    bytes_per_page: usize,
    runs: u16,
    rows: Vec<StageRow>,
}

#[derive(Debug, Serialize)]
struct StageRow {
    stage: &'static str,
    /// Microseconds of CPU time per page: the median of the runs.
    microseconds: f64,
}

/// A page of the site.
struct StagePage {
    url: PageUrl,
    body: Bytes,
}

/// Runs every stage over the pages of these directories.
pub fn run(sites: &[PathBuf], runs: u16, place: &Path) -> Result<StagesReport> {
    let mut pages = Vec::new();
    for (number, site) in sites.iter().enumerate() {
        let origin = PageUrl::parse(&format!("http://site{number}.example/"))?;
        collect(site, &origin, &mut pages)?;
    }
    ensure!(!pages.is_empty(), "the directories have no HTML");
    let mut all: Vec<[Duration; STAGES.len()]> = Vec::new();
    for run in 1..=runs {
        eprintln!("run {run} of {runs}: {} pages", pages.len());
        all.push(once(&pages, place)?);
    }
    let rows = STAGES.iter().enumerate().map(|(number, stage)| {
        let times = all.iter().map(|run| run[number].as_secs_f64());
        let seconds = median(times).context("there are no runs")?;
        Ok(StageRow {
            stage,
            microseconds: seconds * 1e6 / pages.len() as f64,
        })
    });
    let bytes: usize = pages.iter().map(|page| page.body.len()).sum();
    Ok(StagesReport {
        pages: pages.len(),
        bytes_per_page: bytes / pages.len(),
        runs,
        rows: rows.collect::<Result<_>>()?,
    })
}

/// Reads the HTML files below a directory, in the order of their paths.
fn collect(directory: &Path, url: &PageUrl, pages: &mut Vec<StagePage>) -> Result<()> {
    let read = fs::read_dir(directory);
    let read = read.with_context(|| format!("cannot read {}", directory.display()))?;
    let mut entries = read.collect::<Result<Vec<_>, _>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy().replace(['%', '?', '#', '\\'], "_");
        if path.is_dir() {
            collect(&path, &url.join(&format!("./{name}/"))?, pages)?;
        } else if name.ends_with(".html") {
            let body = fs::read(&path);
            let body = body.with_context(|| format!("cannot read {}", path.display()))?;
            pages.push(StagePage {
                url: url.join(&format!("./{name}"))?,
                body: body.into(),
            });
        }
    }
    Ok(())
}

/// Runs every stage once. Returns the CPU time of each.
fn once(pages: &[StagePage], place: &Path) -> Result<[Duration; STAGES.len()]> {
    let decode = over(pages, |page| {
        black_box(decoded(page));
    });
    let texts: Vec<_> = pages.iter().map(decoded).collect();
    let read = |parts: PageParts, links: usize| {
        let limits = ReadLimits {
            parts,
            links,
            ..ReadLimits::default()
        };
        timed(|| {
            for (page, text) in pages.iter().zip(&texts) {
                black_box(page::read(text, &page.url, &limits));
            }
        })
    };
    let most = ReadLimits::default().links;
    let (bare, linked) = (
        read(PageParts::default(), 0),
        read(PageParts::default(), most),
    );
    let whole = read(
        PageParts {
            paths: false,
            ..PageParts::ALL
        },
        most,
    );
    let limits = ReadLimits::default();
    let readings: Vec<_> = (pages.iter().zip(&texts))
        .map(|(page, text)| page::read(text, &page.url, &limits))
        .collect();
    let fingerprint = timed(|| {
        for reading in &readings {
            black_box(TextDigest::of(&reading.text));
        }
    });
    let language = timed(|| {
        for reading in &readings {
            black_box(language::detect(&reading.text, reading.language.as_deref()));
        }
    });
    drop((readings, texts));
    let verdicts: Vec<Verdict> = pages.iter().map(judged).collect();
    let (discovery, records) = discovered(pages, verdicts)?;
    let (ledger, archive, index) = stored(pages, records, place)?;
    Ok([
        decode,
        bare.saturating_sub(fingerprint),
        fingerprint,
        linked.saturating_sub(bare),
        whole.saturating_sub(linked),
        language,
        discovery,
        ledger,
        archive,
        index,
    ])
}

fn timed(work: impl FnOnce()) -> Duration {
    let begun = process_time();
    work();
    process_time() - begun
}

fn over(pages: &[StagePage], mut work: impl FnMut(&StagePage)) -> Duration {
    timed(|| pages.iter().for_each(&mut work))
}

fn decoded(page: &StagePage) -> std::borrow::Cow<'_, str> {
    charset::decode(&page.body, Some("text/html")).0
}

fn judged(page: &StagePage) -> Verdict {
    let answer = Answer {
        status: 200,
        content_type: Some("text/html".into()),
        etag: None,
        last_modified: None,
        language: None,
        location: None,
        hub: None,
        directives: Directives::default(),
        content: page.body.clone(),
        payload: None,
        truncated: None,
        document: None,
    };
    let asked = Asked {
        at: NOW,
        details: Details::INDEXED,
        ..Asked::again(&page.url)
    };
    let ours = |other: &PageUrl| other.host() == page.url.host();
    asked.judge(&answer, page.body.len() as u64, &ours)
}

/// Admits the links of all pages, and lets the policy observe them. Returns the time, and the
/// records to commit.
fn discovered(pages: &[StagePage], verdicts: Vec<Verdict>) -> Result<(Duration, Vec<Record>)> {
    let hosts: std::collections::BTreeSet<&str> =
        pages.iter().map(|page| page.url.origin()).collect();
    let rules = ScopeRules {
        seeds: hosts.iter().map(|origin| format!("{origin}/")).collect(),
        reach: Reach::Host,
        ..ScopeRules::default()
    };
    let mut scope = Arc::new(Scope::new(&rules, Rules::default())?);
    let ours = Ownership::all();
    let strategy = Box::new(BestPrefix);
    let manners = Manners::default();
    let mut frontier = Frontier::new(Crawl::default(), strategy, Price::LEAST, manners, 0x5eed);
    let mut tally = Tally::default();
    // Every page is known before its links are admitted, as in a crawl.
    let seeds: Vec<Lead> = pages.iter().map(|page| Lead::seed(&page.url)).collect();
    let mut admitter = Admitter {
        frontier: &mut frontier,
        scope: Some(&mut scope),
        ours: &ours,
        tally: &mut tally,
    };
    let seeded = admitter.admit_all(&seeds, None, NOW).facts;
    frontier.committed(&seeded);
    let mut records = Vec::with_capacity(pages.len());
    let took = timed(|| {
        for (page, mut verdict) in pages.iter().zip(verdicts) {
            let source = Source {
                url: &page.url,
                depth: 2,
                hops: 0,
                read: None,
            };
            let mut admitter = Admitter {
                frontier: &mut frontier,
                scope: Some(&mut scope),
                ours: &ours,
                tally: &mut tally,
            };
            let leads = std::mem::take(&mut verdict.leads);
            let mut admission = admitter.admit_all(&leads, Some(&source), NOW);
            let reading = Reading {
                text: verdict
                    .text
                    .as_ref()
                    .map_or(policy::Text::Nothing, IndexText::told),
                links: &link_facts(&admission.known(), &leads),
                out_links: admission.out_links,
                again: false,
            };
            let mut admitted: Vec<Entry> = std::mem::take(&mut admission.facts);
            admitted.extend(frontier.read(page.url.id(), reading));
            frontier.committed(&admitted);
            records.push(Record {
                key: PageKey::of(&page.url),
                url: page.url.clone(),
                before: History::discovered(NOW, 2),
                sealed: None,
                copied: true,
                gone: false,
                links: Vec::new(),
                leads,
                asked: true,
                admitted,
                text: verdict.text,
                visited: verdict.visited,
            });
        }
    });
    Ok((took, records))
}

/// Commits all records to a ledger, seals and appends their answers, and puts their texts into an
/// index. Returns the three times.
fn stored(
    pages: &[StagePage],
    mut records: Vec<Record>,
    place: &Path,
) -> Result<(Duration, Duration, Duration)> {
    let stage = place.join("stages");
    fs::create_dir(&stage)?;
    let texts: Vec<Option<IndexText>> = records
        .iter_mut()
        .map(|record| record.text.take())
        .collect();

    rest();
    let begun = process_time();
    let ledger = Ledger::open(&stage.join("ledger"))?;
    let mut committer = Committer::new(&ledger, Clock::start(), None, None);
    let mut rows = records.into_iter();
    loop {
        let group: Vec<Record> = rows.by_ref().take(GROUP).collect();
        if group.is_empty() {
            break;
        }
        committer.commit(vec![CommitWork::Core(Work::Pages(group))])?;
    }
    committer.close()?;
    rest();
    let ledger_time = process_time() - begun;

    let begun = process_time();
    let options = archive::ArchiveOptions {
        max_bytes: archive::MAX_BYTES,
        info: archive::Info::default(),
        at_risk: 0,
    };
    let mut writer = archive::ArchiveWriter::open(&stage.join("archive"), options, None)?;
    let (at, address) = (
        Timestamp::from_second(1_700_000_000)?,
        IpAddr::from([127, 0, 0, 1]),
    );
    for group in pages.chunks(GROUP) {
        for page in group {
            let capture = Capture::new(&page.url, at, address, HEAD, &page.body, None);
            writer.append(&seal::response(&capture, Level::default()))?;
        }
        writer.sync()?;
    }
    writer.close()?;
    let archive_time = process_time() - begun;

    rest();
    let begun = process_time();
    let mut index = Index::open(&stage.join("index"))?.writer(HEAP / 2)?;
    let links = node::recovery::in_links::PendingLinks::default();
    for (number, (page, text)) in pages.iter().zip(&texts).enumerate() {
        if let Some(text) = text {
            let key = PageKey::of(&page.url);
            node::recovery::put(&mut index, key, &page.url, 1_700_000_000, text, &links)?;
        }
        if number % INDEX_GROUP == INDEX_GROUP - 1 {
            index.commit(1)?;
        }
    }
    index.commit(1)?;
    rest();
    let index_time = process_time() - begun;
    drop(index);
    drop(ledger);
    fs::remove_dir_all(&stage)?;
    Ok((ledger_time, archive_time, index_time))
}

impl fmt::Display for StagesReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{} pages of {} bytes, median of {} runs",
            self.pages, self.bytes_per_page, self.runs
        )?;
        writeln!(out, "{:<26}{:>12}", "stage", "CPU µs/page")?;
        for row in &self.rows {
            writeln!(out, "{:<26}{:>12.1}", row.stage, row.microseconds)?;
        }
        let all: f64 = self.rows.iter().map(|row| row.microseconds).sum();
        writeln!(out, "{:<26}{all:>12.1}", "all of these")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stage_takes_time_on_the_pages_of_a_directory() {
        let place = tempfile::tempdir().unwrap();
        let site = place.path().join("site");
        fs::create_dir_all(site.join("deep")).unwrap();
        let word = |number: u64| format!("word{number} ");
        for number in 0..60u64 {
            let words: String = (0..400)
                .map(|word_number| word(word_number * number))
                .collect();
            let html = format!(
                "<html lang=en><title>T</title><h1>H</h1><a href=../p{}.html>a</a><p>{words}",
                number + 1
            );
            fs::write(site.join(format!("deep/p{number}.html")), html).unwrap();
        }
        fs::write(site.join("x.txt"), "no page").unwrap();
        let report = run(&[site], 1, place.path()).unwrap();
        assert_eq!((report.pages, report.rows.len()), (60, STAGES.len()));
        let of = |stage: &str| {
            let row = report.rows.iter().find(|row| row.stage == stage);
            row.unwrap().microseconds
        };
        for stage in [
            "tokenize, text",
            "fingerprint",
            "ledger",
            "archive",
            "index",
        ] {
            assert!(of(stage) > 0.0, "{stage}: {report}");
        }
        assert!(run(&[place.path().join("none")], 1, place.path()).is_err());
    }
}
