//! Random webs, as a crawl learns of them.

use std::time::Duration;

use proptest::prelude::*;

use crate::{
    About, Discovered, Fact, History, Link, Moment, Moves, Number, Outcome, Page, Policy, Read,
    Shown, Text, Visit, Visited, Worth,
};

/// What a crawl learns, in order.
#[derive(Debug, Clone)]
pub struct World {
    pub steps: Vec<Step>,
    pub pages: u32,
}

/// A fact, owned.
#[derive(Debug, Clone)]
pub enum Step {
    Hears {
        page: u32,
        url: &'static str,
        host: u32,
        depth: u16,
        seed: bool,
    },
    Reads {
        page: u32,
        text: Text<'static>,
        links: Vec<(u32, &'static str)>,
        out_links: u32,
    },
    Visits {
        page: u32,
        before: Box<History>,
        after: Box<History>,
    },
    Shows {
        page: u32,
        views: f64,
        clicks: f64,
    },
}

/// A visit to come: signals before it, the gap to the one before, what it finds and what that gives.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    signals: u16,
    gap: Duration,
    outcome: Outcome,
    differing: f32,
    gain: Option<f32>,
}

/// Any visit, also one that found nobody or took away from searchers.
pub fn call() -> impl Strategy<Value = Call> {
    let outcome = prop::sample::select(vec![
        Outcome::Changed,
        Outcome::Changed,
        Outcome::Unchanged,
        Outcome::Unchanged,
        Outcome::Gone,
        Outcome::Unreachable,
        Outcome::Refused,
    ]);
    let gain = prop::option::of(-0.1f32..1.0);
    (0u16..3, 0u64..1 << 43, outcome, 0f32..=1.0, gain).prop_map(
        |(signals, gap, outcome, differing, gain)| Call {
            signals,
            gap: Duration::from_micros(gap),
            outcome,
            differing,
            gain,
        },
    )
}

impl Call {
    /// The history with this visit.
    pub fn paid(self, mut history: History) -> History {
        let before = history.asked.unwrap_or(history.discovered);
        for _ in 0..self.signals {
            history = history.signalled(before + self.gap / 2);
        }
        let history = history.after(Visit {
            at: before + self.gap,
            outcome: self.outcome,
            differing: self.differing,
        });
        match self.gain.filter(|_| self.outcome == Outcome::Changed) {
            Some(gain) => history.gained(gain),
            None => history,
        }
    }
}

const URLS: [&str; 4] = [
    "https://a.edu/",
    "https://a.edu/docs/red/fox?a=1&b=2",
    "https://b.example/shut/",
    "https://b.example/fox",
];

const ANCHORS: [&str; 4] = ["", "more", "a red fox", "FOX!"];

const AROUND: [&str; 3] = ["a red one", "", "nothing blue"];

const PATHS: [&str; 2] = ["html/body/nav/a", "html/body/main/p/a"];

fn texts() -> Vec<Text<'static>> {
    let whole = |title, body| Text::Whole {
        title,
        body,
        about: About::default(),
    };
    let counted = |in_title, in_body, words| Text::Counted {
        in_title,
        in_body,
        words,
    };
    vec![
        Text::Nothing,
        whole("", ""),
        whole("The fox", "Red and quick."),
        whole("", "fox fox fox fox fox fox fox fox fox red"),
        counted(0, 12, 900),
        counted(0, 1, u32::MAX),
    ]
}

/// Worlds of up to 15 pages on 3 hosts: heard of and read in any order, also again.
pub fn world() -> impl Strategy<Value = World> {
    let hears = (0..URLS.len(), 0u32..3, 0u16..5, any::<bool>());
    let link = (any::<u32>(), 0..ANCHORS.len());
    let reads = (
        any::<u32>(),
        prop::sample::select(texts()),
        prop::collection::vec(link, 0..7),
        0u32..4,
    );
    let visits = (any::<u32>(), call());
    let shows = (any::<u32>(), 0.0..9.0, 0.0..2.0);
    let turn = (
        prop::collection::vec(hears, 0..3),
        prop::option::of(reads),
        prop::collection::vec(visits, 0..4),
        prop::option::of(shows),
    );
    prop::collection::vec(turn, 1..12).prop_map(|turns| {
        let (mut steps, mut pages) = (Vec::new(), 0);
        let mut histories: Vec<History> = Vec::new();
        for (hears, reads, visits, shows) in turns {
            for (url, host, depth, seed) in hears {
                let (page, url) = (pages, URLS[url]);
                steps.push(Step::Hears {
                    page,
                    url,
                    host,
                    depth,
                    seed,
                });
                let found = Moment::from_micros(u64::from(pages));
                histories.push(History::discovered(found, depth));
                pages += 1;
            }
            if let Some((page, text, links, outside)) = reads.filter(|_| pages > 0) {
                let mut links: Vec<_> = links
                    .into_iter()
                    .map(|(to, anchor)| (to % pages, ANCHORS[anchor]))
                    .collect();
                links.sort_unstable();
                links.dedup_by_key(|link| link.0);
                let (page, out_links) = (page % pages, links.len() as u32 + outside);
                steps.push(Step::Reads {
                    page,
                    text,
                    links,
                    out_links,
                });
            }
            for (page, call) in visits.into_iter().filter(|_| pages > 0) {
                let page = page % pages;
                let history = &mut histories[page as usize];
                let (before, after) = (*history, call.paid(*history));
                *history = after;
                let (before, after) = (Box::new(before), Box::new(after));
                steps.push(Step::Visits {
                    page,
                    before,
                    after,
                });
            }
            if let Some((page, views, clicks)) = shows.filter(|_| pages > 0) {
                let page = page % pages;
                steps.push(Step::Shows {
                    page,
                    views,
                    clicks,
                });
            }
        }
        World { steps, pages }
    })
}

impl World {
    /// The same, as it is told after a stop: all pages, then what was read of each last, then all visits to each
    /// as one, then what searchers saw.
    pub fn recalled(&self) -> Self {
        let is_hears = |step: &Step| matches!(step, Step::Hears { .. });
        let mut steps: Vec<Step> = self
            .steps
            .iter()
            .filter(|step| is_hears(step))
            .cloned()
            .collect();
        for number in 0..self.pages {
            let of_page =
                |step: &&Step| matches!(step, Step::Reads { page, .. } if *page == number);
            steps.extend(self.steps.iter().rev().find(of_page).cloned());
        }
        for page in 0..self.pages {
            let after = Box::new(self.visited(page));
            if after.asked.is_some() {
                let before = Box::new(self.history(page));
                steps.push(Step::Visits {
                    page,
                    before,
                    after,
                });
            }
        }
        let is_shown = |step: &&Step| matches!(step, Step::Shows { .. });
        steps.extend(self.steps.iter().filter(is_shown).cloned());
        Self {
            steps,
            pages: self.pages,
        }
    }

    /// Pages that were read.
    pub fn is_read(&self, number: u32) -> bool {
        let mut steps = self.steps.iter();
        steps.any(|step| matches!(step, Step::Reads { page, .. } if *page == number))
    }

    /// The history of a page that waits.
    pub fn history(&self, number: u32) -> History {
        let depth = self.steps.iter().find_map(|step| match step {
            Step::Hears { page, depth, .. } if *page == number => Some(*depth),
            _ => None,
        });
        History::discovered(Moment::from_micros(u64::from(number)), depth.unwrap_or(0))
    }

    /// The history of a page after all visits to it.
    pub fn visited(&self, number: u32) -> History {
        let last = self.steps.iter().rev().find_map(|step| match step {
            Step::Visits { page, after, .. } if *page == number => Some(**after),
            _ => None,
        });
        last.unwrap_or_else(|| self.history(number))
    }

    /// What a page is worth.
    pub fn worth(&self, policy: &dyn Policy, number: u32) -> Worth {
        let history = self.history(number);
        let page = Page {
            number: Number(number),
            history: &history,
        };
        policy.worth(page, history.discovered)
    }

    /// Tells a policy everything.
    pub fn tell(&self, policy: &mut dyn Policy) {
        for step in &self.steps {
            step.tell(policy);
        }
    }
}

impl Step {
    /// Tells a policy. Returns what it moved.
    pub fn tell(&self, policy: &mut dyn Policy) -> Vec<(Number, Worth)> {
        let mut moves = Moves::default();
        match self {
            &Self::Hears {
                page,
                url,
                host,
                depth,
                seed,
            } => {
                let page = Number(page);
                let discovered = Discovered {
                    page,
                    url,
                    host,
                    depth,
                    seed,
                    at: crate::Moment::START,
                    appeared: None,
                };
                policy.observe(&Fact::Discovered(discovered), &mut moves);
            }
            Self::Reads {
                page,
                text,
                links,
                out_links,
            } => {
                let links: Vec<_> = links
                    .iter()
                    .map(|&(to, anchor)| Link {
                        to: Number(to),
                        anchor,
                        around: AROUND[to as usize % AROUND.len()],
                        path: PATHS[to as usize % PATHS.len()],
                    })
                    .collect();
                let read = Read {
                    page: Number(*page),
                    text: *text,
                    links: &links,
                    out_links: *out_links,
                };
                policy.observe(&Fact::Read(read), &mut moves);
            }
            Self::Visits {
                page,
                before,
                after,
            } => {
                let page = Number(*page);
                let visited = Visited {
                    page,
                    before,
                    after,
                };
                policy.observe(&Fact::Visited(visited), &mut moves);
            }
            &Self::Shows {
                page,
                views,
                clicks,
            } => {
                let page = Number(page);
                let shown = Shown {
                    page,
                    at: Moment::START,
                    views,
                    clicks,
                };
                policy.observe(&Fact::Shown(shown), &mut moves);
            }
        }
        moves.drain().collect()
    }
}
