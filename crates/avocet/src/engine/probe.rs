//! What does a host answer to a URL that cannot exist?
//!
//! Many answer with 200 and a page that says so (hostile-web.md, row 65), and what was deleted then looks like a
//! page that changed. Each host is asked once, by a crawl that does not end, when it first refreshes a page of
//! it; the answer is kept in the ledger.

use std::time::Duration;

use fetch::{Request, Robots};
use frontier::Probe;
use page::{Digest, PageUrl};

use super::Engine;
use super::claimed::Claimed;
use super::plan::TOKEN;
use super::visit::Call;
use crate::answer::Answer;
use crate::verdict::Asked;

impl Call<'_> {
    /// Asks the host of a page, over the connection that is open. Returns whether it was asked.
    pub(super) async fn probe(
        &mut self,
        claimed: &Claimed,
        rules: &Robots,
        delay: Duration,
    ) -> bool {
        let engine = self.engine;
        if !engine.plan.is_continuous() || claimed.before.is_none() {
            return false;
        }
        let known = |host: &mut super::host::Host| host.probe().is_some();
        let known = engine.shared().host(claimed.url.host()).map(known);
        let Some(url) = nowhere(&claimed.url).filter(|url| rules.allows(url)) else {
            return false;
        };
        if known != Some(false) || self.connection.is_none() {
            return false;
        }
        self.asks(delay).await;
        let Some(open) = &mut self.connection else {
            return false;
        };
        let request = Request {
            url: &url,
            etag: None,
            last_modified: None,
        };
        let answer = open.get(&request).await;
        self.heed_refusal(&answer);
        let mut shared = engine.shared();
        engine.live.meter().overhead(answer.wire_bytes);
        shared.tally.bytes += answer.wire_bytes;
        shared.spend(engine.clock.now());
        if let Ok(response) = &answer.outcome {
            let digest = repository::archive::Digest::of(&[&response.body]);
            let live = Answer::live(response, &url, TOKEN, digest);
            let found = text_of(&live, &url);
            if let Some(host) = shared.host(url.host()) {
                host.probed(found.map_or(Probe::Honest, Probe::Soft));
            }
        }
        true
    }
}

impl Engine {
    /// What the host of a page answers to a URL that cannot exist, if it answers with a page.
    pub(super) fn missing(&self, url: &PageUrl) -> Option<Digest> {
        match self.shared().host(url.host())?.probe()? {
            Probe::Honest => None,
            Probe::Soft(digest) => Some(digest.clone()),
        }
    }

    /// Whether the host of a page is believed when it says that the page has not changed.
    pub(super) fn trusts(&self, url: &PageUrl) -> bool {
        let trusted = self.shared().host(url.host()).map(|host| host.is_trusted());
        trusted.unwrap_or(true)
    }

    /// Takes note that the host of a page said that it had not changed, and it had.
    pub(super) fn distrust(&self, url: &PageUrl) {
        if let Some(host) = self.shared().host(url.host()) {
            host.distrust();
        }
    }
}

/// The text of an answer, if it is a page.
fn text_of(answer: &Answer, url: &PageUrl) -> Option<Digest> {
    if answer.status != 200 {
        return None;
    }
    let verdict = Asked::again(url).judge(answer, 0, &|_| false);
    verdict.visited.copy?.text
}

/// A URL of the same host that no page has: its name is drawn from the host's, so that it is the same
/// after a stop.
fn nowhere(url: &PageUrl) -> Option<PageUrl> {
    let number = url.host().0.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    PageUrl::parse(&format!(
        "{}/avocet-looks-for-nothing-{number:016x}",
        url.origin()
    ))
    .ok()
}
