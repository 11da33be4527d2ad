//! Which characters do these bytes stand for?
//!
//! The order of the WHATWG standard (13.2.3.2): byte order mark, transport, `meta` in the first
//! kilobyte, then a guess by the detector that Firefox uses.
//!
//! **Invariant:** whatever the bytes, the result is valid Unicode: what cannot be decoded is U+FFFD.
//! UTF-7 and the other encodings that browsers refuse are never used.

mod prescan;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};

/// A bound on the detector's work; its verdict on every sample we have needs no more.
const GUESS_BYTES: usize = 64 << 10;

/// The text of a body, and the encoding it was in. Borrowed where the bytes are valid UTF-8.
pub fn decode<'a>(body: &'a [u8], content_type: Option<&str>) -> (Cow<'a, str>, &'static Encoding) {
    let (encoding, mark) = encoding(body, content_type);
    let (text, _) = encoding.decode_without_bom_handling(&body[mark..]);
    (text, encoding)
}

/// The encoding of a body and the length of its byte order mark.
fn encoding(body: &[u8], content_type: Option<&str>) -> (&'static Encoding, usize) {
    if let Some((encoding, mark)) = Encoding::for_bom(body) {
        return (encoding, mark);
    }
    let declared = content_type.and_then(charset_of).and_then(known);
    let encoding = declared
        .or_else(|| prescan::declared(body))
        .unwrap_or_else(|| guess(body));
    (encoding, 0)
}

/// The encoding of that label, if browsers know it and decode it.
fn known(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label_no_replacement(label.as_bytes())
}

/// The value of the `charset` parameter of a content type.
fn charset_of(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']);
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then_some(value)
    })
}

fn guess(body: &[u8]) -> &'static Encoding {
    let sample = &body[..body.len().min(GUESS_BYTES)];
    if sample.is_ascii() && !sample.contains(&0x1b) {
        return UTF_8; // Nothing to tell by, and nothing to get wrong.
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(sample, sample.len() == body.len());
    detector.guess(None, Utf8Detection::Allow)
}
