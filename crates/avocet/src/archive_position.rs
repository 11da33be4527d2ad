//! The position in an archive that is read file after file, for the display of progress.

use std::collections::BTreeMap;
use std::path::Path;

use repository::archive::{self, ArchiveError};

/// The beginning of each file of an archive, in bytes from the beginning of the first one.
#[derive(Debug, Default)]
pub struct ArchivePosition {
    begins: BTreeMap<u32, u64>,
    size: u64,
}

impl ArchivePosition {
    /// Reads the sizes of the files in a directory. A directory that does not exist has none.
    pub fn of(archive: &Path) -> Result<Self, ArchiveError> {
        let sizes = match archive.exists() {
            true => archive::sizes(archive)?,
            false => Vec::new(),
        };
        let mut position = Self::default();
        for (file, size) in sizes {
            position.begins.insert(file, position.size);
            position.size += size;
        }
        Ok(position)
    }

    /// Returns the size of the archive in bytes.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Returns how many bytes come before this place.
    pub fn before(&self, file: u32, offset: u64) -> u64 {
        self.begins
            .get(&file)
            .map_or(self.size, |begin| begin + offset)
    }
}
