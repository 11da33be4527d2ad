//! Property tests for schedulers of content sources: alone, behind [`Sources`], and in a crawl.

use std::time::Duration;

use proptest::prelude::*;

use super::{refreshing, schedulers};
use crate::catalog::{Catalog, Upkeep};
use crate::source::{Account, NewPage, Outlook, Seen, SourceRules, Sources};
use crate::{
    Appeared, Discovered, Fact, History, LinkFact, Moment, Moves, Number, Outcome, Page, Part,
    Policy, Price, Read, Shown, Text, Visit, VisitFact,
};

const HOUR: u64 = 3_600;

/// The time of the first fact: 1 March 2022.
const BEGIN: Moment = Moment::from_micros(1_646_092_800_000_000);

/// A poll: the source, the seconds since the previous poll of any source, the number of new pages,
/// and optionally clicks on an earlier page (which page, the delay in seconds, how many).
type Turn = (u8, u64, u8, Option<(u8, u64, f64)>);

/// The facts of three sources on two hosts, in order.
#[derive(Debug, Clone)]
pub(super) struct Story {
    steps: Vec<StoryStep>,
    pub(super) histories: Vec<History>,
}

#[derive(Debug, Clone)]
enum StoryStep {
    Discovery {
        page: u32,
        host: u32,
        at: Moment,
        appeared: Option<Appeared>,
    },
    Read {
        page: u32,
        links: Vec<u32>,
    },
    Visited {
        page: u32,
        before: Box<History>,
        after: Box<History>,
    },
    Shown {
        page: u32,
        at: Moment,
        clicks: f64,
    },
}

const SOURCES: u32 = 3;

const URLS: [&str; 4] = [
    "https://a.example/",
    "https://a.example/news/1",
    "https://b.example/sport/football-2",
    "https://b.example/politics/an-election",
];

pub(super) fn story() -> impl Strategy<Value = Story> {
    let click = prop::option::of((any::<u8>(), 0..200 * HOUR, 0.1..30.0_f64));
    let turn = (0u8..SOURCES as u8, 1..20 * HOUR, 0u8..5, click);
    prop::collection::vec(turn, 1..30).prop_map(|turns| story_of(&turns))
}

fn story_of(turns: &[Turn]) -> Story {
    let mut steps = Vec::new();
    let mut histories = vec![History::discovered(BEGIN, 0); SOURCES as usize];
    for page in 0..SOURCES {
        steps.push(StoryStep::Discovery {
            page,
            host: page % 2,
            at: BEGIN,
            appeared: None,
        });
    }
    let (mut now, mut pages) = (BEGIN, SOURCES);
    for page in 0..SOURCES {
        visit(&mut steps, &mut histories, page, now, 0);
    }
    for &(source, gap, new, click) in turns {
        now = now + Duration::from_secs(gap);
        let page = u32::from(source);
        let after = histories[page as usize].asked.unwrap_or(BEGIN);
        let first = pages;
        for _ in 0..new {
            let appeared = Some(Appeared {
                on: Number(page),
                after,
            });
            steps.push(StoryStep::Discovery {
                page: pages,
                host: page % 2,
                at: now,
                appeared,
            });
            histories.push(History::discovered(now, 1));
            pages += 1;
        }
        steps.push(StoryStep::Read {
            page,
            links: (first..pages).collect(),
        });
        visit(&mut steps, &mut histories, page, now, u32::from(new));
        if let Some((which, wait, clicks)) = click.filter(|_| pages > SOURCES) {
            let page = SOURCES + u32::from(which) % (pages - SOURCES);
            let at = histories[page as usize].discovered + Duration::from_secs(wait);
            steps.push(StoryStep::Shown {
                page,
                at: at.min(now),
                clicks,
            });
            if wait % 2 == 0 {
                visit(&mut steps, &mut histories, page, now, 0);
            }
        }
    }
    Story { steps, histories }
}

fn visit(steps: &mut Vec<StoryStep>, histories: &mut [History], page: u32, at: Moment, new: u32) {
    let history = &mut histories[page as usize];
    let before = Box::new(*history);
    *history = history.after(Visit::new(at, Outcome::Changed)).named(new);
    steps.push(StoryStep::Visited {
        page,
        before,
        after: Box::new(*history),
    });
}

impl Story {
    /// Returns the facts as a replay after a restart reports them: all discoveries, the last
    /// reads, all visits to each page as one, then the search log.
    fn replayed(&self) -> Self {
        let found = self
            .steps
            .iter()
            .filter(|step| matches!(step, StoryStep::Discovery { .. }));
        let mut steps: Vec<StoryStep> = found.cloned().collect();
        for number in 0..SOURCES {
            let of_page =
                |step: &&StoryStep| matches!(step, StoryStep::Read { page, .. } if *page == number);
            steps.extend(self.steps.iter().rev().find(of_page).cloned());
        }
        for (page, history) in (0..).zip(&self.histories) {
            if history.asked.is_some() {
                let before = Box::new(History::discovered(history.discovered, history.depth));
                let after = Box::new(*history);
                steps.push(StoryStep::Visited {
                    page,
                    before,
                    after,
                });
            }
        }
        let shown = self
            .steps
            .iter()
            .filter(|step| matches!(step, StoryStep::Shown { .. }));
        steps.extend(shown.cloned());
        Self {
            steps,
            histories: self.histories.clone(),
        }
    }

    /// Reports all facts, and one more visit 25 hours later, at which new plans are made.
    pub(super) fn feed(&self, mut observe: impl FnMut(&Fact<'_>)) {
        let last = Visit::new(self.end(), Outcome::Unchanged);
        let before = Box::new(self.histories[0]);
        let after = Box::new(before.after(last).named(0));
        let more = [StoryStep::Visited {
            page: 0,
            before,
            after,
        }];
        for step in self.steps.iter().chain(&more) {
            step.feed(&mut observe);
        }
    }

    fn end(&self) -> Moment {
        let last = self.histories.iter().filter_map(|history| history.asked);
        last.max().unwrap_or(BEGIN) + Duration::from_secs(25 * HOUR)
    }
}

impl StoryStep {
    fn feed(&self, observe: &mut impl FnMut(&Fact<'_>)) {
        match self {
            &Self::Discovery {
                page,
                host,
                at,
                appeared,
            } => observe(&Fact::Discovered(Discovered {
                page: Number(page),
                url: URLS[page as usize % URLS.len()],
                host,
                depth: u16::from(page >= SOURCES),
                seed: page < SOURCES,
                at,
                appeared,
            })),
            Self::Read { page, links } => {
                let links: Vec<LinkFact<'_>> = links
                    .iter()
                    .map(|&to| LinkFact::new(Number(to), "a new page"))
                    .collect();
                observe(&Fact::Read(Read {
                    page: Number(*page),
                    text: Text::Nothing,
                    links: &links,
                    // One more link leads out of the crawl.
                    out_links: links.len() as u32 + 1,
                    part: Part::WHOLE,
                }));
            }
            Self::Visited {
                page,
                before,
                after,
            } => observe(&Fact::Visited(VisitFact {
                page: Number(*page),
                before,
                after,
            })),
            &Self::Shown { page, at, clicks } => observe(&Fact::Shown(Shown {
                page: Number(page),
                at,
                views: clicks,
                clicks,
            })),
        }
    }
}

/// Settings under which no page becomes a source by its age.
///
/// Otherwise a page to which a front page has ever linked becomes a source when it is old enough.
/// A replay reports only the last read of a front page, so a restart would lose such sources.
fn settings() -> SourceRules {
    SourceRules {
        per_second: 0.001,
        older: Duration::MAX,
        ..SourceRules::default()
    }
}

fn sources_after(scheduler: &str, settings: SourceRules, story: &Story) -> Sources {
    let scheduler = Catalog::standard().scheduler(scheduler).unwrap();
    let mut sources = Sources::new(scheduler, settings);
    story.feed(|fact| sources.observe(fact));
    sources
}

fn outlook() -> impl Strategy<Value = Outlook> {
    let number =
        |low: f64, high: f64| prop_oneof![4 => (low..high).prop_map(f64::exp), 1 => Just(0.0)];
    (number(-20.0, 3.0), number(-20.0, 12.0), number(-20.0, 0.0)).prop_map(
        |(rate, profit, decay)| Outlook {
            rate,
            profit,
            decay: decay.max(1e-9),
        },
    )
}

proptest! {
    #[test]
    fn polls_never_lose_worth_by_waiting_and_due_is_the_inverse_of_worth(
        outlooks in prop::collection::vec(outlook(), 1..6),
        budget in -12.0..2.0_f64,
        price in -25.0..25.0_f64,
        waits in prop::array::uniform2(-5.0..20.0_f64),
    ) {
        let (price, [one, other]) = (price.exp(), waits.map(f64::exp));
        let (short, long) = (one.min(other), one.max(other));
        for (name, mut scheduler) in schedulers() {
            scheduler.plan(&outlooks, budget.exp());
            // The last source is not in the plan.
            for (place, outlook) in outlooks.iter().chain([&outlooks[0]]).enumerate() {
                let worth = |waited| scheduler.worth(place, outlook, waited);
                prop_assert!(worth(short).is_finite() && worth(short) >= 0.0, "{}: {}", name, worth(short));
                prop_assert!(worth(long) >= worth(short) * (1.0 - 1e-12), "{}: {} after {}", name, worth(long), worth(short));
                let Some(due) = scheduler.due(place, outlook, price) else {
                    prop_assert!(worth(1e12) < price * (1.0 + 1e-9), "{}: never due, but its worth {} reaches the price", name, worth(1e12));
                    continue;
                };
                prop_assert!(due >= 0.0 && !due.is_nan(), "{}: {}", name, due);
                // The tolerances allow for step functions, and for curves that hardly rise near
                // their maximum.
                let after = worth(due * (1.0 + 1e-9) + 1e-9);
                prop_assert!(after >= price * (1.0 - 1e-6), "{}: {} at {}, not {}", name, after, due, price);
                let early = worth(due * (1.0 - 1e-6) - 1e-6);
                prop_assert!(due < 2e-6 || early <= price * (1.0 + 1e-9), "{}: {} before {}, not {}", name, early, due, price);
                let sooner = scheduler.due(place, outlook, price / 2.0);
                prop_assert!(sooner.is_some_and(|sooner| sooner <= due * (1.0 + 1e-12)), "{}: a lower price never delays", name);
            }
        }
    }

    #[test]
    fn new_pages_never_gain_worth_by_waiting(outlook in outlook(), appeal in 0.01..100.0_f64, age in 0.0..1e7_f64, more in 0.0..1e7_f64, found in 0.0..2e9_f64) {
        for (name, scheduler) in schedulers() {
            let worth = |age| scheduler.page(&NewPage { source: 0, outlook, appeal, age, found });
            prop_assert!(worth(age).is_finite() && worth(age) >= 0.0, "{}", name);
            prop_assert!(worth(age + more) <= worth(age), "{}", name);
        }
    }
}

proptest! {
    // A story has about a hundred facts and is reported to seven schedulers.
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn in_a_crawl_due_is_the_inverse_of_worth(story in story(), exponent in -12f64..14.0, cheaper in 0.01f64..1.0, rhythm in any::<bool>()) {
        let price = 10f64.powf(exponent);
        let [dear, cheap] = [price, price * cheaper].map(|price| Price::new(price).unwrap());
        for (name, scheduler) in schedulers() {
            let refresh = Catalog::standard().refresh("freshness", &Upkeep::default()).unwrap();
            let mut crawl = refreshing(Some(refresh));
            crawl.sources = Some(Sources::new(scheduler, SourceRules { rhythm, ..settings() }));
            story.feed(|fact| crawl.observe(fact, &mut Moves::default()));
            for (number, history) in (0..).zip(&story.histories) {
                let page = Page { number: Number(number), history };
                let now = story.end();
                prop_assert!(crawl.worth(page, now).value().is_finite(), "{}", name);
                if crawl.fades(page.number) && history.outcome.is_none() {
                    let later = now + Duration::from_secs(HOUR);
                    prop_assert!(crawl.worth(page, later) <= crawl.worth(page, now), "{}: a page loses by waiting", name);
                    continue;
                }
                let Some(due) = crawl.due(page, dear) else { continue };
                prop_assert!(crawl.worth(page, due).pays(dear), "{}: due is the inverse of worth", name);
                let before = Moment::from_micros(due.micros().saturating_sub(3));
                if history.asked.is_some_and(|asked| before > asked) {
                    prop_assert!(!crawl.worth(page, before).pays(dear), "{}: due is the first moment", name);
                }
                let sooner = crawl.due(page, cheap);
                prop_assert!(sooner.is_some_and(|sooner| sooner <= due), "{}: a lower price never delays", name);
            }
        }
    }

    #[test]
    fn a_restart_keeps_sources(story in story(), own in any::<bool>(), rhythm in any::<bool>()) {
        let replayed = story.replayed();
        for (name, _) in schedulers() {
            let seen = if own { Seen::Fetched } else { Seen::Known };
            let settings = SourceRules { seen, rhythm, ..settings() };
            let [original, restarted] = [&story, &replayed].map(|story| {
                let sources = sources_after(&name, settings.clone(), story);
                let mut accounts: Vec<Account> = sources.accounts().collect();
                accounts.sort_by_key(|account| account.page);
                accounts
            });
            prop_assert_eq!(original.len(), restarted.len());
            for (original, restarted) in original.iter().zip(&restarted) {
                prop_assert_eq!((original.page, original.kind, original.found), (restarted.page, restarted.kind, restarted.found));
                for (original, restarted) in [
                    (original.outlook.rate, restarted.outlook.rate),
                    (original.outlook.profit, restarted.outlook.profit),
                    (original.outlook.decay, restarted.outlook.decay),
                    (original.clicks, restarted.clicks),
                ] {
                    prop_assert!((original - restarted).abs() <= 1e-4 * original.max(restarted), "{}: {} was {}", name, restarted, original);
                }
            }
        }
    }
}
