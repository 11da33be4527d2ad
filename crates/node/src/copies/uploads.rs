//! Uploads the complete files of the archive to the object store.
//!
//! **Invariant:** a file is uploaded only when it is complete and everything in it is committed, so
//! it never changes afterwards. The local file stays.
//!
//! An upload that was interrupted is made again: the object store shows which files it has. While
//! it is away, the crawl goes on, and the files wait in the archive.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use cluster::copies::archive_of;
use cluster::objects::{ARCHIVE, ObjectStore};
use repository::archive::elsewhere::{self, CompleteFile};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tracing::{info, warn};

/// Wait before the second attempt. It doubles up to [`LONGEST_WAIT`].
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// The uploads of a node.
#[derive(Debug)]
pub struct Uploads {
    /// The archive file that is written is closed after this time.
    every: Duration,
    /// All files with lower numbers are complete.
    complete: watch::Sender<u32>,
    /// All complete files with lower numbers are in the object store.
    stored: watch::Receiver<u32>,
    task: JoinHandle<()>,
}

impl Uploads {
    /// Starts the uploads. All files below `complete` are complete.
    pub fn start(objects: ObjectStore, archive: PathBuf, every: Duration, complete: u32) -> Self {
        let (complete, files) = watch::channel(complete);
        let (done, stored) = watch::channel(0);
        Self {
            every,
            complete,
            stored,
            task: tokio::spawn(upload(objects, archive, files, done)),
        }
    }

    /// Returns the time after which the archive file that is written is closed.
    pub fn every(&self) -> Duration {
        self.every
    }

    /// All files below this number are complete, and everything in them is committed.
    pub fn complete_below(&self, file: u32) {
        let raise = |known: &mut u32| {
            let higher = file > *known;
            *known = file.max(*known);
            higher
        };
        self.complete.send_if_modified(raise);
    }

    /// Waits until all complete files are in the object store, for `patience` at most. Returns
    /// whether they are.
    pub async fn flush(&self, patience: Duration) -> bool {
        let complete = *self.complete.borrow();
        let mut stored = self.stored.clone();
        let waited = tokio::time::timeout(patience, stored.wait_for(|done| *done >= complete));
        waited.await.is_ok_and(|stored| stored.is_ok())
    }
}

impl Drop for Uploads {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Uploads files until the task is aborted.
async fn upload(
    objects: ObjectStore,
    archive: PathBuf,
    mut files: watch::Receiver<u32>,
    done: watch::Sender<u32>,
) {
    let mut stored = BTreeSet::new();
    let mut wait = None;
    loop {
        let complete = *files.borrow_and_update();
        match upload_below(complete, &objects, &archive, &mut stored).await {
            Ok(()) => {
                if wait.take().is_some() {
                    info!("the object store answers again; all complete archive files are in it");
                }
                done.send_replace(complete);
                if files.changed().await.is_err() {
                    return;
                }
            }
            Err(error) => {
                let pause: Duration = wait.unwrap_or(FIRST_WAIT);
                warn!(
                    "{error:#}; the crawl goes on, and the upload is tried again in {} s",
                    pause.as_secs()
                );
                tokio::time::sleep(pause).await;
                wait = Some((pause * 2).min(LONGEST_WAIT));
            }
        }
    }
}

/// Uploads the files below a number that are not in `stored` and not in the object store.
async fn upload_below(
    complete: u32,
    objects: &ObjectStore,
    archive: &Path,
    stored: &mut BTreeSet<u32>,
) -> Result<()> {
    let directory = archive.to_owned();
    let list = move || elsewhere::complete_files(&directory, complete);
    let files = tokio::task::spawn_blocking(list).await??;
    for file in files {
        // Archive 0 is not part of a cluster.
        if archive_of(file.number) > 0 && !stored.contains(&file.number) {
            upload_one(&file, objects).await?;
            stored.insert(file.number);
        }
    }
    Ok(())
}

async fn upload_one(file: &CompleteFile, objects: &ObjectStore) -> Result<()> {
    let object = format!("{ARCHIVE}/{}", elsewhere::file_name(file.number));
    let size = tokio::fs::metadata(&file.path).await?.len();
    match objects.size(&object).await? {
        Some(found) if found == size => {}
        Some(found) => warn!(
            "{object} in the object store has {found} bytes, and the file of this store {size}; the object stays as it is"
        ),
        None => {
            // The index comes first: an archive file in the object store has one.
            let index = format!("{ARCHIVE}/{}", elsewhere::index_name(file.number));
            objects.put_file(&index, &file.index).await?;
            objects.put_file(&object, &file.path).await?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use cluster::copies::first_file;

    use super::*;

    fn write(archive: &Path, number: u32, text: &str) {
        for name in [elsewhere::file_name(number), elsewhere::index_name(number)] {
            std::fs::write(archive.join(name), text).unwrap();
        }
    }

    #[tokio::test]
    async fn complete_files_are_uploaded_once_and_again_after_the_store_was_away() {
        let (archive, mount) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let first = first_file(3);
        write(archive.path(), 1, "not of the cluster");
        write(archive.path(), first, "first");
        write(archive.path(), first + 1, "second");
        let objects = ObjectStore::in_directory(&mount.path().join("away"), "docs");
        let every = Duration::from_secs(300);
        let uploads = Uploads::start(objects.clone(), archive.path().into(), every, first + 1);
        assert!(!uploads.flush(Duration::from_millis(50)).await);

        std::fs::create_dir(mount.path().join("away")).unwrap();
        assert!(uploads.flush(Duration::from_secs(30)).await);
        let directory = objects.directory(ARCHIVE).unwrap();
        let found = |number| std::fs::read_to_string(directory.join(elsewhere::file_name(number)));
        assert_eq!(found(first).unwrap(), "first");
        assert!(found(first + 1).is_err(), "not complete yet");
        assert!(found(1).is_err());
        assert!(directory.join(elsewhere::index_name(first)).exists());

        // Another process goes on, and does not replace what is there.
        drop(uploads);
        write(archive.path(), first, "changed");
        let uploads = Uploads::start(objects, archive.path().into(), every, first + 1);
        uploads.complete_below(first + 2);
        uploads.complete_below(first);
        assert!(uploads.flush(Duration::from_secs(30)).await);
        assert_eq!(found(first).unwrap(), "first");
        assert_eq!(found(first + 1).unwrap(), "second");
    }
}
