//! A network in memory: connections that break, late answers, and the verdicts on them.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use crawl::verdict::{Asked, IndexText, Lead, Signal, Verdict};
use crawl::{
    Answer, Answered, Claim, ConnectionState, Failure, Get, Judged, Reply, Request, RobotsFile,
    TOKEN,
};
use frontier::{PageCopy, Probe};
use page::listing::ListingKind;
use page::{Directives, HostId, PageUrl, Robots};
use policy::{Moment, Outcome, Visit};

use crate::random::SimRandom;
use crate::web::{Directive, RobotsTxt, SimResponse, SimWeb};

/// Probabilities of faults.
#[derive(Debug, Clone, Copy)]
pub struct FaultRates {
    pub resolve: f64,
    pub connect: f64,
    /// A request without an answer.
    pub silence: f64,
    /// A connection that the server closes after an answer, or while it is idle.
    pub close: f64,
    /// A slow answer.
    pub slow: f64,
}

/// A connection.
pub struct SimConnection {
    pub host: HostId,
    pub address: IpAddr,
    pub served: u32,
    /// Whether the server keeps it open.
    pub open: bool,
    /// Whether a request is in flight.
    pub in_use: bool,
}

impl SimConnection {
    /// Returns the state of the connection as the core sees it.
    pub fn state(&self) -> ConnectionState {
        ConnectionState {
            open: self.open,
            served: self.served,
        }
    }
}

/// The result for one page of a request.
pub struct PageResult {
    pub place: usize,
    pub after: Duration,
    pub answer: Answered<()>,
    pub connection: ConnectionState,
}

/// The invented web and its network.
pub struct SimNetwork {
    pub web: SimWeb,
    /// Whether requests go through a proxy, which resolves host names.
    pub proxied: bool,
    pub faults: FaultRates,
    pub random: SimRandom,
}

impl SimNetwork {
    /// Draws the duration of an operation.
    pub fn latency(&mut self) -> Duration {
        match self.random.chance(self.faults.slow) {
            true => self.random.millis(2_000, 40_000),
            false => self.random.millis(2, 250),
        }
    }

    /// Resolves a host.
    pub fn resolve(&mut self, url: &PageUrl, now: Moment) -> Result<Option<IpAddr>, Failure> {
        let failed = |kind, transient| Failure {
            kind,
            transient,
            took: Duration::from_millis(5),
        };
        if self.random.chance(self.faults.resolve) {
            return Err(failed("dns:timeout", true));
        }
        if self.proxied {
            return Ok(None);
        }
        let site = self.web.site(url.host());
        let address = site.map(|site| site.address(now));
        address.map(Some).ok_or(failed("dns:unknown", false))
    }

    /// Connects to a host.
    pub fn connect(&mut self, host: HostId, address: IpAddr) -> Result<SimConnection, Failure> {
        let failed = |kind, transient| Failure {
            kind,
            transient,
            took: Duration::from_millis(20),
        };
        if self.random.chance(self.faults.connect) {
            return Err(failed("connect:refused", true));
        }
        if self.web.site(host).is_none() {
            return Err(failed("proxy:no-such-host", false));
        }
        Ok(SimConnection {
            host,
            address,
            served: 0,
            open: true,
            in_use: false,
        })
    }

    /// Requests a robots.txt. As in the live driver, a connection that the server has closed is
    /// opened again.
    pub fn rules(
        &mut self,
        line: &mut SimConnection,
        now: Moment,
    ) -> (RobotsFile, Option<Duration>) {
        if self.random.chance(self.faults.silence) {
            line.open = false;
            return (RobotsFile::Unavailable, None);
        }
        self.answered(line);
        let site = self.web.site(line.host);
        match site.map(|site| &site.robots) {
            Some(RobotsTxt::Text(text)) => {
                let rules = Arc::new(Robots::parse(text.as_bytes(), TOKEN));
                let text = text.clone();
                (RobotsFile::Found { text, rules }, None)
            }
            Some(RobotsTxt::Unavailable(until)) if now < *until => {
                let wait = self.random.chance(0.5);
                let wait = wait.then(|| Duration::from_secs(self.random.between(1, 30)));
                (RobotsFile::Unavailable, wait)
            }
            _ => (RobotsFile::Missing, None),
        }
    }

    /// Requests a URL that cannot exist.
    pub fn probe(
        &mut self,
        line: &mut SimConnection,
        url: &PageUrl,
        now: Moment,
    ) -> (Option<Probe>, Option<Reply>) {
        if !line.open || self.random.chance(self.faults.silence) {
            line.open = false;
            return (None, None);
        }
        let response = self.web.answer(url, None, now, &mut self.random);
        self.answered(line);
        let soft = response.words().filter(|_| response.status == 200);
        let found = soft.map_or(Probe::Honest, |(_, digest)| Probe::Soft(digest.clone()));
        (Some(found), Some(reply(&response)))
    }

    /// Requests pages. Returns the results in order of arrival.
    pub fn get(&mut self, get: &Get, line: &mut SimConnection, now: Moment) -> Vec<PageResult> {
        if !line.open {
            return closed(get, false);
        }
        let several = get.requests.len() > 1;
        let mut results = Vec::new();
        let mut after = Duration::ZERO;
        let mut lost = false;
        for (place, request) in get.requests.iter().enumerate() {
            after += self.latency();
            let silent = !lost && self.random.chance(self.faults.silence);
            if silent && !several && self.random.chance(0.4) {
                line.open = false;
                if !get.last_try {
                    return closed(get, true);
                }
            }
            let answer = match (lost, silent) {
                (true, _) => Answered::Unanswered,
                (_, true) => {
                    line.open = false;
                    lost = several;
                    // The first request without an answer may be reported like the later ones.
                    match several && self.random.chance(0.5) {
                        true => Answered::Unanswered,
                        false => failed(after),
                    }
                }
                (false, false) => {
                    let response = self.answer(request, now + after);
                    self.answered(line);
                    let judged = judge(get, &request.claim, &response, after);
                    Answered::Page(Box::new(judged))
                }
            };
            results.push(PageResult {
                place,
                after,
                answer,
                connection: ConnectionState {
                    open: true,
                    served: 0,
                },
            });
            lost |= several && !line.open;
        }
        let last = results.last_mut().expect("a request is for a page");
        last.connection = line.state();
        results
    }

    fn answer(&mut self, request: &Request, now: Moment) -> SimResponse {
        let claim = &request.claim;
        let copy = (claim.before.as_ref()).and_then(|before| before.copy.as_ref());
        let etag = copy.filter(|_| request.conditional);
        let etag = etag.and_then(|copy| copy.etag.as_deref());
        self.web.answer(&claim.url, etag, now, &mut self.random)
    }

    fn answered(&mut self, line: &mut SimConnection) {
        line.served += 1;
        line.open = !self.random.chance(self.faults.close);
    }
}

/// Returns the results of a request that found its connection closed.
fn closed(get: &Get, sent: bool) -> Vec<PageResult> {
    let pages = if get.last_try { get.requests.len() } else { 1 };
    let results = |place| PageResult {
        place,
        after: Duration::from_millis(1),
        answer: match get.last_try {
            true => failed(Duration::ZERO),
            false => Answered::Closed { sent },
        },
        connection: ConnectionState {
            open: false,
            served: 0,
        },
    };
    (0..pages).map(results).collect()
}

fn failed(took: Duration) -> Answered<()> {
    Answered::Failed {
        failure: Failure {
            kind: "read:timeout",
            transient: true,
            took,
        },
        bytes: 0,
    }
}

fn reply(response: &SimResponse) -> Reply {
    Reply {
        status: response.status,
        retry_after: response.retry_after,
    }
}

/// Judges an answer. Answers without a body, and pages with directives, are judged by the live
/// code. Parsing all bodies would take most of the time of a simulation, so the verdict on
/// other pages is built here.
fn judge(get: &Get, claim: &Claim, response: &SimResponse, took: Duration) -> Judged<()> {
    let asked = Asked {
        missing: get.missing.as_ref(),
        details: get.details,
        ..claim.asked(get.at)
    };
    let judged = |status: u16| {
        let ours = |url: &PageUrl| get.scope.judge(url, claim.discovery.depth).is_ok();
        asked.judge(&answer(status, &claim.url, response), 10, &ours)
    };
    let words = response.words();
    let missing = words.zip(get.missing.as_ref());
    let soft = missing.is_some_and(|((_, text), missing)| text.fingerprint == missing.fingerprint);
    let verdict = match response.status {
        200 if response.directive.is_some() => judged(200),
        200 if soft && claim.url.path_and_query() != "/" => judged(404),
        200 => read(judged(500), claim, response, get.at),
        status => judged(status),
    };
    Judged {
        verdict,
        sealed: None,
        reply: reply(response),
        first_byte: took,
        took,
    }
}

/// Returns the verdict on a page with a body. `verdict` is that on an answer without one.
fn read(mut verdict: Verdict, claim: &Claim, response: &SimResponse, at: Moment) -> Verdict {
    let before = claim
        .before
        .as_ref()
        .and_then(|before| before.copy.as_ref());
    let payload = payload(response);
    let same = before.is_some_and(|copy| copy.payload == payload);
    let outcome = match same {
        true => Outcome::Unchanged,
        false => Outcome::Changed,
    };
    let history = claim.history().after(Visit::new(at, outcome));
    let etag = response.etag.clone();
    verdict.lied = !same && before.is_some_and(|copy| copy.etag.is_some() && copy.etag == etag);
    verdict.copied = true;
    verdict.repeated = same;
    let words = response.words();
    let visited = &mut verdict.visited;
    visited.history = history.listing(response.listed.is_some());
    visited.status = Some(200);
    visited.error = None;
    visited.copy = Some(PageCopy {
        at: before.filter(|_| same).map_or(at, |copy| copy.at),
        payload,
        etag,
        text: words.map(|(_, digest)| digest.clone()),
        indexed: words.is_some(),
        ..PageCopy::default()
    });
    verdict.leads = response.links.iter().map(Lead::seed).collect();
    verdict.text = words.map(|(text, _)| IndexText {
        title: String::new(),
        body: text.clone(),
        asides: Vec::new(),
        sections: Vec::new(),
        linked: 0,
        kind: "html",
        language: None,
        stated: page::Fields::default(),
    });
    if let Some(listed) = &response.listed {
        verdict.listing = Some(ListingKind::Sitemap);
        let listed = verdict.leads.iter().zip(listed);
        let signal = |(lead, modified): (&Lead, &Moment)| Signal {
            page: lead.id,
            modified: *modified,
        };
        verdict.signals = listed.map(signal).collect();
    }
    verdict
}

fn payload(response: &SimResponse) -> [u8; 20] {
    let mut payload = [0; 20];
    payload[..8].copy_from_slice(&response.body.to_le_bytes());
    payload
}

/// Returns an answer to a request for a page, with a body if it is to be parsed.
fn answer(status: u16, url: &PageUrl, response: &SimResponse) -> Answer {
    let body = response.directive.filter(|_| status == 200);
    let body = body.map(|directive| markup(directive, url, response));
    Answer {
        status,
        content_type: body.is_some().then(|| "text/html".to_owned()),
        etag: response.etag.clone().filter(|_| body.is_some()),
        last_modified: None,
        language: None,
        location: response.location.clone().map(Ok),
        hub: None,
        directives: Directives {
            noindex: response.directive == Some(Directive::NoIndexHeader),
            ..Directives::default()
        },
        content: body.map_or_else(Bytes::new, Bytes::from),
        payload: Some(payload(response)),
        truncated: None,
        document: None,
    }
}

fn markup(directive: Directive, url: &PageUrl, response: &SimResponse) -> String {
    let head = match directive {
        Directive::None | Directive::NoIndexHeader => String::new(),
        Directive::NoIndex => "<meta name=robots content=noindex>".to_owned(),
        Directive::NoFollow => "<meta name=robots content=nofollow>".to_owned(),
        Directive::Canonical => format!("<link rel=canonical href=\"{}/\">", url.origin()),
    };
    let links = response.links.iter();
    let links: String = links
        .map(|link| format!("<a href=\"{link}\">on</a> "))
        .collect();
    let text = response.words().map_or("", |(text, _)| text);
    format!("<head>{head}</head><body><p>{text}</p>{links}</body>")
}

/// Returns the connection that a request uses.
pub fn used(line: Option<&SimConnection>, host: HostId) -> &SimConnection {
    let line = line.expect("a connection that is open");
    check!(!line.in_use, "the connection is in use");
    check!(line.host == host, "the connection is to another host");
    line
}
