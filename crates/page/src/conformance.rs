//! Access to the test data of the standards.
//!
//! The data belongs to other projects and is not part of this repository. A test that does not
//! find it says so and passes.

use std::fs::File;
use std::io::Read;
use std::path::Path;

const ARCHIVE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../../shared/data/conformance/conformance-data-only.tar.zst"
);

/// Returns the files below a directory of the archive, sorted by their relative paths. Returns
/// `None` if the archive is missing.
pub(crate) fn directory(path: &str) -> Option<Vec<(String, Vec<u8>)>> {
    let Ok(archive) = File::open(ARCHIVE) else {
        eprintln!("skipped: {ARCHIVE} is missing");
        return None;
    };
    let root = Path::new("data-only").join(path);
    let mut archive = tar::Archive::new(zstd::Decoder::new(archive).unwrap());
    let mut files = Vec::new();
    for mut entry in archive.entries().unwrap().map(Result::unwrap) {
        let place = entry.path().unwrap().into_owned();
        if let Ok(name) = place.strip_prefix(&root)
            && entry.header().entry_type().is_file()
        {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            files.push((name.display().to_string(), bytes));
        }
    }
    files.sort();
    assert!(!files.is_empty(), "{ARCHIVE} holds nothing under {path}");
    Some(files)
}

/// Returns one file of the archive.
pub(crate) fn file(path: &str) -> Option<Vec<u8>> {
    let [(_, bytes)]: [_; 1] = directory(path)?.try_into().expect("the path of one file");
    Some(bytes)
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
