//! A [`SimulatedDisk`] mounted by FUSE, for programs to write to.
//!
//! The kernel keeps no write-back cache for it: every write, sync and rename arrives in order.
//! Locks are those of the kernel. Tests are skipped without `/dev/fuse` or the right to mount.

use std::ffi::OsStr;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, SystemTime};

use fuser::{
    BackgroundSession, Config, Errno, FileAttr, FileHandle, FileType, Filesystem, FopenFlags,
    Generation, INodeNo, LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData,
    ReplyDirectory, ReplyEmpty, ReplyEntry, ReplyStatfs, ReplyWrite, Request, TimeOrNow,
    WriteFlags,
};

use crate::disk::{Bytes, Entries, NodeContent, Number, SimulatedDisk};

/// Time for which the kernel may cache an entry. Only the kernel changes entries, so any time is
/// safe.
const REMEMBERED: Duration = Duration::from_secs(60);

/// A disk shared by the file system and the test.
#[derive(Clone)]
pub struct SharedDisk(Arc<Mutex<SimulatedDisk>>);

/// A mounted disk, which is unmounted when dropped.
pub struct Mounted(Option<BackgroundSession>);

impl SharedDisk {
    pub fn new() -> Self {
        Self(Arc::new(Mutex::new(SimulatedDisk::new())))
    }

    pub fn lock(&self) -> MutexGuard<'_, SimulatedDisk> {
        self.0.lock().unwrap()
    }

    /// Mounts the disk at this directory. Fails if FUSE cannot be used.
    pub fn mount(&self, at: &Path) -> std::io::Result<Mounted> {
        let session = fuser::spawn_mount(self.clone(), at, &Config::default())?;
        Ok(Mounted(Some(session)))
    }

    fn attributes(disk: &SimulatedDisk, number: Number) -> Option<FileAttr> {
        let node = disk.nodes.get(&number)?;
        let (kind, size, links) = match &node.content {
            NodeContent::File(bytes) => (FileType::RegularFile, bytes.cached.len() as u64, 1),
            NodeContent::Directory(_) => (FileType::Directory, 0, 2),
        };
        Some(FileAttr {
            ino: INodeNo(number),
            size,
            blocks: size.div_ceil(512),
            atime: node.modified,
            mtime: node.modified,
            ctime: node.modified,
            crtime: node.modified,
            kind,
            perm: node.permissions,
            nlink: links,
            uid: 0,
            gid: 0,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    fn make(
        &self,
        parent: INodeNo,
        name: &OsStr,
        content: NodeContent,
        mode: u32,
    ) -> Result<FileAttr, Errno> {
        let mut disk = self.lock();
        if disk.find(parent.0, name).is_some() {
            return Err(Errno::EEXIST);
        }
        let number = disk.link(parent.0, name, content, (mode & 0o777) as u16);
        Self::attributes(&disk, number).ok_or(Errno::ENOENT)
    }

    fn remove(&self, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        let mut disk = self.lock();
        let Some(number) = disk.find(parent.0, name) else {
            return reply.error(Errno::ENOENT);
        };
        if disk
            .entries(number)
            .is_some_and(|entries| !entries.cached.is_empty())
        {
            return reply.error(Errno::ENOTEMPTY);
        }
        disk.unlink(parent.0, name);
        reply.ok();
    }

    fn sync(&self, number: INodeNo, reply: ReplyEmpty) {
        let mut disk = self.lock();
        if disk.sync_fails(number.0) {
            return reply.error(Errno::EIO);
        }
        disk.sync(number.0);
        reply.ok();
    }
}

impl Mounted {
    /// Unmounts the disk. No process may use it any more.
    ///
    /// The kernel may abort the connection while the session waits for a request. The disk is
    /// unmounted then, too.
    pub fn unmount(mut self) {
        let Some(session) = self.0.take() else { return };
        match session.umount_and_join() {
            Err(error) if error.kind() == io::ErrorKind::ConnectionAborted => {}
            ended => ended.unwrap(),
        }
    }
}

impl Filesystem for SharedDisk {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        let disk = self.lock();
        let found = disk.find(parent.0, name);
        match found.and_then(|number| Self::attributes(&disk, number)) {
            Some(attributes) => reply.entry(&REMEMBERED, &attributes, Generation(0)),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn getattr(&self, _: &Request, number: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        match Self::attributes(&self.lock(), number.0) {
            Some(attributes) => reply.attr(&REMEMBERED, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        number: INodeNo,
        mode: Option<u32>,
        _: Option<u32>,
        _: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        modified: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<fuser::BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut disk = self.lock();
        if let Some(size) = size {
            disk.resize(number.0, size as usize);
        }
        let Some(node) = disk.nodes.get_mut(&number.0) else {
            return reply.error(Errno::ENOENT);
        };
        if let Some(mode) = mode {
            node.permissions = (mode & 0o777) as u16;
        }
        match modified {
            Some(TimeOrNow::SpecificTime(time)) => node.modified = time,
            Some(TimeOrNow::Now) => node.modified = SystemTime::now(),
            None => {}
        }
        match Self::attributes(&disk, number.0) {
            Some(attributes) => reply.attr(&REMEMBERED, &attributes),
            None => reply.error(Errno::ENOENT),
        }
    }

    fn mkdir(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        let directory = NodeContent::Directory(Entries::default());
        match self.make(parent, name, directory, mode) {
            Ok(attributes) => reply.entry(&REMEMBERED, &attributes, Generation(0)),
            Err(error) => reply.error(error),
        }
    }

    fn create(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        match self.make(parent, name, NodeContent::File(Bytes::default()), mode) {
            Ok(attributes) => reply.created(
                &REMEMBERED,
                &attributes,
                Generation(0),
                FileHandle(0),
                FopenFlags::empty(),
            ),
            Err(error) => reply.error(error),
        }
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.remove(parent, name, reply);
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.remove(parent, name, reply);
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        new_parent: INodeNo,
        new_name: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let mut disk = self.lock();
        if disk.find(parent.0, name).is_none() {
            return reply.error(Errno::ENOENT);
        }
        if let Some(replaced) = disk.find(new_parent.0, new_name) {
            let entries = disk.entries(replaced);
            if flags.contains(RenameFlags::RENAME_NOREPLACE) {
                return reply.error(Errno::EEXIST);
            }
            if entries.is_some_and(|entries| !entries.cached.is_empty()) {
                return reply.error(Errno::ENOTEMPTY);
            }
        }
        if flags.contains(RenameFlags::RENAME_EXCHANGE) {
            return reply.error(Errno::EINVAL);
        }
        disk.rename(
            (parent.0, name.to_owned()),
            (new_parent.0, new_name.to_owned()),
        );
        reply.ok();
    }

    fn read(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let mut disk = self.lock();
        let Some(bytes) = disk.bytes(number.0) else {
            return reply.error(Errno::EISDIR);
        };
        let start = bytes.cached.len().min(offset as usize);
        let end = bytes.cached.len().min(start + size as usize);
        reply.data(&bytes.cached[start..end]);
    }

    fn write(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let mut disk = self.lock();
        if disk.write_fails(number.0) {
            return reply.error(Errno::ENOSPC);
        }
        disk.write(number.0, offset as usize, data);
        reply.written(data.len() as u32);
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, number: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.sync(number, reply);
    }

    fn fsyncdir(&self, _: &Request, number: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.sync(number, reply);
    }

    fn readdir(
        &self,
        _: &Request,
        number: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let disk = self.lock();
        let Some(entries) = disk.entries(number.0) else {
            return reply.error(Errno::ENOTDIR);
        };
        // The offset of an entry in the listing is its inode number, which stays the same when
        // other entries are added or removed.
        let mut listed: Vec<_> = entries.cached.iter().collect();
        listed.sort_unstable_by_key(|(_, number)| **number);
        for (name, child) in listed.into_iter().filter(|(_, child)| **child > offset) {
            let is_directory = disk.entries(*child).is_some();
            let kind = match is_directory {
                true => FileType::Directory,
                false => FileType::RegularFile,
            };
            if reply.add(INodeNo(*child), *child, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        // 4 GiB, all of them free.
        reply.statfs(1 << 20, 1 << 20, 1 << 20, 1 << 20, 1 << 20, 4096, 255, 4096);
    }
}
