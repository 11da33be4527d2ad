//! A hash of a body that no archive keeps, in the form of a payload digest.
//!
//! A WARC record needs the SHA-1 of a body. A crawl without an archive needs to know only whether
//! a body equals the last one, for which a hash at a tenth of the cost suffices.
//!
//! **Invariant:** the last four bytes tell it from a SHA-1 digest. A SHA-1 digest ends in the same
//! four bytes with a probability of 2^-32; its body then counts as changed bytes once.

use xxhash_rust::xxh3::xxh3_128;

/// The bytes at the end of a hash of this kind.
const MARK: &[u8; 4] = b"xxh3";

/// Returns the hash of a body without its content coding: 128 bits of XXH3 and the mark.
pub fn body_hash(content: &[u8]) -> [u8; 20] {
    let mut hash = [0; 20];
    hash[..16].copy_from_slice(&xxh3_128(content).to_be_bytes());
    hash[16..].copy_from_slice(MARK);
    hash
}

/// Returns whether a payload digest is a hash of this kind and no SHA-1.
pub fn is_body_hash(payload: &[u8; 20]) -> bool {
    payload.ends_with(MARK)
}
