//! Decodes the body of a response.
//!
//! **Invariant:** the codings are those that the headers name. [`page::coding`] undoes them
//! within the fetcher's limits. A body without a coding is shared, not copied.

use std::borrow::Cow;

use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, HeaderValue};
use page::coding::{self, Cut};

use crate::response::Truncation;
use crate::settings::FetchLimits;

/// A body after decoding.
pub(crate) struct Decoded {
    pub(crate) content: Bytes,
    pub(crate) truncated: Option<Truncation>,
    /// Whether the content is still in a coding that could not be undone.
    pub(crate) undecoded: bool,
}

/// Undoes the content codings that the headers name.
pub(crate) fn decode(headers: &HeaderMap, body: &Bytes, limits: &FetchLimits) -> Decoded {
    let values = headers.get_all(CONTENT_ENCODING).iter();
    let limits = coding::CodingLimits {
        bytes: limits.decoded,
        ratio: limits.ratio,
        ratio_from: limits.ratio_from,
    };
    let decoded = coding::decode(
        Cow::Borrowed(body),
        values.map(HeaderValue::as_bytes),
        limits,
    );
    Decoded {
        content: match decoded.bytes {
            Cow::Borrowed(_) => body.clone(),
            Cow::Owned(content) => content.into(),
        },
        truncated: decoded.cut.and_then(|cut| match cut {
            Cut::Size => Some(Truncation::Size),
            Cut::Ratio => Some(Truncation::Ratio),
            Cut::Corrupt => Some(Truncation::Coding),
            Cut::Encoded => None,
        }),
        undecoded: decoded.cut == Some(Cut::Encoded),
    }
}
