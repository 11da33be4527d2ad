//! What a scheduler of sources finds and fetches, with a budget of N fetches a second.
//!
//! The crawl core under a budget, with a clock that jumps ([`Driver`]): a production scheduler ([`Sources`]) within a production
//! [`Crawl`] says what polls and new pages are worth; frontier, price and budget of the core choose. The setting is that of Lefortier et
//! al. (2013), §5.3.1: N fetches a second for polls of sources and for the pages that polls find. Servers answer at once and need
//! no delay. Two inputs express what the paper takes for granted:
//!
//! - The look at all sources in the first moment, which costs nothing, is in the ledger that the core begins with
//!   (`first_look.rs`). What the sources show then is old, as it is in the paper's data.
//! - The first polls visit every source once, in an order drawn by lot. A scheduler that expects nothing of an unknown
//!   source, as the printed ones do, would never poll most of them. So the refresh policy of the crawl is [`FirstPolls`].
//!   In a recorded world this order is what differs from run to run.
//!
//! **Difference to the paper:** its crawler compares all sources and pages at every step. The core compares the pages that pay
//! the price of the moment, so a page or a poll whose worth jumps between two looks at it is chosen late.
//!
//! **Invariant:** the scheduler is told what a crawler sees: which pages are new on a source when it is polled, and clicks when
//! logs are pushed ([`logs`]). When a page appeared, and what it will give, only the judge knows.

mod first_look;
mod logs;
mod stage;

use std::time::Duration;

use ::crawl::verdict::{Lead, Verdict};
use ::crawl::{Again, Claim, Event};
use policy::published::server::Quality;
use policy::source::Seen;
use policy::{Crawl, Moment, Sources};

use super::driver::{AtOnce, Driver, Responder, answer_of};
use first_look::{FirstPolls, first_look};
use logs::Logs;
use stage::Place;
pub use stage::Stage;

/// What a run is given.
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    /// Fetches a second, N.
    pub per_second: f64,
    /// How often logs are pushed, L.
    pub push: Duration,
    /// Whose logs these are.
    pub seen: Seen,
    /// What the order of the first polls is drawn from.
    pub seed: u64,
}

/// What became of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Crawled {
    /// When each article was found and fetched.
    pub articles: Vec<Known>,
    /// Polls: when, and of which source.
    pub polls: Vec<(Moment, u32)>,
    /// Fetches that the budget paid for and that were not made, since nothing was worth anything.
    pub lost: u64,
}

/// What the crawl knows of an article.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Known {
    /// When it was discovered.
    pub found: Option<Moment>,
    /// When it was fetched.
    pub fetched: Option<Moment>,
}

/// Crawls a world.
pub fn crawl(stage: &Stage<'_>, sources: Sources, plan: &Plan) -> Crawled {
    let crawl = Crawl {
        refresh: Some(Box::new(FirstPolls)),
        sources: Some(sources),
        ..Crawl::default()
    };
    let rules = ::crawl::Plan {
        again: Again::Always {
            budget: plan.per_second,
        },
        pages_per_visit: 1,
        without_rules: true,
        ..::crawl::Plan::default()
    };
    let policies = (crawl, Box::new(Quality) as _);
    let connections = AtOnce::one_page(Duration::ZERO);
    let press = Press::new(stage, plan);
    let looked = first_look(stage, plan.seed);
    // The budget has one fetch when it begins.
    let first = stage.from + Duration::from_secs_f64(1.0 / plan.per_second);
    let mut driver = Driver::resumed(press, connections, rules, policies, looked, first);
    let mut push = stage.from + plan.push;
    while push <= stage.until {
        driver.run(push, []);
        let clicked = driver.world.push_logs(push);
        driver.happen(push, [Event::Searched(clicked)]);
        push = push + plan.push;
    }
    driver.run(stage.until + Duration::from_micros(1), []);
    driver.world.end(plan.per_second)
}

/// Fetches that a budget pays for: one every 1/N seconds, after the first moment and not after the last.
pub fn fetches(stage: &Stage<'_>, per_second: f64) -> u64 {
    (stage.until.since(stage.from).as_secs_f64() * per_second) as u64
}

/// Sources, the articles that they name, and what a crawl has of them.
struct Press<'a> {
    stage: &'a Stage<'a>,
    logs: Logs,
    /// The text of each source: when a poll last found a link that the poll before had not.
    texts: Vec<Moment>,
    articles: Vec<Known>,
    polls: Vec<(Moment, u32)>,
}

impl<'a> Press<'a> {
    fn new(stage: &'a Stage<'a>, plan: &Plan) -> Self {
        let articles = stage.news().articles().len();
        Self {
            stage,
            logs: Logs::new(articles, plan.seen),
            texts: vec![stage.from; stage.news().sources().len()],
            articles: vec![Known::default(); articles],
            polls: Vec::new(),
        }
    }

    fn push_logs(&mut self, at: Moment) -> Vec<::crawl::Met> {
        self.logs.push(self.stage, &self.articles, at)
    }

    /// Polls a source. Returns its links to pages that it did not name at the last poll. The links that it names still are
    /// known to the crawl, as is everything that is old.
    fn poll(&mut self, source: usize, before: Moment, now: Moment) -> Vec<Lead> {
        self.polls.push((now, source as u32));
        let mut leads = Vec::new();
        for article in self.stage.new_on(source, before, now) {
            let known = &mut self.articles[article as usize];
            if known.found.is_none() {
                known.found = Some(now);
                self.logs.heard_of(article);
            }
            leads.push(Lead::seed(&self.stage.news().articles()[article as usize]));
        }
        if !leads.is_empty() {
            self.texts[source] = now;
        }
        leads
    }

    fn end(self, per_second: f64) -> Crawled {
        let fetched = self.articles.iter().filter(|known| known.fetched.is_some());
        let made = (self.polls.len() + fetched.count()) as u64;
        Crawled {
            lost: fetches(self.stage, per_second).saturating_sub(made),
            articles: self.articles,
            polls: self.polls,
        }
    }
}

impl Responder for Press<'_> {
    fn respond(&mut self, claim: &Claim, at: Moment) -> Verdict {
        let (text, leads) = match self.stage.place(claim.key.page) {
            Place::Source(source) => {
                let before = claim.history().asked.unwrap_or(self.stage.from);
                let leads = self.poll(source as usize, before, at);
                (self.texts[source as usize].micros(), leads)
            }
            Place::Article(article) => {
                self.articles[article as usize].fetched = Some(at);
                self.logs.fetched(self.stage, article, at);
                (0, Vec::new())
            }
        };
        let verdict = claim.asked(at).judge(&answer_of(Some(text)), 0, &|_| true);
        Verdict { leads, ..verdict }
    }
}

#[cfg(test)]
mod tests;
