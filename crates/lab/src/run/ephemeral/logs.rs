//! Which clicks a crawler is told of, and when.
//!
//! The logs of a search engine are pushed once a while (the paper's L). **Invariant:** a push tells of clicks in bins that have ended by then, each once, and only on pages that the
//! crawler has discovered; where its own log is all it has, only on pages that it had fetched when they were clicked.

use crawl::Met;
use policy::Moment;
use policy::source::Seen;

use super::Known;
use super::stage::Stage;
use crate::world::News;

/// What was told, and what is to be told.
pub(super) struct Logs {
    seen: Seen,
    /// How many bins of each article were told.
    told: Vec<u32>,
    /// How far the clicks of the world were read.
    read: usize,
    /// Articles of which something may be told that was clicked before.
    late: Vec<u32>,
}

impl Logs {
    pub fn new(articles: usize, seen: Seen) -> Self {
        Self {
            seen,
            told: vec![0; articles],
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

    /// Returns what a push at this moment tells. Clicks of a bin are told as of its middle.
    pub fn push(&mut self, stage: &Stage<'_>, known: &[Known], at: Moment) -> Vec<Met> {
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
        let mut met = Vec::new();
        for article in told {
            let place = article as usize;
            let is_told = match self.seen {
                Seen::Known => known[place].found.is_some(),
                Seen::Fetched => known[place].fetched.is_some(),
            };
            if !is_told {
                continue;
            }
            let bins = &stage.clicks(place)[self.told[place] as usize..];
            for bin in bins.iter().take_while(|bin| ended(bin.at)) {
                met.push(Met {
                    page: stage.news().articles()[place].id(),
                    at: bin.at + News::BIN / 2,
                    views: f64::from(bin.clicks),
                    clicks: f64::from(bin.clicks),
                });
                self.told[place] += 1;
            }
        }
        met
    }
}
