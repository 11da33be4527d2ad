//! The operator token of a store, which permits changes to its crawl, and the CSRF tokens of forms.
//!
//! **Invariant:** the token is in a file that only the owner of the store can read; the owner
//! could change the store anyway. A browser never keeps the token: its cookie holds the random id
//! of a session ([`Sessions`]), and a CSRF token is a MAC of that id.

use anyhow::{Context, Result};
use data_encoding::HEXLOWER;
use ring::rand::{SecureRandom, SystemRandom};
use ring::{digest, hmac};

use super::sessions::Sessions;

/// Random bytes in a token.
const BYTES: usize = 24;

/// The operator token of a store, with the sessions that it has opened.
pub struct OperatorToken {
    text: String,
    key: hmac::Key,
    /// The browser sessions that began with this token.
    pub sessions: Sessions,
}

impl OperatorToken {
    /// Creates the token from its text.
    pub fn new(text: String) -> Self {
        let key = hmac::Key::new(hmac::HMAC_SHA256, text.as_bytes());
        Self {
            text,
            key,
            sessions: Sessions::default(),
        }
    }

    /// Tells whether a text is the token.
    pub fn is(&self, text: &str) -> bool {
        // Compares digests, so that the time of the comparison reveals nothing about the token.
        let sum = |text: &str| digest::digest(&digest::SHA256, text.as_bytes());
        sum(text.trim()).as_ref() == sum(&self.text).as_ref()
    }

    /// Returns the CSRF token for the forms of a session.
    ///
    /// `session` is `None` for a client that sends the operator token with each request.
    pub fn form(&self, session: Option<&str>) -> String {
        HEXLOWER.encode(hmac::sign(&self.key, &form(session)).as_ref())
    }

    /// Tells whether a text is the CSRF token of this session.
    pub fn is_form(&self, text: &str, session: Option<&str>) -> bool {
        let tag = HEXLOWER.decode(text.as_bytes()).unwrap_or_default();
        hmac::verify(&self.key, &form(session), &tag).is_ok()
    }
}

/// Returns the text that the CSRF token of a session is the MAC of.
fn form(session: Option<&str>) -> Vec<u8> {
    format!("form {}", session.unwrap_or_default()).into_bytes()
}

/// Returns a random text of 48 hexadecimal digits.
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
        let token = OperatorToken::new(text.clone());
        assert!(token.is(&text) && token.is(&format!("{text}\n")));
        for wrong in ["", "x", &text[..10], &token.form(None)] {
            assert!(!token.is(wrong), "{wrong}");
        }
        let form = token.form(Some("a"));
        assert!(token.is_form(&form, Some("a")));
        for other in [Some("b"), Some(""), None] {
            assert!(!token.is_form(&form, other), "{other:?}");
        }
        let other = OperatorToken::new(random().unwrap());
        assert!(!other.is(&text) && !other.is_form(&form, Some("a")));
    }
}
