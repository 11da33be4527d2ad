//! The directory of an index, which may be on a read-only disk.
//!
//! A tantivy reader takes a lock, so that the garbage collection of a writer does not remove
//! files the reader is about to open. The lock is a file that must be opened for writing. On a
//! read-only disk this fails, but the lock is not needed there, because no writer can be active.
//! A user without write permission also reads without the lock.

use std::io;
use std::path::Path;
use std::sync::Arc;

use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    DirectoryLock, FileHandle, Lock, MmapDirectory, WatchCallback, WatchHandle, WritePtr,
};

/// A directory of memory-mapped files.
#[derive(Debug, Clone)]
pub(super) struct IndexDirectory(pub(super) MmapDirectory);

impl Directory for IndexDirectory {
    fn acquire_lock(&self, lock: &Lock) -> Result<DirectoryLock, LockError> {
        match self.0.acquire_lock(lock) {
            // tantivy's lock for readers is blocking, the one for writers is not.
            Err(LockError::IoError(error)) if is_read_only(&error) && lock.is_blocking => {
                Ok(DirectoryLock::from(Box::new(())))
            }
            taken => taken,
        }
    }

    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.0.get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        self.0.delete(path)
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        self.0.exists(path)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        self.0.open_write(path)
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        self.0.atomic_read(path)
    }

    fn atomic_write(&self, path: &Path, data: &[u8]) -> io::Result<()> {
        self.0.atomic_write(path, data)
    }

    fn sync_directory(&self) -> io::Result<()> {
        self.0.sync_directory()
    }

    fn watch(&self, callback: WatchCallback) -> tantivy::Result<WatchHandle> {
        self.0.watch(callback)
    }
}

fn is_read_only(error: &io::Error) -> bool {
    let kinds = [
        io::ErrorKind::ReadOnlyFilesystem,
        io::ErrorKind::PermissionDenied,
    ];
    kinds.contains(&error.kind())
}
