//! Training examples of a topic, from files and from the store.
//!
//! Examples are files or directories of files (HTML or plain text), and URLs whose copies are in
//! the store. Negative examples can also be sampled from the store. Archived pages are parsed as
//! the crawl parsed them, with the anchor texts that the ledger holds.
//!
//! **Invariant:** the same arguments and the same store give the same examples in the same order.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use frontier::Known;
use page::{PageId, PageUrl, charset, media, media::Media};
use policy::focus::TrainingDocument;

use crate::cli::topic::TrainArguments;
use crate::progress_bar::Bar;
use crawl::verdict::{Asked, Details, Verdict};
use lab::workers::ExperimentProgress;
use node::access::StoreView;
use node::readable::kept;
use node::settings::topic::{JudgedExample, Lesson};
use node::work_progress::{WorkProgress, WorkUnit};

/// All training examples of a topic.
#[derive(Debug, Default)]
pub struct Examples {
    /// The examples, the positive ones first.
    pub pages: Vec<TrainingExample>,
}

/// One page to train on.
#[derive(Debug)]
pub struct TrainingExample {
    /// The URL, or the path of the file.
    pub name: String,
    /// Whether the page is on topic.
    pub on: bool,
    url: String,
    title: String,
    text: String,
    anchors: String,
}

impl TrainingExample {
    /// Returns the page as the classifier reads it.
    pub fn document(&self) -> TrainingDocument<'_> {
        TrainingDocument {
            url: &self.url,
            title: &self.title,
            text: &self.text,
            anchors: &self.anchors,
        }
    }
}

impl Examples {
    /// Gathers the examples that the user names, the negative ones from the parent topic, and the
    /// sample.
    pub fn gather(
        copies: &StoredCopies<'_>,
        arguments: &TrainArguments,
        above: Option<&Lesson>,
    ) -> Result<Self> {
        let mut examples = Self::default();
        let mut named: HashSet<PageId> = HashSet::new();
        let all = arguments.positive.len() + arguments.negative.len() + arguments.sample;
        let bar = Bar::new();
        WorkProgress::begin(&bar, "reading examples", all as u64, WorkUnit::Steps);
        for (names, on) in [(&arguments.positive, true), (&arguments.negative, false)] {
            for name in names {
                bar.step();
                if let Ok(url) = PageUrl::parse(name) {
                    named.insert(url.id());
                    let example = copies.example(&url, on)?;
                    let missing = || {
                        format!("the store has no text of {url}: crawl it first, or give a file")
                    };
                    examples.pages.push(example.with_context(missing)?);
                } else {
                    examples.add_files(Path::new(name), on)?;
                }
            }
        }
        for example in above.map_or(&[][..], |above| &above.examples) {
            examples.add_of_parent(copies, example, &mut named)?;
        }
        examples.sample(copies, &named, arguments.sample, &bar)?;
        Ok(examples)
    }

    /// Adds a positive example of the parent topic as a negative one, unless the user names it or
    /// it no longer exists.
    fn add_of_parent(
        &mut self,
        copies: &StoredCopies<'_>,
        example: &JudgedExample,
        named: &mut HashSet<PageId>,
    ) -> Result<()> {
        let known = self.pages.iter().any(|page| page.name == example.name);
        if !example.on || known {
            return Ok(());
        }
        match PageUrl::parse(&example.name) {
            Ok(url) if named.insert(url.id()) => {
                self.pages.extend(copies.example(&url, false)?);
            }
            Ok(_) => {}
            Err(_) if Path::new(&example.name).exists() => {
                self.add_files(Path::new(&example.name), false)?;
            }
            Err(_) => {}
        }
        Ok(())
    }

    fn add_files(&mut self, path: &Path, on: bool) -> Result<()> {
        for file in files(path)? {
            let bytes =
                fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            let name = file.display().to_string();
            let (decoded, _) = charset::decode(&bytes, None);
            let (title, text) = match media::kind(None, &bytes) {
                Media::Html => {
                    let nowhere = PageUrl::parse("http://page.invalid/")?;
                    let reading = page::read(&decoded, &nowhere, &page::ReadLimits::default());
                    (reading.title, reading.text)
                }
                _ => (String::new(), decoded.into_owned()),
            };
            self.pages.push(TrainingExample {
                name,
                on,
                url: String::new(),
                title,
                text,
                anchors: String::new(),
            });
        }
        Ok(())
    }

    /// Adds up to `wanted` further pages of the store as negative examples, evenly spread over the
    /// order of discovery.
    fn sample(
        &mut self,
        copies: &StoredCopies<'_>,
        named: &HashSet<PageId>,
        wanted: usize,
        bar: &Bar,
    ) -> Result<()> {
        let mut others = copies.known();
        others.retain(|known| !named.contains(&known.key.page));
        let step = (others.len() / wanted.max(1)).max(1);
        for known in others.into_iter().step_by(step).take(wanted) {
            bar.step();
            let url = PageUrl::parse(&known.discovery.url)?;
            self.pages.extend(copies.example(&url, false)?);
        }
        Ok(())
    }
}

/// The copies of a store, with the anchor texts of links to them.
pub struct StoredCopies<'a> {
    store: &'a StoreView,
    pages: HashMap<PageId, Known>,
    /// Anchor texts of the links to each page, by page number.
    anchors: HashMap<u64, String>,
}

impl<'a> StoredCopies<'a> {
    /// Reads all pages with a copy, and all anchor texts, from the ledger.
    pub fn of(store: &'a StoreView) -> Result<Self> {
        let mut pages = HashMap::new();
        for known in store.ledger().scan() {
            let known = known?;
            if known.has_copy() {
                pages.insert(known.key.page, known);
            }
        }
        let mut anchors: HashMap<u64, String> = HashMap::new();
        for links in store.ledger().all_links() {
            let (_, links) = links?;
            for (to, anchor) in links.links().filter(|(_, anchor)| !anchor.is_empty()) {
                let known = anchors.entry(u64::from(to)).or_default();
                known.push(' ');
                known.push_str(anchor);
            }
        }
        Ok(Self {
            store,
            pages,
            anchors,
        })
    }

    /// Returns the pages with a copy, in the order of discovery.
    pub fn known(&self) -> Vec<&Known> {
        let mut known: Vec<&Known> = self.pages.values().collect();
        known.sort_by_key(|known| known.discovery.order);
        known
    }

    /// Returns a page as an example, or `None` if the store has no text of it.
    pub fn example(&self, url: &PageUrl, on: bool) -> Result<Option<TrainingExample>> {
        let Some((known, verdict)) = self.read(url, false)? else {
            return Ok(None);
        };
        let anchors = self.anchors.get(&known.discovery.order);
        Ok(verdict.text.map(|text| TrainingExample {
            name: url.as_str().to_owned(),
            on,
            url: url.as_str().to_owned(),
            title: text.title,
            text: text.body,
            anchors: anchors.cloned().unwrap_or_default(),
        }))
    }

    /// Parses the copy of a page, with the places of its links if `places`. Returns `None` if
    /// there is no copy.
    pub fn read(&self, url: &PageUrl, places: bool) -> Result<Option<(&Known, Verdict)>> {
        let Some(known) = self.pages.get(&url.id()) else {
            return Ok(None);
        };
        let visited = known.visited.as_ref();
        let kept = visited.map(|visited| kept(&self.store.archive(), url.as_str(), visited));
        let Some((_, answer)) = kept.transpose()?.flatten() else {
            return Ok(None);
        };
        let asked = Asked {
            details: Details {
                places,
                ..Details::INDEXED
            },
            ..Asked::again(url)
        };
        Ok(Some((known, asked.judge(&answer, 0, &|_| false))))
    }
}

/// Returns the file at a path, or all files below a directory, sorted by path.
fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    if !path.is_dir() {
        bail!(
            "{} is not a file, a directory or a URL: name pages to train on",
            path.display()
        );
    }
    let mut found = Vec::new();
    let listed = fs::read_dir(path).with_context(|| format!("cannot read {}", path.display()))?;
    for entry in listed {
        found.extend(files(&entry?.path())?);
    }
    found.sort();
    Ok(found)
}
