//! Tests that a policy uses exactly the facts that its [`Needs`] name.
//!
//! A crawl may leave out facts that are not named. A missing need therefore makes a restarted
//! crawl differ from one that ran on. A superfluous need costs time and changes nothing.

use std::collections::BTreeSet;
use std::time::Duration;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::sources::{Story, story};
use super::world::{TestWorld, world};
use super::{base, crawl, policies, schedulers};
use crate::source::{SourceRules, Sources};
use crate::{
    Discovered, Fact, LinkFact, Moment, Moves, Needs, Number, Page, Policy, Read, Text, Worth,
};

/// Policies, each with its name.
pub(super) type Named = Vec<(String, Box<dyn Policy>)>;

/// A field of [`Needs`], by name.
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

/// Methods that name places although they use none. A crawl that needs places reads pages again
/// from the archive after a restart, and every judge learns from their texts.
const READ_AGAIN: [&str; 5] = ["context-graph", "fish", "hard", "laser", "soft"];

/// A policy that observes only the facts that `needs` name.
struct FilteredPolicy<'p> {
    policy: &'p mut dyn Policy,
    needs: Needs,
}

impl Policy for FilteredPolicy<'_> {
    fn observe(&mut self, fact: &Fact<'_>, moves: &mut Moves) {
        let needs = self.needs;
        let mut pass_on = |fact: Fact<'_>| self.policy.observe(&fact, moves);
        match *fact {
            Fact::Discovered(discovered) => pass_on(Fact::Discovered(Discovered {
                url: if needs.words { discovered.url } else { "" },
                ..discovered
            })),
            Fact::Read(read) if needs.links => {
                let known = |link: &LinkFact<'_>| {
                    let mut passed = LinkFact::new(link.to, "");
                    if needs.words {
                        passed.anchor = link.anchor;
                    }
                    if needs.places {
                        (passed.around, passed.path) = (link.around, link.path);
                    }
                    (
                        passed.to,
                        passed.anchor.to_owned(),
                        passed.around.to_owned(),
                        passed.path.to_owned(),
                    )
                };
                let known: Vec<_> = read.links.iter().map(known).collect();
                let links: Vec<LinkFact<'_>> = known
                    .iter()
                    .map(|(to, anchor, around, path)| LinkFact {
                        to: *to,
                        anchor,
                        around,
                        path,
                    })
                    .collect();
                let text = if needs.text { read.text } else { Text::Nothing };
                pass_on(Fact::Read(Read {
                    text,
                    links: &links,
                    ..read
                }));
            }
            Fact::Visited(visited) if needs.visits => pass_on(Fact::Visited(visited)),
            Fact::Shown(shown) if needs.searches => pass_on(Fact::Shown(shown)),
            Fact::Read(_) | Fact::Visited(_) | Fact::Shown(_) => {}
        }
    }

    fn worth(&self, page: Page<'_>, now: Moment) -> Worth {
        self.policy.worth(page, now)
    }
}

/// A sequence of facts, and the pages to compare afterwards.
pub(super) trait FactSequence {
    fn feed(&self, policy: &mut dyn Policy);
    fn pages(&self) -> Vec<(Number, crate::History)>;
}

impl FactSequence for TestWorld {
    fn feed(&self, policy: &mut dyn Policy) {
        TestWorld::feed(self, policy);
    }

    fn pages(&self) -> Vec<(Number, crate::History)> {
        let waiting = (0..self.pages).map(|page| (Number(page), self.history(page)));
        let visited = (0..self.pages).map(|page| (Number(page), self.visited(page)));
        waiting.chain(visited).collect()
    }
}

impl FactSequence for Story {
    fn feed(&self, policy: &mut dyn Policy) {
        Story::feed(self, |fact| policy.observe(fact, &mut Moves::default()));
    }

    fn pages(&self) -> Vec<(Number, crate::History)> {
        let numbered = (0..).zip(&self.histories);
        numbered
            .map(|(page, history)| (Number(page), *history))
            .collect()
    }
}

/// Returns all answers of a policy after it observed the facts that `needs` name.
fn answers(sequence: &dyn FactSequence, policy: &mut dyn Policy, needs: Needs) -> Vec<String> {
    sequence.feed(&mut FilteredPolicy { policy, needs });
    let mut answers = vec![format!("{:?}", policy.report())];
    for (number, history) in sequence.pages() {
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

/// Returns `count` samples of a strategy, the same in every run.
pub(super) fn drawn<T: std::fmt::Debug>(
    strategy: impl Strategy<Value = T>,
    count: usize,
) -> Vec<T> {
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
pub(super) fn with_sources() -> Named {
    let made = schedulers().into_iter().map(|(name, scheduler)| {
        let mut crawl = crawl("holistic", "gamma");
        let settings = SourceRules {
            per_second: 0.001,
            ..SourceRules::default()
        };
        crawl.sources = Some(Sources::new(scheduler, settings));
        let crawl: Box<dyn Policy> = Box::new(crawl);
        (format!("holistic with {name}"), crawl)
    });
    made.collect()
}

/// Returns which needs affect which policy, by withholding one at a time. Panics if a policy
/// uses a fact that it does not name.
fn used(sequences: &[&dyn FactSequence], made: fn() -> Named) -> BTreeSet<(String, &'static str)> {
    let mut used = BTreeSet::new();
    for sequence in sequences {
        let all_answers = |needs: &dyn Fn(&dyn Policy) -> Needs| -> Vec<Vec<String>> {
            let policies = made().into_iter();
            policies
                .map(|(_, mut policy)| {
                    let needs = needs(policy.as_ref());
                    answers(*sequence, policy.as_mut(), needs)
                })
                .collect()
        };
        let names: Vec<String> = made().into_iter().map(|(name, _)| name).collect();
        let everything = all_answers(&|_| ALL);
        let needed = all_answers(&|policy| policy.needs());
        for ((name, everything), needed) in names.iter().zip(&everything).zip(&needed) {
            assert_eq!(
                everything, needed,
                "{name} uses a fact that its needs do not name"
            );
        }
        for (need, of) in NEEDS {
            let mut rest = ALL;
            *of(&mut rest) = false;
            let withheld = all_answers(&|_| rest);
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
fn orderings_and_refresh_policies_use_exactly_the_facts_that_they_name() {
    let made = || {
        let mut all = policies();
        all.retain(|(name, _)| !name.starts_with("holistic with"));
        all
    };
    let worlds = drawn(world(), 40);
    let sequences: Vec<&dyn FactSequence> = worlds
        .iter()
        .map(|world| world as &dyn FactSequence)
        .collect();
    let mut used = used(&sequences, made);
    let names = made().into_iter().map(|(name, _)| name);
    let read_again = names.filter(|name| READ_AGAIN.contains(&base(name)));
    used.extend(read_again.map(|name| (name, "places")));
    assert_eq!(used, named(made()));
}

#[test]
fn schedulers_use_exactly_the_facts_that_they_name() {
    let stories = drawn(story(), 24);
    let sequences: Vec<&dyn FactSequence> = stories
        .iter()
        .map(|story| story as &dyn FactSequence)
        .collect();
    assert_eq!(used(&sequences, with_sources), named(with_sources()));
}
