//! How are the streams of HTTP/2 used side by side?
//!
//! **Invariant:** a stream that the server resets costs its own request and nothing else; a connection that
//! fails costs those that are out, and each of them says so. After a late or cut answer no new stream is
//! begun.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use tokio::time::Instant;

use super::Answer;
use super::plain::{Plain, size};
use super::session::Session;
use crate::reply::{self, NoReply, Reply};
use crate::request::Request;
use crate::trouble::Trouble;

/// A request that is out.
struct Stream<'a> {
    place: usize,
    asked: Instant,
    reading: Pin<Box<dyn Future<Output = Result<Reply, NoReply>> + Send + 'a>>,
}

/// Asks for all, as many at once as the server allows.
pub(super) async fn get_all(
    plain: &mut Plain,
    session: &mut Session,
    requests: &[Request<'_>],
    at_most: usize,
    mut answered: impl FnMut(usize, Answer),
) {
    let mut sound = session.begin();
    let mut unsent = requests.iter().enumerate();
    if sound && !plain.is_ready().await {
        sound = false;
        let trouble = plain.ended_idle(session);
        if let Some((place, _)) = unsent.next() {
            answered(place, Answer::never_sent(trouble));
        }
    }
    let shared = Arc::clone(&session.shared);
    let limits = &shared.settings.limits;
    let mut out: Vec<Stream<'_>> = Vec::new();
    let (mut asked_for, mut answers) = (0, 0);
    loop {
        while sound && plain.line.is_open() && out.len() < plain.line.width() {
            let Some((place, request)) = unsent.next() else {
                break;
            };
            match session.message(request) {
                Ok(message) => {
                    let asked = Instant::now();
                    let sent = plain.line.send(message);
                    let reading = Box::pin(reply::read(sent, at_most, limits, asked));
                    out.push(Stream {
                        place,
                        asked,
                        reading,
                    });
                    asked_for += 1;
                }
                Err(trouble) => answered(place, Answer::never_sent(trouble)),
            }
        }
        if out.is_empty() {
            break;
        }
        let (nth, outcome) = plain.line.drive(first_of(&mut out)).await;
        let Stream { place, asked, .. } = out.swap_remove(nth);
        let total = asked.elapsed();
        let answer = match outcome {
            Ok(reply) => {
                answers += 1;
                sound &= plain.may_go_on(session, &reply);
                let first_byte = reply.head_at.saturating_duration_since(asked);
                let head = plain.head(session, reply.status, &reply.headers);
                let response = session.response(requests[place].url, reply, head);
                Answer {
                    first_byte,
                    total,
                    wire_bytes: size(&response),
                    outcome: Ok(response),
                }
            }
            Err(missed) => {
                sound &= missed.of_stream().is_some();
                Answer {
                    first_byte: total,
                    total,
                    ..Answer::never_sent(trouble_of(plain, session, missed, requests.len() > 1))
                }
            }
        };
        answered(place, answer);
    }
    // A server that answers nothing this way would be asked the same way for ever.
    if asked_for > 0 && answers == 0 {
        shared.manners.doubt_http2(session.host);
    }
    if sound {
        plain.line.settle().await;
        session.clean = true;
    } else {
        plain.line.close();
    }
    for (place, _) in unsent {
        answered(place, Answer::never_sent(Trouble::Stale));
    }
}

/// Waits for the first of the streams that is done, and says which.
async fn first_of(out: &mut [Stream<'_>]) -> (usize, Result<Reply, NoReply>) {
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

/// Why a request has no answer that was out alone or with several. Where the server took no notice of it,
/// or all were lost together, nothing is known against its page.
fn trouble_of(plain: &mut Plain, session: &Session, missed: NoReply, several: bool) -> Trouble {
    // The server took no notice of the request (RFC 9113, 8.7).
    if missed.of_stream() == Some(h2::Reason::REFUSED_STREAM) {
        return Trouble::Unanswered;
    }
    let lost = several && is_of_all(&missed);
    let trouble = plain.trouble_of(session, missed);
    if lost { Trouble::Unanswered } else { trouble }
}

/// Whether the whole connection failed, and not one stream of it.
fn is_of_all(missed: &NoReply) -> bool {
    matches!(missed, NoReply::Broken(_)) && missed.of_stream().is_none()
}
