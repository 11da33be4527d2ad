//! `avocet export`: writes URLs, links, pages or WARC files for other programs, and a world for the
//! laboratory.

mod csv;
mod directory;
mod export_bar;
mod filter;
mod front_matter;
mod pages;
mod repetition;
mod world;

use std::fs::{self, File};
use std::io::{BufWriter, Read, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use frontier::Known;
use repository::archive;
use serde_json::{Value, json};

use crate::cli::{ExportArguments, ExportKind, PageFormat};
use crate::logs::say;
use export_bar::ExportBar;
use node::access::StoreView;
use node::clock::written;
use node::number::counted;
use node::readable;
use node::settings::Usage;

/// Exports what the arguments name.
///
/// Lines go to standard output or to a file. With `--out`, exports of pages, WARC files and worlds
/// print a summary on standard error. With `--out` and `--json`, every export prints its summary
/// as one JSON document on standard output.
pub fn run(root: &Path, json: bool, arguments: &ExportArguments) -> Result<()> {
    check(arguments)?;
    let store = StoreView::open(root)?;
    let summary = match (arguments.what, &arguments.out) {
        (ExportKind::Warc, Some(out)) => copy_archive(&store, out)?,
        (ExportKind::World, Some(out)) => world::run(&store, out)?,
        (ExportKind::Pages, out) => pages::run(root, &store, arguments, out.as_deref())?,
        (_, None) => {
            write_lines(&store, arguments, std::io::stdout().lock())?;
            return Ok(());
        }
        (_, Some(out)) => {
            let lines = write_atomically(out, |file| write_lines(&store, arguments, file))?;
            json!({ "out": out, "lines": lines })
        }
    };
    if json && arguments.out.is_some() {
        outln!("{summary}");
    }
    Ok(())
}

/// Refuses flags that do not fit together.
fn check(arguments: &ExportArguments) -> Result<()> {
    let is_md = arguments.format == PageFormat::Md;
    let is_csv = arguments.format == PageFormat::Csv;
    if is_csv && (csv::columns(arguments.what).is_empty() || arguments.chunks.is_some()) {
        let why = "--format csv is for urls, links and whole pages";
        return Err(Usage(why.into()).into());
    }
    let needs_directory = match arguments.what {
        ExportKind::Warc => Some("export warc"),
        ExportKind::World => Some("export world"),
        _ => is_md.then_some("--format md"),
    };
    if let (None, Some(what)) = (&arguments.out, needs_directory) {
        return Err(Usage(format!("{what} needs a directory: --out DIR")).into());
    }
    let flags = [
        ("--format md", is_md),
        ("--chunks", arguments.chunks.is_some()),
        ("--site", arguments.site.is_some()),
        ("--topic", arguments.topic.is_some()),
        ("--since", arguments.since.is_some()),
        ("--query", arguments.query.is_some()),
    ];
    if arguments.what != ExportKind::Pages
        && let Some((flag, _)) = flags.iter().find(|(_, given)| *given)
    {
        return Err(Usage(format!("{flag} is for `avocet export pages` only")).into());
    }
    if let Some(since) = &arguments.since {
        filter::time(since)?;
    }
    Ok(())
}

/// Writes a file under a temporary name, syncs it, and renames it. A failure leaves no partial
/// file, and an older file of that name stays.
fn write_atomically<T>(path: &Path, write: impl FnOnce(&File) -> Result<T>) -> Result<T> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".part");
    let file = File::create(&unfinished);
    let file = file.with_context(|| format!("cannot write {}", path.display()))?;
    let written = write(&file).and_then(|written| {
        file.sync_all()?;
        fs::rename(&unfinished, path)?;
        Ok(written)
    });
    if written.is_err() {
        fs::remove_file(&unfinished).ok();
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}

/// Writes URLs or links as JSON Lines or CSV. Returns the number of lines.
fn write_lines(store: &StoreView, arguments: &ExportArguments, out: impl Write) -> Result<u64> {
    let mut out = BufWriter::new(out);
    let mut written = 0;
    let what = arguments.what;
    let columns = (arguments.format == PageFormat::Csv).then(|| csv::columns(what));
    if let Some(columns) = columns {
        csv::head(columns, &mut out)?;
    }
    let bar = ExportBar::begin(store, what.name())?;
    for known in store.ledger().scan() {
        let known = known?;
        bar.step();
        let lines = match what {
            ExportKind::Links => links(store, &known)?,
            _ => vec![url_line(&known)],
        };
        for line in &lines {
            match columns {
                Some(columns) => csv::line(columns, line, &mut out)?,
                None => writeln!(out, "{line}")?,
            }
        }
        written += lines.len() as u64;
    }
    out.flush()?;
    Ok(written)
}

fn url_line(known: &Known) -> Value {
    let visited = known.visited.as_ref();
    let copy = visited.and_then(|visited| visited.copy.as_ref());
    let asked = visited.and_then(|visited| visited.history.asked);
    let text = copy.and_then(|copy| copy.text.as_ref());
    json!({
        "url": known.discovery.url,
        "status": visited.and_then(|visited| visited.status),
        "fetched_at": asked.map(written),
        "depth": known.discovery.depth,
        "bytes": visited.map(|visited| visited.bytes),
        "fingerprint": text.map(|text| format!("{:016x}", text.fingerprint.0)),
        "error": visited.and_then(|visited| visited.error.as_deref()),
    })
}

fn links(store: &StoreView, known: &Known) -> Result<Vec<Value>> {
    let Some(visited) = &known.visited else {
        return Ok(Vec::new());
    };
    let page = readable::html(&store.archive(), &known.discovery.url, visited)?;
    let Some((url, html)) = page else {
        return Ok(Vec::new());
    };
    let reading = page::read(&html, &url, &page::ReadLimits::default());
    let line = |link: &page::Link| {
        json!({
            "from": url.as_str(),
            "to": link.url.as_str(),
            "anchor": reading.anchor(link),
            "context": reading.around(link, 8),
            "path": reading.path(link),
            "kind": format!("{:?}", link.kind).to_lowercase(),
            "nofollow": link.nofollow,
        })
    };
    Ok(reading.links.iter().map(line).collect())
}

fn copy_archive(store: &StoreView, out: &Path) -> Result<Value> {
    fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    let mut copied = 0;
    for entry in fs::read_dir(store.archive()).context("the store has no archive")? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        let text = name.to_string_lossy();
        if text.ends_with(".warc.gz") || text.ends_with(".cdxj") {
            let target = out.join(name);
            if target.exists() {
                bail!(
                    "{} exists already, and is not overwritten: choose another directory",
                    target.display()
                );
            }
            write_atomically(&target, |mut file| {
                std::io::copy(&mut File::open(&path)?, &mut file)?;
                Ok(())
            })?;
            copied += usize::from(text.ends_with(".warc.gz"));
        }
        if let Some(closed) = text
            .strip_suffix(".open")
            .filter(|_| text.ends_with(".warc.gz.open"))
            && let Some(end) = committed(store, closed)?
        {
            copied += copy_begun(&path, &out.join(closed), end)?;
        }
    }
    let files = counted(copied, "WARC file");
    say(&format!("{files} copied to {}", out.display()));
    Ok(json!({ "out": out, "files": copied }))
}

/// Returns how many bytes of the archive file that is being written are committed; `None` if it is
/// another file.
fn committed(store: &StoreView, name: &str) -> Result<Option<u64>> {
    let end = store.ledger().archive_end()?;
    let end = end.filter(|(file, _)| archive::elsewhere::file_name(*file) == name);
    Ok(end.map(|(_, offset)| offset))
}

/// Copies the committed part of the archive file that a crawl is writing, or that a killed crawl
/// was writing. Returns the number of copied files. There is none if the crawl has completed the
/// file since the directory was listed.
fn copy_begun(open: &Path, target: &Path, bytes: u64) -> Result<usize> {
    let file = match File::open(open) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        file => file.with_context(|| format!("cannot read {}", open.display()))?,
    };
    if bytes == 0 || target.exists() {
        return Ok(0);
    }
    write_atomically(target, |mut copy| {
        Ok(std::io::copy(&mut file.take(bytes), &mut copy)?)
    })?;
    say(&format!(
        "{} is the beginning of a file that is not complete yet: {} bytes, without a CDXJ file",
        target.display(),
        bytes
    ));
    Ok(1)
}
