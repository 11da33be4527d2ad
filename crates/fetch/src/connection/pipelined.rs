//! What comes of requests that are sent before the first is answered?
//!
//! What is remembered of a server that does not take it well is in [`Manners`](crate::manners::Manners):
//! it stops at once with a server that sends what is no answer where an answer should begin, that leaves
//! the second unanswered until the time is over, or whose answers leave open where they end. With one that
//! only hangs up it goes by how often.
//!
//! **Invariant:** the n-th answer belongs to the n-th request. Where the count can be in doubt, the rest
//! are given up, and never guessed.

use std::collections::VecDeque;
use std::sync::Arc;

use page::url::HostId;
use tokio::time::Instant;

use super::Answer;
use super::session::{Session, has_two_lengths};
use crate::manners::Manners;
use crate::pipeline::{Missed, Pipeline, Whole};
use crate::request::Request;
use crate::response::Truncation;
use crate::trouble::Trouble;

/// Why a pipeline carries nothing more.
enum End {
    /// The server hung up, or said that it would.
    HungUp,
    /// We had enough.
    GivenUp,
    /// The server has lost its place.
    Lost,
}

/// Requests that are sent together.
struct Batch {
    several: bool,
    /// Answers that the connection gave before.
    before: usize,
    /// Answers that it gave to these.
    answers: usize,
    /// Those of these that were sent in vain.
    unanswered: usize,
    /// When the last answer was done with.
    ready: Option<Instant>,
}

/// Asks for all, as many at once as the server takes.
pub(super) async fn get_all(
    pipeline: &mut Pipeline,
    session: &mut Session,
    requests: &[Request<'_>],
    at_most: usize,
    mut answered: impl FnMut(usize, Answer),
) {
    let shared = Arc::clone(&session.shared);
    let limits = &shared.settings.limits;
    let mut batch = Batch {
        several: requests.len() > 1,
        before: session.served as usize,
        answers: 0,
        unanswered: 0,
        ready: None,
    };
    let mut sound = session.begin();
    let mut unsent = requests.iter().enumerate();
    if sound {
        let spoke = pipeline.spoke_unasked().await;
        sound = pipeline.is_open();
        if !sound && let Some((place, _)) = unsent.next() {
            answered(place, Answer::never_sent(session.ended_idle(spoke)));
        }
    }
    let mut out: VecDeque<(usize, Instant, u64)> = VecDeque::new();
    let mut end = None;
    while sound && end.is_none() {
        while out.len() < pipeline.width()
            && let Some((place, request)) = unsent.next()
        {
            match session.message(request) {
                Ok(message) => {
                    let not_before = pipeline.put(&message);
                    out.push_back((place, Instant::now(), not_before));
                }
                Err(trouble) => answered(place, Answer::never_sent(trouble)),
            }
        }
        let Some((place, sent, not_before)) = out.pop_front() else {
            break;
        };
        let from = batch.ready.map_or(sent, |ready| ready.max(sent));
        let turn = pipeline.answer(not_before, at_most, limits, from).await;
        let total = from.elapsed();
        let outcome = match turn.outcome {
            Ok(whole) => {
                session.served += 1;
                end = end_after(&whole);
                Ok(session.response(requests[place].url, whole.reply, whole.head))
            }
            Err(missed) => {
                let (trouble, reason) = batch.missed(missed, sent, turn.bytes);
                end = Some(reason);
                Err(trouble)
            }
        };
        batch.answers += usize::from(outcome.is_ok());
        batch.unanswered += usize::from(outcome.is_err());
        let first = turn.first_byte.map(|at| at.saturating_duration_since(from));
        answered(
            place,
            Answer {
                outcome,
                first_byte: first.unwrap_or(total),
                total,
                wire_bytes: turn.bytes,
            },
        );
        // What was done with the answer was our time, not the server's.
        batch.ready = Some(Instant::now());
    }
    if sound && end.is_none() {
        let spoke = pipeline.spoke_unasked().await;
        session.clean = pipeline.is_open();
        session.spoke = spoke;
        end = spoke.then_some(End::Lost);
    } else {
        pipeline.close();
    }
    batch.unanswered += out.len();
    batch.teach(&shared.manners, session.host, pipeline.width(), end);
    for (place, ..) in out {
        answered(place, Answer::never_sent(Trouble::Unanswered));
    }
    for (place, _) in unsent {
        answered(place, Answer::never_sent(session.unusable()));
    }
}

impl Batch {
    /// What it means that the next request, sent then, has no answer, of which so many bytes came.
    fn missed(&self, missed: Missed, sent: Instant, bytes: u64) -> (Trouble, End) {
        let waited = self.ready.is_some_and(|ready| sent < ready);
        match missed {
            Missed::Late if waited => (Trouble::Unanswered, End::Lost),
            Missed::Late => (Trouble::FirstByteTimeout, End::GivenUp),
            Missed::Ended if self.several => (Trouble::Unanswered, End::HungUp),
            Missed::Ended if bytes == 0 && self.before > 0 => (Trouble::Stale, End::HungUp),
            Missed::Ended => (Trouble::Reset, End::HungUp),
            // Alone it may be another story. A head that is proper but for its size stays what it is.
            Missed::Refused(Trouble::Protocol(_) | Trouble::Unasked) if self.several => {
                (Trouble::Unanswered, End::Lost)
            }
            Missed::Refused(trouble) => (trouble, End::GivenUp),
        }
    }

    /// Takes note of how the server took it.
    fn teach(&self, manners: &Manners, host: HostId, width: usize, end: Option<End>) {
        if !self.several {
            return;
        }
        // That a kept connection was closed before it said anything is usual, and no matter of pipelining.
        let is_telling = self.before == 0 || self.answers > 0;
        let ended_early = is_telling && self.answers < width && self.unanswered > 0;
        match end {
            Some(End::Lost) => manners.stop_pipelining(host),
            Some(End::HungUp) if ended_early => {
                manners.ended_early(host, self.answers);
            }
            Some(End::GivenUp) => {}
            Some(End::HungUp) | None => manners.kept_up(host),
        }
    }
}

/// Why nothing can follow an answer, if so.
fn end_after(whole: &Whole) -> Option<End> {
    match whole.reply.cut {
        Some(Truncation::Malformed) => Some(End::Lost),
        Some(Truncation::Length | Truncation::Reset) => Some(End::HungUp),
        Some(_) => Some(End::GivenUp),
        None if has_two_lengths(&whole.reply.headers) => Some(End::Lost),
        None if !whole.keeps_open => Some(End::HungUp),
        None => None,
    }
}
