//! A policy uses the facts that its [`Needs`] name, and no others.
//!
//! What is not named is not looked up: a crawl never tells it. A need too few makes a live crawl differ
//! from the laboratory; a need too many is paid for and changes nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::sources::{Story, story};
use super::world::{World, world};
use super::{crawl, policies};
use crate::source::{Settings, Sources};
use crate::{
    Catalog, Discovered, Fact, Link, Moment, Moves, Needs, Number, Page, Policy, Read, Text, Worth,
};

/// Policies, each with its name.
type Named = Vec<(String, Box<dyn Policy>)>;

/// A need, by name.
type Need = (&'static str, fn(&mut Needs) -> &mut bool);

const NEEDS: [Need; 6] = [
    ("links", |needs| &mut needs.links),
    ("words", |needs| &mut needs.words),
    ("places", |needs| &mut needs.places),
    ("text", |needs| &mut needs.text),
    ("visits", |needs| &mut needs.visits),
    ("searches", |needs| &mut needs.searches),
];

const ALL: Needs = Needs {
    links: true,
    words: true,
    places: true,
    text: true,
    visits: true,
    searches: true,
};

/// Methods that use no places and name them all the same: a crawl that needs places reads pages again
/// from the archive when it goes on after a stop, and every judge learns from their texts.
const READ_AGAIN: [&str; 5] = ["context-graph", "fish", "hard", "laser", "soft"];

/// A policy that is told what `needs` name, and nothing else.
struct Withheld<'p> {
    policy: &'p mut dyn Policy,
    needs: Needs,
}

impl Policy for Withheld<'_> {
    fn observe(&mut self, fact: &Fact<'_>, moves: &mut Moves) {
        let needs = self.needs;
        let mut tell = |fact: Fact<'_>| self.policy.observe(&fact, moves);
        match *fact {
            Fact::Discovered(discovered) => tell(Fact::Discovered(Discovered {
                url: if needs.words { discovered.url } else { "" },
                ..discovered
            })),
            Fact::Read(read) if needs.links => {
                let known = |link: &Link<'_>| {
                    let mut told = Link::new(link.to, "");
                    if needs.words {
                        told.anchor = link.anchor;
                    }
                    if needs.places {
                        (told.around, told.path) = (link.around, link.path);
                    }
                    (
                        told.to,
                        told.anchor.to_owned(),
                        told.around.to_owned(),
                        told.path.to_owned(),
                    )
                };
                let known: Vec<_> = read.links.iter().map(known).collect();
                let links: Vec<Link<'_>> = known
                    .iter()
                    .map(|(to, anchor, around, path)| Link {
                        to: *to,
                        anchor,
                        around,
                        path,
                    })
                    .collect();
                let text = if needs.text { read.text } else { Text::Nothing };
                tell(Fact::Read(Read {
                    text,
                    links: &links,
                    ..read
                }));
            }
            Fact::Visited(visited) if needs.visits => tell(Fact::Visited(visited)),
            Fact::Shown(shown) if needs.searches => tell(Fact::Shown(shown)),
            Fact::Read(_) | Fact::Visited(_) | Fact::Shown(_) => {}
        }
    }

    fn worth(&self, page: Page<'_>, now: Moment) -> Worth {
        self.policy.worth(page, now)
    }
}

/// Facts that can be told, and pages to ask about afterwards.
trait Tale {
    fn tell(&self, policy: &mut dyn Policy);
    fn pages(&self) -> Vec<(Number, crate::History)>;
}

impl Tale for World {
    fn tell(&self, policy: &mut dyn Policy) {
        World::tell(self, policy);
    }

    fn pages(&self) -> Vec<(Number, crate::History)> {
        let waiting = (0..self.pages).map(|page| (Number(page), self.history(page)));
        let visited = (0..self.pages).map(|page| (Number(page), self.visited(page)));
        waiting.chain(visited).collect()
    }
}

impl Tale for Story {
    fn tell(&self, policy: &mut dyn Policy) {
        Story::tell(self, |fact| policy.observe(fact, &mut Moves::default()));
    }

    fn pages(&self) -> Vec<(Number, crate::History)> {
        let numbered = (0..).zip(&self.histories);
        numbered
            .map(|(page, history)| (Number(page), *history))
            .collect()
    }
}

/// All that a policy says after it was told what `needs` name.
fn answers(tale: &dyn Tale, policy: &mut dyn Policy, needs: Needs) -> Vec<String> {
    tale.tell(&mut Withheld { policy, needs });
    let mut answers = vec![format!("{:?}", policy.report())];
    for (number, history) in tale.pages() {
        let page = Page {
            number,
            history: &history,
        };
        let last = history.asked.unwrap_or(history.discovered);
        let worths = [0, 1, 24, 48, 96, 240].map(|hours| {
            let now = last + Duration::from_secs(hours * 3_600);
            policy.worth(page, now)
        });
        answers.push(format!(
            "{number:?} {worths:?} {:?}",
            policy.importance(page)
        ));
    }
    answers
}

/// The same tales in every run.
fn drawn<T: std::fmt::Debug>(strategy: impl Strategy<Value = T>, count: usize) -> Vec<T> {
    let mut runner = TestRunner::deterministic();
    let mut draw = || {
        strategy
            .new_tree(&mut runner)
            .expect("nothing is rejected")
            .current()
    };
    (0..count).map(|_| draw()).collect()
}

/// Crawls with each scheduler of sources.
fn with_sources() -> Named {
    let schedulers = Catalog::standard().schedulers().iter();
    let made = schedulers.map(|scheduler| {
        let mut crawl = crawl("holistic", "gamma");
        let settings = Settings {
            per_second: 0.001,
            ..Settings::default()
        };
        crawl.sources = Some(Sources::new((scheduler.build)(), settings));
        let crawl: Box<dyn Policy> = Box::new(crawl);
        (format!("holistic with {}", scheduler.name), crawl)
    });
    made.collect()
}

/// Which needs make a difference to which policy, by withholding one at a time. Panics if a policy uses what it does not name.
fn used(tales: &[&dyn Tale], made: fn() -> Named) -> BTreeSet<(String, &'static str)> {
    let mut used = BTreeSet::new();
    for tale in tales {
        let told = |needs: &dyn Fn(&dyn Policy) -> Needs| -> Vec<Vec<String>> {
            let policies = made().into_iter();
            policies
                .map(|(_, mut policy)| {
                    let needs = needs(policy.as_ref());
                    answers(*tale, policy.as_mut(), needs)
                })
                .collect()
        };
        let names: Vec<String> = made().into_iter().map(|(name, _)| name).collect();
        let everything = told(&|_| ALL);
        let needed = told(&|policy| policy.needs());
        for ((name, everything), needed) in names.iter().zip(&everything).zip(&needed) {
            assert_eq!(
                everything, needed,
                "{name} uses a fact that its needs do not name"
            );
        }
        for (need, of) in NEEDS {
            let mut rest = ALL;
            *of(&mut rest) = false;
            let withheld = told(&|_| rest);
            let differ = names.iter().zip(everything.iter().zip(&withheld));
            let differ = differ.filter(|(_, (one, other))| one != other);
            used.extend(differ.map(|(name, _)| (name.clone(), need)));
        }
    }
    used
}

fn named(policies: Named) -> BTreeSet<(String, &'static str)> {
    let mut named = BTreeSet::new();
    for (name, policy) in policies {
        let mut needs = policy.needs();
        let wanted = NEEDS.into_iter().filter(|(_, of)| *of(&mut needs));
        named.extend(wanted.map(|(need, _)| (name.clone(), need)));
    }
    named
}

#[test]
fn orders_and_refreshes_use_what_they_name() {
    let made = || {
        let mut all = policies();
        all.retain(|(name, _)| !name.starts_with("holistic with"));
        all
    };
    let worlds = drawn(world(), 40);
    let tales: Vec<&dyn Tale> = worlds.iter().map(|world| world as &dyn Tale).collect();
    let mut used = used(&tales, made);
    used.extend(READ_AGAIN.map(|method| (method.to_owned(), "places")));
    assert_eq!(used, named(made()));
}

#[test]
fn schedulers_use_what_they_name() {
    let stories = drawn(story(), 24);
    let tales: Vec<&dyn Tale> = stories.iter().map(|story| story as &dyn Tale).collect();
    assert_eq!(used(&tales, with_sources), named(with_sources()));
}
