//! An invented honest web: some sites, a few pages each, all reachable from the first page.

use std::collections::HashMap;
use std::time::Duration;

use bytes::Bytes;
use cluster::Division;
use crawl::verdict::{Lead, Verdict};
use crawl::{Answer, Claim};
use frontier::Partition;
use page::{Directives, PageId, PageUrl};
use policy::Moment;

use crate::random::{SimRandom, mixed};

/// Pages and their links.
pub struct HonestWeb {
    /// The URLs of the pages. The first is the seed.
    pub urls: Vec<PageUrl>,
    links: Vec<Vec<usize>>,
    /// Pages whose first request is refused, with 503 and this `Retry-After`.
    refused: Vec<Option<Duration>>,
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
        // Not drawn: the faults of a seed do not depend on it.
        let refused = |page: usize| {
            let bits = mixed(site[page % sites] * 64 + page as u64);
            bits.is_multiple_of(16)
                .then(|| Duration::from_secs(5 + bits % 20))
        };
        Self {
            refused: (0..count).map(refused).collect(),
            numbers: (0..count).map(|page| (urls[page].id(), page)).collect(),
            urls,
            links,
        }
    }

    /// Makes a web of two sites in different slots of two. The first page links to all others.
    pub fn in_two_slots(division: Division, count: usize) -> Self {
        let url = |site: u64, page: usize| {
            let url = format!("http://site{site}.org/{page}");
            PageUrl::parse(&url).expect("a URL")
        };
        let slot = |site: &u64| division.slot(Partition::of(&url(*site, 0)));
        let second = (1..).find(|site| slot(site) != slot(&0)).expect("a site");
        let urls: Vec<PageUrl> = (0..count)
            .map(|page| url([0, second][page % 2], page))
            .collect();
        let mut links = vec![Vec::new(); count];
        links[0] = (1..count).collect();
        Self {
            refused: vec![None; count],
            numbers: (0..count).map(|page| (urls[page].id(), page)).collect(),
            urls,
            links,
        }
    }

    /// Returns the number of a page.
    pub fn number(&self, page: PageId) -> usize {
        self.numbers[&page]
    }

    /// Returns the `Retry-After` of the answer to the first request for a page, if it refuses.
    pub fn refusal(&self, page: usize) -> Option<Duration> {
        self.refused[page]
    }

    /// Returns what a fetch of a page gives, or a refusal.
    pub fn respond(&self, claim: &Claim, at: Moment, refuses: bool) -> Verdict {
        let page = self.number(claim.key.page);
        let mut payload = [0; 20];
        payload[..8].copy_from_slice(&(page as u64).to_le_bytes());
        let answer = Answer {
            status: if refuses { 503 } else { 200 },
            // A type that the crawl core does not parse.
            content_type: Some("application/x-number".into()),
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
        };
        let mut verdict = claim.asked(at).judge(&answer, 0, &|_| true);
        let links = self.links[page].iter().filter(|_| !refuses);
        verdict.leads = links.map(|to| Lead::seed(&self.urls[*to])).collect();
        verdict
    }
}
