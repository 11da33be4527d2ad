//! Per-page and per-source records.
//!
//! **Invariant:** apart from the last estimates (`learned`, `curve`, `outlook`, `shape`, `draw`),
//! these are facts and sums of facts, and do not depend on the order of the facts. The estimates
//! are made in `learning.rs`.

use super::Outlook;
use crate::estimate::{BINS, Histogram, ObservedTime, PageSums, Polled, ProfitCurve, Rhythm};
use crate::history::{Find, Finds};
use crate::{History, Moment, Number};

/// Number of last polls whose shared links are kept, as many as [`Finds`] keeps.
const KEPT_POLLS: usize = 10;

/// What is known of any page.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PageRecord {
    pub discovered: Moment,
    pub host: u32,
    /// Index of its own record, if it has one.
    pub place: Option<u32>,
    /// Index of the record of the page that it appeared on.
    pub on: Option<u32>,
    /// Whether its stake is known.
    pub weighed: bool,
    /// Whether a main page links to it.
    pub linked: bool,
    /// Estimated seconds from its appearance to its discovery.
    pub unseen: f32,
    /// Clicks on it that count.
    pub clicks: f32,
}

impl PageRecord {
    /// Returns its age in seconds; negative before its estimated appearance.
    pub fn age(&self, at: Moment) -> f64 {
        let [after, before] = [at.since(self.discovered), self.discovered.since(at)];
        after.as_secs_f64() - before.as_secs_f64() + f64::from(self.unseen)
    }
}

/// Why a page is a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SourceKind {
    /// The main page of a host, or a seed.
    Main,
    /// A sitemap or a feed.
    Listing,
    /// A page one link from a main page that is old enough. It is polled after its first
    /// revisit, which shows whether it links to new pages.
    Near,
}

/// A source, or a page that linked to new pages and may still become a source.
#[derive(Debug, Clone)]
pub(super) struct SourceRecord {
    pub page: Number,
    pub host: u32,
    /// Why it is a source; `None` if it is none yet.
    pub kind: Option<SourceKind>,
    /// New pages that its polls discovered.
    pub finds: Finds,
    /// The same, and with [`Credit::All`](super::Credit::All) new links to pages that other
    /// sources had named before.
    pub links: Finds,
    /// Number of links to pages that other sources had named before: of each of the last polls, the
    /// oldest first, and in total.
    shared: [u32; KEPT_POLLS],
    shared_total: u32,
    /// Number of such links since the last poll.
    pub also: u32,
    pub polls: u32,
    pub watched: f64,
    /// When it was last requested.
    pub asked: Option<Moment>,
    /// Pages that appeared on it and are young enough for clicks to count.
    pub recent: Vec<Number>,
    /// Number of pages that have become too old.
    pub old: u32,
    /// Exposure of these old pages, by age.
    pub old_seen: Histogram,
    /// Clicks on its pages, by age.
    pub clicks: Histogram,
    /// Sum over its pages of the squared number of clicks.
    pub squared_clicks: f64,
    /// Exposure of all its pages by age at the last update, and their number.
    pub seen: Histogram,
    pub pages: u32,
    /// Sum of the stakes of its pages, relative to the mean page, and the number of pages with a
    /// stake.
    pub stakes: f64,
    pub weighed: u32,
    /// Whether there are new facts since `learned`.
    pub news: bool,
    pub learned: Moment,
    /// The last estimate of P, in clicks, and μ.
    pub curve: ProfitCurve,
    pub outlook: Outlook,
    /// Shape of the Gamma posterior of P, if P is to be drawn from it.
    pub shape: Option<f64>,
    /// The last draw from that posterior, relative to its mean; 1 if it was below the mean or
    /// there is none.
    pub draw: f64,
}

impl SourceRecord {
    pub fn new(page: Number, host: u32) -> Self {
        let curve = ProfitCurve {
            profit: 0.0,
            decay: 1.0,
        };
        Self {
            page,
            host,
            kind: None,
            finds: Finds::default(),
            links: Finds::default(),
            shared: [0; KEPT_POLLS],
            shared_total: 0,
            also: 0,
            polls: 0,
            watched: 0.0,
            asked: None,
            recent: Vec::new(),
            old: 0,
            old_seen: Histogram::default(),
            clicks: Histogram::default(),
            squared_clicks: 0.0,
            seen: Histogram::default(),
            pages: 0,
            stakes: 0.0,
            weighed: 0,
            news: true,
            learned: Moment::START,
            curve,
            outlook: Outlook {
                rate: 0.0,
                profit: 0.0,
                decay: 1.0,
            },
            shape: None,
            draw: 1.0,
        }
    }

    /// Updates the record from the history of the page.
    ///
    /// Links that other sources named before are not in the history. After a restart only those
    /// of the last read are known.
    pub fn visited(&mut self, history: &History) {
        self.shared.rotate_left(1);
        let also = std::mem::take(&mut self.also);
        // The first visit shows what a source contains, but not what is new on it.
        let also = if history.revisits > 0 { also } else { 0 };
        self.shared[KEPT_POLLS - 1] = also;
        self.shared_total = self.shared_total.saturating_add(also);
        self.finds = history.finds;
        self.links = (history.finds).and(self.shared_total, &self.shared, &history.recent);
        self.polls = history.revisits;
        self.watched = history.watched.as_secs_f64();
        self.asked = history.asked;
    }

    /// Returns whether it is an active source: one whose outlook can be estimated.
    pub fn counts(&self) -> bool {
        match self.kind {
            None => false,
            Some(SourceKind::Near) => self.polls > 0,
            Some(SourceKind::Main | SourceKind::Listing) => self.asked.is_some(),
        }
    }

    /// Adds clicks on one of its pages, by age, and what they add to the squared number of clicks
    /// on that page.
    pub fn clicked(&mut self, clicks: &Histogram, squared: f64) {
        self.squared_clicks = (self.squared_clicks + squared).min(f64::MAX);
        for (sum, more) in self.clicks.iter_mut().zip(clicks) {
            *sum = (*sum + more).min(f32::MAX);
        }
        self.news = true;
    }

    /// Returns the sums over its pages. `shares` are the shares of a page's clicks in each bin of
    /// age.
    ///
    /// The square of an exposure is `Σ share·(share + 2·shares before)` over the bins in which the
    /// page was observed. It is too large for a page that was not observed from the beginning.
    pub fn page_sums(&self, shares: &[f64; BINS]) -> PageSums {
        let mut sums = PageSums {
            squared_clicks: self.squared_clicks,
            ..PageSums::default()
        };
        let mut before = 0.0;
        for ((&clicks, &seen), share) in self.clicks.iter().zip(&self.seen).zip(shares) {
            sums.clicks += f64::from(clicks);
            sums.exposure += f64::from(seen) * share;
            sums.squared_exposure += f64::from(seen) * share * (share + 2.0 * before);
            before += share;
        }
        sums
    }

    /// Returns its outlook with the drawn P, for choices that may teach what P is.
    pub fn drawn(&self) -> Outlook {
        Outlook {
            profit: self.outlook.profit * self.draw,
            ..self.outlook
        }
    }

    /// Returns its polls. `first` leaves out links to pages that other sources had named before.
    pub fn polled(&self, first: bool) -> Polled<'_> {
        Polled {
            finds: if first { &self.finds } else { &self.links },
            polls: self.polls,
            watched: self.watched,
        }
    }

    /// Returns the time that its polls covered, for the weekly rhythm.
    pub fn span(&self) -> Option<ObservedTime> {
        Some(ObservedTime {
            until: self.asked?,
            seconds: self.watched,
            new: f64::from(self.finds.total),
        })
    }

    /// Returns its finds and the watched time, with times rescaled by the weekly rhythm.
    pub fn evenly(&self, finds: &Finds, rhythm: &Rhythm) -> (Finds, f64) {
        let Some(asked) = self.asked else {
            return (*finds, self.watched);
        };
        let before = |seconds: f64| {
            let micros = (seconds.max(0.0) * 1e6) as u64;
            Moment::from_micros(asked.micros().saturating_sub(micros))
        };
        let mut back = 0.0;
        let mut rescaled: Vec<Find> = finds.iter().rev().copied().collect();
        for find in &mut rescaled {
            let gap = f64::from(find.gap);
            back += gap;
            find.gap = rhythm.passed(before(back), gap) as f32;
        }
        rescaled.reverse();
        let watched = rhythm.passed(before(self.watched), self.watched);
        (Finds::from((finds.total, rescaled)), watched)
    }
}

/// A description of a source, for reports.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Account {
    /// Its page number.
    pub page: Number,
    /// Its host, numbered as in [`Discovered`](crate::Discovered).
    pub host: u32,
    /// Why it is a source.
    pub kind: SourceKind,
    /// Number of new pages that appeared on it so far.
    pub found: u32,
    /// Its outlook.
    pub outlook: Outlook,
    /// Clicks on its pages so far.
    pub clicks: f64,
    /// Whether profit is estimated from clicks. Otherwise it is predicted from the stakes of
    /// pages.
    pub clicked: bool,
    /// Planned seconds between polls.
    pub interval: Option<f64>,
}
