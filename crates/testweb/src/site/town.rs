//! The town: a newspaper, a manual, a forum and a shop, whose pages change fast enough for a
//! demonstration.
//!
//! A [`Town`] generates a [`Web`] of four sites in readable English. The newspaper publishes and
//! corrects articles, the manual is edited, threads of the forum grow, prices of the shop
//! change, and products are sold out.
//!
//! **Invariant:** the same town gives the same web. Births, deaths and changes are functions of
//! the seed and the moment, and the number of future pages is fixed at the start.

mod feeds;
mod forum;
mod frame;
mod manual;
mod newspaper;
pub(super) mod page;
mod page_list;
mod searchers;
mod shop;
mod words;

use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use rand::RngExt;
use rand_distr::{Distribution, Exp1};

use super::life::PageLife;
use super::plan::Spread;
use super::web::{
    Coding, InventedPage, InventedRobots, InventedServer, PageAnswer, PageNumber, ServerNumber,
    TextSource, Web,
};
use crate::chance::{For, stream};
use page::TownPageKind;
use page_list::PageList;

pub use searchers::{Searchers, UserSearch};

/// The server of each site.
const NEWSPAPER: ServerNumber = ServerNumber(0);
const MANUAL: ServerNumber = ServerNumber(1);
const FORUM: ServerNumber = ServerNumber(2);
const SHOP: ServerNumber = ServerNumber(3);

/// Maximum age of a page at time 0, in seconds.
const PAST: f64 = 48.0 * 3600.0;

/// Parameters of a town.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Town {
    /// The seed of all random numbers.
    pub seed: u64,
    /// Speed of all events: at 1 an article appears every eight seconds, at 2 every four.
    pub speed: f64,
    /// The date of the web's time 0, on which the dates of pages are based.
    pub epoch: SystemTime,
}

/// The data of a town's web besides its pages.
#[derive(Debug, Default)]
pub(super) struct TownRecords {
    /// The kind of each page, in the order of the page numbers.
    kinds: Vec<TownPageKind>,
    /// The list pages: sections, boards, departments.
    lists: Vec<PageList>,
    /// The list pages of each site, its home page first.
    sites: [Vec<PageNumber>; 4],
}

/// How pages of a kind appear, change and disappear, at speed 1.
struct PageDynamics {
    /// Number of pages at time 0.
    now: usize,
    /// Number of pages that appear later.
    later: usize,
    /// Mean time between two new pages, in seconds.
    every: f64,
    /// Mean lifetime of a page in seconds; `None` means for ever.
    lifetime: Option<f64>,
    /// Share of pages that ever change.
    changing: f64,
    /// Time between two changes of such a page, in seconds.
    interval: Spread,
}

impl Town {
    /// Generates the web.
    pub fn invent(&self) -> Web {
        let mut builder = TownBuilder::new(*self);
        // Page `s` is the home page of server `s`.
        let homes = [
            "Estuary Courier",
            "Tern manual",
            "Slipway",
            "Chandler & Daughter",
        ];
        let homes: Vec<PageNumber> = (0..)
            .zip(homes)
            .map(|(server, title)| builder.add_home(ServerNumber(server), title))
            .collect();
        newspaper::add_site(&mut builder, homes[0]);
        manual::add_site(&mut builder, homes[1]);
        forum::add_site(&mut builder, homes[2]);
        shop::add_site(&mut builder, homes[3]);
        builder.web()
    }
}

/// A web that is being generated.
pub(super) struct TownBuilder {
    town: Town,
    pages: Vec<InventedPage>,
    records: TownRecords,
}

impl TownBuilder {
    fn new(town: Town) -> Self {
        Self {
            town,
            pages: Vec::new(),
            records: TownRecords::default(),
        }
    }

    fn add_home(&mut self, server: ServerNumber, title: &str) -> PageNumber {
        self.add_list(server, "/", title)
    }

    /// Adds a page that lists others.
    fn add_list(&mut self, server: ServerNumber, path: &str, title: &str) -> PageNumber {
        let list = self.records.lists.len();
        self.records.lists.push(PageList::new(title));
        let page = self.add_page(
            server,
            path.into(),
            PageLife::ALWAYS,
            TownPageKind::PageList(list),
        );
        self.records.sites[server.0 as usize].push(page);
        page
    }

    /// Adds a page.
    fn add_page(
        &mut self,
        server: ServerNumber,
        path: String,
        life: PageLife,
        kind: TownPageKind,
    ) -> PageNumber {
        let number = PageNumber(self.pages.len() as u32);
        self.pages.push(InventedPage {
            number,
            server,
            path: path.into(),
            kind: PageAnswer::Ordinary,
            links: Vec::new(),
            size: 0,
            life,
        });
        self.records.kinds.push(kind);
        number
    }

    /// Adds a page to a list.
    fn put(&mut self, page: PageNumber, on: PageNumber) {
        let life = self.pages[page.0 as usize].life;
        if let TownPageKind::PageList(list) = self.records.kinds[on.0 as usize] {
            self.records.lists[list].put(page, life);
        }
    }

    /// Draws the lives of all pages of a site: first those that exist at time 0, oldest first,
    /// then the later ones.
    fn draw_lives(&self, server: ServerNumber, habits: &PageDynamics) -> Vec<PageLife> {
        let speed = self.town.speed;
        let site = u64::from(server.0);
        let mut rng = stream(self.town.seed, For::Town, site, 0);
        let mut born: Vec<f64> = (0..habits.now)
            .map(|_| -PAST * rng.random::<f64>())
            .collect();
        born.sort_unstable_by(f64::total_cmp);
        let mut next = 0.0;
        for _ in 0..habits.later {
            let gap: f64 = Exp1.sample(&mut rng);
            next += gap * habits.every / speed;
            born.push(next);
        }
        let mut live = |born: f64| {
            let changes = rng.random::<f64>() < habits.changing;
            let interval = habits.interval.draw(&mut rng) / speed;
            let years: f64 = Exp1.sample(&mut rng);
            // The lifetime of pages from the past is counted from time 0, so that they disappear
            // at the same rate as new ones.
            let dies = (habits.lifetime)
                .map_or(f64::INFINITY, |mean| born.max(0.0) + years * mean / speed);
            PageLife {
                rate: if changes { interval.recip() } else { 0.0 },
                born,
                dies,
            }
        };
        born.into_iter().map(&mut live).collect()
    }

    fn web(self) -> Web {
        let paths = (self.pages.iter()).map(|page| ((page.server, page.path.clone()), page.number));
        let server = InventedServer {
            robots: InventedRobots::Open,
            requests_per_connection: 100,
            round_trip: Duration::ZERO,
            response_latency: Duration::ZERO,
            coding: Some(Coding::Gzip),
            etag: true,
            last_modified: true,
            calendar: false,
        };
        Web {
            seed: self.town.seed,
            servers: vec![server; 4],
            paths: paths.collect::<HashMap<_, _>>(),
            text_source: TextSource::Town(self.records),
            epoch: self.town.epoch,
            pages: self.pages,
        }
    }
}

#[cfg(test)]
mod tests;
