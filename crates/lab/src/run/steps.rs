//! How good a policy keeps a repository that may refresh a number of pages every step.
//!
//! **The paper's own step model, not the crawl core:** the production policies (`policy::Crawl`, `policy::refresh`) are asked
//! what pages are worth, and this module chooses. Frontier, bench, price and budget of a crawl take no part, since the
//! protocol fixes what they decide: how many pages a step refreshes, which of equals comes first, and that a new page costs nothing.
//! `run::upkeep` runs the core under a budget.
//!
//! The protocol of Pandey & Olston, "User-centric web crawling" (WWW 2005), §6.3: it begins with a repository that equals the
//! web, and at every step the pages that the policy finds worth most are refreshed, as many as the budget has; then the repository is
//! judged. Of pages that are worth the same, to the policy, the one that has waited longest comes first: no part of a
//! budget is lost. A page that is born gets its first copy at the next step, for nothing: finding pages is another
//! experiment. A page that is found gone leaves the repository at once.
//!
//! **Invariant:** the policy is a production [`Crawl`], told what a crawler sees: discoveries, what its own visits found and
//! what they gave by the crawler's own measure, and which pages searchers of its own repository saw. It is never told
//! what a page that it did not visit shows.

mod gauge;
mod judged;
mod knowledge;
mod snapshots;
mod telling;

pub(crate) use gauge::Gauge;
pub use judged::Kept;
pub use knowledge::{Knowledge, Protocol};
pub use snapshots::Snapshots;

use std::collections::HashMap;

use page::HostId;
use policy::{Crawl, History, Moment, Number, Outcome, Page, Policy, Visit, Worth};

use crate::measure::quality::Answers;
use crate::measure::recency::Recency;
use crate::run::refresh::Lives;
use crate::text::{Scored, Texts};
use judged::Judged;

/// Steps after which score-rank functions are made anew and the policy is told what searchers saw.
const CADENCE: usize = 4;

/// What all runs over a world share.
#[derive(Debug, Clone)]
pub struct Course<'a> {
    lives: &'a Lives,
    snapshots: &'a Snapshots,
    /// What texts say and how they are scored; `None`: nobody knows.
    said: Option<(&'a Texts, &'a Scored)>,
    /// What searchers get from a repository that equals the web, at each step.
    ideal: Vec<f64>,
    /// The number and the host of each page that is ever seen.
    numbers: Vec<Option<(Number, u32)>>,
}

impl<'a> Course<'a> {
    /// A world at even steps.
    pub fn new(
        lives: &'a Lives,
        snapshots: &'a Snapshots,
        said: Option<(&'a Texts, &'a Scored)>,
    ) -> Self {
        Self {
            lives,
            snapshots,
            said,
            ideal: said.map_or_else(Vec::new, |(_, scored)| ideal(snapshots, scored)),
            numbers: numbers(lives, snapshots),
        }
    }

    /// What a repository is worth at a step, over one that equals the web; 1 where the web answers nothing.
    fn quality(&self, step: usize, usefulness: f64) -> f64 {
        match self.ideal[step] {
            0.0 => 1.0,
            ideal => usefulness / ideal,
        }
    }

    /// Refreshes so many pages at every step after the knowledge was gained.
    pub fn refresh(&self, crawl: Crawl, knowledge: &Knowledge, budget: usize) -> Kept {
        let mut run = Run::begin(self, crawl, knowledge);
        let steps = self.snapshots.moments().len();
        let mut judged = Judged::default();
        for step in knowledge.from + 1..steps {
            run.turn(step);
            run.visit_best(step, budget);
            if let Some(answers) = &mut run.answers {
                let standing = answers.standing();
                let quality = self.quality(step, standing.usefulness);
                judged.add(quality, standing.embarrassment);
            }
        }
        run.end(judged)
    }
}

/// What searchers get from a repository that equals the web, at each step.
fn ideal(snapshots: &Snapshots, scored: &Scored) -> Vec<f64> {
    let mut answers = Answers::new(scored, snapshots.pages());
    let each = (0..snapshots.moments().len()).map(|step| {
        for &(page, text) in snapshots.changed(step) {
            answers.set_live(page, text);
            answers.set_copy(page, text);
        }
        answers.standing().usefulness
    });
    each.collect()
}

fn numbers(lives: &Lives, snapshots: &Snapshots) -> Vec<Option<(Number, u32)>> {
    let mut hosts: HashMap<HostId, u32> = HashMap::new();
    let mut numbers = vec![None; snapshots.pages()];
    for (number, &(_, page)) in (0..).zip(snapshots.born()) {
        let next = hosts.len() as u32;
        let host = *hosts.entry(lives.url(page as usize).host()).or_insert(next);
        numbers[page as usize] = Some((Number(number), host));
    }
    numbers
}

struct Run<'a> {
    course: &'a Course<'a>,
    knowledge: &'a Knowledge,
    crawl: Crawl,
    answers: Option<Answers<'a>>,
    gauge: Option<Gauge<'a>>,
    /// What every page shows now.
    live: Vec<Option<u32>>,
    copies: Vec<Option<u32>>,
    histories: Vec<Option<History>>,
    /// The pages that are known, by number.
    known: Vec<u32>,
    recency: Recency,
    visits: u64,
}

impl<'a> Run<'a> {
    /// A repository that equals the web, and a policy that was told what was learned.
    fn begin(course: &'a Course<'a>, crawl: Crawl, knowledge: &'a Knowledge) -> Self {
        let snapshots = course.snapshots;
        let (from, pages) = (knowledge.from, snapshots.pages());
        let moments = snapshots.moments();
        let scored = course.said.map(|(_, scored)| scored);
        let mut run = Self {
            course,
            knowledge,
            crawl,
            answers: scored.map(|scored| Answers::new(scored, pages)),
            gauge: scored.map(Gauge::new),
            live: snapshots.at(from),
            copies: vec![None; pages],
            histories: vec![None; pages],
            known: Vec::new(),
            recency: Recency::new(moments[from], moments[moments.len() - 1], &[]),
            visits: 0,
        };
        for page in 0..pages as u32 {
            let text = run.live[page as usize];
            if let Some(answers) = &mut run.answers {
                answers.set_live(page, text);
            }
            run.keep(page, text);
        }
        run.measure();
        let born = snapshots.born().iter();
        for &(_, page) in born.take_while(|(step, _)| *step <= from) {
            run.discover(page, from);
        }
        let views = knowledge.views.iter().copied();
        let shown = (0..).zip(views).filter(|(_, views)| *views > 0.0);
        for (page, views) in shown.collect::<Vec<_>>() {
            run.tell_shown(page, views, moments[from]);
        }
        run
    }

    /// The web moves on to a step, and pages are born.
    fn turn(&mut self, step: usize) {
        let snapshots = self.course.snapshots;
        for &(page, text) in snapshots.changed(step) {
            self.live[page as usize] = text;
            if let Some(answers) = &mut self.answers {
                answers.set_live(page, text);
            }
        }
        if (step - self.knowledge.from).is_multiple_of(CADENCE) {
            self.measure();
            self.show(snapshots.moments()[step]);
        }
        let born = snapshots.born();
        let first = born.partition_point(|(at, _)| *at < step);
        for &(_, page) in born[first..].iter().take_while(|(at, _)| *at == step) {
            self.discover(page, step);
            self.keep(page, self.live[page as usize]);
        }
    }

    /// Refreshes the pages that are worth most.
    fn visit_best(&mut self, step: usize, budget: usize) {
        let now = self.course.snapshots.moments()[step];
        let mut waiting: Vec<(Worth, Option<Moment>, u32)> = Vec::with_capacity(self.known.len());
        for &page in &self.known {
            let Some(history) = &self.histories[page as usize] else {
                continue;
            };
            if history.asked < Some(now)
                && let Some((number, _)) = self.course.numbers[page as usize]
            {
                let worth = self.crawl.worth(Page { number, history }, now);
                waiting.push((worth, history.asked, page));
            }
        }
        let best = |one: &(Worth, Option<Moment>, u32), other: &(Worth, Option<Moment>, u32)| {
            let waited = one.1.cmp(&other.1).then(one.2.cmp(&other.2));
            other.0.cmp(&one.0).then(waited)
        };
        if budget < waiting.len() {
            waiting.select_nth_unstable_by(budget, best);
            waiting.truncate(budget);
        }
        waiting.sort_unstable_by(best);
        for (_, _, page) in waiting {
            self.visit(page, now);
        }
    }

    fn visit(&mut self, page: u32, now: Moment) {
        let Some(before) = self.histories[page as usize] else {
            return;
        };
        let changes = self.course.lives.of(page as usize);
        self.recency.account(changes, before.asked, now);
        self.visits += 1;
        let (copy, live) = (self.copies[page as usize], self.live[page as usize]);
        let (outcome, differing) = match (copy, live) {
            (_, None) => (Outcome::Gone, 1.0),
            (Some(copy), Some(live)) if copy == live => (Outcome::Unchanged, 0.0),
            (Some(copy), Some(live)) => (Outcome::Changed, self.differing(copy, live)),
            (None, Some(_)) => (Outcome::Changed, 1.0),
        };
        let mut after = before.after(Visit {
            at: now,
            outcome,
            differing,
        });
        if let (Outcome::Changed, Some(gauge)) = (outcome, &self.gauge) {
            after = after.gained(gauge.gain(page, copy, live) as f32);
        }
        self.keep(page, live);
        self.learn(page, &before, after);
    }

    /// The share of shingles that differ; all, if it is not known what texts say.
    fn differing(&self, one: u32, other: u32) -> f32 {
        let said = self.course.said;
        said.map_or(1.0, |(texts, _)| texts.differing(one, other))
    }

    fn keep(&mut self, page: u32, text: Option<u32>) {
        self.copies[page as usize] = text;
        if let Some(answers) = &mut self.answers {
            answers.set_copy(page, text);
        }
    }

    /// Makes score-rank functions anew.
    fn measure(&mut self) {
        if let (Some(gauge), Some(answers)) = (&mut self.gauge, &self.answers) {
            gauge.refresh(answers);
        }
    }

    fn end(mut self, judged: Judged) -> Kept {
        let moments = self.course.snapshots.moments();
        let until = moments[moments.len() - 1];
        for &page in &self.known {
            let asked = self.histories[page as usize].and_then(|history| history.asked);
            let changes = self.course.lives.of(page as usize);
            self.recency.account(changes, asked, until);
        }
        judged.kept(self.recency, self.visits)
    }
}

#[cfg(test)]
mod tests;
