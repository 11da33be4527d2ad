//! Which pages are content sources, what is expected of each, and which pages were found on them?
//!
//! The procedure of the paper's §3.2: the main page of each host, and every page that it links to and that is older than a few days; it is run again
//! whenever a main page is read. A seed counts as a main page, and a sitemap or feed is a source at once.
//!
//! **Invariant:** everything here was told by a [`Fact`]; time is that of the newest fact. Plans are made anew when a fact is told that is
//! [`Settings::replan`] younger than the last plan.

use std::time::Duration;

use super::settings::Settings;
use super::{NewPage, Outlook, Scheduler};
use crate::estimate::Column;
use crate::history::Finds;
use crate::{
    Appeared, Discovered, Fact, Moment, Needs, Number, Page, Price, Read, Term, Visited, Worth,
};

/// The content sources of a crawl.
pub struct Sources {
    scheduler: Box<dyn Scheduler>,
    settings: Settings,
    /// By page: when it was discovered, and its place among the sources.
    pages: Column<Known>,
    sources: Vec<Source>,
    planned: Option<Moment>,
}

/// What is known of any page.
#[derive(Debug, Clone, Copy, Default)]
struct Known {
    discovered: Moment,
    /// Its place among the sources.
    place: Option<u32>,
    /// Where it appeared.
    appeared: Option<Appeared>,
}

/// Why a page is a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The main page of a host, or a seed.
    Main,
    /// A sitemap or a feed.
    Listing,
    /// One link from a main page: a source when it is old enough.
    Near,
}

/// One source.
#[derive(Debug, Clone)]
struct Source {
    page: Number,
    kind: Kind,
    discovered: Moment,
    finds: Finds,
    watched: Duration,
    outlook: Outlook,
}

/// What is known of a source, for people.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Account {
    /// The page.
    pub page: Number,
    /// Why it is a source.
    pub kind: Kind,
    /// New pages that it named so far.
    pub found: u32,
    /// What is expected of it.
    pub outlook: Outlook,
    /// How long a plan leaves it alone, in seconds.
    pub interval: Option<f64>,
}

impl Sources {
    /// Nothing is known yet.
    pub fn new(scheduler: Box<dyn Scheduler>, settings: Settings) -> Self {
        Self {
            scheduler,
            settings,
            pages: Column::default(),
            sources: Vec::new(),
            planned: None,
        }
    }

    /// What [`observe`](Sources::observe) wants to be told.
    pub fn needs(&self) -> Needs {
        Needs {
            links: true,
            words: true,
            visits: true,
            searches: true,
            ..Needs::default()
        }
    }

    /// Takes in a fact.
    pub fn observe(&mut self, fact: &Fact<'_>) {
        match fact {
            Fact::Discovered(discovered) => self.discovered(discovered),
            Fact::Read(read) => self.read(read),
            Fact::Visited(visited) => self.visited(visited),
            Fact::Shown(_) => {}
        }
    }

    /// Whether a page is a source by now.
    pub fn polls(&self, page: Page<'_>, now: Moment) -> bool {
        self.source(page.number)
            .is_some_and(|(_, source)| self.is_old_enough(source, now))
    }

    /// What a poll is worth now; nothing if the page is no source, or was never visited.
    pub fn worth(&self, page: Page<'_>, now: Moment) -> Worth {
        let (Some((place, source)), Some(asked)) = (self.source(page.number), page.history.asked)
        else {
            return Worth::NONE;
        };
        if !self.is_old_enough(source, now) {
            return Worth::NONE;
        }
        let waited = now.since(asked).as_secs_f64();
        Worth::new(self.scheduler.worth(place, &source.outlook, waited))
    }

    /// The first moment at which a poll is worth `price`; `None`: never.
    pub fn due(&self, page: Page<'_>, price: Price) -> Option<Moment> {
        let (place, source) = self.source(page.number)?;
        let wait = self.scheduler.due(place, &source.outlook, price.value())?;
        let due = page.history.asked? + Duration::try_from_secs_f64(wait).ok()?;
        Some(match source.kind {
            Kind::Near => due.max(source.discovered + self.settings.older),
            Kind::Main | Kind::Listing => due,
        })
    }

    /// What a first visit is worth to a page that appeared on a source; `None`: it did not.
    pub fn page(&self, page: Number, now: Moment) -> Option<Worth> {
        let known = self.pages.get(page)?;
        let appeared = known.appeared?;
        let (_, source) = self.source(appeared.on)?;
        // It appeared between two looks, most likely in the middle.
        let unseen = known.discovered.since(appeared.after).as_secs_f64() / 2.0;
        let worth = self.scheduler.page(&NewPage {
            outlook: source.outlook,
            appeal: 1.0,
            age: now.since(known.discovered).as_secs_f64() + unseen,
            found: known.discovered.since(Moment::START).as_secs_f64(),
        });
        Some(Worth::new(worth))
    }

    /// Whether a page appeared on a source: what it is worth falls while it waits.
    pub fn named(&self, page: Number) -> bool {
        let appeared = self.pages.get(page).and_then(|known| known.appeared);
        appeared.is_some_and(|appeared| self.source(appeared.on).is_some())
    }

    /// Takes in what the first copy of a page that appeared on a source would be worth to a crawl that knows nothing of sources. It stands
    /// for clicks where there are none, and says what a click is worth where there are.
    pub fn weigh(&mut self, _page: Number, _first: f64) {}

    /// What a poll, or a visit to a page that a poll found, is worth for.
    pub fn terms(&self, page: Page<'_>) -> Vec<Term> {
        let named = self.pages.get(page.number).and_then(|known| known.appeared);
        let on = named.and_then(|appeared| self.source(appeared.on));
        let source = self.source(page.number);
        let Some((_, Source { outlook, .. })) = source.or(on) else {
            return Vec::new();
        };
        let mut terms = vec![
            Term::new("profit of a new page", outlook.profit),
            Term::new("profit's decay a day", outlook.decay * 86_400.0),
        ];
        if source.is_some() {
            terms.insert(0, Term::new("new pages a day", outlook.rate * 86_400.0));
        }
        terms
    }

    /// What is known of the sources, in the order in which they became such.
    pub fn accounts(&self) -> impl Iterator<Item = Account> {
        self.sources
            .iter()
            .enumerate()
            .map(|(place, source)| Account {
                page: source.page,
                kind: source.kind,
                found: source.finds.total,
                outlook: source.outlook,
                interval: self.scheduler.interval(place),
            })
    }

    fn discovered(&mut self, discovered: &Discovered<'_>) {
        let known = Known {
            discovered: discovered.at,
            place: None,
            appeared: discovered.appeared,
        };
        if self.pages.add(discovered.page, known) && (discovered.seed || is_main(discovered.url)) {
            self.found(discovered.page, Kind::Main);
        }
        self.replan(discovered.at);
    }

    fn read(&mut self, read: &Read<'_>) {
        let main = |(_, source): (usize, &Source)| source.kind == Kind::Main;
        if self.source(read.page).is_some_and(main) {
            read.links
                .iter()
                .for_each(|link| self.found(link.to, Kind::Near));
        }
    }

    fn visited(&mut self, visited: &Visited<'_>) {
        if visited.after.listing {
            self.found(visited.page, Kind::Listing);
        }
        let place = self.pages.get(visited.page).and_then(|known| known.place);
        if let Some(source) = place.and_then(|place| self.sources.get_mut(place as usize)) {
            source.finds = visited.after.finds;
            source.watched = visited.after.watched;
        }
        self.replan(visited.after.asked.unwrap_or_default());
    }

    /// Takes note that a page is a source. A page that is one already may become one for a better reason.
    fn found(&mut self, page: Number, kind: Kind) {
        let Some(known) = self.pages.get_mut(page) else {
            return;
        };
        if let Some(place) = known.place {
            let source = &mut self.sources[place as usize];
            if source.kind == Kind::Near {
                source.kind = kind;
            }
            return;
        }
        let Ok(place) = u32::try_from(self.sources.len()) else {
            return;
        };
        known.place = Some(place);
        self.sources.push(Source {
            page,
            kind,
            discovered: known.discovered,
            finds: Finds::default(),
            watched: Duration::ZERO,
            outlook: Outlook {
                rate: 0.0,
                profit: self.settings.profit,
                decay: 1.0 / 86_400.0,
            },
        });
    }

    fn replan(&mut self, now: Moment) {
        let since = self.planned.map(|planned| now.since(planned));
        if since.is_some_and(|since| since < self.settings.replan) {
            return;
        }
        self.planned = Some(now);
        let outlooks: Vec<Outlook> = self.sources.iter().map(|source| source.outlook).collect();
        self.scheduler.plan(&outlooks, self.settings.per_second);
    }

    fn source(&self, page: Number) -> Option<(usize, &Source)> {
        let place = self.pages.get(page)?.place? as usize;
        Some((place, self.sources.get(place)?))
    }

    fn is_old_enough(&self, source: &Source, now: Moment) -> bool {
        source.kind != Kind::Near || now.since(source.discovered) >= self.settings.older
    }
}

/// Whether a URL is the main page of its host.
fn is_main(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.split_once('/').is_none_or(|(_, path)| path.is_empty())
}
