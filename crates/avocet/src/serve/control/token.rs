//! The word that opens the controls of a store.
//!
//! **Invariant:** it is in the store, readable by its owner only; whoever can read it could change the store anyway. A browser
//! never keeps it: its cookie and the words in our forms are made from it, and do not tell it.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use data_encoding::HEXLOWER;
use ring::rand::{SecureRandom, SystemRandom};
use ring::{digest, hmac};

/// Bytes of chance.
const BYTES: usize = 24;

/// The token of a store.
pub struct Token {
    text: String,
    key: hmac::Key,
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
        Ok(Self { text, key })
    }

    /// Whether a text is the token.
    pub fn is(&self, text: &str) -> bool {
        // Digests are compared, so that the time that takes says nothing of the token.
        let sum = |text: &str| digest::digest(&digest::SHA256, text.as_bytes());
        sum(text.trim()).as_ref() == sum(&self.text).as_ref()
    }

    /// What the cookie of a browser says that gave the token.
    pub fn session(&self) -> String {
        self.word("session")
    }

    /// What our own forms say.
    pub fn form(&self) -> String {
        self.word("form")
    }

    /// Whether a cookie is ours.
    pub fn is_session(&self, text: &str) -> bool {
        self.is_word("session", text)
    }

    /// Whether a form is ours.
    pub fn is_form(&self, text: &str) -> bool {
        self.is_word("form", text)
    }

    fn word(&self, purpose: &str) -> String {
        HEXLOWER.encode(hmac::sign(&self.key, purpose.as_bytes()).as_ref())
    }

    fn is_word(&self, purpose: &str, text: &str) -> bool {
        let tag = HEXLOWER.decode(text.as_bytes()).unwrap_or_default();
        hmac::verify(&self.key, purpose.as_bytes(), &tag).is_ok()
    }
}

/// Where the token is.
pub fn path(root: &Path) -> PathBuf {
    root.join("TOKEN")
}

fn make(path: &Path) -> Result<String> {
    let mut bytes = [0; BYTES];
    let random = SystemRandom::new().fill(&mut bytes);
    random.ok().context("the system gives no random bytes")?;
    let text = HEXLOWER.encode(&bytes);
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
        for wrong in ["", "x", &text[..10], &token.session(), &token.form()] {
            assert!(!token.is(wrong), "{wrong}");
        }
        assert!(token.is_session(&token.session()) && token.is_form(&token.form()));
        assert!(!token.is_session(&token.form()) && !token.is_form(&token.session()));
        assert!(!token.is_session("") && !token.is_session(text.trim()));
        let other = tempfile::tempdir().unwrap();
        let other = Token::of(other.path()).unwrap();
        assert!(!other.is(&text) && !other.is_session(&token.session()));
    }
}
