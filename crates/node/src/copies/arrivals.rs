//! Fetches and indexes the copies of pages that this node has taken over, in the background.
//!
//! A takeover writes the facts of pages into the ledger at once. The note of the ledger keeps the
//! slots whose copies are still to be read. Copies in an object store that is a directory are read
//! where they are; files of another object store are copied into the archive first.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use anyhow::{Context, Result};
use cluster::Slot;
use cluster::objects::{ARCHIVE, ObjectError, ObjectStore};
use crawl::verdict::IndexText;
use frontier::{PageCopy, PageKey};
use ledger::Ledger;
use page::{PageUrl, RecordLocation};
use repository::archive::{self, elsewhere};
use tokio::runtime::Handle;
use tokio::sync::watch;
use tracing::{info, warn};

use crate::recovery::in_links::{InLinks, PendingLinks};
use crate::recovery::kept_text;
use crate::slot_note::note_of;

/// Most pages, and most bytes of text, that the committer indexes at once.
const PAGES: usize = 256;
const BYTES: usize = 8 << 20;

/// Wait before a file is asked for again.
const RETRY: Duration = Duration::from_secs(2);

/// The copy of a page that was taken over, for the index.
pub struct ArrivedCopy {
    /// The page.
    pub key: PageKey,
    /// Its URL.
    pub url: PageUrl,
    /// Where the copy is. If the page has another one by now, this one is not indexed.
    pub place: RecordLocation,
    /// When it was fetched, in seconds.
    pub fetched_at: i64,
    /// Its text.
    pub text: IndexText,
    /// The links to it.
    pub links: PendingLinks,
}

/// Work for the committer.
pub enum ArrivalWork {
    /// Index these copies, and drop the sender.
    Copies(Vec<ArrivedCopy>, Sender<()>),
    /// All copies of a slot were read.
    Read(Slot),
}

/// The copies that a node has taken over.
pub struct Arrivals {
    /// The ledger of the node.
    pub ledger: Arc<Ledger>,
    /// The directory of its archive.
    pub archive: PathBuf,
    /// The object store.
    pub objects: Option<ObjectStore>,
    /// Whether the crawl has an index.
    pub indexed: bool,
    /// Turns true when the term ends.
    pub stop: watch::Receiver<bool>,
}

impl Arrivals {
    /// Reads the copies of all slots that the note names, and gives them to `committer`, which
    /// returns `false` when the term has ended. Blocks the thread until all are read.
    pub fn read(mut self, runtime: &Handle, committer: impl Fn(ArrivalWork) -> bool) -> Result<()> {
        let note = note_of(&self.ledger)?;
        if note.unread().is_empty() {
            return Ok(());
        }
        let mut links = match self.indexed {
            true => InLinks::all(&self.ledger)?,
            false => InLinks::default(),
        };
        let mut read = 0;
        for (slot, partitions) in note.unread() {
            let fetched = runtime.block_on(self.fetch(partitions))?;
            if !fetched {
                return Ok(());
            }
            if self.indexed {
                match self.index(partitions, &mut links, &committer)? {
                    Some(pages) => read += pages,
                    None => return Ok(()),
                }
            }
            if !committer(ArrivalWork::Read(*slot)) {
                return Ok(());
            }
        }
        info!(
            pages = read,
            "the copies of pages that were taken over are in the index"
        );
        Ok(())
    }

    /// Copies the files of a slot into the archive, unless they can be read where they are. Returns
    /// `false` if the term has ended.
    async fn fetch(&mut self, partitions: &RangeInclusive<u8>) -> Result<bool> {
        let Some(objects) = self.objects.clone() else {
            return Ok(true);
        };
        if objects.directory(ARCHIVE).is_some() {
            return Ok(true);
        }
        let mut files = BTreeSet::new();
        for copy in self.copies(partitions) {
            let (_, _, copy, place) = copy?;
            if copy.place.is_some() && !archive::is_own(&self.archive, place.file) {
                files.insert(place.file);
            }
        }
        let directory = archive::fetched(&self.archive);
        tokio::fs::create_dir_all(&directory)
            .await
            .with_context(|| format!("cannot create {}", directory.display()))?;
        for file in files {
            loop {
                let fetched = tokio::select! {
                    fetched = fetch_one(&objects, &directory, file) => fetched,
                    _ = self.stop.wait_for(|stop| *stop) => return Ok(false),
                };
                let Err(error) = fetched else { break };
                warn!("{:#}; tries again", anyhow::Error::from(error));
                tokio::time::sleep(RETRY).await;
            }
        }
        Ok(true)
    }

    /// Returns the copies of the pages of a slot with their URLs and places.
    fn copies(
        &self,
        partitions: &RangeInclusive<u8>,
    ) -> impl Iterator<Item = Result<(PageKey, String, PageCopy, RecordLocation)>> + use<> {
        let pages = self.ledger.scan_partitions(partitions.clone());
        pages.filter_map(|known| {
            let known = match known {
                Ok(known) => known,
                Err(error) => return Some(Err(error.into())),
            };
            let copy = known.visited?.copy?;
            let place = copy.place?;
            Some(Ok((known.key, known.discovery.url, copy, place)))
        })
    }

    /// Indexes the copies of a slot that are in files of other nodes. Returns their number; `None`:
    /// the term has ended.
    fn index(
        &self,
        partitions: &RangeInclusive<u8>,
        links: &mut InLinks,
        committer: &impl Fn(ArrivalWork) -> bool,
    ) -> Result<Option<usize>> {
        let mut total = 0;
        let (mut chunk, mut bytes) = (Vec::new(), 0);
        for copy in self.copies(partitions) {
            if *self.stop.borrow() {
                return Ok(None);
            }
            let (key, url, copy, place) = copy?;
            if !copy.indexed || archive::is_own(&self.archive, place.file) {
                continue;
            }
            let url = PageUrl::parse(&url)?;
            // A copy that cannot be read stays out of the index; the cause is in the log.
            let Some(text) = kept_text(&self.archive, place, &url) else {
                continue;
            };
            bytes += text.body.len();
            chunk.push(ArrivedCopy {
                links: links.take(key.page),
                fetched_at: copy.at.unix_seconds(),
                key,
                url,
                place,
                text,
            });
            if chunk.len() >= PAGES || bytes >= BYTES {
                total += chunk.len();
                bytes = 0;
                if !give(std::mem::take(&mut chunk), committer) {
                    return Ok(None);
                }
            }
        }
        total += chunk.len();
        Ok(give(chunk, committer).then_some(total))
    }
}

/// Gives copies to the committer and waits until it has taken them. Returns `false` if the term has
/// ended.
fn give(copies: Vec<ArrivedCopy>, committer: &impl Fn(ArrivalWork) -> bool) -> bool {
    let (reply, taken) = channel();
    if copies.is_empty() {
        return true;
    }
    let given = committer(ArrivalWork::Copies(copies, reply));
    // The committer drops the sender, also when the term ends.
    taken.recv().ok();
    given
}

async fn fetch_one(objects: &ObjectStore, directory: &Path, file: u32) -> Result<(), ObjectError> {
    let name = elsewhere::file_name(file);
    let path = directory.join(&name);
    if path.exists() {
        return Ok(());
    }
    if !objects.copy_to(&format!("{ARCHIVE}/{name}"), &path).await? {
        warn!("{name} is not in the object store any more: its copies cannot be shown or searched");
    }
    Ok(())
}
