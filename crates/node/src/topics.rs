//! The topics that a store knows, and searches for pages of one of them.
//!
//! Every page that the index finds is judged by its text as the index keeps it, so that a topic can be asked for that
//! was taught after the crawl. **Invariant:** so many of the best are judged as a search can reach; `total` counts those of
//! them that are of the topic.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use anyhow::Result;
use policy::focus::{Document, ON_TOPIC, Topic};
use repository::index::{Hits, Index, Query};

use crate::panics::POISONED;
use crate::settings::topic::{self, Subject};

/// Searches for pages of this topic.
pub fn search(index: &Index, query: &Query<'_>, topic: &Topic) -> Result<Hits> {
    let mut found = Hits::default();
    let mut offset = 0;
    loop {
        let batch = index.search(&Query {
            limit: Query::LIMIT,
            offset,
            // They would count pages of other topics too.
            facets: false,
            ..*query
        })?;
        found.relaxed = batch.relaxed;
        found.corrected = batch.corrected;
        found.unknown = batch.unknown;
        let last = batch.hits.len() < Query::LIMIT || offset >= Query::OFFSET;
        for hit in batch.hits {
            let Some(kept) = index.kept(hit.id)? else {
                continue;
            };
            let probability = topic.probability(&Document {
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
        offset += Query::LIMIT;
    }
    let hits = found.hits.into_iter();
    found.hits = hits.skip(query.offset).take(query.limit).collect();
    Ok(found)
}

/// The topics of a store.
pub struct Topics {
    root: PathBuf,
    read: Mutex<Read>,
}

/// Those that were asked for, and what the store had when they were read.
#[derive(Default)]
struct Read {
    there: Vec<(String, Option<SystemTime>)>,
    topics: HashMap<String, Arc<Topic>>,
}

/// The store knows no topic of this name.
#[derive(Debug, thiserror::Error)]
#[error("no topic is called {name:?}: {}", those(.known))]
pub struct NoSuchTopic {
    name: String,
    known: Vec<String>,
}

impl Topics {
    /// Those of the store at `root`.
    pub fn of(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            read: Mutex::default(),
        }
    }

    /// Their names, by the alphabet.
    pub fn names(&self) -> Result<Vec<String>> {
        topic::names(&self.root)
    }

    /// The topic of this name, or [`NoSuchTopic`].
    pub fn open(&self, name: &str) -> Result<Arc<Topic>> {
        let known = self.names()?;
        if !known.iter().any(|one| one == name) {
            let name = name.to_owned();
            return Err(NoSuchTopic { name, known }.into());
        }
        let written = |name: String| (topic::written(&self.root, &name), name);
        let there = known.into_iter().map(written);
        let there: Vec<_> = there.map(|(written, name)| (name, written)).collect();
        // Whoever asks while it is read waits for it.
        let mut read = self.read.lock().expect(POISONED);
        if read.there != there {
            *read = Read {
                there,
                topics: HashMap::new(),
            };
        }
        if let Some(topic) = read.topics.get(name) {
            return Ok(topic.clone());
        }
        let topic = Arc::new(Subject::of(&self.root, name)?.open()?);
        read.topics.insert(name.to_owned(), topic.clone());
        Ok(topic)
    }
}

/// What there is instead.
fn those(known: &[String]) -> String {
    match known {
        [] => "this store has none, leave it out for any page".to_owned(),
        known => format!("there are {}", known.join(", ")),
    }
}
