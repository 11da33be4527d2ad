//! The payload of an index commit: the ledger sequence that the commit reflects.
//!
//! **Invariant:** a damaged sequence is detected. tantivy stores the payload in a file without
//! checksum, and a sequence that is too high would leave pages out of the index forever.

use std::fs;
use std::path::Path;

use serde::Deserialize;

/// Encodes the sequence twice, as it is and with all bits inverted, so that damage to a single
/// byte is detected.
pub(super) fn text(sequence: u64) -> String {
    format!("{sequence} {}", !sequence)
}

/// Decodes the sequence. Returns `None` if it is damaged.
pub(super) fn sequence(text: &str) -> Option<u64> {
    let (sequence, turned) = text.split_once(' ')?;
    let sequence: u64 = sequence.parse().ok()?;
    (turned.parse() == Ok(!sequence)).then_some(sequence)
}

/// Reads the sequence of the last commit in a directory, without opening the index. Returns
/// `None` if there is no commit or it cannot be read.
pub fn committed(dir: &Path) -> Option<u64> {
    #[derive(Deserialize)]
    struct Commit {
        payload: String,
    }
    let metas = fs::read(dir.join("meta.json")).ok()?;
    let commit: Commit = serde_json::from_slice(&metas).ok()?;
    sequence(&commit.payload)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_changed_byte_gives_another_sequence() {
        for number in [0, 1, 42, u64::MAX] {
            let text = text(number);
            assert_eq!(sequence(&text), Some(number));
            for at in 0..text.len() {
                for byte in (b' '..=b'~').filter(|&byte| byte != text.as_bytes()[at]) {
                    let mut bytes = text.clone().into_bytes();
                    bytes[at] = byte;
                    let changed = String::from_utf8(bytes).unwrap();
                    assert!(
                        sequence(&changed).is_none_or(|found| found == number),
                        "{changed}"
                    );
                }
            }
        }
        assert_eq!(sequence("42"), None);
    }
}
