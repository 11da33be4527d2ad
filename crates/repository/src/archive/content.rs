//! The limits for decoding the content of a record.
//!
//! **Invariant:** the limits are those for answers from the network (hostile-web.md, rows 1 to 4
//! and 81), because the same code decodes both: [`page::coding`].

use page::coding::CodingLimits;

pub use page::coding::{Content, Cut};

/// Limits for decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeLimits {
    /// Maximum number of decoded bytes.
    pub bytes: usize,
    /// Maximum ratio of decoded to encoded bytes, beyond the first megabyte of decoded bytes.
    pub ratio: usize,
}

impl Default for DecodeLimits {
    /// 8 MB and a ratio of 100 (hostile-web.md, rows 1 and 5).
    fn default() -> Self {
        let CodingLimits { bytes, ratio, .. } = CodingLimits::default();
        Self { bytes, ratio }
    }
}

impl From<DecodeLimits> for CodingLimits {
    fn from(limits: DecodeLimits) -> Self {
        Self {
            bytes: limits.bytes,
            ratio: limits.ratio,
            ..Self::default()
        }
    }
}
