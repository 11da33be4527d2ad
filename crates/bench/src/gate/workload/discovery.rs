//! The workload `discover-100000-links`: admits links as a crawl does, by scope, frontier and
//! policy.

use std::sync::Arc;

use anyhow::Result;
use crawl::scope::{Reach, Scope, ScopeRules};
use crawl::verdict::Lead;
use crawl::{Admitter, Ownership, Source, Tally, link_facts};
use frontier::bench::Manners;
use frontier::{Entry, Frontier, Reading};
use page::url::traps::Rules;
use policy::server::BestPrefix;
use policy::{Crawl, Moment, Price, Text};

use super::document;
use crate::urls::{Urls, scramble};

const LINKS: u64 = 100_000;
/// Links per page. Documentation sites have 73.
const LINKS_OF_PAGE: u64 = 75;
/// One link in this many leads to a new page.
const NEW: u64 = 5;
/// One new page in this many is on a host that is out of scope.
const OUTSIDE: u64 = 8;
/// Pages between two commits.
const GROUP: usize = 20;
const NOW: Moment = Moment::from_micros(1_700_000_000_000_000);

/// Discovers 100,000 links.
pub fn discover(only_set_up: bool) -> Result<()> {
    let mut pages: Vec<Vec<Lead>> = Vec::new();
    let mut known = 1;
    for link in 0..LINKS {
        if link % LINKS_OF_PAGE == 0 {
            pages.push(Vec::with_capacity(LINKS_OF_PAGE as usize));
        }
        let target = match link % NEW {
            0 => known,
            _ => scramble(link) % known,
        };
        known = known.max(target + 1);
        if let Some(page) = pages.last_mut() {
            page.push(lead(target)?);
        }
    }
    let seeds = (0..100).map(|site| format!("https://www.site{site}.example/"));
    let rules = ScopeRules {
        seeds: seeds.collect(),
        reach: Reach::Host,
        ..ScopeRules::default()
    };
    let mut scope = Arc::new(Scope::new(&rules, Rules::default())?);
    let ours = Ownership::all();
    let (policy, strategy) = (Crawl::default(), Box::new(BestPrefix));
    let mut frontier = Frontier::new(policy, strategy, Price::LEAST, Manners::default(), 0x5eed);
    let mut tally = Tally::default();
    if only_set_up {
        return Ok(());
    }
    let mut uncommitted: Vec<Entry> = Vec::new();
    for (number, leads) in (0..).zip(&pages) {
        let url = document::url(number)?;
        let source = Source {
            url: &url,
            depth: 2,
            hops: 0,
            read: None,
        };
        let mut admitter = Admitter {
            frontier: &mut frontier,
            scope: Some(&mut scope),
            ours: &ours,
            tally: &mut tally,
        };
        let mut admission = admitter.admit_all(leads, Some(&source), NOW);
        uncommitted.append(&mut admission.facts);
        let reading = Reading {
            text: Text::Nothing,
            links: &link_facts(&admission.known(), leads),
            out_links: admission.out_links,
            again: false,
        };
        uncommitted.extend(frontier.read(url.id(), reading));
        if number as usize % GROUP == GROUP - 1 {
            frontier.committed(&uncommitted);
            uncommitted.clear();
        }
    }
    Ok(())
}

fn lead(number: u64) -> Result<Lead> {
    let url = if number % OUTSIDE == OUTSIDE - 1 {
        page::PageUrl::parse(&format!("https://elsewhere{number}.example/"))?
    } else {
        document::url(number)?
    };
    Ok(Lead {
        id: url.id(),
        url,
        redirect: false,
        listing: false,
        anchor: Urls::anchor(number),
        aside: false,
        around: String::new(),
        path: String::new(),
    })
}
