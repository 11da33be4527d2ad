//! What did the server answer when asked for its robots.txt?
//!
//! **Invariant:** every hop of a redirect passes the gate, and the answer is for the server that was
//! asked, wherever it came from. Silence is not permission: what cannot be reached disallows.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use page::robots::ROBOTS_LIMIT;
use page::url::PageUrl;

use crate::connection::{Answer, Connection};
use crate::fetcher::Fetcher;
use crate::request::Request;
use crate::response::{Response, Truncation};
use crate::trouble::Trouble;

/// RFC 9309, 2.3.1.2: at least five redirects should be followed.
const HOPS: usize = 5;

/// What came of asking for a robots.txt.
#[derive(Debug, Clone)]
pub struct RobotsAnswer {
    /// What it means.
    pub verdict: Verdict,
    /// The status of the last response, if there was one.
    pub status: Option<u16>,
    /// What went wrong, if there was none.
    pub trouble: Option<Trouble>,
    /// How long the server asks us to wait before the next try.
    pub retry_after: Option<Duration>,
    /// Bytes that came, over all hops.
    pub wire_bytes: u64,
}

/// What the answer means (RFC 9309, 2.3.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// The file, at most [`ROBOTS_LIMIT`] bytes of it and its last line perhaps incomplete.
    Found(Bytes),
    /// There is none: everything is allowed.
    Missing,
    /// It cannot be reached now (5xx, 429, no answer): everything is disallowed, and it is asked for
    /// again later.
    Unavailable,
}

impl Fetcher {
    /// Asks the server of a page for its robots.txt. `connection` is used if it leads there, and holds an
    /// open connection to that server afterwards if there is one.
    pub async fn robots(&self, url: &PageUrl, connection: &mut Option<Connection>) -> RobotsAnswer {
        let mut answer = RobotsAnswer {
            verdict: Verdict::Unavailable,
            status: None,
            trouble: None,
            retry_after: None,
            wire_bytes: 0,
        };
        let Ok(mut place) = url.join("/robots.txt") else {
            return answer;
        };
        let mut elsewhere = None;
        for _ in 0..=HOPS {
            let line = if place.host() == url.host() {
                &mut *connection
            } else {
                &mut elsewhere
            };
            let came = self.ask_until_heard(&place, line).await;
            answer.wire_bytes += came.wire_bytes;
            let response = match came.outcome {
                Ok(response) => response,
                Err(trouble) => {
                    answer.trouble = Some(trouble);
                    return answer;
                }
            };
            answer.status = Some(response.status);
            answer.retry_after = response.retry_after(SystemTime::now());
            match response.location(&place) {
                Some(Ok(next)) => place = next,
                Some(Err(_)) => {
                    answer.verdict = Verdict::Missing;
                    return answer;
                }
                None => {
                    answer.verdict = verdict_on(&response);
                    return answer;
                }
            }
        }
        // RFC 9309, 2.3.1.2: after too many redirects it may be taken for missing.
        answer.verdict = Verdict::Missing;
        answer
    }

    /// Asks over the connection at hand, or a new one. Asks again where the server was not really asked: it
    /// had closed a kept connection, then did not speak the HTTP that was tried.
    async fn ask_until_heard(&self, place: &PageUrl, line: &mut Option<Connection>) -> Answer {
        for _ in 0..2 {
            let answer = self.ask_once(place, line).await;
            let repeat = answer.outcome.as_ref().err().map(Trouble::is_repeatable);
            if repeat != Some(true) {
                return answer;
            }
            *line = None;
        }
        self.ask_once(place, line).await
    }

    async fn ask_once(&self, place: &PageUrl, line: &mut Option<Connection>) -> Answer {
        let kept = line
            .take()
            .filter(|kept| kept.is_open() && kept.leads_to(place));
        let opened = match kept {
            Some(kept) => Ok(kept),
            None => match self.route(place).await {
                Ok(route) => self.connect(place, &route).await,
                Err(trouble) => Err(trouble),
            },
        };
        match opened {
            Ok(opened) => {
                line.insert(opened)
                    .get_at_most(&asking(place), ROBOTS_LIMIT)
                    .await
            }
            Err(trouble) => Answer::never_sent(trouble),
        }
    }
}

fn asking(url: &PageUrl) -> Request<'_> {
    Request {
        url,
        etag: None,
        last_modified: None,
    }
}

fn verdict_on(response: &Response) -> Verdict {
    match response.status {
        // Half a file may lack the rule that matters; a file that is merely long may not (2.5).
        200..=299
            if !matches!(
                response.truncated,
                None | Some(Truncation::Size | Truncation::Ratio)
            ) =>
        {
            Verdict::Unavailable
        }
        200..=299 => Verdict::Found(
            response
                .content
                .slice(..response.content.len().min(ROBOTS_LIMIT)),
        ),
        // hostile-web.md, row 44: whoever asks for less must not be given more.
        429 => Verdict::Unavailable,
        300..=499 => Verdict::Missing,
        _ => Verdict::Unavailable,
    }
}
