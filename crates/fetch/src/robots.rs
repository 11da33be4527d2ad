//! Fetches the robots.txt of a host and interprets the outcome.
//!
//! **Invariant:** every hop of a redirect passes the gate. The result applies to the host that was
//! asked first, wherever the redirects led. If a host cannot be reached, nothing may be fetched
//! from it.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use page::robots::ROBOTS_LIMIT;
use page::url::PageUrl;

use crate::connection::{Connection, FetchAnswer};
use crate::fetcher::Fetcher;
use crate::request::FetchRequest;
use crate::response::{Response, Truncation};
use crate::trouble::Trouble;

/// RFC 9309, 2.3.1.2: at least five redirects should be followed.
const HOPS: usize = 5;

/// The outcome of a request for robots.txt.
#[derive(Debug, Clone)]
pub struct RobotsAnswer {
    /// The meaning of the outcome for the crawl.
    pub verdict: RobotsVerdict,
    /// The status of the last response, if there was one.
    pub status: Option<u16>,
    /// Why the last request got no response; `None` if it got one.
    pub trouble: Option<Trouble>,
    /// How long the server asks to wait before the next try.
    pub retry_after: Option<Duration>,
    /// Bytes received, over all hops.
    pub wire_bytes: u64,
}

/// The meaning of a robots.txt response (RFC 9309, 2.3.1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RobotsVerdict {
    /// The file, cut at [`ROBOTS_LIMIT`] bytes. The last line of a longer file may be incomplete.
    Found(Bytes),
    /// There is no file (4xx except 429), or no usable redirect to it: everything is allowed.
    Missing,
    /// The file cannot be fetched now (5xx, 429, no answer). Everything is disallowed, and the
    /// file is requested again later.
    Unavailable,
}

impl Fetcher {
    /// Fetches the robots.txt of a page's host.
    ///
    /// Uses `connection` if it is open and leads to that host. Afterwards `connection` holds the
    /// last connection to the host, which may have ended, or `None` if none was opened.
    pub async fn robots(&self, url: &PageUrl, connection: &mut Option<Connection>) -> RobotsAnswer {
        let mut answer = RobotsAnswer {
            verdict: RobotsVerdict::Unavailable,
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
            let connection = if place.host() == url.host() {
                &mut *connection
            } else {
                &mut elsewhere
            };
            let came = self.ask_with_retries(&place, connection).await;
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
                    answer.verdict = RobotsVerdict::Missing;
                    return answer;
                }
                None => {
                    answer.verdict = verdict_on(&response);
                    return answer;
                }
            }
        }
        // RFC 9309, 2.3.1.2: after too many redirects the file may be treated as missing.
        answer.verdict = RobotsVerdict::Missing;
        answer
    }

    /// Sends the request over the given connection or a new one, at most three times.
    ///
    /// Repeats it only where [`Trouble::is_repeatable`] allows it.
    async fn ask_with_retries(
        &self,
        place: &PageUrl,
        connection: &mut Option<Connection>,
    ) -> FetchAnswer {
        for _ in 0..2 {
            let answer = self.ask_once(place, connection).await;
            let repeat = answer.outcome.as_ref().err().map(Trouble::is_repeatable);
            if repeat != Some(true) {
                return answer;
            }
            *connection = None;
        }
        self.ask_once(place, connection).await
    }

    async fn ask_once(&self, place: &PageUrl, connection: &mut Option<Connection>) -> FetchAnswer {
        let kept = connection
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
                connection
                    .insert(opened)
                    .get_at_most(&asking(place), ROBOTS_LIMIT)
                    .await
            }
            Err(trouble) => FetchAnswer::never_sent(trouble),
        }
    }
}

fn asking(url: &PageUrl) -> FetchRequest<'_> {
    FetchRequest {
        url,
        etag: None,
        last_modified: None,
    }
}

fn verdict_on(response: &Response) -> RobotsVerdict {
    match response.status {
        // A file cut by a failure may lack the rule that matters. One that is merely too long is
        // used up to the limit (RFC 9309, 2.5).
        200..=299
            if !matches!(
                response.truncated,
                None | Some(Truncation::Size | Truncation::Ratio)
            ) =>
        {
            RobotsVerdict::Unavailable
        }
        200..=299 => RobotsVerdict::Found(
            response
                .content
                .slice(..response.content.len().min(ROBOTS_LIMIT)),
        ),
        // hostile-web.md, row 44: a server that asks for fewer requests must not get more.
        429 => RobotsVerdict::Unavailable,
        300..=499 => RobotsVerdict::Missing,
        _ => RobotsVerdict::Unavailable,
    }
}
