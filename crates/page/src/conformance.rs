//! Access to the test data of the standards.
//!
//! The data belongs to other projects and is not part of this repository. A test that does not
//! find it says so and passes.

use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

const ARCHIVE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../../shared/data/conformance/conformance-data-only.tar.zst"
);

/// Returns one file of the archive.
pub(crate) fn file(path: &str) -> Option<Vec<u8>> {
    if !Path::new(ARCHIVE).exists() {
        eprintln!("skipped: {ARCHIVE} is missing");
        return None;
    }
    let member = format!("data-only/{path}");
    let unpacked = Command::new("tar")
        .args(["--zstd", "-xOf", ARCHIVE, &member])
        .output()
        .expect("tar runs");
    assert!(
        unpacked.status.success(),
        "{member}: {}",
        String::from_utf8_lossy(&unpacked.stderr)
    );
    Some(unpacked.stdout)
}

/// Returns one file of the archive, parsed as JSON.
pub(crate) fn json(path: &str) -> Option<serde_json::Value> {
    let text = String::from_utf8(file(path)?).unwrap();
    Some(serde_json::from_str(&without_lone_surrogates(&text)).unwrap())
}

/// Replaces escaped surrogates without a partner by U+FFFD, because no `str` can hold them.
fn without_lone_surrogates(json: &str) -> String {
    let unit = |at: usize| {
        let digits = json.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut clean = String::with_capacity(json.len());
    let mut at = 0;
    while at < json.len() {
        let pair = unit(at).zip(unit(at + 6));
        let length = match (unit(at), pair) {
            (Some(0xd800..=0xdbff), Some((_, 0xdc00..=0xdfff))) => 12,
            (Some(0xd800..=0xdfff), _) => {
                clean.push_str("\\ufffd");
                at += 6;
                continue;
            }
            (Some(_), _) => 6,
            (None, _) => json[at..].chars().next().map_or(1, char::len_utf8),
        };
        clean.push_str(&json[at..at + length]);
        at += length;
    }
    clean
}

/// Returns the files below a directory of the archive, with their relative paths.
pub(crate) fn directory(path: &str) -> Option<Vec<(String, Vec<u8>)>> {
    if !Path::new(ARCHIVE).exists() {
        eprintln!("skipped: {ARCHIVE} is missing");
        return None;
    }
    // Tests of one process may unpack at the same time.
    static UNPACKED: AtomicU32 = AtomicU32::new(0);
    let target = std::env::temp_dir().join(format!(
        "page-{}-{}-{}",
        path.replace('/', "-"),
        std::process::id(),
        UNPACKED.fetch_add(1, Ordering::Relaxed)
    ));
    std::fs::create_dir_all(&target).unwrap();
    let member = format!("data-only/{path}");
    let unpacked = Command::new("tar")
        .args(["--zstd", "-xf", ARCHIVE, "-C"])
        .arg(&target)
        .arg(&member)
        .output()
        .expect("tar runs");
    assert!(
        unpacked.status.success(),
        "{member}: {}",
        String::from_utf8_lossy(&unpacked.stderr)
    );
    let mut files = Vec::new();
    let mut waiting = vec![target.join(&member)];
    while let Some(next) = waiting.pop() {
        for entry in std::fs::read_dir(&next).unwrap().map(Result::unwrap) {
            if entry.path().is_dir() {
                waiting.push(entry.path());
            } else {
                let name = entry
                    .path()
                    .strip_prefix(target.join(&member))
                    .unwrap()
                    .display()
                    .to_string();
                files.push((name, std::fs::read(entry.path()).unwrap()));
            }
        }
    }
    std::fs::remove_dir_all(&target).unwrap();
    files.sort();
    assert!(!files.is_empty());
    Some(files)
}
