//! How much of a record's content is decoded?
//!
//! **Invariant:** the limits of an archive are those of the network (hostile-web.md, rows 1 to 4 and
//! 81), because the same code decodes both: [`page::coding`].

use page::coding::Limits;

pub use page::coding::{Content, Cut};

/// How much to decode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DecodeLimits {
    /// Of decoded bytes.
    pub bytes: usize,
    /// Of decoded bytes for each encoded one, beyond the first megabyte.
    pub ratio: usize,
}

impl Default for DecodeLimits {
    /// 8 MB and a ratio of 100 (hostile-web.md, rows 1 and 5).
    fn default() -> Self {
        let Limits { bytes, ratio, .. } = Limits::default();
        Self { bytes, ratio }
    }
}

impl From<DecodeLimits> for Limits {
    fn from(limits: DecodeLimits) -> Self {
        Self {
            bytes: limits.bytes,
            ratio: limits.ratio,
            ..Self::default()
        }
    }
}
