//! What is kept of a page, and of a source?
//!
//! **Invariant:** these are facts and sums of facts, in the same state whichever order the facts were told in. Opinions are in `learning.rs`.

use super::Outlook;
use crate::estimate::{Curve, Histogram, Polled, Rhythm, Watched};
use crate::history::{Find, Finds};
use crate::{History, Moment, Number};

/// What is known of any page.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Known {
    pub discovered: Moment,
    pub host: u32,
    /// Its place among the records.
    pub place: Option<u32>,
    /// The place of the page that it appeared on.
    pub on: Option<u32>,
    /// Whether it was said what it costs not to have it.
    pub weighed: bool,
    /// Whether a main page links to it.
    pub linked: bool,
    /// Seconds from when it is thought to have appeared until it was discovered.
    pub unseen: f32,
}

impl Known {
    /// Its age in seconds; below 0 before it is thought to have appeared.
    pub fn age(&self, at: Moment) -> f64 {
        let [after, before] = [at.since(self.discovered), self.discovered.since(at)];
        after.as_secs_f64() - before.as_secs_f64() + f64::from(self.unseen)
    }
}

/// Why a page is a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The main page of a host, or a seed.
    Main,
    /// A sitemap or a feed.
    Listing,
    /// One link from a main page, and old. It is polled once a visit after the first could tell what it names.
    Near,
}

/// A source, or a page that named new ones and may yet become one.
#[derive(Debug, Clone)]
pub(super) struct Record {
    pub page: Number,
    pub host: u32,
    /// Why it is a source; `None`: it is none yet.
    pub kind: Option<Kind>,
    pub finds: Finds,
    pub polls: u32,
    pub watched: f64,
    /// When it was last asked for.
    pub asked: Option<Moment>,
    /// Pages that appeared on it, those that are too old for clicks to be counted left out.
    pub recent: Vec<Number>,
    /// Those left out.
    pub old: u32,
    /// The ages at which these were watched.
    pub old_seen: Histogram,
    /// Clicks on its pages, by age.
    pub clicks: Histogram,
    /// The ages at which all its pages were watched, when that was last looked at, and how many these were.
    pub seen: Histogram,
    pub pages: u32,
    /// What it costs a second not to have its pages, and of how many that was said.
    pub stakes: f64,
    pub weighed: u32,
    /// Whether there is something to learn since `learned`.
    pub news: bool,
    pub learned: Moment,
    /// P in clicks and μ, when these were last estimated.
    pub curve: Curve,
    pub outlook: Outlook,
}

impl Record {
    pub fn new(page: Number, host: u32) -> Self {
        let curve = Curve {
            profit: 0.0,
            decay: 1.0,
        };
        Self {
            page,
            host,
            kind: None,
            finds: Finds::default(),
            polls: 0,
            watched: 0.0,
            asked: None,
            recent: Vec::new(),
            old: 0,
            old_seen: Histogram::default(),
            clicks: Histogram::default(),
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
        }
    }

    /// Takes in the visits to it.
    pub fn visited(&mut self, history: &History) {
        self.finds = history.finds;
        self.polls = history.revisits;
        self.watched = history.watched.as_secs_f64();
        self.asked = history.asked;
    }

    /// Whether it is a source of which something can be expected.
    pub fn counts(&self) -> bool {
        match self.kind {
            None => false,
            Some(Kind::Near) => self.polls > 0,
            Some(Kind::Main | Kind::Listing) => self.asked.is_some(),
        }
    }

    pub fn polled(&self) -> Polled<'_> {
        Polled {
            finds: &self.finds,
            polls: self.polls,
            watched: self.watched,
        }
    }

    /// What its polls watched, for the hours of the week.
    pub fn span(&self) -> Option<Watched> {
        Some(Watched {
            until: self.asked?,
            seconds: self.watched,
            new: f64::from(self.finds.total),
        })
    }

    /// What its polls found, with the time between them on the even clock.
    pub fn evenly(&self, rhythm: &Rhythm) -> (Finds, f64) {
        let Some(asked) = self.asked else {
            return (self.finds, self.watched);
        };
        let before = |seconds: f64| {
            let micros = (seconds.max(0.0) * 1e6) as u64;
            Moment::from_micros(asked.micros().saturating_sub(micros))
        };
        let mut back = 0.0;
        let mut finds: Vec<Find> = self.finds.iter().rev().copied().collect();
        for find in &mut finds {
            let gap = f64::from(find.gap);
            back += gap;
            find.gap = rhythm.passed(before(back), gap) as f32;
        }
        finds.reverse();
        let watched = rhythm.passed(before(self.watched), self.watched);
        (Finds::from((self.finds.total, finds)), watched)
    }
}

/// What is known of a source, for people.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Account {
    /// The page.
    pub page: Number,
    /// Its host, numbered as in [`Discovered`](crate::Discovered).
    pub host: u32,
    /// Why it is a source.
    pub kind: Kind,
    /// New pages that it named so far.
    pub found: u32,
    /// What is expected of it.
    pub outlook: Outlook,
    /// Clicks on its pages so far.
    pub clicks: f64,
    /// Whether profit is what was clicked, here and elsewhere; else it is foretold from what first copies are worth.
    pub clicked: bool,
    /// How long a plan leaves it alone, in seconds.
    pub interval: Option<f64>,
}
