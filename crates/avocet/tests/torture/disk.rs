//! A simulated disk that loses writes that were not synced: a directory tree with two states.
//!
//! *Cached* is what programs see. *Durable* is what a power cut leaves. `fsync` of a file makes its
//! bytes and its length durable. `fsync` of a directory makes its entries durable; a rename between
//! two directories becomes durable as a whole with either. Nothing else is promised, as in POSIX:
//! a synced file whose directory was not synced may be gone.
//!
//! A [`cut`](SimulatedDisk::cut) keeps, by chance, some of the changes that were not synced, as
//! real disks do: none, a prefix, any subset, or all. Of a prefix or subset, the last write to each
//! file may be torn.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::time::SystemTime;

use rand::{Rng, RngExt};

/// Inode number of a file or directory.
pub type Number = u64;

/// Inode number of the root directory, fixed by FUSE.
pub const ROOT: Number = 1;

/// Number of bytes that a disk writes atomically.
const SECTOR: usize = 512;

/// The simulated disk.
pub struct SimulatedDisk {
    pub nodes: BTreeMap<Number, DiskNode>,
    next: Number,
    /// Changes of directories that are not durable, in order.
    moves: Vec<DirectoryChange>,
    pub faults: DiskFaults,
}

/// A file or a directory.
pub struct DiskNode {
    pub permissions: u16,
    pub modified: SystemTime,
    pub content: NodeContent,
}

pub enum NodeContent {
    File(Bytes),
    Directory(Entries),
}

#[derive(Default)]
pub struct Bytes {
    pub cached: Vec<u8>,
    durable: Vec<u8>,
    /// Changes since the last sync, in order.
    pending: Vec<FileChange>,
}

#[derive(Default)]
pub struct Entries {
    pub cached: BTreeMap<OsString, Number>,
    durable: BTreeMap<OsString, Number>,
}

enum FileChange {
    Write(usize, Vec<u8>),
    Resize(usize),
}

type Entry = (Number, OsString);

enum DirectoryChange {
    Link(Entry, Number),
    Unlink(Entry),
    Rename {
        from: Entry,
        to: Entry,
        node: Number,
    },
}

/// Calls that fail. Calls are counted from the moment at which this value is set.
#[derive(Default, Debug, Clone)]
pub struct DiskFaults {
    /// Number, from 0, of the `fsync` that fails with `EIO`.
    pub sync: Option<u64>,
    /// Number, from 0, of the write that fails with `ENOSPC`.
    pub write: Option<u64>,
    /// Whether all later calls of that kind fail, too.
    pub all_later: bool,
    /// `fsync` calls so far.
    pub syncs: u64,
    /// Write calls so far.
    pub writes: u64,
    /// The files whose sync or write failed.
    pub hit: Vec<String>,
}

/// What survives of the changes that were not synced.
#[derive(Debug, Clone, Copy)]
pub enum Survival {
    Nothing,
    Prefix,
    Subset,
    Everything,
}

impl Survival {
    pub fn draw(chance: &mut impl Rng) -> Self {
        match chance.random_range(0..8) {
            0..=2 => Self::Nothing,
            3..=4 => Self::Prefix,
            5..=6 => Self::Subset,
            _ => Self::Everything,
        }
    }

    /// Drops the changes that do not survive.
    fn keep<T>(self, changes: &mut Vec<T>, chance: &mut impl Rng) {
        match self {
            Self::Nothing => changes.clear(),
            Self::Prefix => changes.truncate(chance.random_range(0..=changes.len())),
            Self::Subset => changes.retain(|_| chance.random_bool(0.5)),
            Self::Everything => {}
        }
    }
}

impl SimulatedDisk {
    pub fn new() -> Self {
        let mut disk = Self {
            nodes: BTreeMap::new(),
            next: ROOT,
            moves: Vec::new(),
            faults: DiskFaults::default(),
        };
        disk.make(NodeContent::Directory(Entries::default()), 0o755);
        disk
    }

    fn make(&mut self, content: NodeContent, permissions: u16) -> Number {
        let number = self.next;
        self.next += 1;
        let modified = SystemTime::now();
        self.nodes.insert(
            number,
            DiskNode {
                permissions,
                modified,
                content,
            },
        );
        number
    }

    pub fn entries(&self, directory: Number) -> Option<&Entries> {
        match &self.nodes.get(&directory)?.content {
            NodeContent::Directory(entries) => Some(entries),
            NodeContent::File(_) => None,
        }
    }

    fn entries_mut(&mut self, directory: Number) -> &mut Entries {
        match &mut self.nodes.get_mut(&directory).unwrap().content {
            NodeContent::Directory(entries) => entries,
            NodeContent::File(_) => panic!("{directory} is not a directory"),
        }
    }

    pub fn bytes(&mut self, file: Number) -> Option<&mut Bytes> {
        match &mut self.nodes.get_mut(&file)?.content {
            NodeContent::File(bytes) => Some(bytes),
            NodeContent::Directory(_) => None,
        }
    }

    /// Returns the bytes that programs read from a file; `None` for a directory.
    pub fn cached(&self, file: Number) -> Option<&[u8]> {
        match &self.nodes.get(&file)?.content {
            NodeContent::File(bytes) => Some(&bytes.cached),
            NodeContent::Directory(_) => None,
        }
    }

    pub fn find(&self, directory: Number, name: &OsStr) -> Option<Number> {
        self.entries(directory)?.cached.get(name).copied()
    }

    /// Adds a file or directory.
    pub fn link(
        &mut self,
        directory: Number,
        name: &OsStr,
        content: NodeContent,
        permissions: u16,
    ) -> Number {
        let number = self.make(content, permissions);
        let entry = (directory, name.to_owned());
        self.entries_mut(directory)
            .cached
            .insert(entry.1.clone(), number);
        self.moves.push(DirectoryChange::Link(entry, number));
        number
    }

    pub fn unlink(&mut self, directory: Number, name: &OsStr) {
        self.entries_mut(directory).cached.remove(name);
        self.moves
            .push(DirectoryChange::Unlink((directory, name.to_owned())));
    }

    pub fn rename(&mut self, from: Entry, to: Entry) {
        let node = self.entries_mut(from.0).cached.remove(&from.1).unwrap();
        self.entries_mut(to.0).cached.insert(to.1.clone(), node);
        self.moves.push(DirectoryChange::Rename { from, to, node });
    }

    pub fn write(&mut self, file: Number, offset: usize, data: &[u8]) {
        let change = FileChange::Write(offset, data.to_vec());
        self.change(file, change);
    }

    pub fn resize(&mut self, file: Number, length: usize) {
        self.change(file, FileChange::Resize(length));
    }

    fn change(&mut self, file: Number, change: FileChange) {
        let node = self.nodes.get_mut(&file).unwrap();
        node.modified = SystemTime::now();
        if let NodeContent::File(bytes) = &mut node.content {
            change.apply(&mut bytes.cached);
            bytes.pending.push(change);
        }
    }

    /// Makes the bytes of a file, or the entries of a directory, durable.
    pub fn sync(&mut self, number: Number) {
        if let Some(bytes) = self.bytes(number) {
            for change in std::mem::take(&mut bytes.pending) {
                change.apply(&mut bytes.durable);
            }
            return;
        }
        let moves = std::mem::take(&mut self.moves);
        for entry in moves
            .iter()
            .filter(|one| one.entries().any(|entry| entry.0 == number))
            .flat_map(DirectoryChange::entries)
        {
            let entries = self.entries_mut(entry.0);
            match entries.cached.get(&entry.1) {
                Some(node) => entries.durable.insert(entry.1.clone(), *node),
                None => entries.durable.remove(&entry.1),
            };
        }
        // Changes whose entries are all durable now are dropped.
        let is_pending = |one: &DirectoryChange| {
            one.entries().any(|(directory, name)| {
                let entries = self.entries(*directory).unwrap();
                entries.cached.get(name) != entries.durable.get(name)
            })
        };
        self.moves = moves.into_iter().filter(is_pending).collect();
    }

    /// Cuts the power: keeps durable data, and by chance some of the other changes.
    pub fn cut(&mut self, survival: Survival, chance: &mut impl Rng) {
        let mut moves = std::mem::take(&mut self.moves);
        survival.keep(&mut moves, chance);
        for one in moves {
            match one {
                DirectoryChange::Link((directory, name), node) => {
                    self.entries_mut(directory).durable.insert(name, node);
                }
                DirectoryChange::Unlink((directory, name)) => {
                    self.entries_mut(directory).durable.remove(&name);
                }
                DirectoryChange::Rename { from, to, node } => {
                    self.entries_mut(from.0).durable.remove(&from.1);
                    self.entries_mut(to.0).durable.insert(to.1, node);
                }
            }
        }
        for node in self.nodes.values_mut() {
            match &mut node.content {
                NodeContent::Directory(entries) => entries.cached = entries.durable.clone(),
                NodeContent::File(bytes) => bytes.cut(survival, chance),
            }
        }
        self.faults = DiskFaults::default();
        self.forget_unreachable();
    }

    fn forget_unreachable(&mut self) {
        let mut reachable = vec![ROOT];
        let mut at = 0;
        while let Some(number) = reachable.get(at) {
            if let Some(entries) = self.entries(*number) {
                reachable.extend(entries.cached.values());
            }
            at += 1;
        }
        reachable.sort_unstable();
        self.nodes
            .retain(|number, _| reachable.binary_search(number).is_ok());
    }

    /// Counts a sync. Returns whether it fails.
    pub fn sync_fails(&mut self, number: Number) -> bool {
        let count = self.faults.syncs;
        self.faults.syncs += 1;
        self.fails(self.faults.sync, count, number)
    }

    /// Counts a write. Returns whether it fails.
    pub fn write_fails(&mut self, number: Number) -> bool {
        let count = self.faults.writes;
        self.faults.writes += 1;
        self.fails(self.faults.write, count, number)
    }

    fn fails(&mut self, at: Option<u64>, count: u64, number: Number) -> bool {
        let fails = at.is_some_and(|at| count == at || (count > at && self.faults.all_later));
        if fails {
            let path = self.path(number);
            self.faults.hit.push(path);
        }
        fails
    }

    /// Returns the path of a file or directory; empty for the root and for unlinked files.
    fn path(&self, number: Number) -> String {
        let holds = |directory: &Number| -> Option<(Number, String)> {
            let mut entries = self.entries(*directory)?.cached.iter();
            let (name, _) = entries.find(|(_, node)| **node == number)?;
            Some((*directory, name.to_string_lossy().into_owned()))
        };
        match self.nodes.keys().find_map(holds) {
            Some((ROOT, name)) => name,
            Some((directory, name)) => format!("{}/{name}", self.path(directory)),
            None => String::new(),
        }
    }
}

impl Bytes {
    fn cut(&mut self, survival: Survival, chance: &mut impl Rng) {
        survival.keep(&mut self.pending, chance);
        if let (Survival::Prefix | Survival::Subset, Some(FileChange::Write(_, data))) =
            (survival, self.pending.last_mut())
        {
            let sectors = chance.random_range(0..=data.len() / SECTOR + 1);
            data.truncate(sectors * SECTOR);
        }
        for change in std::mem::take(&mut self.pending) {
            change.apply(&mut self.durable);
        }
        self.cached = self.durable.clone();
    }
}

impl FileChange {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Write(offset, data) => {
                let end = offset + data.len();
                if bytes.len() < end {
                    bytes.resize(end, 0);
                }
                bytes[*offset..end].copy_from_slice(data);
            }
            Self::Resize(length) => bytes.resize(*length, 0),
        }
    }
}

impl DirectoryChange {
    fn entries(&self) -> impl Iterator<Item = &Entry> {
        let (one, other) = match self {
            Self::Link(entry, _) | Self::Unlink(entry) => (entry, None),
            Self::Rename { from, to, .. } => (from, Some(to)),
        };
        std::iter::once(one).chain(other)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;

    fn file(disk: &mut SimulatedDisk, name: &str, data: &[u8]) -> Number {
        let number = disk.link(
            ROOT,
            name.as_ref(),
            NodeContent::File(Bytes::default()),
            0o644,
        );
        disk.write(number, 0, data);
        number
    }

    fn read(disk: &mut SimulatedDisk, name: &str) -> Option<Vec<u8>> {
        let number = disk.find(ROOT, name.as_ref())?;
        Some(disk.bytes(number).unwrap().cached.clone())
    }

    fn cut(disk: &mut SimulatedDisk, survival: Survival) {
        disk.cut(survival, &mut ChaCha8Rng::seed_from_u64(1));
    }

    #[test]
    fn a_cut_keeps_what_was_synced_and_no_more() {
        let mut disk = SimulatedDisk::new();
        let both = file(&mut disk, "both", b"one");
        let entry = file(&mut disk, "entry", b"one");
        disk.sync(both);
        disk.sync(ROOT);
        disk.write(both, 3, b"two");
        let bytes = file(&mut disk, "bytes", b"one");
        disk.sync(bytes);
        assert_eq!(read(&mut disk, "both").unwrap(), b"onetwo");
        assert_ne!(entry, bytes);
        cut(&mut disk, Survival::Nothing);
        assert_eq!(read(&mut disk, "both").unwrap(), b"one");
        assert_eq!(read(&mut disk, "entry").unwrap(), b"");
        assert_eq!(read(&mut disk, "bytes"), None);
    }

    #[test]
    fn a_rename_is_durable_as_a_whole_once_its_directory_is_synced() {
        for synced in [false, true] {
            let mut disk = SimulatedDisk::new();
            let old = file(&mut disk, "name", b"old");
            disk.sync(old);
            disk.sync(ROOT);
            let new = file(&mut disk, "name.new", b"new");
            disk.sync(new);
            disk.rename((ROOT, "name.new".into()), (ROOT, "name".into()));
            if synced {
                disk.sync(ROOT);
            }
            cut(&mut disk, Survival::Nothing);
            let expected: &[u8] = if synced { b"new" } else { b"old" };
            assert_eq!(read(&mut disk, "name").unwrap(), expected);
            assert_eq!(read(&mut disk, "name.new"), None);
        }
    }

    #[test]
    fn a_rename_between_directories_leaves_no_second_name() {
        let mut disk = SimulatedDisk::new();
        let inner = NodeContent::Directory(Entries::default());
        let inner = disk.link(ROOT, "inner".as_ref(), inner, 0o755);
        disk.sync(ROOT);
        file(&mut disk, "moved", b"");
        disk.rename((ROOT, "moved".into()), (inner, "moved".into()));
        disk.sync(inner);
        cut(&mut disk, Survival::Everything);
        assert_eq!(disk.find(ROOT, "moved".as_ref()), None);
        assert!(disk.find(inner, "moved".as_ref()).is_some());
    }

    #[test]
    fn a_fault_hits_the_call_with_its_number_and_if_set_all_later_calls() {
        let mut disk = SimulatedDisk::new();
        let number = file(&mut disk, "name", b"");
        for (all_later, expected) in [(false, [false, true, false]), (true, [false, true, true])] {
            disk.faults = DiskFaults {
                sync: Some(1),
                all_later,
                ..DiskFaults::default()
            };
            assert_eq!([(); 3].map(|()| disk.sync_fails(number)), expected);
            assert!(!disk.write_fails(number));
            assert_eq!(disk.faults.hit[0], "name");
        }
    }
}
