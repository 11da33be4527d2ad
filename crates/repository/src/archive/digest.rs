//! Digests and record ids.
//!
//! **Invariant:** equal captures get equal digests and ids, on every machine and in every run.

use data_encoding::{BASE32_NOPAD, HEXLOWER_PERMISSIVE};
use serde::{Deserialize, Serialize};
use sha1::{Digest as _, Sha1};

/// The SHA-1 hash of a payload, as WARC files traditionally carry it.
///
/// It detects damage and equal payloads. It does not defend against attacks: a server can
/// produce two payloads with the same SHA-1 hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct PayloadDigest(pub [u8; 20]);

impl PayloadDigest {
    /// Hashes the concatenation of the parts.
    pub fn of(parts: &[&[u8]]) -> Self {
        let mut hash = Sha1::new();
        for part in parts {
            hash.update(part);
        }
        Self(hash.finalize().into())
    }

    /// Parses `sha1:` or `sha-1:`, followed by 32 base-32 digits or, as some tools write it, 40
    /// hexadecimal digits. Returns `None` for any other text.
    pub fn parse(text: &str) -> Option<Self> {
        let (algorithm, value) = text.split_once(':')?;
        if !algorithm.eq_ignore_ascii_case("sha1") && !algorithm.eq_ignore_ascii_case("sha-1") {
            return None;
        }
        let value = value.trim();
        let bytes = match value.len() {
            32 => BASE32_NOPAD.decode(value.to_ascii_uppercase().as_bytes()),
            40 => HEXLOWER_PERMISSIVE.decode(value.as_bytes()),
            _ => return None,
        };
        bytes.ok()?.try_into().ok().map(Self)
    }
}

impl std::fmt::Display for PayloadDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("sha1:")?;
        f.write_str(&BASE32_NOPAD.encode(&self.0))
    }
}

/// Returns the id of a record: a UUID of version 8 (RFC 9562, section 5.8: custom bits), derived
/// from kind, URL, time and payload.
///
/// The id needs no random number. A revisit record can compute the id of its original from these
/// four values.
pub(super) fn record_id(kind: &str, url: &str, millis: i64, payload: PayloadDigest) -> String {
    let hash = PayloadDigest::of(&[
        kind.as_bytes(),
        b"\n",
        url.as_bytes(),
        b"\n",
        &millis.to_be_bytes(),
        &payload.0,
    ]);
    let mut id = [0; 16];
    id.copy_from_slice(&hash.0[..16]);
    id[6] = id[6] & 0x0f | 0x80;
    id[8] = id[8] & 0x3f | 0x80;
    let hex = HEXLOWER_PERMISSIVE.encode(&id);
    let (a, b, c, d, e) = (
        &hex[..8],
        &hex[8..12],
        &hex[12..16],
        &hex[16..20],
        &hex[20..],
    );
    format!("<urn:uuid:{a}-{b}-{c}-{d}-{e}>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_in_base_32_and_hexadecimal_are_parsed() {
        let empty = PayloadDigest::of(&[]);
        // SHA-1 of the empty input, FIPS 180-4.
        let hex = "da39a3ee5e6b4b0d3255bfef95601890afd80709";
        assert_eq!(empty.to_string(), "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
        let same = |text: &str| assert_eq!(PayloadDigest::parse(text), Some(empty), "{text}");
        same("sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
        same("SHA-1:3i42h3s6nnfq2msvx7xzkyayscx5qbyj");
        same(&format!("sha1:{hex}"));
        same(&format!("sha1:{}", hex.to_uppercase()));
        for other in [
            "",
            "sha1",
            "sha1:",
            "md5:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ",
            "sha1:ü",
        ] {
            assert_eq!(PayloadDigest::parse(other), None, "{other}");
        }
        let not_base32 = "sha1:1I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";
        assert_eq!(PayloadDigest::parse(not_base32), None);
    }

    #[test]
    fn ids_depend_on_every_argument_and_are_uuids_of_version_8() {
        let payload = PayloadDigest::of(&[b"a"]);
        let id = record_id("response", "http://a/", 1, payload);
        assert_eq!(
            id.len(),
            "<urn:uuid:00000000-0000-0000-0000-000000000000>".len()
        );
        assert_eq!(&id[24..25], "8");
        assert_eq!(id, record_id("response", "http://a/", 1, payload));
        for other in [
            record_id("revisit", "http://a/", 1, payload),
            record_id("response", "http://b/", 1, payload),
            record_id("response", "http://a/", 2, payload),
            record_id("response", "http://a/", 1, PayloadDigest::of(&[b"b"])),
        ] {
            assert_ne!(id, other);
        }
    }
}
