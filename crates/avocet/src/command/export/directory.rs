//! The output directory of `--format md`: Markdown files in one directory per host.
//!
//! A file name has lower-case letters, digits, dots, dashes and underscores of the URL, and a
//! hash of the URL. The hash keeps names distinct when they are cut, and on file systems that
//! ignore case.
//!
//! **Invariant:** no URL can cause a write outside the directory.

use std::fs::{self, OpenOptions};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use page::PageUrl;
use serde_json::json;
use xxhash_rust::xxh3::xxh3_64;

use node::readable::Readable;

/// Name of the list of all files.
const LIST: &str = "files.jsonl";
/// Maximum bytes of a name that come from the URL. Most file systems allow 255 for a name.
const NAME_BYTES: usize = 100;

/// An output directory that is being written.
pub(super) struct MarkdownDirectory {
    root: PathBuf,
    list: BufWriter<fs::File>,
}

impl MarkdownDirectory {
    /// Creates the directory if necessary, and starts its list of files.
    pub fn create(root: &Path) -> Result<Self> {
        fs::create_dir_all(root).with_context(|| format!("cannot create {}", root.display()))?;
        let list = create_new(&root.join(format!("{LIST}.part")))?;
        Ok(Self {
            root: root.to_owned(),
            list: BufWriter::new(list),
        })
    }

    /// Writes the file of a page or of one of its chunks, and replaces an existing one.
    pub fn write(
        &mut self,
        url: &PageUrl,
        chunk: Option<usize>,
        page: &Readable,
        text: &str,
    ) -> Result<()> {
        let host = host_name(url);
        let name = file_name(url, chunk);
        let directory = self.root.join(&host);
        match fs::symlink_metadata(&directory) {
            Ok(found) if found.is_dir() => {}
            Ok(_) => bail!("{} exists and is not a directory", directory.display()),
            Err(_) => {
                fs::create_dir(&directory)
                    .with_context(|| format!("cannot create {}", directory.display()))?;
            }
        }
        let path = directory.join(&name);
        let unfinished = directory.join(format!("{name}.part"));
        let written = create_new(&unfinished).and_then(|mut file| {
            file.write_all(text.as_bytes())?;
            Ok(fs::rename(&unfinished, &path)?)
        });
        if written.is_err() {
            fs::remove_file(&unfinished).ok();
        }
        written.with_context(|| format!("cannot write {}", path.display()))?;
        let line = json!({
            "file": format!("{host}/{name}"),
            "url": page.url,
            "chunk": chunk,
            "title": page.title,
            "extraction": page.extraction,
        });
        writeln!(self.list, "{line}").context("cannot write the list of files")
    }

    /// Completes the list of files.
    pub fn finish(mut self) -> Result<()> {
        self.list
            .flush()
            .context("cannot write the list of files")?;
        let path = self.root.join(LIST);
        fs::rename(self.root.join(format!("{LIST}.part")), &path)
            .with_context(|| format!("cannot write {}", path.display()))
    }
}

/// Creates a file in place of an existing one, without following a symbolic link of its name.
fn create_new(path: &Path) -> Result<fs::File> {
    fs::remove_file(path).ok();
    let file = OpenOptions::new().write(true).create_new(true).open(path);
    file.with_context(|| format!("cannot create {}", path.display()))
}

/// Returns the name of a host's directory: the host name, with the port if it is not the default,
/// and `-http` if the scheme is not https.
fn host_name(url: &PageUrl) -> String {
    let mut name = url.host_name().to_owned();
    if let Some(port) = url.other_port() {
        name += &format!("-{port}");
    }
    if !url.is_secure() {
        name += "-http";
    }
    let plain = plain(&name);
    if plain == name {
        plain
    } else {
        format!("{plain}-{:08x}", xxh3_64(name.as_bytes()) as u32)
    }
}

/// Returns the name of a page's file: readable characters of its path and query, and a hash of its
/// URL.
fn file_name(url: &PageUrl, chunk: Option<usize>) -> String {
    let path = url.path_and_query();
    let stem = path
        .strip_suffix(".html")
        .or_else(|| path.strip_suffix(".htm"))
        .unwrap_or(path);
    let chunk = chunk
        .map(|index| format!(".{index:04}"))
        .unwrap_or_default();
    format!(
        "{}-{:016x}{chunk}.md",
        plain(stem),
        xxh3_64(url.as_str().as_bytes())
    )
}

/// Returns text as part of a file name: at most [`NAME_BYTES`] long, not empty, and without a dot
/// at the start.
fn plain(text: &str) -> String {
    let mut name = String::new();
    for letter in text.chars().flat_map(char::to_lowercase) {
        let letter = if letter.is_ascii_alphanumeric() || matches!(letter, '.' | '_') {
            letter
        } else {
            '-'
        };
        let doubled = matches!(letter, '-' | '.') && name.ends_with(['-', '.']);
        if !doubled && name.len() < NAME_BYTES {
            name.push(letter);
        }
    }
    let name = name.trim_matches(['-', '.']);
    if name.is_empty() {
        "index".to_owned()
    } else {
        name.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn names(url: &str) -> (String, String) {
        let url = PageUrl::parse(url).unwrap();
        (host_name(&url), file_name(&url, None))
    }

    #[test]
    fn names_can_be_read() {
        let (host, name) = names("https://docs.example.org/std/vec/Struct.Vec.html?x=1");
        assert_eq!(host, "docs.example.org");
        assert!(name.starts_with("std-vec-struct.vec.html-x-1-"), "{name}");
        assert!(names("https://a.example/").1.starts_with("index-"));
        assert!(names("https://a.example/b/c.html").1.starts_with("b-c-"));
        assert_eq!(names("http://a.example:8080/").0, "a.example-8080-http");
        let url = PageUrl::parse("https://a.example/b").unwrap();
        assert!(file_name(&url, Some(7)).ends_with(".0007.md"));
    }

    #[test]
    fn no_url_leaves_the_directory() {
        let long = format!("https://a.example/{}", "x/".repeat(900));
        let urls = [
            "https://a.example/../../etc/passwd",
            "https://a.example/%2e%2e/%2e%2e/x",
            "https://a.example/..%2f..%2fx",
            "https://a.example/%00%0a",
            "https://a.example/....//x",
            "https://a.example/.bashrc",
            "https://a.example/con",
            "https://a.example/C:%5cx",
            "https://[::1]/x",
            "https://..example/x",
            &long,
        ];
        for url in urls {
            let Ok(url) = PageUrl::parse(url) else {
                continue;
            };
            for name in [host_name(&url), file_name(&url, Some(3))] {
                let fits = |letter: char| {
                    letter.is_ascii_lowercase() || letter.is_ascii_digit() || "._-".contains(letter)
                };
                assert!(name.chars().all(fits) && name.len() <= 200, "{name}");
                assert!(!name.starts_with('.') && !name.contains(".."), "{name}");
            }
        }
    }

    #[test]
    fn names_differ_when_case_is_ignored() {
        let urls = [
            "https://a.example/A",
            "https://a.example/a",
            "http://a.example/a",
            "https://a.example/a?",
            "https://a.example/a/",
            "https://a.example/a.html",
            "https://a.example/b/a",
            "https://a.example/b-a",
        ];
        let found: HashSet<(String, String)> = urls.iter().map(|url| names(url)).collect();
        assert_eq!(found.len(), urls.len());
    }
}
