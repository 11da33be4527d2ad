//! Chooses the URL that shows how a host answers for pages that do not exist.

use page::{HostId, PageUrl, Robots};

use super::Core;
use crate::action::Claim;

impl<S> Core<S> {
    /// Returns the probe URL of a page's host, if the host is to be probed.
    ///
    /// Many hosts answer with 200 and an error page, a soft 404 (hostile-web.md, row 65). A
    /// deleted page then looks like a changed one. A continuous crawl probes a host before it first
    /// visits a page of the host again. If the host does not answer, a second probe follows; a run
    /// makes no third.
    pub(super) fn probe_of(&self, claim: &Claim, rules: &Robots) -> Option<PageUrl> {
        let host = self.hosts.get(claim.url.host())?;
        if !self.plan.is_continuous()
            || self.plan.without_rules
            || claim.before.is_none()
            || !host.wants_probe()
        {
            return None;
        }
        impossible_url(&claim.url).filter(|url| rules.allows(url))
    }
}

/// Returns a URL of the same host that no page has. It is derived from the host's id, so that
/// it is the same after a restart.
fn impossible_url(url: &PageUrl) -> Option<PageUrl> {
    let HostId(host) = url.host();
    let number = host.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let name = format!("{}/avocet-looks-for-nothing-{number:016x}", url.origin());
    PageUrl::parse(&name).ok()
}
