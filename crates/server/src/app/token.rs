//! The token that opens the controls of a store.
//!
//! **Invariant:** it is in the store, readable by its owner only, who could change the store anyway. A browser never keeps it: its
//! cookie is the random id of a session ([`Sessions`]), and a CSRF token is a MAC of that id.

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
    /// The token with this text.
    pub fn new(text: String) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, text.as_bytes());
        Self {
            text,
            key,
            sessions: Sessions::default(),
        }
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

/// Returns a text that cannot be guessed.
pub fn random() -> Result<String> {
    let mut bytes = [0; BYTES];
    let random = SystemRandom::new().fill(&mut bytes);
    random.ok().context("the system gives no random bytes")?;
    Ok(HEXLOWER.encode(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_token_and_the_forms_of_a_session_are_accepted() {
        let text = random().unwrap();
        let token = Token::new(text.clone());
        assert!(token.is(&text) && token.is(&format!("{text}\n")));
        for wrong in ["", "x", &text[..10], &token.form(None)] {
            assert!(!token.is(wrong), "{wrong}");
        }
        let form = token.form(Some("a"));
        assert!(token.is_form(&form, Some("a")));
        for other in [Some("b"), Some(""), None] {
            assert!(!token.is_form(&form, other), "{other:?}");
        }
        let other = Token::new(random().unwrap());
        assert!(!other.is(&text) && !other.is_form(&form, Some("a")));
    }
}
