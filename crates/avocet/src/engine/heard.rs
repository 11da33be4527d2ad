//! What do the links of a page mean for the crawl: which pages are new, which were known, which are not
//! ours? The live crawl, `rebuild` and `import` all listen here.

use frontier::{Entry, Frontier, Link};
use page::PageUrl;
use policy::{Crawl, Moment, Number};

use super::tally::Tally;
use crate::scope::{Outside, Scope};
use crate::verdict::Lead;

/// The page that leads were found on.
pub struct Source<'a> {
    /// Its URL.
    pub url: &'a PageUrl,
    /// Its distance from a seed.
    pub depth: u16,
    /// Redirects in a row that led to it.
    pub hops: u8,
    /// When it was last read, before this; `None`: never.
    pub read: Option<Moment>,
}

/// What came of the links of a page.
#[derive(Default)]
pub struct Heard<'l> {
    /// What is new.
    pub facts: Vec<Entry>,
    /// The links to known pages, each page once.
    pub links: Vec<policy::Link<'l>>,
    /// All links, those that lead out of the crawl included.
    pub out_links: u32,
}

impl Heard<'_> {
    /// How many pages nobody had heard of.
    pub fn new_pages(&self) -> u32 {
        let admitted = |fact: &&Entry| matches!(fact, Entry::Admitted(..));
        self.facts.iter().filter(admitted).count() as u32
    }
}

/// Whoever listens.
pub struct Ear<'a> {
    /// What is known.
    pub frontier: &'a mut Frontier<Crawl>,
    /// What belongs to the crawl; `None`: nothing new does.
    pub scope: Option<&'a mut Scope>,
    /// What was left out, counted.
    pub tally: &'a mut Tally,
}

impl Ear<'_> {
    /// Takes in seeds, which have no `source`, and the links of a page.
    pub fn hear<'l>(
        &mut self,
        leads: &'l [Lead],
        source: Option<&Source<'_>>,
        now: Moment,
    ) -> Heard<'l> {
        let mut heard = Heard::default();
        let from = source.map(|source| source.url.id());
        for lead in leads.iter().filter(|lead| Some(lead.id) != from) {
            heard.out_links += 1;
            let number = match self.frontier.number(lead.id) {
                Some(number) => Some(number),
                None => self.discover(lead, source, now, &mut heard),
            };
            heard.links.extend(number.map(|to| policy::Link {
                around: &lead.around,
                path: &lead.path,
                ..policy::Link::new(to, &lead.anchor)
            }));
        }
        // Of two links to one page the first counts: the sort keeps their order.
        heard.links.sort_by_key(|link| link.to);
        heard.links.dedup_by_key(|link| link.to);
        heard
    }

    /// Takes in a page that was not known under this URL. Returns its number, if it belongs here.
    fn discover(
        &mut self,
        lead: &Lead,
        source: Option<&Source<'_>>,
        now: Moment,
        heard: &mut Heard<'_>,
    ) -> Option<Number> {
        let scope = self.scope.as_mut()?;
        let step = u16::from(!lead.redirect);
        let depth = source.map_or(0, |source| source.depth.saturating_add(step));
        let hops = source.map_or(0, |source| {
            if lead.redirect {
                source.hops.saturating_add(1)
            } else {
                0
            }
        });
        if let Some(source) = source
            && lead.redirect
            && source.depth == 0
            && scope.follows_seed(source.url, &lead.url)
        {
            scope.add_seed(&lead.url);
            let seed = Entry::Seed(lead.url.as_str().to_owned());
            heard.facts.push(seed);
        }
        let url = match scope.admit(&lead.url, depth) {
            Ok(url) => url,
            Err(Outside::Trap(trap)) => {
                self.tally.error(trap.name());
                return None;
            }
            Err(Outside::Scope | Outside::Depth | Outside::Blocked) => {
                self.tally.outside += 1;
                return None;
            }
        };
        let from = source.map(|source| source.url.id());
        // Without its session id it may be one that we know.
        if let Some(number) = self.frontier.number(url.id()) {
            return Some(number);
        }
        let link = Link {
            url: &url,
            depth,
            hops,
            source: from,
            absent: source.and_then(|source| source.read),
        };
        let (number, fact) = self.frontier.hear(link, now);
        heard.facts.push(fact);
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
        scope: Scope,
        tally: Tally,
    }

    impl Crawling {
        fn admit<'l>(&mut self, leads: &'l [Lead], source: Option<&Source<'_>>) -> Heard<'l> {
            let mut ear = Ear {
                frontier: &mut self.frontier,
                scope: Some(&mut self.scope),
                tally: &mut self.tally,
            };
            ear.hear(leads, source, Moment::START)
        }
    }

    fn crawling(seed: &str) -> Crawling {
        let strategy = Box::new(policy::server::BreadthFirst);
        let manners = Manners::default();
        let frontier = Frontier::new(Crawl::default(), strategy, Price::LEAST, manners, 1);
        let rules = ScopeRules {
            seeds: vec![seed.into()],
            ..ScopeRules::default()
        };
        let scope = Scope::new(&rules, page::url::traps::Rules::default()).unwrap();
        Crawling {
            frontier,
            scope,
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
    fn a_seed_that_moved_within_its_domain_takes_the_scope_along() {
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
        assert_eq!(crawling.tally.outside, 2);
    }

    #[test]
    fn a_redirect_deep_in_a_crawl_stays_in_scope() {
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
}
