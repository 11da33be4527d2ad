//! The sessions of operators who gave the token in a browser.
//!
//! **Invariant:** every login begins a session of its own; neither the end of one nor its expiry ends another. They are kept in
//! memory only, so a restart of the server ends all of them, and their number is bounded.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use anyhow::Result;
use ring::digest;

use super::token;

/// How long a session lasts: a working day.
pub const LASTS: Duration = Duration::from_secs(12 * 3600);
/// Sessions at once. With one more the oldest ends: an operator has a few browsers, and who knows the token may begin any number.
const MOST: usize = 100;

/// The sessions that have begun and not ended.
#[derive(Default)]
pub struct Sessions(Mutex<HashMap<Id, Instant>>);

/// The SHA-256 of a session's id, so that the time of a lookup says nothing of an id.
type Id = [u8; digest::SHA256_OUTPUT_LEN];

impl Sessions {
    /// Begins a session. Returns its id, for the cookie.
    pub fn begin(&self, now: Instant) -> Result<String> {
        let text = token::random()?;
        let mut begun = self.lock();
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

    /// Returns whether a text is the id of a session that has not ended.
    pub fn hold(&self, text: &str, now: Instant) -> bool {
        let begun = self.lock().get(&id(text)).copied();
        begun.is_some_and(|at| is_current(at, now))
    }

    /// Ends a session.
    pub fn end(&self, text: &str) {
        self.lock().remove(&id(text));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Id, Instant>> {
        self.0
            .lock()
            .expect("nothing panics while the lock is held")
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
        assert!(sessions.hold(&other, at(61)), "another goes on");
        sessions.end(&other);
        assert!(!sessions.hold(&other, at(61)));
    }

    #[test]
    fn their_number_is_bounded() {
        let sessions = Sessions::default();
        let now = Instant::now();
        let texts: Vec<String> = (0..MOST as u64 + 1)
            .map(|second| sessions.begin(now + Duration::from_secs(second)).unwrap())
            .collect();
        let held = texts.iter().map(|text| sessions.hold(text, now));
        assert_eq!(held.filter(|held| *held).count(), MOST);
        assert!(!sessions.hold(&texts[0], now), "the oldest ended");
        let later = now + 2 * LASTS;
        sessions.begin(later).unwrap();
        assert_eq!(sessions.lock().len(), 1, "what has expired is forgotten");
    }
}
