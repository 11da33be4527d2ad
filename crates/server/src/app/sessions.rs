//! The browser sessions of operators who have logged in with the token.
//!
//! Sessions are in memory only: a restart of the server ends all of them.
//!
//! **Invariant:** every login begins its own session. The logout or expiry of one does not end
//! another. The number of sessions is bounded.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use anyhow::Result;
use node::panics::POISONED;
use ring::digest;

use super::token;

/// The lifetime of a session: 12 hours, which cover a working day.
pub const LASTS: Duration = Duration::from_secs(12 * 3600);
/// The maximum number of sessions at once. A further login ends the oldest session.
///
/// An operator uses a few browsers, but a client with the token may log in without limit.
const MOST: usize = 100;

/// The open sessions, each with the time of its login.
#[derive(Default)]
pub struct Sessions(Mutex<HashMap<Id, Instant>>);

/// The SHA-256 of a session's id. The time of a lookup then reveals nothing about the id.
type Id = [u8; digest::SHA256_OUTPUT_LEN];

impl Sessions {
    /// Begins a session and returns its id, for the cookie.
    pub fn begin(&self, now: Instant) -> Result<String> {
        let text = token::random()?;
        let mut begun = self.0.lock().expect(POISONED);
        begun.retain(|_, at| is_current(*at, now));
        if begun.len() >= MOST {
            let oldest = begun.iter().min_by_key(|(_, at)| **at);
            if let Some(oldest) = oldest.map(|(id, _)| *id) {
                begun.remove(&oldest);
            }
        }
        begun.insert(id(&text), now);
        Ok(text)
    }

    /// Tells whether a text is the id of an open session.
    pub fn hold(&self, text: &str, now: Instant) -> bool {
        let begun = self.0.lock().expect(POISONED).get(&id(text)).copied();
        begun.is_some_and(|at| is_current(at, now))
    }

    /// Ends a session.
    pub fn end(&self, text: &str) {
        self.0.lock().expect(POISONED).remove(&id(text));
    }
}

fn is_current(begun: Instant, now: Instant) -> bool {
    now.saturating_duration_since(begun) < LASTS
}

fn id(text: &str) -> Id {
    let mut id = Id::default();
    id.copy_from_slice(digest::digest(&digest::SHA256, text.as_bytes()).as_ref());
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_login_has_its_own_session() {
        let sessions = Sessions::default();
        let now = Instant::now();
        let at = |seconds| now + Duration::from_secs(seconds);
        let [one, other] = [0, 60].map(|seconds| sessions.begin(at(seconds)).unwrap());
        assert_ne!(one, other);
        assert!(sessions.hold(&one, at(60)) && sessions.hold(&other, at(60)));
        for wrong in ["", "session", &one[1..]] {
            assert!(!sessions.hold(wrong, at(60)), "{wrong}");
        }
        let end = LASTS.as_secs();
        assert!(sessions.hold(&one, at(end - 1)));
        assert!(!sessions.hold(&one, at(end)) && sessions.hold(&other, at(end)));
        sessions.end(&one);
        assert!(
            sessions.hold(&other, at(61)),
            "the other session stays open"
        );
        sessions.end(&other);
        assert!(!sessions.hold(&other, at(61)));
    }

    #[test]
    fn the_number_of_sessions_is_bounded() {
        let sessions = Sessions::default();
        let now = Instant::now();
        let texts: Vec<String> = (0..MOST as u64 + 1)
            .map(|second| sessions.begin(now + Duration::from_secs(second)).unwrap())
            .collect();
        let held = texts.iter().map(|text| sessions.hold(text, now));
        assert_eq!(held.filter(|held| *held).count(), MOST);
        assert!(
            !sessions.hold(&texts[0], now),
            "the oldest session has ended"
        );
        let later = now + 2 * LASTS;
        sessions.begin(later).unwrap();
        let left = sessions.0.lock().unwrap().len();
        assert_eq!(left, 1, "expired sessions are forgotten");
    }
}
