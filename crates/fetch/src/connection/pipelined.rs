//! HTTP/1.1 pipelining: sends requests before the first one is answered.
//!
//! Servers that mishandle it are recorded in [`ServerQuirks`](crate::quirks::ServerQuirks).
//! Pipelining stops at once for a server in three cases: bytes arrive that are no answer to a
//! request, a later request is still unanswered at its deadline, or the end of an answer is
//! ambiguous. For a server that only closes the connection, the record counts how often.
//!
//! **Invariant:** the n-th answer belongs to the n-th request. Where the count may be wrong, the
//! remaining requests are abandoned.

use std::collections::VecDeque;
use std::sync::Arc;

use page::url::HostId;
use tokio::time::Instant;

use super::FetchAnswer;
use super::session::{Session, has_two_lengths};
use crate::pipeline::{NoAnswer, Pipeline, WholeAnswer};
use crate::quirks::ServerQuirks;
use crate::request::FetchRequest;
use crate::response::Truncation;
use crate::trouble::Trouble;

/// Why a pipeline carries no further request.
enum PipelineEnd {
    /// The server closed the connection, or announced that it would.
    HungUp,
    /// We abandoned the connection, for example at a limit.
    GivenUp,
    /// The server's answers no longer match the requests.
    Lost,
}

/// Requests that are sent together.
struct PipelinedBatch {
    /// Whether the batch has more than one request.
    several: bool,
    /// Answers that the connection gave before this batch.
    before: usize,
    /// Answers to this batch.
    answers: usize,
    /// Requests of this batch that were sent and not answered.
    unanswered: usize,
    /// When the last answer was processed.
    ready: Option<Instant>,
}

/// Requests all pages, with as many requests in flight as the server supports.
pub(super) async fn get_all(
    pipeline: &mut Pipeline,
    session: &mut Session,
    requests: &[FetchRequest<'_>],
    at_most: usize,
    mut answered: impl FnMut(usize, FetchAnswer),
) {
    let shared = Arc::clone(&session.shared);
    let limits = &shared.settings.limits;
    let mut batch = PipelinedBatch {
        several: requests.len() > 1,
        before: session.served as usize,
        answers: 0,
        unanswered: 0,
        ready: None,
    };
    let mut sound = session.begin();
    let mut unsent = requests.iter().enumerate();
    if sound {
        let unsolicited = pipeline.got_unsolicited().await;
        sound = pipeline.is_open();
        if !sound && let Some((place, _)) = unsent.next() {
            answered(
                place,
                FetchAnswer::never_sent(session.ended_idle(unsolicited)),
            );
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
                Err(trouble) => answered(place, FetchAnswer::never_sent(trouble)),
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
            FetchAnswer {
                outcome,
                first_byte: first.unwrap_or(total),
                total,
                wire_bytes: turn.bytes,
            },
        );
        // Time spent processing the answer must not count as the server's.
        batch.ready = Some(Instant::now());
    }
    if sound && end.is_none() {
        let unsolicited = pipeline.got_unsolicited().await;
        session.clean = pipeline.is_open();
        session.unsolicited = unsolicited;
        end = unsolicited.then_some(PipelineEnd::Lost);
    } else {
        pipeline.close();
    }
    batch.unanswered += out.len();
    batch.record_outcome(&shared.quirks, session.host, pipeline.width(), end);
    for (place, ..) in out {
        answered(place, FetchAnswer::never_sent(Trouble::Unanswered));
    }
    for (place, _) in unsent {
        answered(place, FetchAnswer::never_sent(session.unusable()));
    }
}

impl PipelinedBatch {
    /// Returns the trouble of the next request, which was sent at `sent` and got only `bytes`
    /// bytes of an answer, and why the pipeline ends.
    fn missed(&self, missed: NoAnswer, sent: Instant, bytes: u64) -> (Trouble, PipelineEnd) {
        let waited = self.ready.is_some_and(|ready| sent < ready);
        match missed {
            NoAnswer::Late if waited => (Trouble::Unanswered, PipelineEnd::Lost),
            NoAnswer::Late => (Trouble::FirstByteTimeout, PipelineEnd::GivenUp),
            NoAnswer::Ended if self.several => (Trouble::Unanswered, PipelineEnd::HungUp),
            NoAnswer::Ended if bytes == 0 && self.before > 0 => {
                (Trouble::Stale, PipelineEnd::HungUp)
            }
            NoAnswer::Ended => (Trouble::Reset, PipelineEnd::HungUp),
            // Sent alone, the request may succeed. A head whose only fault is its size is final.
            NoAnswer::Refused(Trouble::Protocol(_) | Trouble::Unsolicited) if self.several => {
                (Trouble::Unanswered, PipelineEnd::Lost)
            }
            NoAnswer::Refused(trouble) => (trouble, PipelineEnd::GivenUp),
        }
    }

    /// Records how the server handled the batch.
    fn record_outcome(
        &self,
        quirks: &ServerQuirks,
        host: HostId,
        width: usize,
        end: Option<PipelineEnd>,
    ) {
        if !self.several {
            return;
        }
        // A kept connection that closes before its first answer is normal and says nothing about
        // pipelining.
        let is_evidence = self.before == 0 || self.answers > 0;
        let ended_early = is_evidence && self.answers < width && self.unanswered > 0;
        match end {
            Some(PipelineEnd::Lost) => quirks.stop_pipelining(host),
            Some(PipelineEnd::HungUp) if ended_early => {
                quirks.ended_early(host, self.answers);
            }
            Some(PipelineEnd::GivenUp) => {}
            Some(PipelineEnd::HungUp) | None => quirks.completed_batch(host),
        }
    }
}

/// Returns why no other answer can follow this one; `None` if one can.
fn end_after(whole: &WholeAnswer) -> Option<PipelineEnd> {
    match whole.reply.cut {
        Some(Truncation::Malformed) => Some(PipelineEnd::Lost),
        Some(Truncation::Length | Truncation::Reset) => Some(PipelineEnd::HungUp),
        Some(_) => Some(PipelineEnd::GivenUp),
        None if has_two_lengths(&whole.reply.headers) => Some(PipelineEnd::Lost),
        None if !whole.keeps_open => Some(PipelineEnd::HungUp),
        None => None,
    }
}
