//! Which URL tells what a host answers to one that cannot exist.

use page::{HostId, PageUrl, Robots};

use super::Core;
use crate::action::Claim;

impl<S> Core<S> {
    /// The URL that tells what the host of a page answers to one that cannot exist, if it is to be asked. Many hosts
    /// answer with 200 and a page that says so (hostile-web.md, row 65), and what was deleted then looks like a page
    /// that changed. A crawl that does not end asks each host once, before it first refreshes a page of it.
    pub(super) fn probe_of(&self, claim: &Claim, rules: &Robots) -> Option<PageUrl> {
        let host = self.hosts.get(claim.url.host())?;
        if !self.plan.is_continuous()
            || self.plan.without_rules
            || claim.before.is_none()
            || !host.wants_probe()
        {
            return None;
        }
        nowhere(&claim.url).filter(|url| rules.allows(url))
    }
}

/// A URL of the same host that no page has: its name is drawn from the host's, so that it is the same
/// after a stop.
fn nowhere(url: &PageUrl) -> Option<PageUrl> {
    let HostId(host) = url.host();
    let number = host.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let name = format!("{}/avocet-looks-for-nothing-{number:016x}", url.origin());
    PageUrl::parse(&name).ok()
}
