//! What is a policy told while a repository is kept fresh?
//!
//! **Invariant:** only what a crawler has seen by then, and what its own searchers were shown.

use policy::{Discovered, Fact, History, Moment, Moves, Outcome, Policy, Shown, Visit, Visited};

use super::{CADENCE, Knowledge, Run};
use crate::measure::quality::Answers;

impl Run<'_> {
    /// Tells what searchers saw since the last time.
    pub(super) fn show(&mut self, now: Moment) {
        if self.knowledge.is_final() || !self.crawl.needs().searches {
            return;
        }
        let views = self.answers.as_ref().map(Answers::views);
        for (page, views) in (0..).zip(views.into_iter().flatten()) {
            if views > 0.0 {
                self.tell_shown(page, views * CADENCE as f64, now);
            }
        }
    }

    pub(super) fn tell_shown(&mut self, page: u32, views: f64, at: Moment) {
        if let Some((number, _)) = self.course.numbers[page as usize] {
            let shown = Shown {
                page: number,
                at,
                views,
                clicks: 0.0,
            };
            self.tell(&Fact::Shown(shown));
        }
    }

    /// A page becomes known, with its first copy, and what is known of it already.
    pub(super) fn discover(&mut self, page: u32, step: usize) {
        let Some((number, host)) = self.course.numbers[page as usize] else {
            return;
        };
        let now = self.course.snapshots.moments()[step];
        let url = self.course.lives.url(page as usize);
        self.tell(&Fact::Discovered(Discovered {
            page: number,
            url: url.as_str(),
            host,
            depth: 0,
            seed: true,
            at: now,
            appeared: None,
        }));
        let new = History::discovered(now, 0);
        let learned = self.knowledge.of(page, now);
        let first = || {
            let history = new.after(Visit::new(now, Outcome::Changed));
            let text = self.live[page as usize];
            let gain = self
                .gauge
                .as_ref()
                .map(|gauge| gauge.gain(page, None, text));
            gain.map_or(history, |gain| history.gained(gain as f32))
        };
        let history = learned.unwrap_or_else(first);
        self.known.push(page);
        self.histories[page as usize] = Some(history);
        let fact = Visited {
            page: number,
            before: &new,
            after: &history,
        };
        self.tell(&Fact::Visited(fact));
    }

    /// Takes note of a visit, and tells the policy unless it knows all it will ever know.
    pub(super) fn learn(&mut self, page: u32, before: &History, after: History) {
        let Some((number, _)) = self.course.numbers[page as usize] else {
            return;
        };
        if self.knowledge.is_final() {
            self.histories[page as usize] = Some(Knowledge::only_seen(before, &after));
            return;
        }
        self.histories[page as usize] = Some(after);
        let fact = Visited {
            page: number,
            before,
            after: &after,
        };
        self.tell(&Fact::Visited(fact));
    }

    pub(super) fn tell(&mut self, fact: &Fact<'_>) {
        // What is worth what is asked at every step.
        let mut moves = Moves::default();
        self.crawl.observe(fact, &mut moves);
    }
}
