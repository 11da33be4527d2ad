//! The topics of a store, and searches that are restricted to one topic.
//!
//! The classifier judges each result by the text that the index stores. A search can therefore
//! use a topic that was trained after the crawl.
//!
//! **Invariant:** a search judges all results that paging can reach (`SearchQuery::OFFSET`), and
//! `total` counts the judged results that match the topic.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use anyhow::Result;
use policy::focus::{ON_TOPIC, Topic, TrainingDocument};
use repository::index::{Hits, Index, SearchQuery};

use crate::panics::POISONED;
use crate::settings::topic::{self, Subject};

/// Searches for pages that match a topic.
pub fn search(index: &Index, query: &SearchQuery<'_>, topic: &Topic) -> Result<Hits> {
    let mut found = Hits::default();
    let mut offset = 0;
    loop {
        let batch = index.search(&SearchQuery {
            limit: SearchQuery::LIMIT,
            offset,
            // Facets would also count pages that do not match the topic.
            facets: false,
            ..*query
        })?;
        found.relaxed = batch.relaxed;
        found.corrected = batch.corrected;
        found.unknown = batch.unknown;
        let last = batch.hits.len() < SearchQuery::LIMIT || offset >= SearchQuery::OFFSET;
        for hit in batch.hits {
            let Some(kept) = index.kept(hit.id)? else {
                continue;
            };
            let probability = topic.probability(&TrainingDocument {
                url: &kept.url,
                title: &kept.title,
                text: &kept.text,
                anchors: "",
            });
            if probability >= f64::from(ON_TOPIC) {
                found.total += 1;
                found.hits.push(hit);
            }
        }
        if last {
            break;
        }
        offset += SearchQuery::LIMIT;
    }
    let hits = found.hits.into_iter();
    found.hits = hits.skip(query.offset).take(query.limit).collect();
    Ok(found)
}

/// The topics of a store, with a cache of those that were read.
pub struct Topics {
    root: PathBuf,
    cache: Mutex<TopicCache>,
}

/// Topics that were read from the store. The cache is emptied when a topic file changes.
#[derive(Default)]
struct TopicCache {
    /// The name and modification time of each topic file when the cache was filled.
    files: Vec<(String, Option<SystemTime>)>,
    topics: HashMap<String, Arc<Topic>>,
}

/// The error for a topic that the store does not have.
#[derive(Debug, thiserror::Error)]
#[error("no topic is called {name:?}: {}", available_topics(.known))]
pub struct NoSuchTopic {
    name: String,
    known: Vec<String>,
}

impl Topics {
    /// Returns the topics of the store at `root`.
    pub fn of(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            cache: Mutex::default(),
        }
    }

    /// Returns the names of all topics, in alphabetical order.
    pub fn names(&self) -> Result<Vec<String>> {
        topic::names(&self.root)
    }

    /// Returns the topic of this name. Fails with [`NoSuchTopic`] if there is none.
    pub fn open(&self, name: &str) -> Result<Arc<Topic>> {
        let known = self.names()?;
        if !known.iter().any(|one| one == name) {
            let name = name.to_owned();
            return Err(NoSuchTopic { name, known }.into());
        }
        let written = |name: String| (topic::written(&self.root, &name), name);
        let files = known.into_iter().map(written);
        let files: Vec<_> = files.map(|(written, name)| (name, written)).collect();
        // Concurrent callers wait while a topic is read.
        let mut cache = self.cache.lock().expect(POISONED);
        if cache.files != files {
            *cache = TopicCache {
                files,
                topics: HashMap::new(),
            };
        }
        if let Some(topic) = cache.topics.get(name) {
            return Ok(topic.clone());
        }
        let topic = Arc::new(Subject::of(&self.root, name)?.open()?);
        cache.topics.insert(name.to_owned(), topic.clone());
        Ok(topic)
    }
}

/// Describes the topics that exist.
fn available_topics(known: &[String]) -> String {
    match known {
        [] => "this store has none; search without a topic".to_owned(),
        known => format!("there are {}", known.join(", ")),
    }
}
