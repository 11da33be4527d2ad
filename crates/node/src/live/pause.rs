//! May the crawl of a store start visits, or was it told to pause?
//!
//! A file in the store says so, and nothing else does: any process can put it there, a crawl that runs sees it within a
//! moment, and one that is started later does not begin to fetch.

use std::io;
use std::path::{Path, PathBuf};

/// Whether it is to be paused.
pub fn is_wanted(root: &Path) -> bool {
    file(root).exists()
}

/// Has it pause. Returns whether that is new.
pub fn pause(root: &Path) -> io::Result<bool> {
    let made = std::fs::File::create_new(file(root));
    match made {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Has it go on. Returns whether it was to be paused.
pub fn resume(root: &Path) -> io::Result<bool> {
    match std::fs::remove_file(file(root)) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn file(root: &Path) -> PathBuf {
    root.join("PAUSED")
}
