//! A recorded web: pages and their links.
//!
//! `nodes.tsv.gz` (id, url) and `edges.tsv.gz` (from, to), tab-separated with a header row. Ids are
//! opaque. **Invariant:** every page has a URL of its own, and no page links to itself or twice to
//! another.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use page::PageUrl;

use crate::LabError;

/// Pages, by index, and where they lead.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    urls: Vec<PageUrl>,
    links: Vec<Vec<usize>>,
}

impl Graph {
    /// Pages with these URLs and links. A URL that cannot be crawled, or that another page has, is
    /// replaced by one under `.invalid`.
    pub fn new<'a>(
        urls: impl Iterator<Item = &'a str>,
        edges: impl Iterator<Item = (usize, usize)>,
    ) -> Self {
        let mut graph = Self::default();
        let mut taken = HashSet::new();
        for (index, text) in urls.enumerate() {
            let own = PageUrl::parse(text)
                .ok()
                .filter(|url| taken.insert(url.id()));
            let stand_in = || PageUrl::parse(&format!("http://{index}.invalid/")).ok();
            if let Some(url) = own.or_else(stand_in) {
                graph.urls.push(url);
                graph.links.push(Vec::new());
            }
        }
        let mut known = HashSet::new();
        for (from, to) in edges.filter(|(from, to)| from != to) {
            if to < graph.pages() && known.insert((from, to)) && from < graph.pages() {
                graph.links[from].push(to);
            }
        }
        graph
    }

    /// Reads a directory with `nodes.tsv.gz` and `edges.tsv.gz`.
    pub fn read(directory: &Path) -> Result<Self, LabError> {
        let nodes = table(&directory.join("nodes.tsv.gz"))?;
        let edges = table(&directory.join("edges.tsv.gz"))?;
        let ids: HashMap<&str, usize> = nodes.rows().zip(0..).map(|((id, _), n)| (id, n)).collect();
        let mut pairs = Vec::new();
        for (from, to) in edges.rows() {
            let (Some(&from), Some(&to)) = (ids.get(from), ids.get(to)) else {
                return Err(edges.wrong(&format!("the edge {from} {to} names no page")));
            };
            pairs.push((from, to));
        }
        Ok(Self::new(
            nodes.rows().map(|(_, url)| url),
            pairs.into_iter(),
        ))
    }

    /// How many pages there are.
    pub fn pages(&self) -> usize {
        self.urls.len()
    }

    /// The URL of a page.
    pub fn url(&self, page: usize) -> &PageUrl {
        &self.urls[page]
    }

    /// The pages that a page links to.
    pub fn links(&self, page: usize) -> &[usize] {
        &self.links[page]
    }

    /// All links.
    pub fn edges(&self) -> impl Iterator<Item = (usize, usize)> {
        let from = self.links.iter().enumerate();
        from.flat_map(|(from, links)| links.iter().map(move |&to| (from, to)))
    }

    /// The pages that can be reached from a page, itself included.
    pub fn reachable(&self, start: usize) -> Vec<usize> {
        let mut seen = vec![false; self.pages()];
        seen[start] = true;
        let mut found = vec![start];
        let mut next = 0;
        while let Some(&page) = found.get(next) {
            next += 1;
            for &to in self.links(page) {
                if !std::mem::replace(&mut seen[to], true) {
                    found.push(to);
                }
            }
        }
        found
    }

    /// The web of these pages alone, numbered in this order.
    #[must_use]
    pub fn among(&self, pages: &[usize]) -> Self {
        let place: HashMap<usize, usize> = pages.iter().copied().zip(0..).collect();
        let kept = |page: &usize| self.links(*page).iter();
        let links = |page| kept(page).filter_map(|to| place.get(to).copied()).collect();
        Self {
            urls: pages.iter().map(|&page| self.urls[page].clone()).collect(),
            links: pages.iter().map(links).collect(),
        }
    }
}

struct Table {
    path: PathBuf,
    text: String,
}

fn table(path: &Path) -> Result<Table, LabError> {
    let read = |source| LabError::Read {
        path: path.to_owned(),
        source,
    };
    let mut text = String::new();
    let file = File::open(path).map_err(read)?;
    MultiGzDecoder::new(file)
        .read_to_string(&mut text)
        .map_err(read)?;
    let path = path.to_owned();
    let table = Table { path, text };
    match table
        .text
        .lines()
        .skip(1)
        .position(|line| !line.contains('\t'))
    {
        Some(row) => Err(table.wrong(&format!("line {} has one column", row + 2))),
        None => Ok(table),
    }
}

impl Table {
    fn rows(&self) -> impl Iterator<Item = (&str, &str)> {
        self.text
            .lines()
            .skip(1)
            .filter_map(|line| line.split_once('\t'))
    }

    fn wrong(&self, why: &str) -> LabError {
        LabError::Table {
            path: self.path.clone(),
            why: why.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn write(directory: &Path, name: &str, text: &str) {
        let file = File::create(directory.join(name)).unwrap();
        let mut gzip = GzEncoder::new(file, Compression::fast());
        gzip.write_all(text.as_bytes()).unwrap();
        gzip.finish().unwrap();
    }

    #[test]
    fn graphs_are_read_and_wrong_ones_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let nodes = "id\turl\n7\thttp://e.org/a\n9\thttp://E.org/a\n4\tmailto:x\n";
        write(path, "nodes.tsv.gz", nodes);
        write(path, "edges.tsv.gz", "from\tto\n7\t9\n7\t9\n9\t9\n9\t4\n");
        let graph = Graph::read(path).unwrap();
        let urls: Vec<_> = (0..3).map(|page| graph.url(page).as_str()).collect();
        assert_eq!(
            urls,
            ["http://e.org/a", "http://1.invalid/", "http://2.invalid/"]
        );
        assert!(graph.edges().eq([(0, 1), (1, 2)]));
        assert_eq!(graph.reachable(1), [1, 2]);
        assert!(graph.among(&[2, 1]).edges().eq([(1, 0)]));

        for (edges, word) in [("from\tto\n7\t8\n", "7 8"), ("from\tto\n7\n", "line 2")] {
            write(path, "edges.tsv.gz", edges);
            let error = Graph::read(path).unwrap_err().to_string();
            assert!(
                error.contains(word) && error.contains("edges.tsv.gz"),
                "{error}"
            );
        }
        let missing = Graph::read(&path.join("nowhere")).unwrap_err();
        assert!(missing.to_string().contains("nodes.tsv.gz"), "{missing}");
    }
}
