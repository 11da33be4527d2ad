//! Runs a scheduler of sources over a news world, with a budget of N fetches a second.
//!
//! The setting is that of Lefortier et al. (2013), §5.3.1: the budget pays for polls of sources
//! and for the pages that polls find. The crawl core runs under this budget with a clock that
//! jumps ([`LabDriver`]). A production scheduler ([`Sources`]) within a production [`Crawl`]
//! says what polls and new pages are worth. The core's frontier, price and budget choose.
//! Servers answer at once and need no delay. Two inputs express what the paper takes for
//! granted:
//!
//! - The paper visits all sources once at the start, at no cost. These visits are in the ledger
//!   that the core starts with (`initial_visits.rs`). What the sources show then is old, as in
//!   the paper's data.
//! - The first polls then fetch every source once, in random order. The published schedulers
//!   expect nothing of an unknown source and would never poll most of them. So the refresh
//!   policy of the crawl is [`FirstPolls`]. In a recorded world this order differs from run to
//!   run.
//!
//! **Difference from the paper:** its crawler compares all sources and pages at every step. The
//! core compares only pages that are worth the current price. So it chooses a page or a poll
//! late if its worth jumps between two evaluations.
//!
//! **Invariant:** the scheduler receives what a crawler sees: which pages are new on a source
//! when it is polled, and clicks when logs are pushed ([`click_logs`]). Only the judge knows
//! when a page appeared and how many clicks it will get.

mod click_logs;
mod initial_visits;
mod timeline;

use std::time::Duration;

use ::crawl::verdict::{Lead, Verdict};
use ::crawl::{Again, Claim, Event};
use policy::published::server::Quality;
use policy::source::{NewPageClicks, Seen};
use policy::{Crawl, Moment, Sources};

use super::driver::{InstantServers, LabDriver, Responder, answer_of};
use click_logs::ClickLogs;
use initial_visits::{FirstPolls, initial_visits};
use timeline::NewsPage;
pub use timeline::NewsTimeline;

/// Settings of a run.
#[derive(Debug, Clone, Copy)]
pub struct EphemeralPlan {
    /// Budget N, in fetches a second.
    pub per_second: f64,
    /// Period L between two pushes of the logs.
    pub push: Duration,
    /// Pages whose clicks the logs contain.
    pub seen: Seen,
    /// Seed of the random order of the first polls.
    pub seed: u64,
}

/// The result of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct NewsCrawl {
    /// When each article was found and fetched.
    pub articles: Vec<ArticleTimes>,
    /// Time and source of each poll.
    pub polls: Vec<(Moment, u32)>,
    /// Fetches that the budget allowed and the crawl did not make, because nothing had any
    /// worth.
    pub lost: u64,
    /// The crawl's own estimate, at its last plan, of the clicks that new pages earned and missed.
    pub estimate: Option<NewPageClicks>,
}

/// When a crawl found and fetched an article.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct ArticleTimes {
    /// Time of discovery.
    pub found: Option<Moment>,
    /// Time of the fetch.
    pub fetched: Option<Moment>,
}

/// Crawls a news world.
pub fn crawl(timeline: &NewsTimeline<'_>, sources: Sources, plan: &EphemeralPlan) -> NewsCrawl {
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
    let connections = InstantServers::one_page(Duration::ZERO);
    let web = NewsWeb::new(timeline, plan);
    let ledger = initial_visits(timeline, plan.seed);
    // The budget allows the first fetch after 1/N seconds.
    let first = timeline.from + Duration::from_secs_f64(1.0 / plan.per_second);
    let mut driver = LabDriver::resumed(web, connections, rules, policies, ledger, first);
    let mut push = timeline.from + plan.push;
    while push <= timeline.until {
        driver.run(push, []);
        let clicked = driver.world.push_logs(push);
        driver.deliver(push, [Event::Searched(clicked)]);
        push = push + plan.push;
    }
    driver.run(timeline.until + Duration::from_micros(1), []);
    let sources = driver.policy().sources.as_ref();
    let estimate = sources.and_then(Sources::new_page_clicks);
    NewsCrawl {
        estimate,
        ..driver.world.end(plan.per_second)
    }
}

/// Returns the fetches that a budget allows: one every 1/N seconds, after the first moment and
/// up to the last.
pub fn fetches(timeline: &NewsTimeline<'_>, per_second: f64) -> u64 {
    (timeline.until.since(timeline.from).as_secs_f64() * per_second) as u64
}

/// Sources and their articles, with what a crawl has found of them.
struct NewsWeb<'a> {
    timeline: &'a NewsTimeline<'a>,
    logs: ClickLogs,
    /// Text of each source, identified by the time of the last poll that found a new link.
    texts: Vec<Moment>,
    articles: Vec<ArticleTimes>,
    polls: Vec<(Moment, u32)>,
}

impl<'a> NewsWeb<'a> {
    fn new(timeline: &'a NewsTimeline<'a>, plan: &EphemeralPlan) -> Self {
        let articles = timeline.news().articles().len();
        Self {
            timeline,
            logs: ClickLogs::new(articles, plan.seen),
            texts: vec![timeline.from; timeline.news().sources().len()],
            articles: vec![ArticleTimes::default(); articles],
            polls: Vec::new(),
        }
    }

    fn push_logs(&mut self, at: Moment) -> Vec<::crawl::Met> {
        self.logs.push(self.timeline, &self.articles, at)
    }

    /// Polls a source and returns its links to articles that it did not show at the previous
    /// poll.
    ///
    /// Other links are left out, because the crawl knows these pages or they are old.
    fn poll(&mut self, source: usize, before: Moment, now: Moment) -> Vec<Lead> {
        self.polls.push((now, source as u32));
        let mut leads = Vec::new();
        for article in self.timeline.new_on(source, before, now) {
            let known = &mut self.articles[article as usize];
            if known.found.is_none() {
                known.found = Some(now);
                self.logs.discovered(article);
            }
            leads.push(Lead::seed(
                &self.timeline.news().articles()[article as usize],
            ));
        }
        if !leads.is_empty() {
            self.texts[source] = now;
        }
        leads
    }

    fn end(self, per_second: f64) -> NewsCrawl {
        let fetched = self.articles.iter().filter(|known| known.fetched.is_some());
        let made = (self.polls.len() + fetched.count()) as u64;
        NewsCrawl {
            lost: fetches(self.timeline, per_second).saturating_sub(made),
            articles: self.articles,
            polls: self.polls,
            estimate: None,
        }
    }
}

impl Responder for NewsWeb<'_> {
    fn respond(&mut self, claim: &Claim, at: Moment) -> Verdict {
        let (text, leads) = match self.timeline.page(claim.key.page) {
            NewsPage::Source(source) => {
                let before = claim.history().asked.unwrap_or(self.timeline.from);
                let leads = self.poll(source as usize, before, at);
                (self.texts[source as usize].micros(), leads)
            }
            NewsPage::Article(article) => {
                self.articles[article as usize].fetched = Some(at);
                self.logs.fetched(self.timeline, article, at);
                (0, Vec::new())
            }
        };
        let verdict = claim.asked(at).judge(&answer_of(Some(text)), 0, &|_| true);
        Verdict { leads, ..verdict }
    }
}

#[cfg(test)]
mod tests;
