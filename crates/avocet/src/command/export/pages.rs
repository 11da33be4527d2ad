//! `avocet export pages`: pages or chunks of them, as JSON Lines or as Markdown files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use anyhow::Result;
use page::PageUrl;
use page::article::chunks::chunks;
use serde_json::{Value, json};

use super::csv;
use super::directory::MarkdownDirectory;
use super::export_bar::ExportBar;
use super::filter::ExportFilter;
use super::front_matter;
use super::repetition::{ExportCandidate, ReadyPage, RepeatedTexts};
use super::write_atomically;
use crate::cli::{ExportArguments, PageFormat};
use crate::logs::say;
use node::access::StoreView;
use node::number::counted;
use node::readable::{self, Readable};

/// Exports pages. Returns a summary for `--json`.
pub(super) fn run(
    root: &Path,
    store: &StoreView,
    arguments: &ExportArguments,
    out: Option<&Path>,
) -> Result<Value> {
    let export = PageExport {
        store,
        filter: ExportFilter::open(root, arguments)?,
        chunks: arguments.chunks.map(|limit| limit as usize),
        columns: (arguments.format == PageFormat::Csv).then(|| csv::columns(arguments.what)),
    };
    let counts = match (out, arguments.format) {
        (Some(out), PageFormat::Md) => {
            let mut directory = MarkdownDirectory::create(out)?;
            let counts = export.write(|page| export.files(page, &mut directory))?;
            directory.finish()?;
            counts
        }
        (Some(out), _) => write_atomically(out, |file: &File| {
            let mut file = BufWriter::new(file);
            export.head(&mut file)?;
            let counts = export.write(|page| export.lines(page, &mut file))?;
            file.flush()?;
            Ok(counts)
        })?,
        (None, _) => {
            let mut stdout = BufWriter::new(std::io::stdout().lock());
            export.head(&mut stdout)?;
            let counts = export.write(|page| export.lines(page, &mut stdout))?;
            stdout.flush()?;
            counts
        }
    };
    if let Some(out) = out {
        let found = counts.extractions.iter();
        let found: Vec<String> = found
            .map(|(name, pages)| format!("{pages} {name}"))
            .collect();
        say(&format!(
            "{} written to {} as {}; extraction: {}",
            counted(counts.pages, "page"),
            out.display(),
            match arguments.format {
                PageFormat::Md => counted(counts.written, "file"),
                PageFormat::Jsonl | PageFormat::Csv => counted(counts.written, "line"),
            },
            if found.is_empty() {
                "none".to_owned()
            } else {
                found.join(", ")
            },
        ));
    }
    Ok(json!({
        "out": out,
        "pages": counts.pages,
        "written": counts.written,
        "extraction": counts.extractions,
    }))
}

/// Counts of what was written.
#[derive(Default)]
struct ExportCounts {
    pages: u64,
    /// Lines or files.
    written: u64,
    extractions: BTreeMap<&'static str, u64>,
}

struct PageExport<'a> {
    store: &'a StoreView,
    filter: ExportFilter,
    /// Maximum length of a chunk in characters; `None` writes whole pages.
    chunks: Option<usize>,
    /// The columns of CSV; `None` writes JSON Lines or files.
    columns: Option<&'static [&'static str]>,
}

impl PageExport<'_> {
    /// Passes every page to `sink`, which returns the number of lines or files that it wrote.
    fn write(&self, mut sink: impl FnMut(&Readable) -> Result<u64>) -> Result<ExportCounts> {
        let archive = self.store.archive();
        let mut counts = ExportCounts::default();
        let mut repetition = RepeatedTexts::default();
        let mut emit = |pages: Vec<ReadyPage>| -> Result<()> {
            for ReadyPage {
                candidate,
                repeated,
            } in pages
            {
                let ExportCandidate { page, visited, .. } = candidate;
                let page = match repeated {
                    Some(template) => {
                        let all =
                            readable::read_repeated(&archive, &page.url, &visited, &template)?;
                        all.unwrap_or(page)
                    }
                    None => page,
                };
                counts.written += sink(&page)?;
                counts.pages += 1;
                *counts.extractions.entry(page.extraction).or_default() += 1;
            }
            Ok(())
        };
        let learn = |candidate: &ExportCandidate| {
            readable::whole(&archive, &candidate.page.url, &candidate.visited)
        };
        let bar = ExportBar::begin(self.store, "pages")?;
        for known in self.store.ledger().scan() {
            let known = known?;
            bar.step();
            let Some(visited) = known
                .visited
                .as_ref()
                .filter(|visited| self.filter.admits(&known, visited))
            else {
                continue;
            };
            let Some(page) = readable::read(&archive, &known.discovery.url, visited)? else {
                continue;
            };
            if !self.filter.admits_text(&page) {
                continue;
            }
            let candidate = ExportCandidate {
                host: PageUrl::parse(&page.url)?.host(),
                visited: visited.clone(),
                page,
            };
            emit(repetition.push(candidate, learn)?)?;
        }
        emit(repetition.finish(learn)?)?;
        Ok(counts)
    }

    fn head(&self, out: &mut impl Write) -> Result<()> {
        match self.columns {
            Some(columns) => csv::head(columns, out),
            None => Ok(()),
        }
    }

    fn lines(&self, page: &Readable, out: &mut impl Write) -> Result<u64> {
        if let Some(columns) = self.columns {
            csv::line(columns, &serde_json::to_value(page)?, out)?;
            return Ok(1);
        }
        let Some(limit) = self.chunks else {
            writeln!(out, "{}", serde_json::to_string(page)?)?;
            return Ok(1);
        };
        let pieces = chunks(&page.markdown, &page.headings, limit);
        for (index, piece) in pieces.iter().enumerate() {
            let mut line = json!({
                "url": address(&page.url, piece.fragment)?,
                "page": page.url,
                "index": index,
                "chunks": pieces.len(),
                "headings": piece.headings,
                "title": page.title,
                "language": page.language,
                "fetched_at": page.fetched_at,
                "extraction": page.extraction,
                "markdown": piece.markdown,
            });
            if let Some(reason) = page.extraction_reason {
                line["extraction_reason"] = json!(reason);
            }
            writeln!(out, "{line}")?;
        }
        Ok(pieces.len() as u64)
    }

    fn files(&self, page: &Readable, directory: &mut MarkdownDirectory) -> Result<u64> {
        let url = PageUrl::parse(&page.url)?;
        let Some(limit) = self.chunks else {
            let text = front_matter::page(page) + &page.markdown + "\n";
            directory.write(&url, None, page, &text)?;
            return Ok(1);
        };
        let pieces = chunks(&page.markdown, &page.headings, limit);
        for (index, piece) in pieces.iter().enumerate() {
            let address = address(&page.url, piece.fragment)?;
            let text = front_matter::chunk(page, &address, index, pieces.len(), &piece.headings);
            directory.write(&url, Some(index), page, &(text + piece.markdown + "\n"))?;
        }
        Ok(pieces.len() as u64)
    }
}

/// Returns the URL of a page with a fragment.
fn address(page: &str, fragment: Option<&str>) -> Result<String> {
    let mut url = PageUrl::parse(page)?.to_url();
    url.set_fragment(fragment);
    Ok(url.into())
}
