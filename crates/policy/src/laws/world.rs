//! Random webs, as the sequence of facts that a crawl reports.

use std::time::Duration;

use proptest::prelude::*;

use crate::{
    About, Discovered, Fact, History, LinkFact, Moment, Moves, Number, Outcome, Page, Part, Policy,
    Read, Shown, Text, Visit, VisitFact, Worth,
};

/// The facts of a crawl, in order.
#[derive(Debug, Clone)]
pub struct TestWorld {
    pub steps: Vec<WorldStep>,
    pub pages: u32,
}

/// An owned fact.
#[derive(Debug, Clone)]
pub enum WorldStep {
    Discovers {
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

/// A visit: the hints before it, the gap since the previous visit, its outcome and its gain.
#[derive(Debug, Clone, Copy)]
pub struct PlannedVisit {
    signals: u16,
    gap: Duration,
    outcome: Outcome,
    differing: f32,
    gain: Option<f32>,
}

/// Any visit, including failures and visits with a negative gain.
pub fn planned_visit() -> impl Strategy<Value = PlannedVisit> {
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
        |(signals, gap, outcome, differing, gain)| PlannedVisit {
            signals,
            gap: Duration::from_micros(gap),
            outcome,
            differing,
            gain,
        },
    )
}

impl PlannedVisit {
    /// Returns the history with this visit.
    pub fn applied_to(self, mut history: History) -> History {
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

/// Worlds of up to 22 pages on 3 hosts. Pages are discovered and read in any order, also
/// repeatedly.
pub fn world() -> impl Strategy<Value = TestWorld> {
    let discovers = (0..URLS.len(), 0u32..3, 0u16..5, any::<bool>());
    let link = (any::<u32>(), 0..ANCHORS.len());
    let reads = (
        any::<u32>(),
        prop::sample::select(texts()),
        prop::collection::vec(link, 0..7),
        0u32..4,
    );
    let visits = (any::<u32>(), planned_visit());
    let shows = (any::<u32>(), 0.0..9.0, 0.0..2.0);
    let turn = (
        prop::collection::vec(discovers, 0..3),
        prop::option::of(reads),
        prop::collection::vec(visits, 0..4),
        prop::option::of(shows),
    );
    prop::collection::vec(turn, 1..12).prop_map(|turns| {
        let (mut steps, mut pages) = (Vec::new(), 0);
        let mut histories: Vec<History> = Vec::new();
        for (discovers, reads, visits, shows) in turns {
            for (url, host, depth, seed) in discovers {
                let (page, url) = (pages, URLS[url]);
                steps.push(WorldStep::Discovers {
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
                steps.push(WorldStep::Reads {
                    page,
                    text,
                    links,
                    out_links,
                });
            }
            for (page, planned_visit) in visits.into_iter().filter(|_| pages > 0) {
                let page = page % pages;
                let history = &mut histories[page as usize];
                let (before, after) = (*history, planned_visit.applied_to(*history));
                *history = after;
                let (before, after) = (Box::new(before), Box::new(after));
                steps.push(WorldStep::Visits {
                    page,
                    before,
                    after,
                });
            }
            if let Some((page, views, clicks)) = shows.filter(|_| pages > 0) {
                let page = page % pages;
                steps.push(WorldStep::Shows {
                    page,
                    views,
                    clicks,
                });
            }
        }
        TestWorld { steps, pages }
    })
}

impl TestWorld {
    /// Returns the facts as a replay after a restart reports them: all discoveries, then the
    /// last read of each page, then all visits to each page as one, then search results.
    pub fn replayed(&self) -> Self {
        let is_discovery = |step: &WorldStep| matches!(step, WorldStep::Discovers { .. });
        let mut steps: Vec<WorldStep> = self
            .steps
            .iter()
            .filter(|step| is_discovery(step))
            .cloned()
            .collect();
        for number in 0..self.pages {
            let of_page = |step: &&WorldStep| matches!(step, WorldStep::Reads { page, .. } if *page == number);
            steps.extend(self.steps.iter().rev().find(of_page).cloned());
        }
        for page in 0..self.pages {
            let after = Box::new(self.visited(page));
            if after.asked.is_some() {
                let before = Box::new(self.history(page));
                steps.push(WorldStep::Visits {
                    page,
                    before,
                    after,
                });
            }
        }
        let is_shown = |step: &&WorldStep| matches!(step, WorldStep::Shows { .. });
        steps.extend(self.steps.iter().filter(is_shown).cloned());
        Self {
            steps,
            pages: self.pages,
        }
    }

    /// Returns whether the page was read.
    pub fn is_read(&self, number: u32) -> bool {
        let mut steps = self.steps.iter();
        steps.any(|step| matches!(step, WorldStep::Reads { page, .. } if *page == number))
    }

    /// Returns the history of a page before its first visit.
    pub fn history(&self, number: u32) -> History {
        let depth = self.steps.iter().find_map(|step| match step {
            WorldStep::Discovers { page, depth, .. } if *page == number => Some(*depth),
            _ => None,
        });
        History::discovered(Moment::from_micros(u64::from(number)), depth.unwrap_or(0))
    }

    /// Returns the history of a page after all visits to it.
    pub fn visited(&self, number: u32) -> History {
        let last = self.steps.iter().rev().find_map(|step| match step {
            WorldStep::Visits { page, after, .. } if *page == number => Some(**after),
            _ => None,
        });
        last.unwrap_or_else(|| self.history(number))
    }

    /// Returns the worth of a page before its first visit.
    pub fn worth(&self, policy: &dyn Policy, number: u32) -> Worth {
        let history = self.history(number);
        let page = Page {
            number: Number(number),
            history: &history,
        };
        policy.worth(page, history.discovered)
    }

    /// Reports all facts to a policy.
    pub fn feed(&self, policy: &mut dyn Policy) {
        for step in &self.steps {
            step.feed(policy);
        }
    }
}

impl WorldStep {
    /// Reports the fact to a policy. Returns the pages whose worth changed.
    pub fn feed(&self, policy: &mut dyn Policy) -> Vec<(Number, Worth)> {
        let mut moves = Moves::default();
        match self {
            &Self::Discovers {
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
                    .map(|&(to, anchor)| LinkFact {
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
                    part: Part::WHOLE,
                };
                policy.observe(&Fact::Read(read), &mut moves);
            }
            Self::Visits {
                page,
                before,
                after,
            } => {
                let page = Number(*page);
                let visited = VisitFact {
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
