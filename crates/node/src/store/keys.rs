//! The secrets of a store: the token that authorizes controls, and the key that signs result links.
//!
//! **Invariant:** only the owner of the store, who can change it anyway, can read these files.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// The minimum number of characters of a token. A shorter token is replaced.
const SHORTEST: usize = 24;

/// Returns the path of the token of the store at `root`.
pub fn token_path(root: &Path) -> PathBuf {
    root.join("TOKEN")
}

/// Returns the token of the store at `root`. If there is none, or it is too short, stores and
/// returns `fresh`. On a read-only file system, returns `fresh` without storing it.
pub fn token(root: &Path, fresh: String) -> Result<String> {
    let path = token_path(root);
    match fs::read_to_string(&path) {
        Ok(text) if text.trim().len() >= SHORTEST => return Ok(text.trim().to_owned()),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read {}", path.display()));
        }
    }
    match write(&path, format!("{fresh}\n").as_bytes()) {
        // Controls cannot change a read-only store, so no operator needs the token.
        Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {}
        written => written.with_context(|| format!("cannot write {}", path.display()))?,
    }
    Ok(fresh)
}

/// Returns the key of the store at `root` that signs links. If there is none of `N` bytes, stores
/// and returns `fresh`.
///
/// If the key cannot be written, links that are signed with it are valid until the program ends.
pub fn link_key<const N: usize>(root: &Path, fresh: [u8; N]) -> [u8; N] {
    let path = root.join("secret");
    let kept = fs::read(&path).ok();
    if let Some(key) = kept.and_then(|bytes| bytes.try_into().ok()) {
        return key;
    }
    if let Err(error) = write(&path, &fresh) {
        tracing::warn!(%error, path = %path.display(), "cannot store the key that signs result links; links are valid until the program ends");
    }
    fresh
}

/// Writes a file that only its owner can read.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path);
    file?.write_all(bytes)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn secrets_are_made_once_and_only_their_owner_can_read_them() {
        let store = tempfile::tempdir().unwrap();
        let root = store.path();
        let fresh = || "0123456789abcdef01234567".to_owned();
        assert_eq!(token(root, fresh()).unwrap(), fresh());
        assert_eq!(token(root, "another".into()).unwrap(), fresh());
        assert_eq!(link_key(root, [7; 32]), [7; 32]);
        assert_eq!(link_key(root, [8; 32]), [7; 32]);
        for file in [token_path(root), root.join("secret")] {
            let mode = fs::metadata(file).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        fs::write(token_path(root), "short").unwrap();
        assert_eq!(token(root, fresh()).unwrap(), fresh(), "too short to keep");
        fs::write(root.join("secret"), "not a key").unwrap();
        assert_eq!(link_key(root, [9; 32]), [9; 32]);
    }

    #[test]
    fn a_link_key_that_cannot_be_stored_is_used_and_a_token_is_an_error() {
        assert_eq!(link_key(Path::new("/proc/nowhere"), [1; 32]), [1; 32]);
        assert!(token(Path::new("/proc/nowhere"), String::new()).is_err());
    }
}
