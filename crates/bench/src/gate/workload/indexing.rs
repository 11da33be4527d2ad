//! The workloads `put-1000-pages` and `search-300-times`: writes an index, and searches it.

use std::hint::black_box;
use std::path::Path;

use anyhow::{Result, ensure};
use page::{PageReading, PageUrl, ReadLimits};
use repository::index::{Document, HEAP, Index, PageIndexWriter, SearchQuery};

use super::document;

const PAGES: u64 = 1000;
const SECTIONS: u64 = 4;
/// Pages per commit. The resulting four segments are too few for a merge on another thread.
const GROUP: usize = 250;
const SEARCHES: u64 = 300;

/// Puts 1,000 pages into an index.
pub fn put(place: &Path, only_set_up: bool) -> Result<()> {
    let pages = pages()?;
    let mut writer = Index::open(place)?.writer(HEAP)?;
    if only_set_up {
        return Ok(());
    }
    put_all(&mut writer, &pages)
}

/// Writes the index for the searches.
pub fn make_index(place: &Path) -> Result<()> {
    put_all(&mut Index::open(place)?.writer(HEAP)?, &pages()?)
}

/// Searches 300 times.
pub fn search(place: &Path, only_set_up: bool) -> Result<()> {
    let index = Index::open(place)?;
    let queries: Vec<String> = (0..SEARCHES).map(document::query).collect();
    if only_set_up {
        return Ok(());
    }
    let mut found = 0;
    for text in &queries {
        let hits = index.search(&SearchQuery {
            text,
            limit: 10,
            ..SearchQuery::default()
        })?;
        found += usize::from(hits.total > 0);
        black_box(hits);
    }
    ensure!(
        found > queries.len() / 2,
        "only {found} searches found a page"
    );
    Ok(())
}

fn pages() -> Result<Vec<(PageUrl, PageReading)>> {
    let page = |number| {
        let url = document::url(number)?;
        let reading = page::read(
            &document::html(number, SECTIONS),
            &url,
            &ReadLimits::default(),
        );
        Ok((url, reading))
    };
    (0..PAGES).map(page).collect()
}

fn put_all(writer: &mut PageIndexWriter, pages: &[(PageUrl, PageReading)]) -> Result<()> {
    for group in pages.chunks(GROUP) {
        for (url, reading) in group {
            writer.put(&Document {
                title: &reading.title,
                text: &reading.text,
                asides: &reading.asides,
                sections: &reading.sections,
                linked: reading.linked,
                kind: "html",
                language: Some("en"),
                fetched_at: 1_700_000_000,
                stated: Some(&reading.fields),
                ..Document::new(url.id(), url.as_str(), url.host_name())
            })?;
        }
        writer.commit(1)?;
    }
    Ok(())
}
