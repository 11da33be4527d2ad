//! Concurrent requests over the streams of HTTP/2.
//!
//! **Invariant:** a stream that the server resets affects only its own request. A connection
//! that fails affects all requests in flight, and each of them reports it. After a late or
//! truncated answer no new stream is opened.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use tokio::time::Instant;

use super::FetchAnswer;
use super::hyper_channel::{HyperChannel, size};
use super::session::Session;
use crate::reply::{self, NoReply, RawReply};
use crate::request::FetchRequest;
use crate::trouble::Trouble;

/// A request in flight.
struct Stream<'a> {
    place: usize,
    asked: Instant,
    reading: Pin<Box<dyn Future<Output = Result<RawReply, NoReply>> + Send + 'a>>,
}

/// Requests all pages, with as many requests in flight as the server allows.
pub(super) async fn get_all(
    channel: &mut HyperChannel,
    session: &mut Session,
    requests: &[FetchRequest<'_>],
    at_most: usize,
    mut answered: impl FnMut(usize, FetchAnswer),
) {
    let mut sound = session.begin();
    let mut unsent = requests.iter().enumerate();
    if sound && !channel.is_ready().await {
        sound = false;
        let trouble = channel.ended_idle(session);
        if let Some((place, _)) = unsent.next() {
            answered(place, FetchAnswer::never_sent(trouble));
        }
    }
    let shared = Arc::clone(&session.shared);
    let limits = &shared.settings.limits;
    let mut out: Vec<Stream<'_>> = Vec::new();
    let (mut asked_for, mut answers) = (0, 0);
    loop {
        while sound && channel.hyper.is_open() && out.len() < channel.hyper.width() {
            let Some((place, request)) = unsent.next() else {
                break;
            };
            match session.message(request) {
                Ok(message) => {
                    let asked = Instant::now();
                    let sent = channel.hyper.send(message);
                    let reading = Box::pin(reply::read(sent, at_most, limits, asked));
                    out.push(Stream {
                        place,
                        asked,
                        reading,
                    });
                    asked_for += 1;
                }
                Err(trouble) => answered(place, FetchAnswer::never_sent(trouble)),
            }
        }
        if out.is_empty() {
            break;
        }
        let (nth, outcome) = channel.hyper.drive(first_of(&mut out)).await;
        let Stream { place, asked, .. } = out.swap_remove(nth);
        let total = asked.elapsed();
        let answer = match outcome {
            Ok(reply) => {
                answers += 1;
                sound &= channel.may_go_on(session, &reply);
                let first_byte = reply.head_at.saturating_duration_since(asked);
                let head = channel.head(session, reply.status, &reply.headers);
                let response = session.response(requests[place].url, reply, head);
                FetchAnswer {
                    first_byte,
                    total,
                    wire_bytes: size(&response),
                    outcome: Ok(response),
                }
            }
            Err(missed) => {
                sound &= missed.of_stream().is_some();
                FetchAnswer {
                    first_byte: total,
                    total,
                    ..FetchAnswer::never_sent(trouble_of(
                        channel,
                        session,
                        missed,
                        requests.len() > 1,
                    ))
                }
            }
        };
        answered(place, answer);
    }
    // Without this record, a server that answers nothing over HTTP/2 would be asked the same way
    // forever.
    if asked_for > 0 && answers == 0 {
        shared.quirks.avoid_http2_unless_answered(session.host);
    }
    if sound {
        channel.hyper.settle().await;
        session.clean = true;
    } else {
        channel.hyper.close();
    }
    for (place, _) in unsent {
        answered(place, FetchAnswer::never_sent(Trouble::Stale));
    }
}

/// Waits for the first stream that completes. Returns its index and outcome.
async fn first_of(out: &mut [Stream<'_>]) -> (usize, Result<RawReply, NoReply>) {
    poll_fn(|cx| {
        for (nth, stream) in out.iter_mut().enumerate() {
            if let Poll::Ready(outcome) = stream.reading.as_mut().poll(cx) {
                return Poll::Ready((nth, outcome));
            }
        }
        Poll::Pending
    })
    .await
}

/// Returns the trouble of a request without an answer.
///
/// It is [`Trouble::Unanswered`] where the failure says nothing about the page: the server
/// refused the stream, or several requests were lost together.
fn trouble_of(
    channel: &mut HyperChannel,
    session: &Session,
    missed: NoReply,
    several: bool,
) -> Trouble {
    // The server did not process the request (RFC 9113, 8.7).
    if missed.of_stream() == Some(h2::Reason::REFUSED_STREAM) {
        return Trouble::Unanswered;
    }
    let lost = several && is_of_all(&missed);
    let trouble = channel.trouble_of(session, missed);
    if lost { Trouble::Unanswered } else { trouble }
}

/// Returns whether the whole connection failed, and not a single stream.
fn is_of_all(missed: &NoReply) -> bool {
    matches!(missed, NoReply::Broken(_)) && missed.of_stream().is_none()
}
