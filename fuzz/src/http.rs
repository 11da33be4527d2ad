//! Fuzz target for HTTP/1 responses: head, framing of the body, content coding, and the header
//! fields about the page.

use std::borrow::Cow;

use fetch::{FetchLimits, ReadResponse, read_response};
use page::{coding, link_header, media};

/// Maximum number of responses read from one input.
const RESPONSES: usize = 8;
/// Limit of decoded bytes; lower than the default, so that the fuzzer reaches it.
const DECODED: usize = 1 << 16;

/// Reads responses one after another, as from a pipelined connection.
///
/// Each one has the same result whether its bytes arrive together or one by one. It consumes only
/// its own bytes, and stays within the limits.
pub fn http(data: &[u8]) {
    let limits = FetchLimits {
        head: 4096,
        headers: 20,
        ..FetchLimits::default()
    };
    let mut left = data.to_vec();
    for _ in 0..RESPONSES {
        let (whole, more, rest) = read_response(&[&left], &limits);
        let bytes: Vec<&[u8]> = left.chunks(1).collect();
        match (&whole, read_response(&bytes, &limits)) {
            // Which fault is found first depends on how much of the head has arrived.
            (ReadResponse::Refused(_), (ReadResponse::Refused(_), ..)) => {}
            (_, by_byte) => assert_eq!((&whole, more, &rest), (&by_byte.0, by_byte.1, &by_byte.2)),
        }
        assert!(left.ends_with(&rest), "the rest is unchanged");
        if let ReadResponse::Whole { headers, body, .. } = &whole {
            assert!(headers.len() <= limits.headers);
            assert!(body.len() < left.len());
            let fields = |name| headers.get_all(name).iter();
            let codings = fields("content-encoding").map(|value| value.as_bytes());
            let decoding = coding::CodingLimits {
                bytes: DECODED,
                ..coding::CodingLimits::default()
            };
            let content = coding::decode(Cow::Borrowed(body), codings, decoding);
            assert!(content.bytes.len() <= DECODED.max(body.len()));
            let text = |name| fields(name).filter_map(|value| value.to_str().ok());
            media::kind(text("content-type").next(), &content.bytes);
            link_header::hub(text("link"), &crate::found_at());
        }
        if !more {
            return;
        }
        assert!(rest.len() < left.len(), "every response has bytes");
        left = rest;
    }
}
