//! What do a newspaper, a manual, a forum and a shop look like that live fast enough to watch?
//!
//! A [`Town`] invents a [`Web`] of four sites, written in readable English, for demonstrations: people click through
//! it. The newspaper publishes and corrects, the manual is edited, threads of the forum grow, prices of the shop change and its
//! goods are sold out. **Invariant:** same town, same web: births, deaths and changes are functions of the seed and the moment,
//! and the number of pages to come is drawn beforehand.

mod forum;
mod frame;
mod listed;
mod manual;
mod newspaper;
pub(super) mod page;
mod searchers;
mod shelf;
mod shop;
mod words;

use std::collections::HashMap;
use std::time::{Duration, SystemTime};

use rand::RngExt;
use rand_distr::{Distribution, Exp1};

use super::life::Life;
use super::plan::Spread;
use super::web::{Author, Coding, Kind, Page, PageNumber, RobotsFile, Server, ServerNumber, Web};
use crate::chance::{For, stream};
use page::Sheet;
use shelf::Shelf;

pub use searchers::{Searchers, Wish};

/// Where each site is served, by its number.
const NEWSPAPER: ServerNumber = ServerNumber(0);
const MANUAL: ServerNumber = ServerNumber(1);
const FORUM: ServerNumber = ServerNumber(2);
const SHOP: ServerNumber = ServerNumber(3);

/// How long ago the oldest page that is there at the beginning was written.
const PAST: f64 = 48.0 * 3600.0;

/// A town to invent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Town {
    /// Where all chance comes from.
    pub seed: u64,
    /// How fast it lives: at 1 an article appears every eight seconds, at 2 every four.
    pub speed: f64,
    /// The date of the web's time 0; pages are dated from it.
    pub epoch: SystemTime,
}

/// What a town's web remembers beside its pages.
#[derive(Debug, Default)]
pub(super) struct Records {
    /// What each page is, in the order of the page numbers.
    sheets: Vec<Sheet>,
    /// The lists of pages: sections, boards, departments.
    shelves: Vec<Shelf>,
    /// The lists of each site, its home page first.
    sites: [Vec<PageNumber>; 4],
}

/// How pages of a kind come, change and go, at speed 1.
struct Habits {
    /// How many there are at the beginning.
    now: usize,
    /// How many there will be more, in the end.
    later: usize,
    /// The mean time between two new ones, in seconds.
    every: f64,
    /// The mean life of one, in seconds; `None`: for ever.
    lifetime: Option<f64>,
    /// The share that ever changes.
    changing: f64,
    /// The time between two changes of one that does.
    interval: Spread,
}

impl Town {
    /// Makes its web.
    pub fn invent(&self) -> Web {
        let mut builder = Builder::new(*self);
        // Page `s` is the home page of server `s`.
        let homes = [
            "Estuary Courier",
            "Tern manual",
            "Slipway",
            "Chandler & Daughter",
        ];
        let homes: Vec<PageNumber> = (0..)
            .zip(homes)
            .map(|(server, title)| builder.home(ServerNumber(server), title))
            .collect();
        newspaper::found(&mut builder, homes[0]);
        manual::found(&mut builder, homes[1]);
        forum::found(&mut builder, homes[2]);
        shop::found(&mut builder, homes[3]);
        builder.web()
    }
}

/// A web under construction.
pub(super) struct Builder {
    town: Town,
    pages: Vec<Page>,
    records: Records,
}

impl Builder {
    fn new(town: Town) -> Self {
        Self {
            town,
            pages: Vec::new(),
            records: Records::default(),
        }
    }

    fn home(&mut self, server: ServerNumber, title: &str) -> PageNumber {
        self.shelf(server, "/", title)
    }

    /// A page that names others.
    fn shelf(&mut self, server: ServerNumber, path: &str, title: &str) -> PageNumber {
        let shelf = self.records.shelves.len();
        self.records.shelves.push(Shelf::new(title));
        let page = self.page(server, path.into(), Life::ALWAYS, Sheet::Shelf(shelf));
        self.records.sites[server.0 as usize].push(page);
        page
    }

    /// A page of some kind.
    fn page(&mut self, server: ServerNumber, path: String, life: Life, sheet: Sheet) -> PageNumber {
        let number = PageNumber(self.pages.len() as u32);
        self.pages.push(Page {
            number,
            server,
            path: path.into(),
            kind: Kind::Ordinary,
            links: Vec::new(),
            size: 0,
            life,
        });
        self.records.sheets.push(sheet);
        number
    }

    /// Puts a page on a shelf.
    fn put(&mut self, page: PageNumber, on: PageNumber) {
        let life = self.pages[page.0 as usize].life;
        if let Sheet::Shelf(shelf) = self.records.sheets[on.0 as usize] {
            self.records.shelves[shelf].put(page, life);
        }
    }

    /// When pages of a kind live and how often they change: those that are there first, the oldest at the head.
    fn lives(&self, server: ServerNumber, habits: &Habits) -> Vec<Life> {
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
            // Who is there at the beginning is as likely to go as who comes.
            let dies = (habits.lifetime)
                .map_or(f64::INFINITY, |mean| born.max(0.0) + years * mean / speed);
            Life {
                rate: if changes { interval.recip() } else { 0.0 },
                born,
                dies,
            }
        };
        born.into_iter().map(&mut live).collect()
    }

    fn web(self) -> Web {
        let paths = (self.pages.iter()).map(|page| ((page.server, page.path.clone()), page.number));
        let server = Server {
            robots: RobotsFile::Open,
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
            author: Author::Town(self.records),
            epoch: self.town.epoch,
            pages: self.pages,
        }
    }
}

#[cfg(test)]
mod tests;
