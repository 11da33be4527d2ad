//! One visit to one server: pages asked for one after another.
//!
//! Holds the visit from the claim to its settlement, whatever the server does in between.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use fetch::{Connection, Request, Response, Trouble};
use frontier::{Visit, Visited};
use page::PageUrl;
use policy::{Moment, Outcome};
use repository::archive::{Capture, Original, Profile, Sealed, Truncated, seal};

use super::Engine;
use super::claimed::Claimed;
use super::committer::Settled;
use super::host::{Host, LONGEST_WAIT};
use super::plan::TOKEN;
use super::reach::End;
use super::shared::Source;
use crate::answer::Answer;
use crate::verdict::Verdict;

/// Every so many revisits a page is fetched whole: a server's 304 is a hint (hostile-web.md, row 68).
const TRUST: u32 = 8;

impl Engine {
    /// Makes one visit.
    pub(super) async fn visit(self: &Arc<Self>, visit: Visit) {
        let mut visit = Some(visit);
        let mut asked = 0;
        let mut wait = Duration::ZERO;
        let mut connection = None;
        let ended = self
            .pages(&mut visit, &mut asked, &mut wait, &mut connection)
            .await;
        let now = self.clock.now();
        let Some(visit) = visit else { return };
        let mut shared = self.shared();
        let host = visit.host;
        match ended {
            Ok(delay) => {
                let open = connection.filter(Connection::is_open);
                if let Some(connection) = open {
                    shared.keep_connection(host, connection, now);
                }
                shared.settle(visit, asked, now, delay.max(wait).min(LONGEST_WAIT));
            }
            Err(End::Moved) => {}
            Err(end) => {
                let (kind, transient) = match &end {
                    End::Trouble(trouble) => (trouble.kind(), trouble.is_transient()),
                    _ => ("robots:unavailable", true),
                };
                let again = shared
                    .host(host)
                    .and_then(Host::failed)
                    .filter(|_| transient);
                drop(shared);
                if again.is_none() {
                    self.give_up(&visit, asked, kind);
                    asked = visit.pages.len();
                }
                let mut shared = self.shared();
                if again.is_none() {
                    shared.frontier.bench.park(host);
                }
                let delay = again.unwrap_or(LONGEST_WAIT).max(wait);
                shared.settle(visit, asked, now, delay);
            }
        }
    }

    /// Fetches the pages of a visit in turn. Returns the delay that the server is due.
    async fn pages(
        &self,
        visit: &mut Option<Visit>,
        asked: &mut usize,
        wait: &mut Duration,
        connection: &mut Option<Connection>,
    ) -> Result<Duration, End> {
        let pages = visit
            .as_ref()
            .map(|visit| visit.pages.clone())
            .unwrap_or_default();
        // A visit that asked the server for nothing owes it no delay.
        let mut due = Duration::ZERO;
        for page in pages {
            if self.stopping() {
                break;
            }
            let Some(claimed) = self.claimed(page) else {
                break;
            };
            self.recall_host(&claimed);
            self.connect(visit, *asked, &claimed.url, connection)
                .await?;
            let (rules, from_server) = self.rules(&claimed.url, connection).await?;
            let delay = self.delay(connection.as_ref(), &rules);
            if from_server && !delay.is_zero() {
                due = delay;
                break; // The file was a request too: the page waits its turn.
            }
            if let Some(reason) = self.forbidden(&claimed.url, &rules) {
                self.refuse(&claimed, reason);
                *asked += 1;
                continue;
            }
            if !self.shared().take_allowance() {
                break;
            }
            self.permit().await;
            match self.ask(visit, *asked, &claimed, connection).await {
                Ok(pause) => *wait = (*wait).max(pause),
                Err(end) => {
                    self.permits.add_permits(1);
                    self.shared().return_allowance();
                    return Err(end);
                }
            }
            *asked += 1;
            due = delay;
            if !due.is_zero() || !wait.is_zero() {
                break;
            }
        }
        Ok(due)
    }

    /// Asks for one page and settles it. Returns how long the server wants to be left alone.
    async fn ask(
        &self,
        visit: &mut Option<Visit>,
        asked: usize,
        claimed: &Claimed,
        connection: &mut Option<Connection>,
    ) -> Result<Duration, End> {
        let at = self.clock.now();
        let copy = claimed
            .before
            .as_ref()
            .and_then(|before| before.copy.as_ref());
        let trusted = copy.filter(|_| !(claimed.history().revisits + 1).is_multiple_of(TRUST));
        let request = Request {
            url: &claimed.url,
            etag: trusted.and_then(|copy| copy.etag.as_deref()),
            last_modified: trusted.and_then(|copy| copy.last_modified.as_deref()),
        };
        let mut repeated = false;
        let answer = loop {
            self.connect(visit, asked, &claimed.url, connection).await?;
            let Some(open) = connection else {
                return Err(End::Trouble(Trouble::Stale));
            };
            let answer = open.get(&request).await;
            // A kept connection that was closed under us: the server never saw the request.
            if matches!(answer.outcome, Err(Trouble::Stale)) && !repeated {
                *connection = None;
                repeated = true;
                continue;
            }
            break answer;
        };
        let mut pause = Duration::ZERO;
        match &answer.outcome {
            Ok(response) => {
                if let Some(host) = self.shared().host(claimed.url.host()) {
                    host.answered(answer.first_byte);
                }
                if matches!(response.status, 429 | 503) {
                    pause = response
                        .retry_after(SystemTime::now())
                        .unwrap_or(Duration::from_secs(5));
                }
                if let Some(open) = connection {
                    let from = open.address().ip();
                    self.answered(claimed, response, answer.wire_bytes, from, at);
                }
            }
            Err(trouble) => {
                let mut shared = self.shared();
                shared.return_allowance();
                if trouble.is_transient() {
                    match shared.host(claimed.url.host()).map(Host::faltered) {
                        Some(Some(wait)) => pause = wait,
                        Some(None) => shared.frontier.bench.park(claimed.url.host()),
                        None => {}
                    }
                }
                drop(shared);
                let unanswered = claimed.asked(at);
                let bytes = answer.wire_bytes;
                let visited = unanswered.unanswered(Outcome::Unreachable, trouble.kind(), bytes);
                self.push(claimed, visited, true);
            }
        }
        Ok(pause)
    }

    /// Reads an answer and hands over what it means.
    fn answered(
        &self,
        claimed: &Claimed,
        response: &Response,
        bytes: u64,
        address: IpAddr,
        at: Moment,
    ) {
        let cut = response.truncated.and_then(|cut| cut.warc()).map(truncated);
        let capture = Capture::new(
            &claimed.url,
            timestamp(at),
            address,
            &response.head,
            &response.body,
            cut,
        );
        let live = Answer::live(response, &claimed.url, TOKEN, capture.digest());
        let depth = claimed.discovery.depth;
        let ours = |url: &PageUrl| self.shared().scope.judge(url, depth).is_ok();
        let verdict = claimed.asked(at).judge(&live, bytes, &ours);
        let sealed = self
            .plan
            .archive
            .then(|| self.seal(claimed, &capture, &verdict));
        let now = self.clock.now();
        let mut shared = self.shared();
        if !matches!(live.status, 200..=299 | 304) {
            shared.return_allowance();
        }
        if let Some(text) = verdict
            .visited
            .copy
            .as_ref()
            .and_then(|copy| copy.text.as_ref())
            && verdict.copied
        {
            shared.frontier.novelty.observe(claimed.url.pattern(), text);
        }
        let source = Source {
            url: &claimed.url,
            depth,
            hops: claimed.discovery.hops,
        };
        let admitted = shared.admit(&verdict.leads, Some(&source), now);
        let settled = Settled {
            key: claimed.key,
            url: claimed.url.clone(),
            visited: verdict.visited,
            sealed,
            copied: verdict.copied,
            text: verdict.text,
            gone: verdict.gone,
            admitted,
            asked: true,
        };
        shared.push(settled, now);
        if shared.visits < self.plan.connections && shared.frontier.bench.is_ready(now) {
            self.changed.notify_one();
        }
    }

    fn seal(&self, claimed: &Claimed, capture: &Capture<'_>, verdict: &Verdict) -> Sealed {
        let copy = claimed
            .before
            .as_ref()
            .and_then(|before| before.copy.as_ref());
        let profile = match verdict.visited.status {
            Some(304) => Some(Profile::NotModified),
            _ if verdict.repeated => Some(Profile::IdenticalPayload),
            _ => None,
        };
        match (profile, copy) {
            (Some(profile), Some(copy)) if copy.place.is_some() => {
                let original = Original {
                    url: &claimed.url,
                    at: timestamp(copy.at),
                    digest: repository::archive::Digest(copy.payload),
                };
                seal::revisit(capture, &original, profile, self.plan.level)
            }
            _ => seal::response(capture, self.plan.level),
        }
    }

    fn refuse(&self, claimed: &Claimed, reason: &str) {
        let asked = claimed.asked(self.clock.now());
        self.push(
            claimed,
            asked.unanswered(Outcome::Refused, reason, 0),
            false,
        );
    }

    /// Settles the rest of a visit to a host that is left alone, so that the reason can be seen.
    fn give_up(&self, visit: &Visit, asked: usize, kind: &str) {
        for &page in visit.pages.iter().skip(asked) {
            if let Some(claimed) = self.claimed(page) {
                let asked = claimed.asked(self.clock.now());
                self.push(
                    &claimed,
                    asked.unanswered(Outcome::Unreachable, kind, 0),
                    false,
                );
            }
        }
    }

    fn push(&self, claimed: &Claimed, visited: Visited, asked: bool) {
        let settled = Settled {
            key: claimed.key,
            url: claimed.url.clone(),
            visited,
            sealed: None,
            copied: false,
            text: None,
            gone: false,
            admitted: Vec::new(),
            asked,
        };
        self.shared().push(settled, self.clock.now());
    }
}

fn truncated(warc: &str) -> Truncated {
    match warc {
        "length" => Truncated::Length,
        "time" => Truncated::Time,
        "disconnect" => Truncated::Disconnect,
        _ => Truncated::Unspecified,
    }
}

/// The moment as the archive writes it.
pub fn timestamp(moment: Moment) -> jiff::Timestamp {
    jiff::Timestamp::from_microsecond(moment.micros() as i64).unwrap_or_default()
}
