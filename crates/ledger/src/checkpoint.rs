//! The file of the checkpoint: a copy of the facts that a start reads, beside the ledger.
//!
//! The file begins with a magic word and the number of the ledger. Frames follow, each with the
//! sequence number of a commit and a checksum: those of the base, then one for each later commit.
//! The content is defined by [`frontier::checkpoint`].
//!
//! **Invariants:**
//! - The file is a copy, and nothing relies on it. It is never synced, and it is made again from
//!   the ledger if it is missing, damaged, of another ledger or of another format.
//! - Each commit stores the number of the ledger, its own sequence number and the checksum of its
//!   frame in the ledger, in the same batch ([`CheckpointMark`]). A file counts only if it has that
//!   frame. So facts that were committed without a frame are noticed, and a frame whose commit
//!   failed does not count.
//! - When the tail has grown as large as the base, a thread writes a new base from the old file.
//!   The frames that are added meanwhile follow it.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::RangeInclusive;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use frontier::checkpoint::{deletion_block, tail_block, write_base};
use frontier::{
    BaseBlocks, CheckpointFacts, DamagedCheckpoint, Entry, Facts, HostFacts, Known, OutLinks,
    PageKey, ServerFacts, ServerKey, TailEvents,
};
use page::HostId;
use policy::Moment;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::{Ledger, LedgerError};

/// The beginning of the file. The number changes with the format of the content.
const MAGIC: &[u8; 20] = b"avocet checkpoint 1\n";
/// Length of the beginning: the magic word and the number of the ledger.
const BEGINNING: u64 = 28;
/// Length of the head of a frame: kind, length, sequence number, checksum.
const HEAD: usize = 21;
/// Longest content of a frame. Longer ones are damage.
const LONGEST: u32 = 1 << 30;
/// Size of a tail in bytes up to which no new base is written.
const SMALL_TAIL: u64 = 16 << 20;

const PAGES: u8 = b'P';
const LINKS: u8 = b'L';
const BASE_END: u8 = b'E';
const TAIL: u8 = b'T';

/// What the ledger knows about the file: its last frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CheckpointMark {
    /// A number that no other ledger has.
    number: u64,
    sequence: u64,
    checksum: u64,
    /// The last commit up to which nothing has changed that a start reads.
    pub(crate) until: u64,
}

impl CheckpointMark {
    /// Returns the mark of a ledger whose first checkpoint is being made.
    fn new() -> Self {
        let time = SystemTime::now().duration_since(UNIX_EPOCH);
        let time = time.map_or(0, |time| time.as_nanos() as u64);
        Self {
            number: time ^ u64::from(std::process::id()) << 48,
            sequence: 0,
            checksum: 0,
            until: 0,
        }
    }
}

/// Why there is no checkpoint that could be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CheckpointError {
    #[error("there is none")]
    Missing,
    #[error("{0}")]
    Unusable(String),
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it contains bytes that are no record")]
    Damaged,
    #[error(transparent)]
    Ledger(#[from] LedgerError),
}

impl From<DamagedCheckpoint> for CheckpointError {
    fn from(_: DamagedCheckpoint) -> Self {
        Self::Damaged
    }
}

fn unusable(why: &str) -> CheckpointError {
    CheckpointError::Unusable(why.to_owned())
}

/// The place of a frame's content in the file.
#[derive(Debug, Clone, Copy)]
struct FramePlace {
    at: u64,
    length: u32,
}

/// The base of a file. Blocks are read when they are needed.
struct FileBase {
    file: File,
    pages: Vec<FramePlace>,
    links: Vec<FramePlace>,
}

impl FileBase {
    fn read(
        &self,
        place: Option<&FramePlace>,
        into: &mut Vec<u8>,
    ) -> Result<bool, DamagedCheckpoint> {
        let Some(place) = place else {
            return Ok(false);
        };
        into.resize(place.length as usize, 0);
        let read = self.file.read_exact_at(into, place.at);
        read.map(|()| true).map_err(|_| DamagedCheckpoint)
    }
}

impl BaseBlocks for FileBase {
    fn read_pages(&self, index: usize, into: &mut Vec<u8>) -> Result<bool, DamagedCheckpoint> {
        self.read(self.pages.get(index), into)
    }

    fn read_links(&self, index: usize, into: &mut Vec<u8>) -> Result<bool, DamagedCheckpoint> {
        self.read(self.links.get(index), into)
    }
}

/// A checkpoint whose checksums are right.
pub struct Checkpoint {
    base: FileBase,
    tail: TailEvents,
    /// Length of the file in bytes, without frames that do not count.
    length: u64,
    /// Bytes of the tail among them.
    tail_bytes: u64,
    made: Option<String>,
}

impl Checkpoint {
    /// Returns the facts of the checkpoint. The facts about hosts, servers and the whole crawl come
    /// from the ledger.
    pub fn facts<'a>(&'a self, ledger: &'a Ledger) -> impl Facts<Error = LedgerError> + 'a {
        CheckpointFacts::new(&self.base, &self.tail, ledger)
    }

    /// Returns the facts without the anchor texts of links.
    pub fn facts_without_anchors<'a>(
        &'a self,
        ledger: &'a Ledger,
    ) -> impl Facts<Error = LedgerError> + 'a {
        CheckpointFacts::new(&self.base, &self.tail, ledger).without_anchors()
    }

    /// Returns why the checkpoint was made again from the ledger; `None`: it was not.
    pub fn made(&self) -> Option<&str> {
        self.made.as_deref()
    }

    /// Returns the size of the file, in bytes.
    pub fn bytes(&self) -> u64 {
        self.length
    }

    /// Reads a file up to the frame that the mark names, and checks all checksums.
    fn load(path: &Path, mark: CheckpointMark) -> Result<Self, CheckpointError> {
        let file = File::open(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => CheckpointError::Missing,
            _ => error.into(),
        })?;
        let mut input = BufReader::with_capacity(1 << 18, &file);
        let mut beginning = [0; BEGINNING as usize];
        input
            .read_exact(&mut beginning)
            .map_err(|_| unusable("it is too short"))?;
        if beginning[..MAGIC.len()] != MAGIC[..] {
            return Err(unusable("it has another format"));
        }
        if beginning[MAGIC.len()..] != mark.number.to_le_bytes() {
            return Err(unusable("it belongs to another ledger"));
        }
        let (mut pages, mut links, mut tail) = (Vec::new(), Vec::new(), TailEvents::default());
        let (mut length, mut tail_bytes) = (BEGINNING, 0);
        let mut base_ended = false;
        let mut content = Vec::new();
        while let Some(frame) = FrameHead::read(&mut input)? {
            content.clear();
            let taken = (&mut input)
                .take(u64::from(frame.length))
                .read_to_end(&mut content)?;
            if taken != frame.length as usize || frame.checksum_of(&content, mark) != frame.checksum
            {
                return Err(unusable("a checksum is wrong"));
            }
            let place = FramePlace {
                at: length + HEAD as u64,
                length: frame.length,
            };
            length = place.at + u64::from(frame.length);
            match frame.kind {
                PAGES if !base_ended => pages.push(place),
                LINKS if !base_ended => links.push(place),
                BASE_END if !base_ended => base_ended = true,
                TAIL if base_ended => {
                    tail.push(&content)?;
                    tail_bytes += HEAD as u64 + u64::from(frame.length);
                }
                _ => return Err(CheckpointError::Damaged),
            }
            if base_ended && frame.sequence > mark.sequence {
                break;
            }
            if base_ended && (frame.sequence, frame.checksum) == (mark.sequence, mark.checksum) {
                tail.sort();
                drop(input);
                let base = FileBase { file, pages, links };
                return Ok(Self {
                    base,
                    tail,
                    length,
                    tail_bytes,
                    made: None,
                });
            }
        }
        Err(unusable("it lacks the last commit"))
    }
}

/// The head of a frame.
struct FrameHead {
    kind: u8,
    length: u32,
    sequence: u64,
    checksum: u64,
}

impl FrameHead {
    fn new(kind: u8, sequence: u64, content: &[u8], mark: CheckpointMark) -> Self {
        let mut head = Self {
            kind,
            length: content.len() as u32,
            sequence,
            checksum: 0,
        };
        head.checksum = head.checksum_of(content, mark);
        head
    }

    fn checksum_of(&self, content: &[u8], mark: CheckpointMark) -> u64 {
        let seed = mark.number ^ self.sequence.rotate_left(8) ^ u64::from(self.kind);
        xxh3_64_with_seed(content, seed)
    }

    fn bytes(&self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        bytes[0] = self.kind;
        bytes[1..5].copy_from_slice(&self.length.to_le_bytes());
        bytes[5..13].copy_from_slice(&self.sequence.to_le_bytes());
        bytes[13..].copy_from_slice(&self.checksum.to_le_bytes());
        bytes
    }

    /// Reads the next head; `None` at the end of the file, or if it is cut off.
    fn read(input: &mut impl Read) -> Result<Option<Self>, CheckpointError> {
        let mut bytes = [0; HEAD];
        match input.read_exact(&mut bytes) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let number = |from: usize| {
            let bytes = bytes[from..from + 8].try_into();
            u64::from_le_bytes(bytes.expect("the range has eight bytes"))
        };
        let length = [bytes[1], bytes[2], bytes[3], bytes[4]];
        let head = Self {
            kind: bytes[0],
            length: u32::from_le_bytes(length),
            sequence: number(5),
            checksum: number(13),
        };
        if head.length > LONGEST {
            return Err(unusable("a frame is too long"));
        }
        Ok(Some(head))
    }
}

/// Writes a file without a tail under a temporary name. Returns the file, its length, and the
/// checksum of its last frame.
fn write_fresh<F: Facts>(
    path: &Path,
    facts: &F,
    mark: CheckpointMark,
    sequence: u64,
) -> Result<(File, u64, u64), CheckpointError>
where
    CheckpointError: From<F::Error>,
{
    let file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(fresh(path))?;
    let out = std::cell::RefCell::new(BufWriter::with_capacity(1 << 18, &file));
    let write = |kind: u8, content: &[u8]| -> Result<u64, CheckpointError> {
        let head = FrameHead::new(kind, sequence, content, mark);
        let mut out = out.borrow_mut();
        out.write_all(&head.bytes())?;
        out.write_all(content)?;
        Ok(head.checksum)
    };
    {
        let mut out = out.borrow_mut();
        out.write_all(MAGIC)?;
        out.write_all(&mark.number.to_le_bytes())?;
    }
    write_base::<F, CheckpointError>(
        facts,
        |block| write(PAGES, block).map(drop),
        |block| write(LINKS, block).map(drop),
    )?;
    let checksum = write(BASE_END, &[])?;
    out.borrow_mut().flush()?;
    drop(out);
    let length = file.metadata()?.len();
    Ok((file, length, checksum))
}

/// The temporary name of a file that is being written.
fn fresh(path: &Path) -> PathBuf {
    path.with_extension("new")
}

/// The facts of pages and links, without a ledger.
struct OnlyPages;

impl Facts for OnlyPages {
    type Error = DamagedCheckpoint;

    fn pages(&self) -> impl Iterator<Item = Result<Known, DamagedCheckpoint>> {
        std::iter::empty()
    }

    fn links(&self) -> impl Iterator<Item = Result<(PageKey, OutLinks), DamagedCheckpoint>> {
        std::iter::empty()
    }

    fn hosts(&self) -> impl Iterator<Item = Result<(HostId, HostFacts), DamagedCheckpoint>> {
        std::iter::empty()
    }

    fn servers(&self) -> impl Iterator<Item = Result<(ServerKey, ServerFacts), DamagedCheckpoint>> {
        std::iter::empty()
    }

    fn noticed_ahead(&self) -> Result<Option<Moment>, DamagedCheckpoint> {
        Ok(None)
    }

    fn damaged(_: String) -> DamagedCheckpoint {
        DamagedCheckpoint
    }
}

/// A new base that a thread has written.
struct NewBase {
    file: File,
    /// Its length in bytes.
    length: u64,
    /// Length of the part of the old file that it replaces.
    replaces: u64,
}

/// Writes a new base from a file, up to the frame that the mark names.
fn rewrite(path: &Path, mark: CheckpointMark) -> Result<NewBase, CheckpointError> {
    let old = Checkpoint::load(path, mark)?;
    let facts = CheckpointFacts::new(&old.base, &old.tail, &OnlyPages);
    let (file, length, _) = write_fresh(path, &facts, mark, mark.sequence)?;
    Ok(NewBase {
        file,
        length,
        replaces: old.length,
    })
}

/// Appends a frame for each commit.
pub(crate) struct CheckpointWriter {
    path: PathBuf,
    file: File,
    mark: CheckpointMark,
    base_bytes: u64,
    tail_bytes: u64,
    /// The thread that writes a new base.
    rewriting: Option<JoinHandle<Result<NewBase, CheckpointError>>>,
    /// Size of the tail up to which no new base is written.
    small_tail: u64,
}

impl CheckpointWriter {
    /// Opens the checkpoint of a ledger, or makes it.
    pub fn open(
        ledger: &Ledger,
        path: &Path,
        before: Option<CheckpointMark>,
    ) -> Result<(Self, Checkpoint), CheckpointError> {
        let sequence = ledger.sequence()?;
        let current = before.filter(|mark| mark.until == sequence);
        let loaded = match (before, current) {
            (_, Some(mark)) => Checkpoint::load(path, mark).map(|loaded| (loaded, mark)),
            (None, None) if !path.exists() => Err(CheckpointError::Missing),
            (None, None) => Err(unusable("it belongs to another ledger")),
            (Some(_), None) => Err(unusable("it lacks the last commit")),
        };
        let (checkpoint, mark) = match loaded {
            Ok(loaded) => loaded,
            Err(why) => {
                let mut mark = before.unwrap_or_else(CheckpointMark::new);
                let (_, _, checksum) = write_fresh(path, ledger, mark, sequence)?;
                (mark.sequence, mark.checksum, mark.until) = (sequence, checksum, sequence);
                ledger.set_checkpoint(Some(mark))?;
                fs::rename(fresh(path), path)?;
                let made = Some(why.to_string());
                let checkpoint = Checkpoint::load(path, mark)?;
                (Checkpoint { made, ..checkpoint }, mark)
            }
        };
        let file = File::options().write(true).open(path)?;
        file.set_len(checkpoint.length)?;
        (&file).seek(SeekFrom::End(0))?;
        let writer = Self {
            path: path.to_owned(),
            file,
            mark,
            base_bytes: checkpoint.length - checkpoint.tail_bytes,
            tail_bytes: checkpoint.tail_bytes,
            rewriting: None,
            small_tail: SMALL_TAIL,
        };
        Ok((writer, checkpoint))
    }

    /// Lowers the size of the tail from which a new base is written.
    #[cfg(test)]
    pub fn set_small_tail(&mut self, bytes: u64) {
        self.small_tail = bytes;
    }

    /// Appends the frame of a commit. Returns the mark that belongs to the commit. The commit must
    /// follow, or the writer must be dropped.
    pub fn append(
        &mut self,
        entries: &[Entry],
        sequence: u64,
    ) -> Result<CheckpointMark, CheckpointError> {
        self.push(&tail_block(entries), sequence)?;
        self.mark.until = sequence;
        Ok(self.mark)
    }

    /// Returns the mark that belongs to a commit which changes nothing that a start reads.
    pub fn skip(&mut self, sequence: u64) -> CheckpointMark {
        self.mark.until = sequence;
        self.mark
    }

    /// Appends the frame of a deletion, which has no sequence number of its own. Returns the mark
    /// that belongs to it, as [`append`](Self::append) does.
    pub fn delete(
        &mut self,
        partitions: RangeInclusive<u8>,
    ) -> Result<CheckpointMark, CheckpointError> {
        self.push(&deletion_block(partitions), self.mark.sequence)?;
        Ok(self.mark)
    }

    fn push(&mut self, content: &[u8], sequence: u64) -> Result<(), CheckpointError> {
        self.take_new_base()?;
        let head = FrameHead::new(TAIL, sequence, content, self.mark);
        let frame = [&head.bytes(), content].concat();
        self.file.write_all(&frame)?;
        self.tail_bytes += frame.len() as u64;
        let committed = self.mark;
        (self.mark.sequence, self.mark.checksum) = (sequence, head.checksum);
        if self.rewriting.is_none() && self.tail_bytes > self.base_bytes.max(self.small_tail) {
            // The new base ends with the previous commit, which is in the ledger.
            let path = self.path.clone();
            let thread = std::thread::Builder::new().name("checkpoint".into());
            self.rewriting = Some(thread.spawn(move || rewrite(&path, committed))?);
        }
        Ok(())
    }

    /// Waits for the thread that writes a new base, and uses the base.
    pub fn finish(&mut self) -> Result<(), CheckpointError> {
        match self.rewriting.take() {
            Some(thread) => self.replace(thread),
            None => Ok(()),
        }
    }

    /// Uses the new base, if one is complete.
    fn take_new_base(&mut self) -> Result<(), CheckpointError> {
        let done = self.rewriting.take_if(|thread| thread.is_finished());
        done.map_or(Ok(()), |thread| self.replace(thread))
    }

    /// Appends the frames that the new base lacks to it, and puts it in place of the old file.
    fn replace(
        &mut self,
        thread: JoinHandle<Result<NewBase, CheckpointError>>,
    ) -> Result<(), CheckpointError> {
        let new = thread
            .join()
            .map_err(|_| unusable("its thread panicked"))??;
        let mut old = File::open(&self.path)?;
        old.seek(SeekFrom::Start(new.replaces))?;
        (&new.file).seek(SeekFrom::End(0))?;
        let rest = io::copy(&mut old, &mut &new.file)?;
        fs::rename(fresh(&self.path), &self.path)?;
        self.file = new.file;
        (self.base_bytes, self.tail_bytes) = (new.length, rest);
        Ok(())
    }
}

impl Drop for CheckpointWriter {
    fn drop(&mut self) {
        if let Some(thread) = self.rewriting.take() {
            // The thread ends within seconds. Its file is written again by the next one.
            thread.join().ok();
        }
    }
}

#[cfg(test)]
mod tests;
