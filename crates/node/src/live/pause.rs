//! Pauses and resumes the crawl of a store, by the file `PAUSED` in the store.
//!
//! The file is the only state of a pause. Any process can create it. A running crawl sees it within
//! half a second. A crawl that is started later does not fetch until the file is removed.

use std::io;
use std::path::{Path, PathBuf};

/// Returns whether a pause is requested.
pub fn is_wanted(root: &Path) -> bool {
    file(root).exists()
}

/// Requests a pause. Returns false if one was already requested.
pub fn pause(root: &Path) -> io::Result<bool> {
    let made = std::fs::File::create_new(file(root));
    match made {
        Ok(_) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Ends the pause. Returns whether one was requested.
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
