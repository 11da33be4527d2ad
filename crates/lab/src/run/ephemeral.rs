//! What a scheduler of sources finds and fetches, with a number of fetches a second.
//!
//! **The paper's own step model, not the crawl core:** the production schedulers (`policy::Sources`) are asked what polls and
//! pages are worth, and this module chooses the best at every step. Frontier, bench, price and budget of a crawl take no part: the
//! published numbers are of a crawler that compares everything at every step, and that looks at all sources once for nothing. The
//! core under a budget polls the same sources in `node/src/engine/paused/press.rs`.
//!
//! As in Lefortier et al. (2013), §5.3.1: at each step, of which there are N a second, the scheduler either polls a source or fetches a page that a poll found, whichever is worth
//! more to it; if nothing is worth anything the step is lost. The scheduler is that of the production catalog within the production [`Sources`]. Servers answer at once and want no
//! delay. All sources are looked at in the first moment, which costs nothing: what is there then is old, as it is in the paper's data. The first steps poll every source once, in an order drawn by lot: a scheduler that expects nothing of what it does
//! not know, as the printed ones do, would else never look at most of them again. In a recorded world this order is what differs from run to run.
//!
//! **Invariant:** the scheduler is told what a crawler sees: which pages are new on a source when it is polled, and clicks when logs are pushed ([`logs`]). When a page
//! appeared, and what it will give, only the judge knows.

mod choice;
mod logs;
mod stage;

use std::collections::HashMap;
use std::time::Duration;

use policy::source::Seen;
use policy::{
    Appeared, Discovered, Fact, History, Moment, Number, Outcome, Sources, Visit, Visited,
};

use rand::seq::SliceRandom;

use choice::{Choice, Chosen};
use logs::Logs;
pub use stage::Stage;
use testweb::chance::{For, stream};

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
    /// Steps that were lost, since nothing was worth anything.
    pub lost: u64,
}

/// What the crawl knows of an article.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Known {
    /// Its number, if it was heard of.
    pub number: Option<Number>,
    /// When it was heard of.
    pub found: Option<Moment>,
    /// When it was fetched.
    pub fetched: Option<Moment>,
}

/// Crawls a world.
pub fn crawl(stage: &Stage<'_>, sources: Sources, plan: &Plan) -> Crawled {
    let steps = steps(stage, plan.per_second);
    let mut run = Run::new(stage, sources, plan);
    run.look_around();
    for now in steps {
        run.step(now);
    }
    run.done
}

/// The moments of all steps: one every 1/N seconds, after the first moment and not after the last.
pub fn steps(stage: &Stage<'_>, per_second: f64) -> impl Iterator<Item = Moment> + use<> {
    let (from, until) = (stage.from, stage.until);
    let all = (1_u64..).map(move |step| {
        let seconds = step as f64 / per_second;
        from + Duration::from_micros((seconds * 1e6) as u64)
    });
    all.take_while(move |&now| now <= until)
}

struct Run<'a> {
    stage: &'a Stage<'a>,
    sources: Sources,
    choice: Choice,
    logs: Logs,
    /// Sources that were not polled yet, the next one last.
    unpolled: Vec<Number>,
    /// Of the sources, by number.
    histories: Vec<History>,
    /// The article of each number, from the first that is no source.
    numbered: Vec<u32>,
    /// Numbers of hosts, in the order of discovery.
    hosts: HashMap<&'a str, u32>,
    done: Crawled,
}

impl<'a> Run<'a> {
    fn new(stage: &'a Stage<'a>, sources: Sources, plan: &Plan) -> Self {
        let step = Duration::from_secs_f64(1.0 / plan.per_second);
        let mut unpolled: Vec<Number> = (0..)
            .map(Number)
            .take(stage.news().sources().len())
            .collect();
        unpolled.shuffle(&mut stream(plan.seed, For::FirstVisits, 0, 0));
        Self {
            stage,
            sources,
            choice: Choice::new(step),
            logs: Logs::new(stage, plan.push, plan.seen),
            unpolled,
            histories: Vec::new(),
            numbered: Vec::new(),
            hosts: HashMap::new(),
            done: Crawled {
                articles: vec![Known::default(); stage.news().articles().len()],
                polls: Vec::new(),
                lost: 0,
            },
        }
    }

    /// The first look at every source.
    fn look_around(&mut self) {
        let now = self.stage.from;
        for source in 0..self.stage.news().sources().len() {
            let number = Number(source as u32);
            self.discover(
                number,
                self.stage.news().sources()[source].as_str(),
                now,
                None,
            );
            self.histories.push(History::discovered(now, 0));
        }
        for source in 0..self.histories.len() {
            for article in self.stage.old_on(source) {
                self.hear(article, now, None);
            }
            self.visited(source, now, Outcome::Changed, 0);
        }
    }

    fn step(&mut self, now: Moment) {
        self.logs
            .push(self.stage, &self.done.articles, now, &mut self.sources);
        if let Some(source) = self.unpolled.pop() {
            return self.poll(source, now);
        }
        match self.choice.best(&self.sources, &self.histories, now) {
            Some(Chosen::Poll(source)) => self.poll(source, now),
            Some(Chosen::Page(page)) => self.fetch(page, now),
            None => {
                self.done.lost += 1;
                self.sources.wait(now);
            }
        }
    }

    fn poll(&mut self, source: Number, now: Moment) {
        let place = source.index();
        let before = self.histories[place].asked.unwrap_or(self.stage.from);
        let appeared = Appeared {
            on: source,
            after: before,
        };
        let mut new = 0;
        for article in self.stage.new_on(place, before, now) {
            if let Some(page) = self.hear(article, now, Some(appeared)) {
                self.choice.add(page);
                new += 1;
            }
        }
        let outcome = match new {
            0 => Outcome::Unchanged,
            _ => Outcome::Changed,
        };
        self.visited(place, now, outcome, new);
        self.choice.polled(&self.sources, &self.histories, source);
        self.done.polls.push((now, source.0));
    }

    /// Takes note of a page that a source names; returns its number if nobody had heard of it.
    fn hear(&mut self, article: u32, now: Moment, appeared: Option<Appeared>) -> Option<Number> {
        let known = &mut self.done.articles[article as usize];
        if known.number.is_some() {
            return None;
        }
        let number = Number((self.stage.news().sources().len() + self.numbered.len()) as u32);
        known.number = Some(number);
        known.found = Some(now);
        self.numbered.push(article);
        self.logs.heard_of(article);
        let url = self.stage.news().articles()[article as usize].as_str();
        self.discover(number, url, now, appeared);
        Some(number)
    }

    fn discover(&mut self, page: Number, url: &'a str, at: Moment, appeared: Option<Appeared>) {
        let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
        let host = rest.split_once('/').map_or(rest, |(host, _)| host);
        let next = self.hosts.len() as u32;
        let host = *self.hosts.entry(host).or_insert(next);
        let seed = page.index() < self.stage.news().sources().len();
        self.sources.observe(&Fact::Discovered(Discovered {
            page,
            url,
            host,
            depth: u16::from(!seed),
            seed,
            at,
            appeared,
        }));
    }

    fn visited(&mut self, source: usize, now: Moment, outcome: Outcome, new: u32) {
        let before = self.histories[source];
        let after = before.after(Visit::new(now, outcome)).named(new);
        self.histories[source] = after;
        self.sources.observe(&Fact::Visited(Visited {
            page: Number(source as u32),
            before: &before,
            after: &after,
        }));
    }

    fn fetch(&mut self, page: Number, now: Moment) {
        let article = self.numbered[page.index() - self.histories.len()];
        let known = &mut self.done.articles[article as usize];
        known.fetched = Some(now);
        let before = History::discovered(known.found.unwrap_or(now), 1);
        let after = before.after(Visit::new(now, Outcome::Changed));
        self.logs.fetched(self.stage, article, now);
        self.sources.observe(&Fact::Visited(Visited {
            page,
            before: &before,
            after: &after,
        }));
    }
}

#[cfg(test)]
mod tests;
