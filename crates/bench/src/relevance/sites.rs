//! Indexes directories of HTML files as a crawl would.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use page::{PageId, PageUrl, charset, language};
use repository::index::{Document, HEAP, Index};

/// The maximum number of anchor texts kept per page.
const ANCHORS: usize = 16;

/// The links to a page: the number of pages that have one, and the anchor texts.
#[derive(Default)]
struct SiteLinks {
    pages: u32,
    anchors: Vec<String>,
}

/// Indexes directories, each given as `NAME=DIR`.
pub fn index(sites: &[String], place: &Path) -> Result<Index> {
    let index = Index::open(place)?;
    let mut writer = index.writer(HEAP)?;
    for site in sites {
        let (name, dir) = site
            .split_once('=')
            .with_context(|| format!("not NAME=DIR: {site}"))?;
        let dir = Path::new(dir);
        let mut links: HashMap<PageId, SiteLinks> = HashMap::new();
        let mut pages = Vec::new();
        for file in files(dir)? {
            let path = file.strip_prefix(dir)?.to_string_lossy();
            let url = PageUrl::parse(&format!("http://{name}/{path}"))?;
            let content = fs::read(&file)?;
            let (html, _) = charset::decode(&content, Some("text/html"));
            let reading = page::read(&html, &url, &page::ReadLimits::default());
            for link in reading.links.iter().filter(|link| link.id != url.id()) {
                let to = links.entry(link.id).or_default();
                to.pages += 1;
                let anchor = reading.anchor(link).to_owned();
                if !link.aside
                    && !anchor.is_empty()
                    && to.anchors.len() < ANCHORS
                    && !to.anchors.contains(&anchor)
                {
                    to.anchors.push(anchor);
                }
            }
            pages.push((url, reading));
        }
        for (url, reading) in pages {
            let known = links.remove(&url.id()).unwrap_or_default();
            let anchors: Vec<&str> = known.anchors.iter().map(String::as_str).collect();
            let language = language::detect(&reading.text, reading.language.as_deref());
            writer.put(&Document {
                title: &reading.title,
                text: &reading.text,
                asides: &reading.asides,
                sections: &reading.sections,
                linked: reading.linked,
                anchors: &anchors,
                in_links: known.pages,
                kind: "html",
                language: language.as_deref(),
                stated: Some(&reading.fields),
                ..Document::new(url.id(), url.as_str(), url.host_name())
            })?;
        }
    }
    writer.commit(0)?;
    Ok(index)
}

/// Returns the HTML files in and below a directory, sorted by name.
fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let entries = fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else if path
            .extension()
            .is_some_and(|end| end == "html" || end == "htm")
        {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
