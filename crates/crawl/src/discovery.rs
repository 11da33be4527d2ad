//! Admits links to the crawl: tells apart pages that are new, known, out of scope or of other
//! partitions.
//!
//! The live crawl, `rebuild` and `import` all admit links here.

use std::sync::Arc;

use frontier::{Entry, Frontier, FrontierLink, Partition};
use page::{PageId, PageUrl};
use policy::{Crawl, Moment, Number};

use crate::scope::{Outside, Scope};
use crate::tally::Tally;
use crate::verdict::Lead;

/// The page that leads were found on.
pub struct Source<'a> {
    /// Its URL.
    pub url: &'a PageUrl,
    /// Number of links from a seed.
    pub depth: u16,
    /// Number of consecutive redirects that led to it.
    pub hops: u8,
    /// When a copy was last known to equal the page; `None`: it was never read before.
    pub read: Option<Moment>,
}

/// The partitions of the web that one core crawls.
#[derive(Debug, Clone, Default)]
pub struct Ownership(Option<Box<[bool; 256]>>);

impl Ownership {
    /// All partitions.
    pub fn all() -> Self {
        Self(None)
    }

    /// These partitions.
    pub fn of(partitions: impl IntoIterator<Item = Partition>) -> Self {
        let mut owned = Box::new([false; 256]);
        for partition in partitions {
            owned[usize::from(partition.0)] = true;
        }
        Self(Some(owned))
    }

    /// Returns whether the page of a URL is in these partitions.
    pub fn has(&self, url: &PageUrl) -> bool {
        let owned = |owned: &[bool; 256]| owned[usize::from(Partition::of(url).0)];
        self.0.as_deref().is_none_or(owned)
    }
}

/// A page of another partition, which this node sends to the node that owns the partition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// Its URL.
    pub url: PageUrl,
    /// Number of links from a seed.
    pub depth: u16,
    /// Number of consecutive redirects that led to it.
    pub hops: u8,
    /// The page that links to it; `None`: it is a seed, or a sitemap that a robots.txt names.
    pub source: Option<PageId>,
}

/// The result of admitting links of a page.
#[derive(Debug, Default)]
pub struct Admission {
    /// New facts to commit.
    pub facts: Vec<Entry>,
    /// Pages of other partitions.
    pub offers: Vec<Offer>,
    /// Number of links to other pages, including those out of scope.
    pub out_links: u32,
    /// Number of pages that were not known before.
    pub new_pages: u32,
    known: Vec<KnownLink>,
}

/// A link to a page that was known, or is now admitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct KnownLink {
    /// The linked page.
    pub to: Number,
    /// The index of the link among the leads.
    pub place: u32,
}

impl Admission {
    /// Removes and returns the links to pages that are known or now admitted, by page number.
    /// Of several links to one page, the first is returned.
    pub fn known(&mut self) -> Vec<KnownLink> {
        let mut known = std::mem::take(&mut self.known);
        known.sort_unstable();
        known.dedup_by_key(|link| link.to);
        known
    }
}

/// Returns what policies learn about links.
pub fn link_facts<'l>(known: &[KnownLink], leads: &'l [Lead]) -> Vec<policy::LinkFact<'l>> {
    let fact = |link: &KnownLink| {
        let lead = &leads[link.place as usize];
        policy::LinkFact {
            around: &lead.around,
            path: &lead.path,
            ..policy::LinkFact::new(link.to, &lead.anchor)
        }
    };
    known.iter().map(fact).collect()
}

/// Admits links to a crawl.
pub struct Admitter<'a> {
    /// The frontier, which knows all pages.
    pub frontier: &'a mut Frontier<Crawl>,
    /// The scope; `None`: no new page is admitted.
    pub scope: Option<&'a mut Arc<Scope>>,
    /// The partitions of this core.
    pub ours: &'a Ownership,
    /// Counts links to unknown pages that are out of scope or traps.
    pub tally: &'a mut Tally,
}

impl Admitter<'_> {
    /// Admits `count` leads of a page, starting at index `from`. Seeds have no `source`.
    pub fn admit(
        &mut self,
        leads: &[Lead],
        (from, count): (usize, usize),
        source: Option<&Source<'_>>,
        now: Moment,
        admission: &mut Admission,
    ) {
        let page = source.map(|source| source.url.id());
        let some = leads.iter().enumerate().skip(from).take(count);
        for (place, lead) in some.filter(|(_, lead)| Some(lead.id) != page) {
            admission.out_links += 1;
            let number = match self.frontier.number(lead.id) {
                Some(number) => Some(number),
                None => self.discover(lead, source, now, admission),
            };
            let place = place as u32;
            (admission.known).extend(number.map(|to| KnownLink { to, place }));
        }
    }

    /// Admits all leads of a page, or all seeds.
    pub fn admit_all(
        &mut self,
        leads: &[Lead],
        source: Option<&Source<'_>>,
        now: Moment,
    ) -> Admission {
        let mut admission = Admission::default();
        self.admit(leads, (0, leads.len()), source, now, &mut admission);
        admission
    }

    /// Admits a page that another partition offers. Returns `None` if it is known.
    ///
    /// If the page that links to it is not known here, the offered page counts as a seed: no
    /// importance reaches it from a known page.
    pub fn accept(&mut self, offer: &Offer, now: Moment) -> Option<Entry> {
        if self.frontier.number(offer.url.id()).is_some() {
            return None;
        }
        let link = FrontierLink {
            url: &offer.url,
            depth: offer.depth,
            hops: offer.hops,
            source: (offer.source).filter(|source| self.frontier.number(*source).is_some()),
            absent: None,
        };
        Some(self.frontier.hear(link, now).1)
    }

    /// Admits the page of a URL that is not known. Returns its number. Returns `None` if the URL is
    /// out of scope, a trap or in another partition, or if no new page is admitted.
    fn discover(
        &mut self,
        lead: &Lead,
        source: Option<&Source<'_>>,
        now: Moment,
        admission: &mut Admission,
    ) -> Option<Number> {
        let scope = self.scope.as_mut()?;
        let step = u16::from(!lead.redirect);
        let depth = source.map_or(0, |source| source.depth.saturating_add(step));
        let hops = match source {
            Some(source) if lead.redirect => source.hops.saturating_add(1),
            _ => 0,
        };
        if let Some(source) = source
            && lead.redirect
            && source.depth == 0
            && scope.follows_seed(source.url, &lead.url)
        {
            Arc::make_mut(scope).add_seed(&lead.url);
            let seed = Entry::Seed(lead.url.as_str().to_owned());
            admission.facts.push(seed);
        }
        let url = match scope.admit(&lead.url, depth) {
            Ok(url) => url,
            Err(Outside::Trap(trap)) => {
                self.tally.error(trap.name());
                return None;
            }
            Err(Outside::Scope) => {
                self.tally.out_of_scope(&lead.url, lead.id.host());
                return None;
            }
            Err(Outside::Depth | Outside::Blocked | Outside::Forgotten) => {
                self.tally.outside += 1;
                return None;
            }
        };
        // `scope.admit` removes session ids, so the URL may be known now.
        if let Some(number) = self.frontier.number(url.id()) {
            return Some(number);
        }
        let from = source.map(|source| source.url.id());
        if !self.ours.has(&url) {
            admission.offers.push(Offer {
                url,
                depth,
                hops,
                source: from,
            });
            return None;
        }
        let link = FrontierLink {
            url: &url,
            depth,
            hops,
            source: from,
            absent: source.and_then(|source| source.read),
        };
        let (number, fact) = self.frontier.hear(link, now);
        admission.facts.push(fact);
        admission.new_pages += 1;
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use frontier::bench::Manners;
    use policy::Price;

    use super::*;
    use crate::scope::ScopeRules;

    struct Crawling {
        frontier: Frontier<Crawl>,
        scope: Arc<Scope>,
        ours: Ownership,
        tally: Tally,
    }

    impl Crawling {
        fn admit(&mut self, leads: &[Lead], source: Option<&Source<'_>>) -> Admission {
            let mut admitter = Admitter {
                frontier: &mut self.frontier,
                scope: Some(&mut self.scope),
                ours: &self.ours,
                tally: &mut self.tally,
            };
            admitter.admit_all(leads, source, Moment::START)
        }
    }

    fn crawling(seed: &str) -> Crawling {
        let strategy = Box::new(policy::published::server::BreadthFirstServers);
        let manners = Manners::default();
        let frontier = Frontier::new(Crawl::default(), strategy, Price::LEAST, manners, 1);
        let rules = ScopeRules {
            seeds: vec![seed.into()],
            ..ScopeRules::default()
        };
        let scope = Scope::new(&rules, page::url::traps::Rules::default()).unwrap();
        Crawling {
            frontier,
            scope: Arc::new(scope),
            ours: Ownership::all(),
            tally: Tally::default(),
        }
    }

    fn lead(url: &str, redirect: bool) -> Lead {
        let url = PageUrl::parse(url).unwrap();
        Lead {
            id: url.id(),
            url,
            redirect,
            listing: false,
            anchor: "words".into(),
            aside: false,
            around: String::new(),
            path: String::new(),
        }
    }

    fn admitted(facts: &[Entry]) -> Vec<(&str, u16, u8)> {
        facts
            .iter()
            .filter_map(|fact| match fact {
                Entry::Admitted(_, found) => Some((found.url.as_str(), found.depth, found.hops)),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn the_target_of_a_seeds_redirect_within_its_domain_is_in_scope() {
        let seed = PageUrl::parse("http://example.org/").unwrap();
        let mut crawling = crawling(seed.as_str());
        crawling.admit(&[Lead::seed(&seed)], None);
        let at_seed = Source {
            url: &seed,
            depth: 0,
            hops: 0,
            read: None,
        };
        let moved = [lead("https://www.example.org/", true)];
        let moved = crawling.admit(&moved, Some(&at_seed));
        assert_eq!(admitted(&moved.facts), [("https://www.example.org/", 0, 1)]);
        assert!(
            moved
                .facts
                .contains(&Entry::Seed("https://www.example.org/".into()))
        );

        let home = PageUrl::parse("https://www.example.org/").unwrap();
        let at_home = Source {
            url: &home,
            depth: 0,
            hops: 1,
            read: None,
        };
        let links = [
            lead("https://www.example.org/a", false),
            lead("https://www.example.org/a", false),
            lead("https://other.org/", false),
            lead("https://other.org/moved", true),
        ];
        let found = crawling.admit(&links, Some(&at_home));
        assert_eq!(
            admitted(&found.facts),
            [("https://www.example.org/a", 1, 0)]
        );
        let summary = (crawling.tally).summary(0, 0, Default::default(), Default::default());
        assert_eq!(summary.outside, 2);
        assert_eq!(summary.outside_hosts, [("other.org".into(), 2)]);
    }

    #[test]
    fn pages_of_other_partitions_are_offered_and_accepted_there() {
        let seed = PageUrl::parse("http://example.org/").unwrap();
        let far = lead("http://example.org/far", false);
        let source = Source {
            url: &seed,
            depth: 4,
            hops: 0,
            read: None,
        };
        let mut crawling = crawling(seed.as_str());
        crawling.ours = Ownership::of([]);
        let mut found = crawling.admit(std::slice::from_ref(&far), Some(&source));
        assert!(found.known().is_empty());
        let [offer] = &found.offers[..] else {
            panic!("one page is offered")
        };
        assert_eq!((offer.depth, offer.source), (5, Some(seed.id())));
        assert_eq!((found.out_links, found.new_pages), (1, 0));
        let mut other = self::crawling(seed.as_str());
        let mut accept = || {
            let mut admitter = Admitter {
                frontier: &mut other.frontier,
                scope: None,
                ours: &other.ours,
                tally: &mut other.tally,
            };
            admitter.accept(offer, Moment::START)
        };
        let facts: Vec<Entry> = accept().into_iter().collect();
        assert_eq!(admitted(&facts), [("http://example.org/far", 5, 0)]);
        assert!(accept().is_none(), "it is known");
        let here = Partition::of(&seed);
        assert!(Ownership::of([here]).has(&seed) && !Ownership::of([]).has(&seed));
    }

    #[test]
    fn a_redirect_of_a_page_that_is_no_seed_does_not_widen_the_scope() {
        let seed = PageUrl::parse("http://example.org/").unwrap();
        let mut crawling = crawling(seed.as_str());
        let deep = Source {
            url: &seed,
            depth: 3,
            hops: 0,
            read: None,
        };
        let lost = [lead("http://shop.example.org/", true)];
        let lost = crawling.admit(&lost, Some(&deep));
        assert!(lost.facts.is_empty());
    }

    #[test]
    fn of_several_links_to_one_page_the_first_counts_and_a_new_page_knows_its_source() {
        let seed = PageUrl::parse("http://example.org/").unwrap();
        let mut crawling = crawling(seed.as_str());
        crawling.admit(&[Lead::seed(&seed)], None);
        let read = Some(Moment::from_micros(7));
        let source = Source {
            url: &seed,
            depth: 0,
            hops: 0,
            read,
        };
        let named = |url: &str, anchor: &str| Lead {
            anchor: anchor.to_owned(),
            ..lead(url, false)
        };
        let leads = [
            named("http://example.org/", "itself"),
            named("http://example.org/a", "first"),
            named("http://example.org/a", "second"),
        ];
        let mut found = crawling.admit(&leads, Some(&source));
        assert_eq!((found.out_links, found.new_pages), (2, 1));
        let links = link_facts(&found.known(), &leads);
        let anchors: Vec<&str> = links.iter().map(|link| link.anchor).collect();
        assert_eq!(anchors, ["first"]);
        let [Entry::Admitted(_, discovery)] = &found.facts[..] else {
            panic!("one page is new: {:?}", found.facts)
        };
        let from = (discovery.source, discovery.absent);
        assert_eq!(from, (Some(seed.id()), read));
    }
}
