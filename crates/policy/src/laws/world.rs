//! Random webs, as a crawl learns of them.

use proptest::prelude::*;

use crate::{
    Discovered, Fact, History, Link, Moment, Moves, Number, Page, Policy, Read, Text, Worth,
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
}

const URLS: [&str; 4] = [
    "https://a.edu/",
    "https://a.edu/docs/red/fox?a=1&b=2",
    "https://b.example/shut/",
    "https://b.example/fox",
];

const ANCHORS: [&str; 4] = ["", "more", "a red fox", "FOX!"];

fn texts() -> Vec<Text<'static>> {
    let whole = |title, body| Text::Whole { title, body };
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
    let turn = (prop::collection::vec(hears, 0..3), prop::option::of(reads));
    prop::collection::vec(turn, 1..12).prop_map(|turns| {
        let (mut steps, mut pages) = (Vec::new(), 0);
        for (hears, reads) in turns {
            for (url, host, depth, seed) in hears {
                let (page, url) = (pages, URLS[url]);
                steps.push(Step::Hears {
                    page,
                    url,
                    host,
                    depth,
                    seed,
                });
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
        }
        World { steps, pages }
    })
}

impl World {
    /// The same, as it is told after a stop: all pages, then what was read of each last.
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
        }
        moves.drain().collect()
    }
}
