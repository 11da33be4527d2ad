//! The repository that a crawl maintains, the current state of the web, and the initial ledger.
//!
//! **Invariant:** a crawl sees what a page shows at the current step only when it fetches the
//! page.

use crawl::verdict::{Asked, Verdict};
use crawl::{Claim, Met};
use frontier::{Discovery, Entry, MemoryLedger, PageKey};
use policy::{History, Moment, Outcome, Visit};

use super::scores::{RepositoryScores, ScoreSums};
use super::{CADENCE, GainEstimator, InitialKnowledge, SteppedWorld};
use crate::measure::quality::Answers;
use crate::measure::recency::Recency;
use crate::run::driver::{Responder, answer_of};

/// Copies of pages, and the pages themselves.
pub(super) struct Repository<'a> {
    world: &'a SteppedWorld<'a>,
    knowledge: &'a InitialKnowledge,
    step: usize,
    pub answers: Option<Answers<'a>>,
    estimator: Option<GainEstimator<'a>>,
    /// The text that every page shows now.
    live: Vec<Option<u32>>,
    copies: Vec<Option<u32>>,
    /// The step of the last visit to each page.
    visited: Vec<Option<usize>>,
    recency: Recency,
    visits: u64,
}

impl<'a> Repository<'a> {
    /// Returns a repository that equals the web at the step at which the run starts.
    pub fn begin(world: &'a SteppedWorld<'a>, knowledge: &'a InitialKnowledge) -> Self {
        let snapshots = world.snapshots;
        let (from, pages) = (knowledge.from, snapshots.pages());
        let moments = snapshots.moments();
        let scored = world.texts.map(|(_, scored)| scored);
        let mut repository = Self {
            world,
            knowledge,
            step: from,
            answers: scored.map(|scored| Answers::new(scored, pages)),
            estimator: scored.map(GainEstimator::new),
            live: snapshots.at(from),
            copies: vec![None; pages],
            visited: vec![None; pages],
            recency: Recency::new(moments[from], moments[moments.len() - 1], &[]),
            visits: 0,
        };
        for page in 0..pages as u32 {
            let text = repository.live[page as usize];
            if let Some(answers) = &mut repository.answers {
                answers.set_live(page, text);
            }
            repository.keep(page, text);
        }
        for page in world.known(from) {
            repository.visited[page as usize] = Some(from);
        }
        repository.measure();
        repository
    }

    /// Returns the initial ledger: all known pages, with their copies and the initial knowledge.
    pub fn ledger(&mut self) -> MemoryLedger {
        let now = self.world.snapshots.moments()[self.step];
        let mut ledger = MemoryLedger::default();
        for (order, page) in (0..).zip(self.world.known(self.step)) {
            let url = self.world.lives.url(page as usize);
            let key = PageKey::of(url);
            let discovery = Discovery {
                url: url.as_str().to_owned(),
                order,
                at: now,
                depth: 0,
                hops: 0,
                source: None,
                absent: None,
            };
            let new = History::discovered(now, 0);
            let asked = Asked {
                history: new,
                at: now,
                ..Asked::again(url)
            };
            let text = self.copies[page as usize];
            let mut visited = asked.judge(&answer(text), 0, &|_| true).visited;
            let learned = self.knowledge.of(page, now);
            visited.history = learned.unwrap_or_else(|| self.visit(page, &new, now));
            ledger.commit(&[
                Entry::Admitted(key, discovery),
                Entry::Visited(key, Box::new(visited)),
            ]);
        }
        ledger
    }

    /// Returns the views by searchers that belong to the initial knowledge.
    pub fn initial_views(&self) -> Vec<Met> {
        self.met(&self.knowledge.views, 1.0)
    }

    /// Returns the views of each page by searchers in `steps` steps, by the present answers.
    pub fn views(&self, steps: f64) -> Vec<Met> {
        let views = self.answers.as_ref().map(Answers::views);
        self.met(&views.unwrap_or_default(), steps)
    }

    fn met(&self, views: &[f64], times: f64) -> Vec<Met> {
        let at = self.world.snapshots.moments()[self.step];
        let shown = views.iter().enumerate().filter(|(_, views)| **views > 0.0);
        let met = |(page, views): (usize, &f64)| Met {
            page: self.world.lives.url(page).id(),
            at,
            views: views * times,
            clicks: 0.0,
        };
        shown.map(met).collect()
    }

    /// Moves the web to a step.
    pub fn advance(&mut self, step: usize) {
        self.step = step;
        for &(page, text) in self.world.snapshots.changed(step) {
            self.live[page as usize] = text;
            if let Some(answers) = &mut self.answers {
                answers.set_live(page, text);
            }
        }
        if (step - self.knowledge.from).is_multiple_of(CADENCE) {
            self.measure();
        }
    }

    /// Visits a page and returns its history afterwards.
    pub fn visit(&mut self, page: u32, before: &History, at: Moment) -> History {
        let moments = self.world.snapshots.moments();
        let asked = self.visited[page as usize].replace(self.step);
        let changes = self.world.lives.of(page as usize);
        let asked = asked.map(|step| moments[step]);
        self.recency.account(changes, asked, moments[self.step]);
        let copy = self.copies[page as usize].filter(|_| before.outcome.is_some());
        let live = self.live[page as usize];
        let (outcome, differing) = match (copy, live) {
            (_, None) => (Outcome::Gone, 1.0),
            (Some(copy), Some(live)) if copy == live => (Outcome::Unchanged, 0.0),
            (Some(copy), Some(live)) => (Outcome::Changed, self.differing(copy, live)),
            (None, Some(_)) => (Outcome::Changed, 1.0),
        };
        let mut after = before.after(Visit {
            at,
            outcome,
            differing,
        });
        if let (Outcome::Changed, Some(estimator)) = (outcome, &self.estimator) {
            after = after.gained(estimator.gain(page, copy, live) as f32);
        }
        self.keep(page, live);
        after
    }

    /// Returns the share of shingles that differ, or 1 if the world has no texts.
    fn differing(&self, one: u32, other: u32) -> f32 {
        let texts = self.world.texts;
        texts.map_or(1.0, |(texts, _)| texts.differing(one, other))
    }

    fn keep(&mut self, page: u32, text: Option<u32>) {
        self.copies[page as usize] = text;
        if let Some(answers) = &mut self.answers {
            answers.set_copy(page, text);
        }
    }

    /// Recomputes the score-rank functions.
    fn measure(&mut self) {
        if let (Some(estimator), Some(answers)) = (&mut self.estimator, &self.answers) {
            estimator.refresh(answers);
        }
    }

    /// Ends the run and returns the scores.
    pub fn end(mut self, sums: ScoreSums) -> RepositoryScores {
        let moments = self.world.snapshots.moments();
        let last = moments.len() - 1;
        for page in self.world.known(last) {
            let asked = self.visited[page as usize].map(|step| moments[step]);
            let changes = self.world.lives.of(page as usize);
            self.recency.account(changes, asked, moments[last]);
        }
        sums.means(self.recency, self.visits)
    }
}

impl Responder for Repository<'_> {
    fn respond(&mut self, claim: &Claim, at: Moment) -> Verdict {
        let (_, page) = self.world.snapshots.born()[claim.number.index()];
        let text = self.live[page as usize];
        let mut verdict = claim.asked(at).judge(&answer(text), 0, &|_| true);
        let before = claim.history();
        let after = self.visit(page, &before, at);
        let first = before.outcome.is_none();
        self.visits += u64::from(!first);
        verdict.visited.history = match self.knowledge.is_final() {
            true if first => self.knowledge.of(page, at).unwrap_or(after),
            true => InitialKnowledge::without_learning(&before, &after),
            false => after,
        };
        verdict
    }
}

fn answer(text: Option<u32>) -> crawl::Answer {
    answer_of(text.map(u64::from))
}
