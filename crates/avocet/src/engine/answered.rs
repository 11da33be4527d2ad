//! What an answer means becomes facts: for the archive, the ledger, the index, and the policy.

use std::net::IpAddr;
use std::sync::atomic::Ordering;
use std::time::Duration;

use fetch::Response;
use frontier::{Entry, Reading, Visited};
use page::PageUrl;
use page::listing::Kind;
use policy::{Moment, Outcome, Policy};
use repository::archive::{Capture, Original, Profile, Sealed, Truncated, seal};

use super::Engine;
use super::claimed::Claimed;
use super::committer::Settled;
use super::heard::Source;
use super::in_links::InLink;
use super::plan::TOKEN;
use crate::answer::Answer;
use crate::verdict::{Asked, Text, Verdict};

/// Sitemaps that list sitemaps are followed so deep (hostile-web.md, row 52).
const NESTED: u16 = 3;

/// How an answer arrived.
pub(super) struct Arrived {
    /// Bytes over the wire.
    pub bytes: u64,
    /// How long it took, to its end.
    pub took: Duration,
    /// Who gave it.
    pub from: IpAddr,
    /// When it was asked for.
    pub at: Moment,
}

impl Engine {
    /// Reads an answer and hands over what it means.
    pub(super) fn answered(&self, claimed: &Claimed, response: &Response, arrived: &Arrived) {
        let at = arrived.at;
        let cut = response.truncated.and_then(|cut| cut.warc()).map(truncated);
        let capture = Capture::new(
            &claimed.url,
            timestamp(at),
            arrived.from,
            &response.head,
            &response.body,
            cut,
        );
        let live = Answer::live(response, &claimed.url, TOKEN, capture.digest());
        let depth = claimed.discovery.depth;
        let ours = |url: &PageUrl| self.shared().scope.judge(url, depth).is_ok();
        let missing = self.missing(&claimed.url);
        let asked = Asked {
            missing: missing.as_ref(),
            places: self.shared().frontier.policy().needs().places,
            ..claimed.asked(at)
        };
        let mut verdict = asked.judge(&live, arrived.bytes, &ours);
        verdict.leads = self.followed(verdict.leads);
        if verdict.listing == Some(Kind::Index) && depth >= NESTED {
            verdict.leads.clear();
        }
        if verdict.lied {
            self.distrust(&claimed.url);
        }
        let sealed = self
            .plan
            .archive
            .then(|| self.seal(claimed, &capture, &verdict));
        let now = self.clock.now();
        let mut shared = self.shared();
        if !matches!(live.status, 200..=299 | 304) {
            shared.return_allowance();
        }
        let copy = verdict.visited.copy.as_ref();
        if let Some(text) = copy.and_then(|copy| copy.text.as_ref())
            && verdict.copied
            && verdict.listing.is_none()
        {
            shared.frontier.novelty.observe(claimed.url.pattern(), text);
            let before = claimed.before.as_ref();
            if before.is_none_or(|before| before.copy.is_none()) {
                shared.frontier.share_text(claimed.key.page.host(), text);
            }
        }
        let source = Source {
            url: &claimed.url,
            depth,
            hops: claimed.discovery.hops,
            read: claimed.history().fresh,
        };
        let mut heard = shared.admit(&verdict.leads, Some(&source), now);
        let new_pages = heard.new_pages();
        let mut links = Vec::new();
        if verdict.is_news() {
            let text = verdict
                .text
                .as_ref()
                .map_or(policy::Text::Nothing, Text::told);
            // A page that was read before has told of its links.
            let again = claimed
                .before
                .as_ref()
                .is_some_and(|before| before.copy.is_some());
            let reading = Reading {
                text,
                links: &heard.links,
                out_links: heard.out_links,
                again,
            };
            let fact = shared.frontier.read(claimed.key.page, reading);
            if let Some(Entry::Links(_, kept)) = &fact
                && self.plan.index
                && !again
            {
                links = InLink::of(kept, &verdict.leads, |page| shared.frontier.number(page));
            }
            heard.facts.extend(fact);
        }
        let admitted = heard.facts;
        verdict.named(new_pages);
        let history = verdict.visited.history;
        if self.plan.only_found
            && verdict.text.is_some()
            && !shared.is_on_topic(claimed.key.page, &history)
        {
            verdict.leave_out(claimed.before.as_ref());
        }
        self.count(&mut shared, claimed, &verdict.visited, arrived.took);
        let settled = Settled {
            key: claimed.key,
            url: claimed.url.clone(),
            before: claimed.history(),
            sealed,
            copied: verdict.copied,
            gone: verdict.gone,
            admitted,
            links,
            asked: true,
            visited: verdict.visited,
            text: verdict.text,
        };
        shared.tally.outside += u64::from(verdict.strangers);
        shared.push(settled, now);
        drop(shared);
        self.heed(&verdict.signals, now);
        let mut shared = self.shared();
        let enough = self.plan.stop_coverage;
        let wanted = self.plan.until_found;
        if enough.is_some_and(|share| shared.covers(share))
            || wanted.is_some_and(|wanted| shared.has_found(wanted))
        {
            self.stop.store(true, Ordering::Relaxed);
            self.changed.notify_one();
        }
        if shared.visits < self.plan.connections && shared.frontier.bench.is_ready(now) {
            self.changed.notify_one();
        }
    }

    fn seal(&self, claimed: &Claimed, capture: &Capture<'_>, verdict: &Verdict) -> Sealed {
        let before = claimed.before.as_ref();
        let copy = before.and_then(|before| before.copy.as_ref());
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

    /// Settles a page that may not be asked for.
    pub(super) fn refuse(&self, claimed: &Claimed, reason: &str) {
        let verdict = claimed.asked(self.clock.now()).refused(reason);
        self.push(claimed, verdict.visited, verdict.gone, None);
    }

    /// Settles a page whose server is left alone.
    pub(super) fn unanswered(&self, claimed: &Claimed, kind: &str) {
        let asked = claimed.asked(self.clock.now());
        let visited = asked.unanswered(Outcome::Unreachable, kind, 0);
        self.push(claimed, visited, false, None);
    }

    /// Hands over a visit that brought no answer; `asked` is how long was waited for one, if a request was made.
    pub(super) fn push(
        &self,
        claimed: &Claimed,
        visited: Visited,
        gone: bool,
        asked: Option<Duration>,
    ) {
        let mut shared = self.shared();
        if let Some(took) = asked {
            self.count(&mut shared, claimed, &visited, took);
        }
        let settled = Settled {
            key: claimed.key,
            url: claimed.url.clone(),
            before: claimed.history(),
            visited,
            sealed: None,
            copied: false,
            text: None,
            gone,
            admitted: Vec::new(),
            links: Vec::new(),
            asked: asked.is_some(),
        };
        shared.push(settled, self.clock.now());
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
