//! Decides when a page leaves the index.
//!
//! | evidence | leaves |
//! |---|---|
//! | 410 | at once |
//! | 301, 308 to a page in scope | at once: the index will have that page |
//! | robots.txt forbids it | at once |
//! | 2xx with `noindex`, the canonical URL of another page in scope, or no text | at once |
//! | 204, 205, 404, 401, 403, any 4xx that is not below | when repeated |
//! | other 3xx; a redirect out of scope, to no page, or the 11th in a row | when repeated |
//! | 2xx with the text of the host's soft 404 page | when repeated |
//! | 304 | never: the copy and the links of the last body stay |
//! | no answer, an answer cut off by accident, one that cannot be decoded | never |
//! | 408, 421, 425, 429, 5xx, an unknown status, a redirect to itself | never |
//!
//! Repeated means: in the second consecutive visit that found the page gone. Outages in between
//! do not count.
//!
//! **Invariant:** a page that left the index because it is gone, or robots.txt forbids it, has no
//! validators. Otherwise the server could answer 304, and there would be no text to index again.

use frontier::{PageCopy, Visited};
use page::PageUrl;
use policy::{Outcome, Visit};

use super::{Asked, HOPS, Lead, Verdict};
use crate::answer::Answer;

/// A page leaves the index at this number of consecutive visits with weak evidence. A single one
/// may be due to a deployment or a block of this crawler.
const REPEATED: u16 = 2;
/// The refusal code for a robots.txt rule, which is the site's own decision.
const ROBOTS: &str = "robots";

/// How strong the evidence is that a page is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GoneEvidence {
    None,
    /// The page leaves the index when the evidence is repeated.
    Weak,
    /// The page leaves the index at once.
    Firm,
}

impl<'a> Asked<'a> {
    /// Returns the record of a visit without an answer. The page stays in the index.
    pub fn unanswered(&self, outcome: Outcome, reason: &str, bytes: u64) -> Visited {
        Visited {
            history: self.history.after(Visit::new(self.at, outcome)),
            error: Some(reason.to_owned()),
            bytes,
            copy: self.copy().cloned(),
            ..Visited::default()
        }
    }

    /// Returns the verdict on a page that was not requested. `reason` is the error code. The page
    /// leaves the index if robots.txt forbids it. It stays if a rule of our own, such as that
    /// against traps, forbids the request.
    pub fn refused(&self, reason: &str) -> Verdict {
        let visited = self.unanswered(Outcome::Refused, reason, 0);
        let evidence = if reason == ROBOTS {
            GoneEvidence::Firm
        } else {
            GoneEvidence::None
        };
        Verdict::of(visited).weighed(evidence)
    }

    /// Returns whether an answer is not read because it is incomplete by an accident that may not
    /// happen again.
    ///
    /// A body that is cut for its size, or that expands too much, is cut in every visit. A server
    /// that sends a wrong length, coding or framing twice in a row is assumed to do so always. An
    /// incomplete answer is read if there is no copy, or if the copy is cut in the same way.
    pub(super) fn is_incomplete(&self, answer: &Answer) -> bool {
        let (Some(before), Some(cut)) = (self.before, answer.truncated) else {
            return false;
        };
        let again = before.error.as_deref() == Some(cut);
        let read = matches!(
            before.history.outcome,
            Some(Outcome::Changed | Outcome::Unchanged)
        );
        let accident = match cut {
            "truncated:size" | "truncated:ratio" => false,
            "truncated:length" | "truncated:coding" | "truncated:malformed" => !again,
            _ => true,
        };
        accident && before.copy.is_some() && !(again && read)
    }

    /// Judges an answer whose body is not read: it is incomplete, or its status is not 2xx, or is
    /// 204 or 205.
    pub(super) fn settle(
        &self,
        answer: &Answer,
        bytes: u64,
        ours: &dyn Fn(&PageUrl) -> bool,
    ) -> Verdict {
        let (outcome, evidence) = match answer.status {
            304 if self.copy().is_some() => (Outcome::Unchanged, GoneEvidence::None),
            // An incomplete answer.
            200..=203 | 206..=299 => (Outcome::Unreachable, GoneEvidence::None),
            // A 304 although there is no copy, so the request was not conditional.
            304 => (Outcome::Gone, GoneEvidence::Weak),
            300..=399 => return self.redirected(answer, bytes, ours),
            408 | 421 | 425 | 429 => (Outcome::Unreachable, GoneEvidence::None),
            410 => (Outcome::Gone, GoneEvidence::Firm),
            204 | 205 | 400..=499 => (Outcome::Gone, GoneEvidence::Weak),
            _ => (Outcome::Unreachable, GoneEvidence::None),
        };
        let mut verdict = self.settled(answer, bytes, Visit::new(self.at, outcome));
        let failed = answer.status >= 400;
        verdict.visited.error = answer
            .truncated
            .map(str::to_owned)
            .or(failed.then(|| format!("http:{}", answer.status)));
        verdict.weighed(evidence)
    }

    fn redirected(&self, answer: &Answer, bytes: u64, ours: &dyn Fn(&PageUrl) -> bool) -> Verdict {
        let target = answer.location.as_ref().map(|target| target.as_ref().ok());
        let itself = target.flatten().is_some_and(|target| target == self.url);
        // A server that redirects a page to itself often sets a cookie, and serves the page to
        // clients that send the cookie back. So the redirect says nothing about the page.
        let unsaid = itself && self.copy().is_some();
        let outcome = if unsaid {
            Outcome::Unreachable
        } else {
            Outcome::Gone
        };
        let mut verdict = self.settled(answer, bytes, Visit::new(self.at, outcome));
        let error = match target {
            Some(Some(_)) if itself => Some("redirect:itself"),
            Some(Some(_)) if self.hops >= HOPS => Some("redirect:too-many"),
            Some(Some(target)) => {
                verdict.leads.push(Lead::redirect(target.clone()));
                None
            }
            Some(None) => Some("redirect:not-a-page"),
            None => None,
        };
        verdict.visited.error = error.map(str::to_owned);
        let followed = verdict.leads.first().is_some_and(|lead| ours(&lead.url));
        let permanent = matches!(answer.status, 301 | 308);
        verdict.weighed(match () {
            () if unsaid => GoneEvidence::None,
            () if permanent && followed => GoneEvidence::Firm,
            () => GoneEvidence::Weak,
        })
    }

    /// Judges an answer with the text of the host's soft 404 page.
    pub(super) fn soft_404(&self, answer: &Answer, bytes: u64) -> Verdict {
        let mut verdict = self.settled(answer, bytes, Visit::new(self.at, Outcome::Gone));
        verdict.visited.error = Some("soft-404".into());
        verdict.weighed(GoneEvidence::Weak)
    }

    /// Returns a verdict that stores this visit and keeps the last copy.
    pub(super) fn settled(&self, answer: &Answer, bytes: u64, visit: Visit) -> Verdict {
        Verdict::of(Visited {
            history: self.history.after(visit),
            status: Some(answer.status),
            bytes,
            copy: self.copy().cloned(),
            ..Visited::default()
        })
    }
}

impl Verdict {
    fn of(visited: Visited) -> Self {
        Self {
            visited,
            copied: false,
            repeated: false,
            leads: Vec::new(),
            text: None,
            gone: false,
            dropped: false,
            listing: None,
            signals: Vec::new(),
            strangers: 0,
            lied: false,
        }
    }

    /// Applies the evidence that the page is gone.
    fn weighed(mut self, evidence: GoneEvidence) -> Self {
        let nothing_to_lose = self.visited.copy.is_none();
        self.dropped = match evidence {
            GoneEvidence::None => false,
            GoneEvidence::Weak => nothing_to_lose || self.visited.history.gone >= REPEATED,
            GoneEvidence::Firm => true,
        };
        if let Some(copy) = self.visited.copy.as_mut().filter(|_| self.dropped) {
            self.gone = copy.indexed;
            leave(copy);
        }
        self
    }
}

/// Excludes a copy from the index.
fn leave(copy: &mut PageCopy) {
    copy.indexed = false;
    copy.etag = None;
    copy.last_modified = None;
}
