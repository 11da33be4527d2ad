//! Files of a store that another user's command has made get the owner of the store.
//!
//! A service usually runs as a user of its own. A command that the administrator runs as root on
//! its store would leave files that the service cannot write.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, lchown};
use std::path::Path;

/// Gives all files of a store the owner and the group of its directory, if this process may do so:
/// it runs as root, and the directory has another owner. Does nothing otherwise.
pub fn adopt(root: &Path) -> io::Result<()> {
    let is_root = fs::metadata("/proc/self").is_ok_and(|process| process.uid() == 0);
    // A directory that is no store must not change its owner.
    if !is_root || !root.join("FORMAT").exists() {
        return Ok(());
    }
    let owner = fs::metadata(root)?;
    match owner.uid() {
        0 => Ok(()),
        _ => give(root, &owner),
    }
}

/// Gives everything in a directory that belongs to root to an owner.
fn give(directory: &Path, owner: &Metadata) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let path = entry.path();
        let gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
        let found = match entry.metadata() {
            // Another process may remove a file meanwhile.
            Err(error) if gone(&error) => continue,
            found => found?,
        };
        if found.uid() == 0 {
            match lchown(&path, Some(owner.uid()), Some(owner.gid())) {
                Err(error) if !gone(&error) => return Err(error),
                _ => {}
            }
        }
        if found.is_dir() {
            give(&path, owner)?;
        }
    }
    Ok(())
}
