//! The network requests of a crawl, each on a task of its own.
//!
//! A task owns the connection that it uses and returns it with its last report. Pages are parsed
//! and judged on these tasks, which run on all processors. The core receives only the verdict.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use crawl::{
    Answer as Judgeable, Answered, Claim, ConnectionId, ConnectionState, Distance, Event, Failure,
    Get, Judged, Opened, Reply, Request as Wanted, RobotsFile, TOKEN, VisitId,
    verdict::{Asked, Verdict},
};
use fetch::{Connection, FetchAnswer, FetchRequest, Fetcher, Response, Route, Trouble};
use frontier::Probe;
use ledger::Ledger;
use page::{PageUrl, Robots, TextDigest};
use policy::Moment;
use repository::archive::{
    Capture, Level, Original, PayloadDigest, Profile, Sealed, Truncated, seal,
};
use tokio::sync::mpsc::UnboundedSender;

use super::DriverMessage;
use super::disk_limit::Brake;
use crate::answer;
use crate::clock::Clock;
use crate::clock::timestamp;
use crate::documents;
use crate::fault;

/// Everything that a request needs besides its connection.
#[derive(Clone)]
pub(super) struct Requests {
    pub fetcher: Fetcher,
    pub ledger: Arc<Ledger>,
    pub clock: Clock,
    pub messages: UnboundedSender<DriverMessage>,
    /// The compression level of archived answers; `None` if answers are not archived.
    pub level: Option<Level>,
    /// The wait before each request while the disk is nearly full.
    pub brake: Brake,
}

impl Requests {
    /// Resolves the name of a host.
    pub async fn resolve(self, visit: VisitId, url: PageUrl) {
        let began = self.clock.now();
        let route = self.fetcher.route(&url).await;
        let address = match &route {
            Ok(route) => Ok(route.address().map(|address| address.ip())),
            Err(trouble) => Err(self.failure(trouble, began)),
        };
        let event = Event::Resolved { visit, address };
        self.report(DriverMessage::Resolved(visit, route.ok(), event));
    }

    /// Connects to a server.
    pub async fn connect(self, visit: VisitId, id: ConnectionId, url: PageUrl, route: Route) {
        let began = self.clock.now();
        let mut opened = self.fetcher.connect(&url, &route).await;
        if matches!(opened, Err(Trouble::NotHttp2 | Trouble::NotHttp1)) {
            // The fetcher has remembered the HTTP version of this server: the second attempt uses
            // it.
            opened = self.fetcher.connect(&url, &route).await;
        }
        let (opened, connection) = match opened {
            Ok(connection) => {
                let opened = Opened {
                    address: connection.address().ip(),
                    connect_time: connection.connect_time(),
                    took: self.clock.now().since(began),
                    width: connection.width(),
                };
                (Ok(opened), Some((id, Box::new(connection))))
            }
            Err(trouble) => (Err(self.failure(&trouble, began)), None),
        };
        self.report(DriverMessage::Done(
            connection,
            Event::Connected { visit, opened },
        ));
    }

    /// Fetches a robots.txt.
    pub async fn rules(
        self,
        visit: VisitId,
        (id, connection): (ConnectionId, Option<Box<Connection>>),
        url: PageUrl,
        distance: Option<Distance>,
    ) {
        self.keep(distance).await;
        let mut connection = connection.map(|connection| *connection);
        let answer = self.fetcher.robots(&url, &mut connection).await;
        let busy = matches!(answer.status, Some(429 | 503));
        let file = match answer.verdict {
            fetch::RobotsVerdict::Found(text) => RobotsFile::Found {
                rules: Arc::new(Robots::parse(&text, TOKEN)),
                text: String::from_utf8_lossy(&text).into_owned(),
            },
            fetch::RobotsVerdict::Missing => RobotsFile::Missing,
            fetch::RobotsVerdict::Unavailable => RobotsFile::Unavailable,
        };
        let event = Event::RulesArrived {
            visit,
            file,
            retry_after: answer.retry_after.filter(|_| busy),
            bytes: answer.wire_bytes,
            connection: state(connection.as_ref()),
        };
        let connection = connection.map(|open| (id, Box::new(open)));
        self.report(DriverMessage::Done(connection, event));
    }

    /// Fetches a URL that cannot exist, to learn how the host answers for missing pages.
    pub async fn probe(
        self,
        visit: VisitId,
        (id, connection): (ConnectionId, Option<Box<Connection>>),
        url: PageUrl,
        distance: Option<Distance>,
    ) {
        let open = connection.filter(|connection| connection.is_open());
        let Some(mut connection) = open else {
            let event = Event::Probed {
                visit,
                found: None,
                reply: None,
                bytes: 0,
                connection: state(None),
            };
            return self.report(DriverMessage::Done(None, event));
        };
        self.keep(distance).await;
        let request = FetchRequest {
            url: &url,
            etag: None,
            last_modified: None,
        };
        let answer = connection.get(&request).await;
        let response = answer.outcome.as_ref().ok();
        let found = response.map(|response| {
            let live = answer::live(response, &url, TOKEN, None);
            text_of(&live, &url).map_or(Probe::Honest, Probe::Soft)
        });
        let event = Event::Probed {
            visit,
            found,
            reply: response.map(reply),
            bytes: answer.wire_bytes,
            connection: state(Some(&connection)),
        };
        self.report(DriverMessage::Done(Some((id, connection)), event));
    }

    /// Fetches one page, or several at once.
    pub async fn get(self, get: Get, connection: Option<Box<Connection>>) {
        fault::point("visit");
        let open = connection.filter(|connection| connection.is_open());
        let Some(mut connection) = open else {
            return self.found_closed(&get);
        };
        self.brake.wait().await;
        self.keep(get.distance).await;
        if let [only] = &get.requests[..] {
            let answer = connection.get(&request(only)).await;
            let from = connection.address().ip();
            let answer = self.judge(&get, &only.claim, answer, from);
            let event = Event::Answered {
                visit: get.visit,
                page: only.claim.number,
                answer,
                connection: state(Some(&connection)),
            };
            return self.report(DriverMessage::Done(
                Some((get.connection, connection)),
                event,
            ));
        }
        self.get_all(get, connection).await;
    }

    /// Reports that the connection was closed before the request was sent.
    fn found_closed(&self, get: &Get) {
        let answer = || match get.last_try {
            false => Answered::Closed { sent: false },
            true => Answered::Failed {
                failure: Failure {
                    kind: Trouble::Stale.kind(),
                    transient: Trouble::Stale.is_transient(),
                    took: Duration::ZERO,
                },
                bytes: 0,
            },
        };
        let pages = if get.last_try { get.requests.len() } else { 1 };
        for request in &get.requests[..pages] {
            let event = Event::Answered {
                visit: get.visit,
                page: request.claim.number,
                answer: answer(),
                connection: state(None),
            };
            self.report(DriverMessage::Done(None, event));
        }
    }

    /// Fetches several pages at once.
    ///
    /// A page is reported when the next one has arrived, because a whole batch of bodies needs too
    /// much memory. The last page is reported at the end, and its report returns the connection.
    async fn get_all(self, get: Get, mut connection: Box<Connection>) {
        let requests: Vec<FetchRequest<'_>> = get.requests.iter().map(request).collect();
        let from = connection.address().ip();
        let mut last = None;
        let answered = |place: usize, answer: FetchAnswer| {
            let claim = &get.requests[place].claim;
            let judged = match answer.outcome {
                Err(Trouble::Unanswered) => Answered::Unanswered,
                _ => self.judge(&get, claim, answer, from),
            };
            if let Some((page, answer)) = last.replace((claim.number, judged)) {
                let event = Event::Answered {
                    visit: get.visit,
                    page,
                    answer,
                    connection: ConnectionState {
                        open: true,
                        served: 0,
                    },
                };
                self.report(DriverMessage::Done(None, event));
            }
        };
        connection.get_all(&requests, answered).await;
        let (page, answer) = last.expect("every request gets a result, if only `Unanswered`");
        let event = Event::Answered {
            visit: get.visit,
            page,
            answer,
            connection: state(Some(&connection)),
        };
        self.report(DriverMessage::Done(
            Some((get.connection, connection)),
            event,
        ));
    }

    /// Judges an answer and compresses it for the archive.
    fn judge(
        &self,
        get: &Get,
        claim: &Claim,
        answer: FetchAnswer,
        from: IpAddr,
    ) -> Answered<Sealed> {
        let response = match &answer.outcome {
            Ok(response) => response,
            Err(trouble) if trouble.is_repeatable() && get.requests.len() == 1 && !get.last_try => {
                return Answered::Closed { sent: true };
            }
            Err(trouble) => {
                return Answered::Failed {
                    failure: Failure {
                        kind: trouble.kind(),
                        transient: trouble.is_transient(),
                        took: answer.total,
                    },
                    bytes: answer.wire_bytes,
                };
            }
        };
        let cut = response.truncated.and_then(|cut| cut.warc()).map(truncated);
        let (url, at) = (&claim.url, timestamp(get.at));
        let capture = || Capture::new(url, at, from, &response.head, &response.body, cut);
        let archived = self.level.map(|level| (capture(), level));
        let digest = match &archived {
            Some((capture, _)) => Some(capture.digest()),
            None => has_sha1(claim).then(|| PayloadDigest::of(&[&response.body])),
        };
        let mut live = answer::live(response, url, TOKEN, digest);
        documents::read(&mut live);
        let depth = claim.discovery.depth;
        let ours = |url: &PageUrl| get.scope.judge(url, depth).is_ok();
        let asked = Asked {
            missing: get.missing.as_ref(),
            details: get.details,
            ..claim.asked(get.at)
        };
        let verdict = asked.judge(&live, answer.wire_bytes, &ours);
        let sealed = archived.map(|(capture, level)| sealed(claim, &capture, &verdict, level));
        Answered::Page(Box::new(Judged {
            verdict,
            sealed,
            reply: reply(response),
            first_byte: answer.first_byte,
            took: answer.total,
        }))
    }

    /// Stores the politeness record of a server before a request to it is made.
    async fn keep(&self, distance: Option<Distance>) {
        let Some(Distance { server, facts }) = distance else {
            return;
        };
        // This may block: the committer may hold the journal's lock while it waits for the disk.
        let ledger = Arc::clone(&self.ledger);
        let clock = self.clock;
        let keep = move || ledger.keep_server(server, &facts, || clock.now());
        let stored = tokio::task::spawn_blocking(keep).await;
        match stored {
            Ok(Ok(())) => {}
            Ok(Err(error)) => self.report(DriverMessage::Failed(error.into())),
            Err(panicked) => self.report(DriverMessage::Failed(panicked.into())),
        }
    }

    fn failure(&self, trouble: &Trouble, began: Moment) -> Failure {
        Failure {
            kind: trouble.kind(),
            transient: trouble.is_transient(),
            took: self.clock.now().since(began),
        }
    }

    fn report(&self, message: DriverMessage) {
        // The driver receives until all requests are settled.
        self.messages.send(message).ok();
    }
}

/// Returns the request for a page, with the validators of its copy if it is to be conditional.
fn request(wanted: &Wanted) -> FetchRequest<'_> {
    let before = wanted.claim.before.as_ref();
    let copy = before.and_then(|before| before.copy.as_ref());
    let trusted = copy.filter(|_| wanted.conditional);
    FetchRequest {
        url: &wanted.claim.url,
        etag: trusted.and_then(|copy| copy.etag.as_deref()),
        last_modified: trusted.and_then(|copy| copy.last_modified.as_deref()),
    }
}

fn reply(response: &Response) -> Reply {
    Reply {
        status: response.status,
        retry_after: response.retry_after(SystemTime::now()),
    }
}

fn state(connection: Option<&Connection>) -> ConnectionState {
    ConnectionState {
        open: connection.is_some_and(Connection::is_open),
        served: connection.map_or(0, Connection::served),
    }
}

/// Returns whether the last copy of a page has a SHA-1 digest, because it was archived or read by
/// an earlier version of this program. Only the same digest tells that the new body is equal.
fn has_sha1(claim: &Claim) -> bool {
    let before = claim.before.as_ref();
    let copy = before.and_then(|before| before.copy.as_ref());
    copy.is_some_and(|copy| !page::is_body_hash(&copy.payload))
}

fn sealed(claim: &Claim, capture: &Capture<'_>, verdict: &Verdict, level: Level) -> Sealed {
    let before = claim.before.as_ref();
    let copy = before.and_then(|before| before.copy.as_ref());
    let profile = match verdict.visited.status {
        Some(304) => Some(Profile::NotModified),
        _ if verdict.repeated => Some(Profile::IdenticalPayload),
        _ => None,
    };
    match (profile, copy) {
        (Some(profile), Some(copy)) if copy.place.is_some() => {
            let original = Original {
                url: &claim.url,
                at: timestamp(copy.at),
                digest: PayloadDigest(copy.payload),
            };
            seal::revisit(capture, &original, profile, level)
        }
        _ => seal::response(capture, level),
    }
}

/// Returns the digest of the text of an answer with status 200; `None`: another status or no text.
fn text_of(answer: &Judgeable, url: &PageUrl) -> Option<TextDigest> {
    if answer.status != 200 {
        return None;
    }
    let verdict = Asked::again(url).judge(answer, 0, &|_| false);
    verdict.visited.copy?.text
}

fn truncated(warc: &str) -> Truncated {
    match warc {
        "length" => Truncated::Length,
        "time" => Truncated::Time,
        "disconnect" => Truncated::Disconnect,
        _ => Truncated::Unspecified,
    }
}
