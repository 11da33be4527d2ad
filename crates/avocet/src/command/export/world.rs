//! `avocet export world`: writes a store as a recorded world, for the experiments of `avocet lab`.
//!
//! The ledger says which pages there are, and how they link to each other. The archive is read once
//! in its own order, for versions and texts, and once more for the links of sources. The logs have
//! the searches and clicks. `docs/reference/worlds.md` describes the tables.
//!
//! **Invariants:** memory holds one text at a time. It also holds a few bytes for each page, each
//! version, each query and each link of a source. The directory gets its final name when all tables
//! are complete.

mod answers;
mod demand;
mod pages;
mod source_links;

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use lab::table::TableWriter;
use lab::table::schema::{ARTICLES, EDGES, NODES, PAGES, SOURCES};
use ledger::LedgerReader;
use node::access::StoreView;
use node::clock::written;
use node::number::counted;
use serde::Serialize;
use serde_json::{Value, json};

use crate::logs::say;
use crate::progress_bar::Bar;
use answers::Answers;
use pages::WorldPages;
use source_links::SourceLinks;

/// Counts of what was written.
#[derive(Debug, Default, Serialize)]
struct WorldCounts {
    /// Pages with links: those whose last copy has text.
    nodes: u64,
    /// Links between these pages.
    edges: u64,
    /// Pages with versions.
    pages: u64,
    versions: u64,
    bodies: u64,
    queries: u64,
    /// Searches: the sum of the counts of all queries.
    searches: u64,
    sources: u64,
    articles: u64,
    /// Periods in which a source linked to an article.
    links: u64,
    clicks: u64,
    /// Clicks on pages that are no articles.
    clicks_elsewhere: u64,
    /// Damaged records of the archive, which were skipped.
    damaged: u64,
    /// When the first answer of the archive was received.
    from: Option<String>,
    /// When the last one was received.
    until: Option<String>,
}

/// Exports the store to a directory, which must not exist. Returns a summary for `--json`.
pub(super) fn run(store: &StoreView, out: &Path) -> Result<Value> {
    if out.symlink_metadata().is_ok() {
        bail!(
            "{} exists already, and is not overwritten: choose another directory",
            out.display()
        );
    }
    let unfinished = unfinished(out)?;
    let counts = write(store, &unfinished).and_then(|counts| {
        sync(&unfinished)?;
        fs::rename(&unfinished, out)?;
        Ok(counts)
    });
    if counts.is_err() {
        fs::remove_dir_all(&unfinished).ok();
    }
    let counts = counts.with_context(|| format!("cannot write {}", out.display()))?;
    let place = out.display();
    say(&format!(
        "{place}: {} with {}, {}, {}, {} with {} to {}, {}",
        counted(counts.pages, "page"),
        counted(counts.versions, "version"),
        counted(counts.edges, "link"),
        counted(counts.searches, "search"),
        counted(counts.sources, "source"),
        counted(counts.links, "link"),
        counted(counts.articles, "article"),
        counted(counts.clicks, "click"),
    ));
    say(&format!(
        "next: avocet lab world --world {place}, avocet lab refresh --world {place}"
    ));
    let mut summary = json!({ "out": out });
    if let (Some(all), Value::Object(counts)) =
        (summary.as_object_mut(), serde_json::to_value(&counts)?)
    {
        all.extend(counts);
    }
    Ok(summary)
}

/// Creates the directory that the tables are written to before they are complete.
fn unfinished(out: &Path) -> Result<PathBuf> {
    let mut name = out.as_os_str().to_owned();
    name.push(".part");
    let path = PathBuf::from(name);
    if let Some(parent) = out.parent() {
        fs::create_dir_all(parent)
            .with_context(|| format!("cannot create {}", parent.display()))?;
    }
    match fs::create_dir(&path) {
        Ok(()) => Ok(path),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => bail!(
            "{} exists: another export is writing it, or was killed; if it was killed, remove the directory",
            path.display()
        ),
        Err(error) => Err(error).with_context(|| format!("cannot create {}", path.display())),
    }
}

/// Writes all tables.
fn write(store: &StoreView, out: &Path) -> Result<WorldCounts> {
    let bar = Bar::new();
    let ledger = store.ledger();
    let archive = store.archive();
    let mut counts = WorldCounts::default();
    let mut pages = WorldPages::read(ledger)?;
    let answers = Answers::read(&archive, &mut pages, out, &bar, &mut counts)?;
    answers.write_versions(out, &pages, &mut counts)?;
    let links = SourceLinks::read(&archive, &pages, &answers, &bar)?;
    links.write(out, &mut counts)?;
    write_edges(ledger, &pages, out, &mut counts)?;
    write_urls(ledger, &pages, &links, out, &mut counts)?;
    demand::write(store.root(), &pages, &links, out, &mut counts)?;
    bar.finish();
    let [from, until] = answers.span().map(|moment| moment.map(written));
    Ok(WorldCounts {
        from,
        until,
        ..counts
    })
}

/// Writes the links between pages, as they were when each page was last read.
fn write_edges(
    ledger: &LedgerReader,
    pages: &WorldPages,
    out: &Path,
    counts: &mut WorldCounts,
) -> Result<()> {
    let mut table = TableWriter::create(out, EDGES)?;
    for links in ledger.all_links() {
        let (key, links) = links?;
        let from = pages.number(key.page);
        let Some(from) = from.filter(|&from| pages.get(from).text) else {
            continue;
        };
        for (to, _) in links.links() {
            let to = pages.target(to);
            if to != from && pages.get(to).text {
                table.row([&from, &to])?;
                counts.edges += 1;
            }
        }
    }
    Ok(table.finish()?)
}

/// Writes the tables that name the URLs of pages. A page has the same id in all of them.
fn write_urls(
    ledger: &LedgerReader,
    pages: &WorldPages,
    links: &SourceLinks,
    out: &Path,
    counts: &mut WorldCounts,
) -> Result<()> {
    let mut nodes = TableWriter::create(out, NODES)?;
    let mut histories = TableWriter::create(out, PAGES)?;
    let mut news = match links.is_empty() {
        true => None,
        false => Some((
            TableWriter::create(out, SOURCES)?,
            TableWriter::create(out, ARTICLES)?,
        )),
    };
    for known in ledger.scan() {
        let known = known?;
        let Some(number) = pages.number(known.key.page) else {
            continue;
        };
        let url = &known.discovery.url;
        if pages.get(number).text {
            nodes.row([&number, url])?;
            counts.nodes += 1;
        }
        if pages.get(number).shown {
            histories.row([&number, url])?;
            counts.pages += 1;
        }
        if let Some((sources, articles)) = &mut news {
            if links.is_source(number) {
                sources.row([&number, url])?;
                counts.sources += 1;
            }
            if links.is_article(number) {
                articles.row([&number, url])?;
                counts.articles += 1;
            }
        }
    }
    nodes.finish()?;
    histories.finish()?;
    if let Some((sources, articles)) = news {
        sources.finish()?;
        articles.finish()?;
    }
    Ok(())
}

/// Syncs the files of a directory and the directory itself, so that a power cut after the export
/// loses nothing.
fn sync(directory: &Path) -> Result<()> {
    for entry in fs::read_dir(directory)? {
        File::open(entry?.path())?.sync_all()?;
    }
    Ok(File::open(directory)?.sync_all()?)
}
