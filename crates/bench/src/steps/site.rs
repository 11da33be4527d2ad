//! The site of `bench steps`: sitemaps with many entries, and pages with links and changing texts.
//!
//! **Invariant:** an answer is a function of the URL and the time.

use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use bytes::Bytes;
use crawl::verdict::{Lead, Signal, Verdict};
use crawl::{Answer, Claim};
use page::listing::ListingKind;
use page::{Directives, PageUrl};
use policy::Moment;

use crate::urls::{Urls, scramble};

/// Links of a page. Documentation sites have 73.
const LINKS: u64 = 73;
/// Time after which every page has a new text.
const CHANGE: Duration = Duration::from_secs(60);
/// One entry in this many of a sitemap says that its page has changed.
const HINTED: u32 = 100;

/// A site with a home page, sitemaps, and the pages that these name.
#[derive(Debug, Clone, Copy)]
pub struct StepsSite {
    /// Number of sitemaps.
    pub sitemaps: u32,
    /// Entries of each.
    pub entries: u32,
}

impl StepsSite {
    /// The address of the server. No packet is sent to it.
    pub const ADDRESS: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

    /// Returns the URL of the home page.
    pub fn home(self) -> PageUrl {
        url("/")
    }

    fn page(number: u64) -> PageUrl {
        url(&format!("/guide/{number}.html"))
    }

    /// Judges the answer to a request at a time.
    pub fn judge(self, claim: &Claim, at: Moment) -> Verdict {
        let path = claim.url.as_str().trim_start_matches(HOST);
        let text = at.micros() / CHANGE.as_micros() as u64;
        let mut verdict = claim.asked(at).judge(&answer(text), 2000, &|_| true);
        if path == "/" {
            let sitemap = |number| Lead::listing(url(&format!("/sitemap-{number}.xml")));
            verdict.leads = (0..self.sitemaps).map(sitemap).collect();
        } else if let Some(number) = number(path, "/sitemap-", ".xml") {
            let first = number * u64::from(self.entries);
            let pages = (first..first + u64::from(self.entries)).map(Self::page);
            verdict.leads = pages.map(|page| Lead::seed(&page)).collect();
            verdict.visited.history = verdict.visited.history.listing(true);
            verdict.listing = Some(ListingKind::Sitemap);
            let hinted = verdict.leads.iter().step_by(HINTED as usize);
            verdict.signals = hinted
                .map(|lead| Signal {
                    page: lead.id,
                    modified: at,
                })
                .collect();
        } else if let Some(number) = number(path, "/guide/", ".html") {
            let pages = u64::from(self.sitemaps) * u64::from(self.entries);
            let links = (0..LINKS).map(|link| {
                let to = scramble(number * LINKS + link) % pages;
                Lead {
                    anchor: Urls::anchor(to),
                    ..Lead::seed(&Self::page(to))
                }
            });
            verdict.leads = links.collect();
        }
        verdict
    }
}

/// Scheme and host of the site.
const HOST: &str = "https://www.example";

fn url(path: &str) -> PageUrl {
    PageUrl::parse(&format!("{HOST}{path}")).expect("the invented URLs are valid")
}

fn number(path: &str, before: &str, after: &str) -> Option<u64> {
    path.strip_prefix(before)?.strip_suffix(after)?.parse().ok()
}

/// Returns an answer that stands for the text with this number. Its body is not parsed.
fn answer(text: u64) -> Answer {
    let mut payload = [0; 20];
    payload[..8].copy_from_slice(&text.to_le_bytes());
    Answer {
        status: 200,
        content_type: Some("application/x-text-number".into()),
        etag: None,
        last_modified: None,
        language: None,
        location: None,
        hub: None,
        directives: Directives::default(),
        content: Bytes::new(),
        payload: Some(payload),
        truncated: None,
        document: None,
    }
}
