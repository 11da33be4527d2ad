//! The topics of a store, each in a file `topics/NAME.json`.
//!
//! The file has the trained classifier and its examples. Each example has a cross-validated
//! probability: it comes from a classifier that was trained without this example.
//!
//! **Invariant:** a file is replaced atomically. A file of another version gives an error that
//! says so.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use anyhow::{Context, Result, bail};
use policy::focus;
use serde::{Deserialize, Serialize};

use crate::settings::usage::Usage;
use crate::store;

/// The default method of focused crawling.
pub const FOCUS: &str = "learned";

/// The maximum number of ancestors of a topic. If there are more, the topics are assumed to form a
/// cycle.
const DEEPEST: usize = 16;

/// What a focused crawl looks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Subject {
    /// A trained topic, in this file.
    Learned(PathBuf),
    /// The words of a query.
    Words(String),
    /// A predicate on pages, which may name topics of a store.
    Where {
        /// The predicate.
        predicate: String,
        /// The store.
        store: PathBuf,
    },
}

/// A topic and the examples that it was trained with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Lesson {
    /// The topic.
    pub topic: focus::Topic,
    /// The examples.
    pub examples: Vec<JudgedExample>,
    /// The parent topic: all examples are pages of the parent.
    #[serde(default)]
    pub under: Option<String>,
}

/// An example, judged by a classifier that was trained without it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedExample {
    /// A URL or a file.
    pub name: String,
    /// Whether it is a positive example.
    pub on: bool,
    /// The probability that it matches the topic.
    pub probability: f64,
}

impl Subject {
    /// Returns the topic of this name in the store, or else the words as a query.
    pub fn named(root: &Path, name: &str) -> Self {
        let path = path(root, name);
        match is_name(name) && path.exists() {
            // An absolute path, so that `explain` finds it from any directory.
            true => Self::Learned(std::path::absolute(&path).unwrap_or(path)),
            false => Self::Words(name.to_owned()),
        }
    }

    /// Returns the topic of this name. Fails if the store does not have it.
    pub fn of(root: &Path, name: &str) -> Result<Self> {
        Lesson::of(root, name)?;
        Ok(Self::named(root, name))
    }

    /// Returns the subject of a predicate, which may name topics of this store.
    pub fn described(root: &Path, predicate: &str) -> Self {
        Self::Where {
            predicate: predicate.to_owned(),
            store: std::path::absolute(root).unwrap_or_else(|_| root.to_owned()),
        }
    }

    /// Reads the topic, or parses the query or the predicate.
    pub fn open(&self) -> Result<focus::Topic> {
        match self {
            Self::Learned(path) => Lesson::whole(path),
            Self::Words(words) => Ok(focus::Topic::words(words)?),
            Self::Where { predicate, store } => {
                let known = |name: &str| {
                    let path = path(store, name);
                    let known = is_name(name) && path.exists();
                    known.then(|| Lesson::whole(&path).ok().map(Arc::new))?
                };
                let meanings = focus::Meanings {
                    topic: &known,
                    span: &page::span,
                };
                let read = focus::Predicate::read(predicate, &meanings);
                let read = read.map_err(|error| Usage(error.to_string()))?;
                Ok(focus::Topic::described(predicate, read))
            }
        }
    }
}

impl Lesson {
    /// Writes the topic into a store. Returns the path of its file.
    pub fn write(&self, root: &Path) -> Result<PathBuf> {
        let path = path(root, &self.topic.name);
        let directory = directory(root);
        fs::create_dir_all(&directory)
            .and_then(|()| store::replace_durably(&path, &serde_json::to_vec(self)?))
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(path)
    }

    /// Reads the topic in this file, with its ancestors.
    fn whole(path: &Path) -> Result<focus::Topic> {
        let mut lesson = read(path)?;
        let mut above = Vec::new();
        while let Some(under) = lesson.under.take() {
            if above.len() == DEEPEST {
                bail!(
                    "{} and the topics above it form a circle: train one of them again",
                    path.display()
                );
            }
            let next = read(&path.with_file_name(format!("{under}.json")))?;
            if let focus::TopicDefinition::Examples(bayes) = &next.topic.known {
                above.push((**bayes).clone());
            }
            lesson.under = next.under;
        }
        Ok(focus::Topic {
            above,
            ..lesson.topic
        })
    }

    /// Reads the topic of this name.
    pub fn of(root: &Path, name: &str) -> Result<Self> {
        let path = path(root, name);
        if !is_name(name) || !path.exists() {
            let known = names(root)?.join(", ");
            let known = if known.is_empty() { "none yet" } else { &known };
            bail!(
                "no topic is called {name:?} (there are: {known}): `avocet topic train {name} --positive … --negative …` creates one"
            );
        }
        read(&path)
    }
}

/// Returns the names of all topics, in alphabetical order.
pub fn names(root: &Path) -> Result<Vec<String>> {
    let directory = directory(root);
    if !directory.exists() {
        return Ok(Vec::new());
    }
    let mut names = Vec::new();
    let listed = fs::read_dir(&directory);
    for entry in listed.with_context(|| format!("cannot read {}", directory.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "json") {
            let stem = path.file_stem().unwrap_or_default();
            names.push(stem.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Returns when the file of a topic was last modified.
pub fn written(root: &Path, name: &str) -> Option<SystemTime> {
    store::modified(&path(root, name))
}

/// Removes a topic. Refuses if another topic is below it.
pub fn remove(root: &Path, name: &str) -> Result<()> {
    Lesson::of(root, name)?;
    for other in names(root)? {
        if Lesson::of(root, &other)?.under.as_deref() == Some(name) {
            bail!("{other} is below {name}: remove {other} first");
        }
    }
    let path = path(root, name);
    fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))
}

/// Returns whether a text can be the name of a topic. The name becomes a file name.
pub fn is_name(name: &str) -> bool {
    let fits = |letter: char| letter.is_alphanumeric() || letter == '-' || letter == '_';
    !name.is_empty() && name.len() <= 100 && name.chars().all(fits)
}

fn read(path: &Path) -> Result<Lesson> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let why = || {
        format!(
            "{} is damaged or of another version: train the topic again",
            path.display()
        )
    };
    serde_json::from_slice(&bytes).with_context(why)
}

fn directory(root: &Path) -> PathBuf {
    root.join("topics")
}

fn path(root: &Path, name: &str) -> PathBuf {
    directory(root).join(format!("{name}.json"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use policy::focus::{Topic, Trainer, TrainingDocument};

    fn lesson(name: &str) -> Lesson {
        let mut trainer = Trainer::default();
        for (n, text) in ["red", "blue", "red", "blue"].into_iter().enumerate() {
            let page = TrainingDocument {
                text,
                ..TrainingDocument::default()
            };
            trainer.add(&page, n % 2 == 0);
        }
        let topic = Topic::taught(name, trainer.train().unwrap().bayes);
        Lesson {
            topic,
            examples: Vec::new(),
            under: None,
        }
    }

    #[test]
    fn topics_are_written_found_and_removed() {
        let store = tempfile::tempdir().unwrap();
        let root = store.path();
        assert!(names(root).unwrap().is_empty());
        assert_eq!(Subject::named(root, "red"), Subject::Words("red".into()));
        lesson("red").write(root).unwrap();
        assert_eq!(names(root).unwrap(), ["red"]);
        let subject = Subject::named(root, "red");
        assert!(matches!(subject, Subject::Learned(_)), "{subject:?}");
        assert_eq!(subject.open().unwrap().name, "red");
        let missing = Lesson::of(root, "blue").unwrap_err().to_string();
        assert!(missing.contains("there are: red"), "{missing}");
        remove(root, "red").unwrap();
        assert!(names(root).unwrap().is_empty());
    }

    #[test]
    fn a_topic_under_another_is_judged_by_both() {
        let store = tempfile::tempdir().unwrap();
        let root = store.path();
        lesson("colour").write(root).unwrap();
        let under = |name: &str, above: &str| Lesson {
            under: Some(above.into()),
            ..lesson(name)
        };
        under("red", "colour").write(root).unwrap();
        let page = TrainingDocument {
            text: "red",
            ..TrainingDocument::default()
        };
        let of = |name: &str| Subject::named(root, name).open().unwrap();
        let (whole, part) = (of("colour"), of("red"));
        assert_eq!((whole.above.len(), part.above.len()), (0, 1));
        let alone = whole.probability(&page);
        assert!((part.probability(&page) - alone * alone).abs() < 1e-9);
        let kept = remove(root, "colour").unwrap_err().to_string();
        assert!(
            kept.contains("red is below colour: remove red first"),
            "{kept}"
        );
        under("colour", "red").write(root).unwrap();
        let circle = Subject::named(root, "red").open().unwrap_err();
        assert!(circle.to_string().contains("circle"), "{circle}");
    }

    #[test]
    fn a_name_cannot_leave_the_directory_of_topics() {
        for (name, fits) in [
            ("course", true),
            ("call-for_papers2", true),
            ("../course", false),
            ("a/b", false),
            ("two words", false),
            ("", false),
            (".hidden", false),
        ] {
            assert_eq!(is_name(name), fits, "{name:?}");
        }
    }
}
