//! An index of directories of HTML files, made as a crawl makes it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use page::{PageId, PageUrl, charset};
use repository::index::{Document, HEAP, Index, Writer};

/// Indexes directories, each given as `NAME=DIR`.
pub fn index(sites: &[String], place: &Path) -> Result<Index> {
    let index = Index::open(place)?;
    let mut writer = index.writer(HEAP)?;
    let mut pages = 0;
    for site in sites {
        let (name, dir) = site
            .split_once('=')
            .with_context(|| format!("not NAME=DIR: {site}"))?;
        let dir = Path::new(dir);
        for file in files(dir)? {
            let path = file.strip_prefix(dir)?.to_string_lossy();
            let url = PageUrl::parse(&format!("http://{name}/{path}"))?;
            pages += 1;
            put(&mut writer, PageId(pages), &url, &fs::read(&file)?)?;
        }
    }
    writer.commit(0)?;
    Ok(index)
}

/// The HTML files of a directory and those below it, in the order of their names.
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

fn put(writer: &mut Writer, id: PageId, url: &PageUrl, content: &[u8]) -> Result<()> {
    let (html, _) = charset::decode(content, Some("text/html"));
    let reading = page::read(&html, url, &page::Limits::default());
    writer.put(&Document {
        id,
        url: url.as_str(),
        host: url.host_name(),
        title: &reading.title,
        text: &reading.text,
        language: None,
        fetched_at: 0,
        stated: Some(&reading.fields),
    })?;
    Ok(())
}
