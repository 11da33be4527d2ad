//! Tests of reading and writing worlds.

mod kinds;
mod real;
mod round_trip;
mod wrong;

use std::fs;
use std::path::Path;

use super::*;

/// Creates a directory with these files.
fn directory(files: &[(&str, &str)]) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in files {
        put(directory.path(), name, text.as_bytes());
    }
    directory
}

/// Writes a file, compressed according to its name.
fn put(directory: &Path, name: &str, bytes: &[u8]) {
    use std::io::Write;
    let packed = match name.rsplit('.').next() {
        Some("gz") => {
            let level = flate2::Compression::fast();
            let mut gzip = flate2::write::GzEncoder::new(Vec::new(), level);
            gzip.write_all(bytes).unwrap();
            gzip.finish().unwrap()
        }
        Some("zst") => zstd::encode_all(bytes, 1).unwrap(),
        _ => bytes.to_vec(),
    };
    fs::write(directory.join(name), packed).unwrap();
}
