//! The token that opens the controls of a store.
//!
//! **Invariant:** it is in the store, readable by its owner only, who could change the store anyway. A browser never keeps it: its
//! cookie is the random id of a session ([`Sessions`]), and a CSRF token is a MAC of that id.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use data_encoding::HEXLOWER;
use ring::rand::{SecureRandom, SystemRandom};
use ring::{digest, hmac};

use super::sessions::Sessions;

/// Bytes of chance.
const BYTES: usize = 24;

/// The token of a store.
pub struct Token {
    text: String,
    key: hmac::Key,
    /// The browsers that gave it.
    pub sessions: Sessions,
}

impl Token {
    /// The token of the store at `root`; one is made if there is none.
    pub fn of(root: &Path) -> Result<Self> {
        let path = path(root);
        let text = match fs::read_to_string(&path) {
            Ok(text) if text.trim().len() >= BYTES => text.trim().to_owned(),
            Ok(_) => make(&path)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => make(&path)?,
            Err(error) => {
                return Err(error).with_context(|| format!("cannot read {}", path.display()));
            }
        };
        let key = hmac::Key::new(hmac::HMAC_SHA256, text.as_bytes());
        Ok(Self {
            text,
            key,
            sessions: Sessions::default(),
        })
    }

    /// Whether a text is the token.
    pub fn is(&self, text: &str) -> bool {
        // Digests are compared, so that the time that takes says nothing of the token.
        let sum = |text: &str| digest::digest(&digest::SHA256, text.as_bytes());
        sum(text.trim()).as_ref() == sum(&self.text).as_ref()
    }

    /// Returns the CSRF token for forms of a session; those of a client that sends the token itself have no session.
    pub fn form(&self, session: Option<&str>) -> String {
        HEXLOWER.encode(hmac::sign(&self.key, &form(session)).as_ref())
    }

    /// Returns whether a text is the CSRF token of this session.
    pub fn is_form(&self, text: &str, session: Option<&str>) -> bool {
        let tag = HEXLOWER.decode(text.as_bytes()).unwrap_or_default();
        hmac::verify(&self.key, &form(session), &tag).is_ok()
    }
}

/// What the CSRF token of a session signs.
fn form(session: Option<&str>) -> Vec<u8> {
    format!("form {}", session.unwrap_or_default()).into_bytes()
}

/// Where the token is.
pub fn path(root: &Path) -> PathBuf {
    root.join("TOKEN")
}

/// Returns a text that cannot be guessed.
pub(super) fn random() -> Result<String> {
    let mut bytes = [0; BYTES];
    let random = SystemRandom::new().fill(&mut bytes);
    random.ok().context("the system gives no random bytes")?;
    Ok(HEXLOWER.encode(&bytes))
}

fn make(path: &Path) -> Result<String> {
    let text = random()?;
    let file = (fs::File::options().write(true).create(true).truncate(true))
        .mode(0o600)
        .open(path);
    match file.and_then(|mut file| writeln!(file, "{text}")) {
        // No control can change anything there, so no operator needs the token.
        Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {}
        written => written.with_context(|| format!("cannot write {}", path.display()))?,
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_token_is_made_once_and_for_its_owner() {
        let directory = tempfile::tempdir().unwrap();
        let token = Token::of(directory.path()).unwrap();
        let text = fs::read_to_string(path(directory.path())).unwrap();
        let mode = fs::metadata(path(directory.path())).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
        assert!(token.is(&text) && Token::of(directory.path()).unwrap().is(&text));
        for wrong in ["", "x", &text[..10], &token.form(None)] {
            assert!(!token.is(wrong), "{wrong}");
        }
        let form = token.form(Some("a"));
        assert!(token.is_form(&form, Some("a")));
        for other in [Some("b"), Some(""), None] {
            assert!(!token.is_form(&form, other), "{other:?}");
        }
        let other = tempfile::tempdir().unwrap();
        let other = Token::of(other.path()).unwrap();
        assert!(!other.is(&text) && !other.is_form(&form, Some("a")));
    }
}
