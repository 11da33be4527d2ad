//! Which clicks is a crawler told of, and when?
//!
//! The logs of a search engine are pushed once a while (the paper's L). **Invariant:** a push tells of clicks in bins that have ended by then, each once, and only on pages that the
//! crawler has heard of; where its own log is all it has, only on pages that it had fetched when they were clicked.

use std::time::Duration;

use policy::source::Seen;
use policy::{Fact, Moment, Number, Shown, Sources};

use super::Known;
use super::stage::Stage;
use crate::world::News;

/// What was told, and what is to be told.
pub(super) struct Logs {
    every: Duration,
    seen: Seen,
    next: Moment,
    /// How many bins of each article were told.
    told: Vec<u32>,
    /// How far the clicks of the world were read.
    read: usize,
    /// Articles of which something may be told that was clicked before.
    late: Vec<u32>,
}

impl Logs {
    pub fn new(stage: &Stage<'_>, every: Duration, seen: Seen) -> Self {
        Self {
            every,
            seen,
            next: stage.from + every,
            told: vec![0; stage.news().articles().len()],
            read: 0,
            late: Vec::new(),
        }
    }

    /// Takes note that an article was discovered: clicks that it had before are told with the next push.
    pub fn heard_of(&mut self, article: u32) {
        self.late.push(article);
    }

    /// Takes note of the first copy of an article: what was clicked before is in no log of ours.
    pub fn fetched(&mut self, stage: &Stage<'_>, article: u32, at: Moment) {
        if self.seen == Seen::Fetched {
            let bins = stage.clicks(article as usize);
            let before = bins.partition_point(|bin| bin.at < at) as u32;
            let told = &mut self.told[article as usize];
            *told = before.max(*told);
            self.late.push(article);
        }
    }

    /// Pushes what is due.
    pub fn push(&mut self, stage: &Stage<'_>, known: &[Known], now: Moment, sources: &mut Sources) {
        while self.next <= now {
            self.push_at(stage, known, self.next, sources);
            self.next = self.next + self.every;
        }
    }

    fn push_at(&mut self, stage: &Stage<'_>, known: &[Known], at: Moment, sources: &mut Sources) {
        let clicks = stage.news().clicks();
        let ended = |from: Moment| from + News::BIN <= at;
        let new = clicks[self.read..].iter();
        let new = new.take_while(|click| ended(click.at)).count();
        let clicked = clicks[self.read..self.read + new].iter();
        let mut told: Vec<u32> = clicked.map(|click| click.article).collect();
        self.read += new;
        told.append(&mut self.late);
        told.sort_unstable();
        told.dedup();
        for article in told {
            let place = article as usize;
            let page = match self.seen {
                Seen::Known => known[place].number,
                Seen::Fetched => known[place].fetched.and(known[place].number),
            };
            let Some(page) = page else { continue };
            let bins = &stage.clicks(place)[self.told[place] as usize..];
            for bin in bins.iter().take_while(|bin| ended(bin.at)) {
                sources.observe(&clicked_in(page, bin.at, f64::from(bin.clicks)));
                self.told[place] += 1;
            }
        }
    }
}

/// Clicks of a bin are told as of its middle.
fn clicked_in(page: Number, from: Moment, clicks: f64) -> Fact<'static> {
    Fact::Shown(Shown {
        page,
        at: from + News::BIN / 2,
        views: clicks,
        clicks,
    })
}
