//! The click logs of a search engine, which are pushed to the crawler at fixed intervals (L in
//! Lefortier et al. 2013).
//!
//! **Invariant:** a push contains only clicks in bins that have ended, each once, and only on
//! pages that the crawler has discovered. With [`Seen::Fetched`] it contains only clicks in bins
//! that began when the page was fetched, or later.

use crawl::Met;
use policy::Moment;
use policy::source::Seen;

use super::ArticleTimes;
use super::timeline::NewsTimeline;
use crate::world::News;

/// The clicks that were pushed, and those that wait for the next push.
pub(super) struct ClickLogs {
    seen: Seen,
    /// Number of bins of each article that were pushed or skipped.
    pushed: Vec<u32>,
    /// Number of clicks of the world that were read.
    read: usize,
    /// Articles whose earlier clicks the next push must consider.
    late: Vec<u32>,
}

impl ClickLogs {
    pub fn new(articles: usize, seen: Seen) -> Self {
        Self {
            seen,
            pushed: vec![0; articles],
            read: 0,
            late: Vec::new(),
        }
    }

    /// Records the discovery of an article. The next push considers the clicks that the article had
    /// before.
    pub fn discovered(&mut self, article: u32) {
        self.late.push(article);
    }

    /// Records the first fetch of an article. With [`Seen::Fetched`], the log lacks the clicks in
    /// bins that began before the fetch.
    pub fn fetched(&mut self, timeline: &NewsTimeline<'_>, article: u32, at: Moment) {
        if self.seen == Seen::Fetched {
            let bins = timeline.clicks(article as usize);
            let before = bins.partition_point(|bin| bin.at < at) as u32;
            let pushed = &mut self.pushed[article as usize];
            *pushed = before.max(*pushed);
            self.late.push(article);
        }
    }

    /// Returns the clicks that a push at this time contains. Each bin is dated at its middle.
    pub fn push(
        &mut self,
        timeline: &NewsTimeline<'_>,
        known: &[ArticleTimes],
        at: Moment,
    ) -> Vec<Met> {
        let clicks = timeline.news().clicks();
        let ended = |from: Moment| from + News::BIN <= at;
        let new = clicks[self.read..].iter();
        let new = new.take_while(|click| ended(click.at)).count();
        let clicked = clicks[self.read..self.read + new].iter();
        let mut candidates: Vec<u32> = clicked.map(|click| click.article).collect();
        self.read += new;
        candidates.append(&mut self.late);
        candidates.sort_unstable();
        candidates.dedup();
        let mut clicked_pages = Vec::new();
        for article in candidates {
            let place = article as usize;
            let is_logged = match self.seen {
                Seen::Known => known[place].found.is_some(),
                Seen::Fetched => known[place].fetched.is_some(),
            };
            if !is_logged {
                continue;
            }
            let bins = &timeline.clicks(place)[self.pushed[place] as usize..];
            for bin in bins.iter().take_while(|bin| ended(bin.at)) {
                clicked_pages.push(Met {
                    page: timeline.news().articles()[place].id(),
                    at: bin.at + News::BIN / 2,
                    views: f64::from(bin.clicks),
                    clicks: f64::from(bin.clicks),
                });
                self.pushed[place] += 1;
            }
        }
        clicked_pages
    }
}
