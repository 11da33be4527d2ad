//! `avocet export`: what the store holds, for other programs.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result, bail};
use frontier::{Known, Ledger};
use page::charset;
use page::media::{self, Media};
use serde_json::{Value, json};

use crate::cli::{Export, Exported};
use crate::engine::timestamp;
use crate::readable;
use crate::store::Store;

/// Exports.
pub fn run(root: &Path, wishes: &Export) -> Result<()> {
    let store = Store::open(root)?;
    if matches!(wishes.what, Exported::Warc) {
        let Some(out) = &wishes.out else {
            bail!("export warc needs a directory: --out DIR")
        };
        return copy_archive(&store, out);
    }
    let ledger = store.ledger()?;
    let Some(path) = &wishes.out else {
        return write_lines(&store, &ledger, wishes.what, std::io::stdout().lock());
    };
    whole_or_not_at_all(path, |file| write_lines(&store, &ledger, wishes.what, file))
}

/// Writes a file under a temporary name and renames it when it is complete and on the disk.
fn whole_or_not_at_all(path: &Path, write: impl FnOnce(&File) -> Result<()>) -> Result<()> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(".part");
    let file = File::create(&unfinished);
    let file = file.with_context(|| format!("cannot write {}", path.display()))?;
    let written = write(&file).and_then(|()| {
        file.sync_all()?;
        Ok(fs::rename(&unfinished, path)?)
    });
    if written.is_err() {
        fs::remove_file(&unfinished).ok();
    }
    written.with_context(|| format!("cannot write {}", path.display()))
}

fn write_lines(store: &Store, ledger: &Ledger, what: Exported, out: impl Write) -> Result<()> {
    let mut out = BufWriter::new(out);
    for known in ledger.scan() {
        let known = known?;
        match what {
            Exported::Urls => writeln!(out, "{}", url_line(&known))?,
            Exported::Links => {
                for line in links(store, &known)? {
                    writeln!(out, "{line}")?;
                }
            }
            Exported::Pages => {
                if let Some(line) = page_line(store, &known)? {
                    writeln!(out, "{line}")?;
                }
            }
            Exported::Warc => {}
        }
    }
    out.flush()?;
    Ok(())
}

fn url_line(known: &Known) -> Value {
    let visited = known.visited.as_ref();
    let copy = visited.and_then(|visited| visited.copy.as_ref());
    let asked = visited.and_then(|visited| visited.history.asked);
    let text = copy.and_then(|copy| copy.text.as_ref());
    json!({
        "url": known.discovery.url,
        "status": visited.and_then(|visited| visited.status),
        "fetched_at": asked.map(|at| timestamp(at).to_string()),
        "depth": known.discovery.depth,
        "bytes": visited.map(|visited| visited.bytes),
        "fingerprint": text.map(|text| format!("{:016x}", text.fingerprint.0)),
        "error": visited.and_then(|visited| visited.error.as_deref()),
    })
}

fn links(store: &Store, known: &Known) -> Result<Vec<Value>> {
    let Some(visited) = &known.visited else {
        return Ok(Vec::new());
    };
    let kept = readable::kept(&store.archive(), &known.discovery.url, visited)?;
    let Some((url, answer)) = kept else {
        return Ok(Vec::new());
    };
    let declared = answer.content_type.as_deref();
    if media::kind(declared, &answer.content) != Media::Html {
        return Ok(Vec::new());
    }
    let (html, _) = charset::decode(&answer.content, declared);
    let reading = page::read(&html, &url, &page::Limits::default());
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

fn page_line(store: &Store, known: &Known) -> Result<Option<Value>> {
    let Some(visited) = &known.visited else {
        return Ok(None);
    };
    let page = readable::read(&store.archive(), &known.discovery.url, visited)?;
    Ok(page.map(serde_json::to_value).transpose()?)
}

fn copy_archive(store: &Store, out: &Path) -> Result<()> {
    fs::create_dir_all(out).with_context(|| format!("cannot create {}", out.display()))?;
    let (mut copied, mut open) = (0, 0);
    for entry in fs::read_dir(store.archive()).context("the store has no archive")? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default();
        let text = name.to_string_lossy();
        if text.ends_with(".warc.gz") || text.ends_with(".cdxj") {
            let target = out.join(name);
            if target.exists() {
                bail!(
                    "{} is there already: nothing is overwritten",
                    target.display()
                );
            }
            whole_or_not_at_all(&target, |mut file| {
                std::io::copy(&mut File::open(&path)?, &mut file)?;
                Ok(())
            })?;
            copied += usize::from(text.ends_with(".warc.gz"));
        }
        open += usize::from(text.ends_with(".warc.gz.open"));
    }
    eprintln!("{copied} WARC files copied to {}", out.display());
    if open > 0 {
        eprintln!(
            "left out: the file that a killed crawl was writing to; the next crawl completes it"
        );
    }
    Ok(())
}
