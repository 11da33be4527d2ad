//! Which addresses did we hand out ourselves? A seal that nobody else can make.
//!
//! **Invariant:** the server leads on to a page only from an address that it sealed, which names the page and not
//! where it leads: that is looked up in the index. So nobody can make an address of ours that leads elsewhere.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use data_encoding::BASE64URL_NOPAD;
use jiff::Timestamp;
use page::PageId;
use repository::index::Hit;
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

/// Bytes of the key.
const KEY: usize = 32;
/// Bytes of a seal that are written: 2¹²⁸ guesses are enough.
const TAG: usize = 16;
/// Bytes that are sealed: page, time, rank.
const BODY: usize = 16 + 8 + 2;

/// The key of a store.
pub struct Seal(hmac::Key);

/// A result that was shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shown {
    /// The page.
    pub page: PageId,
    /// When.
    pub at: Timestamp,
    /// Its place, from 1.
    pub rank: u16,
}

impl Seal {
    /// The key of the store at `root`, which is made if there is none. Where it cannot be kept, the addresses that
    /// were handed out end with the program.
    pub fn of(root: &Path) -> Self {
        let path = root.join("secret");
        let key = kept(&path).or_else(|_| {
            let key = random();
            keep(&path, &key).map(|()| key)
        });
        let key = key.unwrap_or_else(|error| {
            tracing::warn!(%error, path = %path.display(), "the key for clicks cannot be kept");
            random()
        });
        Self(hmac::Key::new(hmac::HMAC_SHA256, &key))
    }

    /// The address that counts a click on a result and leads on. `None`: it is no page of the web.
    pub fn click(&self, hit: &Hit, rank: usize, at: Timestamp) -> Option<String> {
        let rank = u16::try_from(rank).unwrap_or(u16::MAX);
        let page = hit.id;
        is_web(&hit.url).then(|| format!("/click?to={}", self.seal(Shown { page, at, rank })))
    }

    fn seal(&self, shown: Shown) -> String {
        let mut bytes = Vec::with_capacity(BODY + TAG);
        bytes.extend(shown.page.0.to_be_bytes());
        bytes.extend(shown.at.as_microsecond().to_be_bytes());
        bytes.extend(shown.rank.to_be_bytes());
        let tag = hmac::sign(&self.0, &bytes);
        bytes.extend(&tag.as_ref()[..TAG]);
        BASE64URL_NOPAD.encode(&bytes)
    }

    /// What was sealed. `None`: not by us.
    pub fn open(&self, text: &str) -> Option<Shown> {
        let bytes = BASE64URL_NOPAD.decode(text.as_bytes()).ok()?;
        let (body, tag) = bytes.split_at_checked(BODY)?;
        let ours = hmac::sign(&self.0, body);
        // In constant time, whatever differs.
        let differs = ours.as_ref()[..TAG]
            .iter()
            .zip(tag)
            .fold(0, |sum, (one, other)| sum | (one ^ other));
        if tag.len() != TAG || differs != 0 {
            return None;
        }
        Some(Shown {
            page: PageId(u128::from_be_bytes(body[..16].try_into().ok()?)),
            at: Timestamp::from_microsecond(i64::from_be_bytes(body[16..24].try_into().ok()?))
                .ok()?,
            rank: u16::from_be_bytes(body[24..].try_into().ok()?),
        })
    }
}

/// Whether a browser may be led there.
pub fn is_web(url: &str) -> bool {
    let web = url.starts_with("http://") || url.starts_with("https://");
    // Where a header or a page would end.
    web && !url
        .chars()
        .any(|letter| letter.is_control() || letter.is_whitespace())
}

fn kept(path: &Path) -> io::Result<[u8; KEY]> {
    let bytes = fs::read(path)?;
    let short = |_| io::Error::new(io::ErrorKind::InvalidData, "not a key");
    bytes.as_slice().try_into().map_err(short)
}

fn keep(path: &Path, key: &[u8; KEY]) -> io::Result<()> {
    let mut file = fs::File::options()
        .write(true)
        .create(true)
        .truncate(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(key)
}

fn random() -> [u8; KEY] {
    let mut key = [0; KEY];
    // Where the system has no chance to give, nothing that we could take instead is better.
    #[allow(clippy::expect_used)]
    SystemRandom::new()
        .fill(&mut key)
        .expect("the system gives random bytes");
    key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown() -> Shown {
        Shown {
            page: PageId(7 << 100 | 9),
            at: "2026-11-16T11:10:00.5Z".parse().unwrap(),
            rank: 3,
        }
    }

    #[test]
    fn only_our_own_seal_opens() {
        let dir = tempfile::tempdir().unwrap();
        let seal = Seal::of(dir.path());
        let text = seal.seal(shown());
        assert_eq!(seal.open(&text), Some(shown()));
        assert_eq!(
            Seal::of(dir.path()).open(&text),
            Some(shown()),
            "it is kept"
        );
        let other = tempfile::tempdir().unwrap();
        assert_eq!(Seal::of(other.path()).open(&text), None);
        for at in 0..text.len() {
            let mut forged = text.clone().into_bytes();
            forged[at] = if forged[at] == b'A' { b'B' } else { b'A' };
            assert_eq!(seal.open(str::from_utf8(&forged).unwrap()), None, "{at}");
        }
        for wrong in [
            "",
            "AAAA",
            "https://evil.example/",
            &text[..text.len() - 2],
            &format!("{text}AA"),
        ] {
            assert_eq!(seal.open(wrong), None, "{wrong}");
        }
        let unkept = Seal::of(Path::new("/proc/nowhere"));
        assert_eq!(unkept.open(&unkept.seal(shown())), Some(shown()));
    }

    #[test]
    fn browsers_are_led_to_the_web_only() {
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
