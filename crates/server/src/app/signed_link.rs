//! Click-counting links of results, signed with the key of the store (HMAC-SHA256).
//!
//! **Invariant:** the server redirects to other sites only from links that it signed. A link holds
//! the id of a page; the target URL is looked up in the index. So a third party cannot use the
//! server as an open redirect.

use data_encoding::BASE64URL_NOPAD;
use jiff::Timestamp;
use page::PageId;
use repository::index::Hit;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

/// Length of the key, in bytes.
const KEY: usize = 32;
/// Length of a signature in a link, in bytes. 128 bits cannot be guessed.
const TAG: usize = 16;
/// Length of the signed data, in bytes: page, time, rank.
const BODY: usize = 16 + 8 + 2;

/// Signs links with the key of a store.
pub struct LinkSigner(hmac::Key);

/// A result that was shown to a searcher.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShownResult {
    /// The page.
    pub page: PageId,
    /// The time of the search.
    pub at: Timestamp,
    /// The position among the results, from 1.
    pub rank: u16,
}

impl LinkSigner {
    /// Creates a signer with this key.
    pub fn new(key: &[u8; KEY]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, key))
    }

    /// Returns the link that counts a click on a result and redirects to the page.
    ///
    /// Returns `None` for a result whose URL is no target for a redirect ([`is_web`]).
    pub fn click(&self, hit: &Hit, rank: usize, at: Timestamp) -> Option<String> {
        let rank = u16::try_from(rank).unwrap_or(u16::MAX);
        let page = hit.id;
        is_web(&hit.url).then(|| format!("/click?to={}", self.sign(ShownResult { page, at, rank })))
    }

    fn sign(&self, shown: ShownResult) -> String {
        let mut bytes = Vec::with_capacity(BODY + TAG);
        bytes.extend(shown.page.0.to_be_bytes());
        bytes.extend(shown.at.as_microsecond().to_be_bytes());
        bytes.extend(shown.rank.to_be_bytes());
        let tag = hmac::sign(&self.0, &bytes);
        bytes.extend(&tag.as_ref()[..TAG]);
        BASE64URL_NOPAD.encode(&bytes)
    }

    /// Returns the result that a link stands for, or `None` if the signature is not valid.
    pub fn verify(&self, text: &str) -> Option<ShownResult> {
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
        let (body, tag) = bytes.split_at_checked(BODY)?;
        let ours = hmac::sign(&self.0, body);
        // Compares in constant time, so that timing does not help to guess a signature.
        let differs = ours.as_ref()[..TAG]
            .iter()
            .zip(tag)
            .fold(0, |sum, (one, other)| sum | (one ^ other));
        if tag.len() != TAG || differs != 0 {
            return None;
        }
        Some(ShownResult {
            page: PageId(u128::from_be_bytes(body[..16].try_into().ok()?)),
            at: Timestamp::from_microsecond(i64::from_be_bytes(body[16..24].try_into().ok()?))
                .ok()?,
            rank: u16::from_be_bytes(body[24..].try_into().ok()?),
        })
    }
}

/// Tells whether a browser may be redirected to a URL: it is `http` or `https`, and has no control
/// characters or whitespace.
pub fn is_web(url: &str) -> bool {
    let web = url.starts_with("http://") || url.starts_with("https://");
    // Control characters and spaces could end a header line or an attribute.
    web && !url
        .chars()
        .any(|letter| letter.is_control() || letter.is_whitespace())
}

/// Returns a new random key.
pub fn random_key() -> [u8; KEY] {
    let mut key = [0; KEY];
    let random = SystemRandom::new().fill(&mut key);
    random.expect("the system gives random bytes, for which there is no safe substitute");
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown() -> ShownResult {
        ShownResult {
            page: PageId(7 << 100 | 9),
            at: "2026-11-16T11:10:00.5Z".parse().unwrap(),
            rank: 3,
        }
    }

    #[test]
    fn only_our_own_signature_is_valid() {
        let signer = LinkSigner::new(&random_key());
        let text = signer.sign(shown());
        assert_eq!(signer.verify(&text), Some(shown()));
        assert_eq!(LinkSigner::new(&random_key()).verify(&text), None);
        for at in 0..text.len() {
            let mut forged = text.clone().into_bytes();
            forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(
                signer.verify(str::from_utf8(&forged).unwrap()),
                None,
                "{at}"
            );
        }
        for wrong in [
            "",
            "AAAA",
            "https://evil.example/",
            &text[..text.len() - 2],
            &format!("{text}AA"),
        ] {
            assert_eq!(signer.verify(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn browsers_are_redirected_to_http_urls_only() {
        for (url, web) in [
            ("http://e.org/", true),
            ("https://e.org/a?b", true),
            ("javascript:alert(1)", false),
            ("JavaScript:alert(1)//http://e.org", false),
            ("data:text/html,x", false),
            ("//evil.example", false),
            ("http://e.org/\r\nSet-Cookie: a=b", false),
            ("", false),
        ] {
            assert_eq!(is_web(url), web, "{url}");
        }
    }
}
