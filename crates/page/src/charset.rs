//! Determines the character encoding of a body and decodes it.
//!
//! The order is that of the WHATWG standard (13.2.3.2): byte order mark, `Content-Type`, a `meta`
//! element or XML declaration in the first kilobyte, then a guess by the detector of Firefox.
//!
//! **Invariant:** the result is valid Unicode for any bytes; what cannot be decoded becomes
//! U+FFFD. UTF-7 and other encodings that browsers refuse are never used.

mod prescan;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8};

/// Bytes given to the detector. This bounds its work; no sample of our test data needs more.
const GUESS_BYTES: usize = 64 << 10;

/// Returns the text of a body and its encoding. The text is borrowed if decoding changes no byte,
/// as for valid UTF-8.
pub fn decode<'a>(body: &'a [u8], content_type: Option<&str>) -> (Cow<'a, str>, &'static Encoding) {
    let (encoding, mark) = encoding(body, content_type);
    let (text, _) = encoding.decode_without_bom_handling(&body[mark..]);
    (text, encoding)
}

/// Returns the encoding of a body and the length of its byte order mark.
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

/// Returns the encoding with a given label; `None` if browsers do not decode it.
fn known(label: &str) -> Option<&'static Encoding> {
    Encoding::for_label_no_replacement(label.as_bytes())
}

/// Returns the `charset` parameter of a content type.
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
        return UTF_8; // ASCII is the same in UTF-8.
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Allow);
    detector.feed(sample, sample.len() == body.len());
    detector.guess(None, Utf8Detection::Allow)
}
