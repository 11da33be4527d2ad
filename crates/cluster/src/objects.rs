//! The object store of a cluster: where nodes put copies of pages and snapshots of slots, so that
//! other nodes find them.
//!
//! It is a directory that all nodes see, such as a network file system, or a bucket of NATS
//! JetStream.
//!
//! **Invariant:** an object has its name only when it is complete. Its bytes never change.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_nats::jetstream::object_store::{self, InfoErrorKind};
use bytes::Bytes;
use futures_util::TryStreamExt;
use tokio::fs::{self, File};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A failure of the object store.
#[derive(Debug, thiserror::Error)]
#[error("cannot {action} {object} in the object store {store}")]
pub struct ObjectError {
    action: &'static str,
    object: String,
    store: String,
    source: Box<dyn std::error::Error + Send + Sync>,
}

/// Where the objects are, as the setting `object_store` says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ObjectPlace {
    /// In a bucket of the NATS servers.
    Nats,
    /// In a directory that all nodes see.
    Directory(PathBuf),
}

impl FromStr for ObjectPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "nats" {
            return Ok(Self::Nats);
        }
        match text.strip_prefix("file://").map(Path::new) {
            Some(path) if path.is_absolute() => Ok(Self::Directory(path.to_owned())),
            _ => Err(format!(
                "{text:?} is no object store: write \"nats\", or file:// and the absolute path of a directory that all nodes \
                 see; mount an S3 bucket as a file system to use it"
            )),
        }
    }
}

/// The object store of a crawl.
#[derive(Clone)]
pub struct ObjectStore(ObjectMedium);

#[derive(Clone)]
enum ObjectMedium {
    Nats {
        bucket: Box<object_store::ObjectStore>,
        name: String,
    },
    Directory {
        /// The directory of the setting. It must exist.
        given: PathBuf,
        /// The directory of the crawl in it.
        root: PathBuf,
        /// Whether this process has created the directory of the crawl. It is not created twice: a
        /// directory that goes away is a file system that was unmounted.
        created: Arc<AtomicBool>,
    },
}

impl std::fmt::Debug for ObjectStore {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "ObjectStore {}", self.name())
    }
}

impl ObjectStore {
    /// Returns the object store of a crawl in a directory.
    pub fn in_directory(given: &Path, crawl: &str) -> Self {
        Self(ObjectMedium::Directory {
            given: given.to_owned(),
            root: given.join(crawl),
            created: Arc::default(),
        })
    }

    /// Returns the object store in a bucket.
    pub(crate) fn in_bucket(bucket: object_store::ObjectStore, name: String) -> Self {
        let bucket = Box::new(bucket);
        Self(ObjectMedium::Nats { bucket, name })
    }

    /// Returns the name of the store, for messages.
    fn name(&self) -> String {
        match &self.0 {
            ObjectMedium::Nats { name, .. } => name.clone(),
            ObjectMedium::Directory { root, .. } => root.display().to_string(),
        }
    }

    /// Returns the directory that has the objects whose names begin with `prefix/`; `None`: the
    /// store is no file system.
    pub fn directory(&self, prefix: &str) -> Option<PathBuf> {
        match &self.0 {
            ObjectMedium::Nats { .. } => None,
            ObjectMedium::Directory { root, .. } => Some(root.join(prefix)),
        }
    }

    fn failed<E: Into<Box<dyn std::error::Error + Send + Sync>>>(
        &self,
        action: &'static str,
        object: &str,
    ) -> impl FnOnce(E) -> ObjectError {
        let (object, store) = (object.to_owned(), self.name());
        move |source| ObjectError {
            action,
            object,
            store,
            source: source.into(),
        }
    }

    /// Stores a file as an object. An object with this name must not exist, or have the same
    /// content.
    pub async fn put_file(&self, object: &str, path: &Path) -> Result<(), ObjectError> {
        let opened = File::open(path).await;
        let mut file = opened.map_err(self.failed("read the file for", object))?;
        self.put(object, &mut file).await
    }

    /// Stores bytes as an object.
    pub async fn put_bytes(&self, object: &str, bytes: &[u8]) -> Result<(), ObjectError> {
        self.put(object, &mut &*bytes).await
    }

    async fn put(
        &self,
        object: &str,
        content: &mut (impl tokio::io::AsyncRead + Unpin),
    ) -> Result<(), ObjectError> {
        match &self.0 {
            ObjectMedium::Nats { bucket, .. } => {
                let stored = bucket.put(object, content).await;
                stored.map(drop).map_err(self.failed("store", object))
            }
            ObjectMedium::Directory { .. } => {
                let path = self.path_for(object).await;
                let stored = async { self.write(&path?, content).await };
                stored.await.map_err(self.failed("store", object))
            }
        }
    }

    /// Returns the path of an object. Creates the directories of the crawl if this process has not
    /// done so yet.
    async fn path_for(&self, object: &str) -> std::io::Result<PathBuf> {
        let ObjectMedium::Directory {
            given,
            root,
            created,
        } = &self.0
        else {
            unreachable!("called for directories only");
        };
        if !created.load(Ordering::Relaxed) {
            // Not created here: a mount point without its file system may be missing too.
            fs::metadata(given).await?;
            for prefix in [ARCHIVE, SNAPSHOTS] {
                fs::create_dir_all(root.join(prefix)).await?;
            }
            created.store(true, Ordering::Relaxed);
        }
        Ok(root.join(object))
    }

    /// Writes a file under a temporary name, syncs it and renames it.
    async fn write(
        &self,
        path: &Path,
        content: &mut (impl tokio::io::AsyncRead + Unpin),
    ) -> std::io::Result<()> {
        let directory = path.parent().unwrap_or(path);
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // Only one process of the cluster writes an object, so what an earlier process has left of
        // it is overwritten.
        let temporary = directory.join(format!(".{name}.part"));
        let written = async {
            let mut file = File::create(&temporary).await?;
            tokio::io::copy(content, &mut file).await?;
            file.flush().await?;
            file.sync_all().await?;
            fs::rename(&temporary, path).await?;
            File::open(directory).await?.sync_all().await
        };
        let done = written.await;
        if done.is_err() {
            fs::remove_file(&temporary).await.ok();
        }
        done
    }

    /// Returns the content of an object; `None`: there is no such object.
    pub async fn get(&self, object: &str) -> Result<Option<Bytes>, ObjectError> {
        match &self.0 {
            ObjectMedium::Nats { bucket, .. } => {
                if self.size(object).await?.is_none() {
                    return Ok(None);
                }
                let found = bucket.get(object).await;
                let mut found = found.map_err(self.failed("read", object))?;
                let mut content = Vec::new();
                let read = found.read_to_end(&mut content).await;
                read.map_err(self.failed("read", object))?;
                Ok(Some(content.into()))
            }
            ObjectMedium::Directory { root, .. } => match fs::read(root.join(object)).await {
                Ok(content) => Ok(Some(content.into())),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    self.is_there(object).await?;
                    Ok(None)
                }
                Err(error) => Err(self.failed("read", object)(error)),
            },
        }
    }

    /// Copies an object into a file, which gets its name when it is complete. Returns `false` if
    /// there is no such object.
    pub async fn copy_to(&self, object: &str, path: &Path) -> Result<bool, ObjectError> {
        let Some(_) = self.size(object).await? else {
            return Ok(false);
        };
        match &self.0 {
            ObjectMedium::Nats { bucket, .. } => {
                let found = bucket.get(object).await;
                let mut found = found.map_err(self.failed("read", object))?;
                let copied = self.write(path, &mut found).await;
                copied.map_err(self.failed("copy", object))?;
            }
            ObjectMedium::Directory { root, .. } => {
                let copied = async {
                    let mut found = File::open(root.join(object)).await?;
                    self.write(path, &mut found).await
                };
                copied.await.map_err(self.failed("copy", object))?;
            }
        }
        Ok(true)
    }

    /// Returns the size of an object in bytes; `None`: there is no such object.
    pub async fn size(&self, object: &str) -> Result<Option<u64>, ObjectError> {
        match &self.0 {
            ObjectMedium::Nats { bucket, .. } => match bucket.info(object).await {
                Ok(info) => Ok((!info.deleted).then_some(info.size as u64)),
                Err(error) if error.kind() == InfoErrorKind::NotFound => Ok(None),
                Err(error) => Err(self.failed("look up", object)(error)),
            },
            ObjectMedium::Directory { root, .. } => match fs::metadata(root.join(object)).await {
                Ok(found) => Ok(Some(found.len())),
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    self.is_there(object).await?;
                    Ok(None)
                }
                Err(error) => Err(self.failed("look up", object)(error)),
            },
        }
    }

    /// Fails if the directory of the crawl is away: then a missing object says nothing.
    async fn is_there(&self, object: &str) -> Result<(), ObjectError> {
        let looked = async {
            let path = self.path_for(object).await?;
            fs::metadata(path.parent().unwrap_or(&path)).await
        };
        looked
            .await
            .map(drop)
            .map_err(self.failed("look up", object))
    }

    /// Returns the names of all objects that begin with `prefix`, which has one slash, sorted.
    pub async fn names(&self, prefix: &str) -> Result<Vec<String>, ObjectError> {
        let mut names = match &self.0 {
            ObjectMedium::Nats { bucket, .. } => {
                let listed = bucket.list().await;
                let listed = listed.map_err(self.failed("list", prefix))?;
                let names = listed.map_ok(|object| object.name);
                let names: Result<Vec<String>, _> = names.try_collect().await;
                names.map_err(self.failed("list", prefix))?
            }
            ObjectMedium::Directory { root, .. } => {
                let (directory, _) = prefix.split_once('/').unwrap_or((prefix, ""));
                let list = async {
                    let mut names = Vec::new();
                    let mut entries = fs::read_dir(root.join(directory)).await?;
                    while let Some(entry) = entries.next_entry().await? {
                        let name = entry.file_name().to_string_lossy().into_owned();
                        names.push(format!("{directory}/{name}"));
                    }
                    Ok::<_, std::io::Error>(names)
                };
                list.await.map_err(self.failed("list", prefix))?
            }
        };
        names.retain(|name| name.starts_with(prefix) && !name.ends_with(".part"));
        names.sort();
        Ok(names)
    }

    /// Deletes an object, if it exists.
    pub async fn delete(&self, object: &str) -> Result<(), ObjectError> {
        match &self.0 {
            ObjectMedium::Nats { bucket, .. } => {
                if self.size(object).await?.is_none() {
                    return Ok(());
                }
                let deleted = bucket.delete(object).await;
                deleted.map_err(self.failed("delete", object))
            }
            ObjectMedium::Directory { root, .. } => {
                match fs::remove_file(root.join(object)).await {
                    Err(error) if error.kind() != ErrorKind::NotFound => {
                        Err(self.failed("delete", object)(error))
                    }
                    _ => Ok(()),
                }
            }
        }
    }
}

/// The prefix of the names of archive files.
pub const ARCHIVE: &str = "archive";

/// The prefix of the names of snapshots.
pub const SNAPSHOTS: &str = "snapshots";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_nats_or_an_absolute_directory() {
        assert_eq!("nats".parse(), Ok(ObjectPlace::Nats));
        let directory = ObjectPlace::Directory("/mnt/shared".into());
        assert_eq!("file:///mnt/shared".parse(), Ok(directory));
        for wrong in ["", "s3://bucket/x", "file://shared", "/mnt/shared", "NATS"] {
            let why = wrong.parse::<ObjectPlace>().unwrap_err();
            assert!(why.contains("file://"), "{why}");
        }
    }

    #[tokio::test]
    async fn objects_in_a_directory_are_complete_or_absent() {
        let given = tempfile::tempdir().unwrap();
        let store = ObjectStore::in_directory(given.path(), "docs");
        assert_eq!(store.size("archive/a").await.unwrap(), None);
        store.put_bytes("archive/a", b"text").await.unwrap();
        assert_eq!(store.size("archive/a").await.unwrap(), Some(4));
        assert_eq!(store.get("archive/a").await.unwrap().unwrap(), "text");
        store.put_bytes("snapshots/2-9", b"").await.unwrap();
        store.put_bytes("snapshots/1-9", b"").await.unwrap();
        store.put_bytes("snapshots/1-8", b"").await.unwrap();
        let names = store.names("snapshots/1-").await.unwrap();
        assert_eq!(names, ["snapshots/1-8", "snapshots/1-9"]);
        let copy = given.path().join("copy");
        assert!(store.copy_to("archive/a", &copy).await.unwrap());
        assert!(!store.copy_to("archive/b", &copy).await.unwrap());
        assert_eq!(std::fs::read(&copy).unwrap(), b"text");
        store.delete("archive/a").await.unwrap();
        store.delete("archive/a").await.unwrap();
        assert_eq!(store.get("archive/a").await.unwrap(), None);
        let left = std::fs::read_dir(store.directory(ARCHIVE).unwrap()).unwrap();
        assert_eq!(left.count(), 0, "a temporary file is left");
    }

    #[tokio::test]
    async fn a_directory_that_went_away_is_an_error_and_is_not_created_again() {
        let given = tempfile::tempdir().unwrap();
        let path = given.path().join("mount");
        let store = ObjectStore::in_directory(&path, "docs");
        let away = store.put_bytes("archive/a", b"").await.unwrap_err();
        assert!(
            away.to_string().contains("cannot store archive/a"),
            "{away}"
        );
        assert!(store.size("archive/a").await.is_err(), "absent, or away?");
        std::fs::create_dir(&path).unwrap();
        store.put_bytes("archive/a", b"").await.unwrap();
        std::fs::remove_dir_all(path.join("docs")).unwrap();
        assert!(store.put_bytes("archive/b", b"").await.is_err());
        assert!(store.get("archive/a").await.is_err());
        assert!(!path.join("docs").exists());
    }
}
