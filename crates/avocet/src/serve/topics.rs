//! Which topics may a searcher choose from?
//!
//! A topic is a file of some megabytes, and is read once. **Invariant:** topics are those of the store now: when one was taught, taught again
//! or forgotten, all are read anew, since a topic may be a part of another.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use anyhow::Result;
use policy::focus::Topic;

use crate::panics::POISONED;
use crate::topic::{self, Subject};

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
