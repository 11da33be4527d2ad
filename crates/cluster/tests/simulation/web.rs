//! An invented honest web: some sites, a few pages each, all reachable from the first page.

use std::collections::HashMap;

use bytes::Bytes;
use crawl::verdict::{Lead, Verdict};
use crawl::{Answer, Claim};
use page::{Directives, PageId, PageUrl};
use policy::Moment;

use crate::random::SimRandom;

/// Pages and their links.
pub struct HonestWeb {
    /// The URLs of the pages. The first is the seed.
    pub urls: Vec<PageUrl>,
    links: Vec<Vec<usize>>,
    numbers: HashMap<PageId, usize>,
}

impl HonestWeb {
    /// Invents a web.
    pub fn invent(random: &mut SimRandom) -> Self {
        let sites = random.between(3, 8) as usize;
        let count = random.between(10, 40) as usize;
        let site = (0..sites).map(|_| random.between(0, 99_999));
        let site: Vec<u64> = site.collect();
        let url = |page: usize| {
            let url = format!("http://site{}.org/{page}", site[page % sites]);
            PageUrl::parse(&url).expect("a URL")
        };
        let urls: Vec<PageUrl> = (0..count).map(url).collect();
        let mut links = vec![Vec::new(); count];
        for page in 1..count {
            // The parent makes the page reachable.
            let parent = random.below(page);
            links[parent].push(page);
            for _ in 0..random.below(3) {
                links[random.below(count)].push(page);
            }
        }
        Self {
            numbers: (0..count).map(|page| (urls[page].id(), page)).collect(),
            urls,
            links,
        }
    }

    /// Returns the number of a page.
    pub fn number(&self, page: PageId) -> usize {
        self.numbers[&page]
    }

    /// Returns what a fetch of a page gives.
    pub fn respond(&self, claim: &Claim, at: Moment) -> Verdict {
        let page = self.number(claim.key.page);
        let mut payload = [0; 20];
        payload[..8].copy_from_slice(&(page as u64).to_le_bytes());
        let answer = Answer {
            status: 200,
            // A type that the crawl core does not parse.
            content_type: Some("application/x-number".into()),
            etag: None,
            last_modified: None,
            language: None,
            location: None,
            hub: None,
            directives: Directives::default(),
            content: Bytes::new(),
            payload,
            truncated: None,
        };
        let mut verdict = claim.asked(at).judge(&answer, 0, &|_| true);
        let links = self.links[page].iter();
        verdict.leads = links.map(|to| Lead::seed(&self.urls[*to])).collect();
        verdict
    }
}
