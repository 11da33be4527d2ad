//! Tests of the focused-crawling methods on tiny webs, against their papers.

mod learning;

use super::*;
use crate::published::focus::{
    Anchor, BestFirst, ContextGraph, Fish, Hard, Intelligent, Laser, LaserParameters,
    Reinforcement, Shark, SharkParameters, Soft,
};
use crate::{
    About, Discovered, Fact, History, LinkFact, Moment, Moves, Number, Page, Part, Policy, Read,
    Term, Text,
};

/// Returns a topic whose pages say `red`, while others say `blue`.
pub fn red() -> Topic {
    let mut trainer = Trainer::default();
    for n in 0..40 {
        let on = n % 2 == 0;
        let text = if on { "red" } else { "blue near far" };
        let page = TrainingDocument {
            text,
            anchors: text,
            ..TrainingDocument::default()
        };
        trainer.add(&page, on);
    }
    Topic::taught("red", trainer.train().unwrap().bayes)
}

/// Returns a discovered page; page 0 is a seed.
pub fn discovered(page: u32) -> Discovered<'static> {
    Discovered {
        page: Number(page),
        url: "",
        host: 0,
        depth: 1,
        seed: page == 0,
        at: Moment::START,
        appeared: None,
    }
}

/// Returns a read page with this text and these links.
pub fn read<'a>(page: u32, body: &'a str, links: &'a [LinkFact<'a>]) -> Read<'a> {
    Read {
        page: Number(page),
        text: Text::Whole {
            title: "",
            body,
            about: About::default(),
        },
        links,
        out_links: links.len() as u32,
        part: Part::WHOLE,
    }
}

/// Reports a discovered page to a policy.
pub fn observe_discovery(policy: &mut dyn Policy, page: u32) {
    let fact = Fact::Discovered(discovered(page));
    policy.observe(&fact, &mut Moves::default());
}

/// Reports a read page with its links to a policy.
pub fn observe_read(policy: &mut dyn Policy, page: u32, body: &str, links: &[u32]) {
    let links: Vec<(u32, &str, &str)> = links.iter().map(|&to| (to, "", "")).collect();
    observe_links(policy, page, body, &links);
}

/// Reports a read page to a policy, with its links: target, anchor and tag path.
pub fn observe_links(policy: &mut dyn Policy, page: u32, body: &str, links: &[(u32, &str, &str)]) {
    let links: Vec<LinkFact<'_>> = links
        .iter()
        .map(|&(to, anchor, path)| LinkFact {
            to: Number(to),
            anchor,
            around: "",
            path,
        })
        .collect();
    let fact = Fact::Read(read(page, body, &links));
    policy.observe(&fact, &mut Moves::default());
}

pub fn worth(policy: &dyn Policy, page: u32) -> f64 {
    waiting(page, |page| policy.worth(page, Moment::START).value())
}

/// Returns the terms of a page's worth.
fn terms(policy: &dyn Policy, page: u32) -> Vec<Term> {
    waiting(page, |page| policy.terms(page))
}

fn waiting<T>(page: u32, see: impl FnOnce(Page<'_>) -> T) -> T {
    let history = History::discovered(Moment::START, 1);
    see(Page {
        number: Number(page),
        history: &history,
    })
}

/// Returns a policy that knows this many discovered pages.
fn with_pages(method: impl Focus + 'static, pages: u32) -> Box<dyn Policy> {
    let mut policy = Focused::new(method);
    (0..pages).for_each(|page| observe_discovery(&mut policy, page));
    Box::new(policy)
}

#[test]
fn soft_takes_the_best_parent_and_hard_drops_links_on_pages_off_the_topic() {
    let mut soft = with_pages(BestFirst::new(&red(), Soft), 5);
    let mut hard = with_pages(BestFirst::new(&red(), Hard), 5);
    for policy in [&mut soft, &mut hard] {
        observe_read(policy.as_mut(), 0, "blue", &[1, 2]);
        observe_read(policy.as_mut(), 1, "red", &[2, 3]);
    }
    assert!(worth(soft.as_ref(), 2) > 0.5, "a better parent appeared");
    assert_eq!(worth(soft.as_ref(), 2), worth(soft.as_ref(), 3));
    assert_eq!(worth(hard.as_ref(), 2), worth(soft.as_ref(), 2));
    let mut dropped = with_pages(BestFirst::new(&red(), Hard), 3);
    observe_read(dropped.as_mut(), 0, "blue", &[1, 2]);
    assert_eq!(worth(dropped.as_ref(), 1), 0.0);
    assert!(dropped.report().remarks[0].starts_with("2 pages were dropped"));
    observe_read(dropped.as_mut(), 1, "red", &[2]);
    assert!(worth(dropped.as_ref(), 2) > 0.5, "and recovered");
}

#[test]
fn anchors_are_judged_by_their_own_words() {
    let mut anchor = with_pages(BestFirst::new(&red(), Anchor), 4);
    observe_links(
        anchor.as_mut(),
        0,
        "red",
        &[(1, "blue", ""), (2, "red", ""), (3, "", "")],
    );
    let [blue, red, none] = [1, 2, 3].map(|page| worth(anchor.as_ref(), page));
    assert!(red > none && none > blue, "{red} {none} {blue}");
}

#[test]
fn fish_gives_up_links_three_steps_from_the_topic() {
    let mut fish = with_pages(BestFirst::new(&red(), Fish::default()), 8);
    observe_read(fish.as_mut(), 0, "red", &[1]);
    assert_eq!(worth(fish.as_ref(), 1), 1.0);
    for (page, left) in [(1, 0.5), (2, 0.5), (3, 0.0)] {
        observe_read(fish.as_mut(), page, "blue", &[page + 1]);
        assert!(
            (worth(fish.as_ref(), page + 1) - left).abs() < 1e-9,
            "{page}"
        );
    }
}

#[test]
fn fish_gives_up_and_counts_links_as_its_parameters_say() {
    let mut fish = with_pages(BestFirst::new(&red(), Fish::new(1, 2)), 16);
    observe_read(fish.as_mut(), 0, "red", &[1, 2, 3, 4]);
    let first = [1, 2, 3, 4].map(|page| worth(fish.as_ref(), page) > 0.5);
    assert_eq!(first, [true, true, true, false], "1.5 · 2 links");
    observe_read(fish.as_mut(), 1, "blue", &[10]);
    assert!(worth(fish.as_ref(), 10) < 1e-6, "one step off the topic");
    let mut fish = with_pages(BestFirst::new(&red(), Fish::new(2, 1)), 16);
    observe_read(fish.as_mut(), 0, "red", &[1]);
    observe_read(fish.as_mut(), 1, "blue", &[10, 11]);
    let off = [10, 11].map(|page| worth(fish.as_ref(), page) > 0.1);
    assert_eq!(off, [true, false], "one link of a page off the topic");
}

#[test]
fn shark_weighs_as_its_parameters_say() {
    let worths = |delta, gamma, beta| {
        let parameters = SharkParameters { delta, gamma, beta };
        let mut shark = with_pages(BestFirst::new(&red(), Shark::new(parameters)), 5);
        observe_links(shark.as_mut(), 0, "red", &[(1, "red", ""), (2, "blue", "")]);
        [1, 2].map(|page| worth(shark.as_ref(), page))
    };
    let [red, blue] = worths(0.5, 1.0, 0.8);
    assert_eq!(red, blue, "inheritance alone");
    assert!((worths(1.0, 1.0, 0.8)[0] - 2.0 * red).abs() < 1e-6);
    let [anchor, _] = worths(0.5, 0.0, 1.0);
    let [context, _] = worths(0.5, 0.0, 0.0);
    assert!(anchor < 1.0 && context == 1.0, "{anchor} {context}");
    let [mixed, _] = worths(0.5, 0.0, 0.25);
    assert!((mixed - (0.25 * anchor + 0.75)).abs() < 1e-6, "{mixed}");
}

#[test]
fn shark_adds_the_discounted_relevance_of_ancestors() {
    let mut shark = with_pages(BestFirst::new(&red(), Shark::default()), 5);
    observe_read(shark.as_mut(), 0, "red", &[1]);
    observe_read(shark.as_mut(), 1, "blue", &[2]);
    observe_read(shark.as_mut(), 2, "blue", &[3]);
    let [one, two, three] = [1, 2, 3].map(|page| worth(shark.as_ref(), page));
    // All anchors are the same, so the worths differ by the term γ · δⁿ · P alone.
    let relevance = (one - two) / (0.5 * 0.5 - 0.5 * 0.25);
    assert!((one - three - relevance * (0.25 - 0.0625)).abs() < 1e-6);
    assert!(relevance > 0.5 && relevance <= 1.0, "{relevance}");
}

#[test]
fn context_graph_orders_links_by_the_layer_of_their_page() {
    let layer = |word: &str| {
        let mut trainer = Trainer::default();
        for n in 0..40 {
            let text = if n % 2 == 0 { word } else { "blue" };
            let page = TrainingDocument {
                text,
                ..TrainingDocument::default()
            };
            trainer.add(&page, n % 2 == 0);
        }
        trainer.train().unwrap().bayes
    };
    let layers = vec![layer("near"), layer("far")];
    let mut graph = with_pages(
        BestFirst::new(&red(), ContextGraph::new(layers, ContextGraph::LIFT)),
        9,
    );
    observe_read(graph.as_mut(), 0, "blue", &[1, 2, 3, 4]);
    for (page, text, to) in [(1, "far", 5), (2, "near", 6), (3, "red", 7), (4, "blue", 8)] {
        observe_read(graph.as_mut(), page, text, &[to]);
    }
    let [far, near, topic, other] = [5, 6, 7, 8].map(|page| worth(graph.as_ref(), page));
    assert!(topic > 3.0 && (2.0..=3.0).contains(&near), "{topic} {near}");
    assert!((1.0..=2.0).contains(&far) && other < 1.0, "{far} {other}");
    // Half of the examples of a layer are in it, so that no page is more than twice as probable.
    let layers = vec![layer("near"), layer("far")];
    let mut strict = with_pages(BestFirst::new(&red(), ContextGraph::new(layers, 2.5)), 9);
    observe_read(strict.as_mut(), 2, "near", &[6]);
    assert!(worth(strict.as_ref(), 6) < 1.0);
}

#[test]
fn learned_and_bandit_find_out_which_links_lead_to_the_topic() {
    let topic = red();
    for (name, mut policy) in [
        ("learned", with_pages(Learned::new(&topic), 60)),
        ("bandit", with_pages(Bandit::new(&topic), 60)),
    ] {
        let links: Vec<_> = (1..51)
            .map(|to| {
                (
                    to,
                    "",
                    if to % 2 == 0 {
                        "html/ul/li/a"
                    } else {
                        "html/p/a"
                    },
                )
            })
            .collect();
        observe_links(policy.as_mut(), 0, "blue", &links);
        assert_eq!(
            worth(policy.as_ref(), 41),
            worth(policy.as_ref(), 43),
            "{name}"
        );
        for page in 1..=30 {
            let text = if page % 2 == 0 { "red" } else { "blue" };
            observe_read(policy.as_mut(), page, text, &[]);
        }
        let [list, prose] = [40, 41].map(|page| worth(policy.as_ref(), page));
        assert!(list > 1.5 * prose, "{name}: {list} {prose}");
    }
}

#[test]
fn intelligent_learns_which_anchor_words_lead_to_matching_pages() {
    let meanings = Meanings {
        topic: &|_| None,
        span: &|_| None,
    };
    let predicate = Predicate::read("contains(\"red\")", &meanings).unwrap();
    let topic = Topic::described("red pages", predicate);
    let mut policy = with_pages(Intelligent::new(&topic), 60);
    let links: Vec<_> = (1..51)
        .map(|to| (to, if to % 2 == 0 { "good" } else { "poor" }, ""))
        .collect();
    observe_links(policy.as_mut(), 0, "blue", &links);
    for page in 1..=30 {
        let text = if page % 2 == 0 { "red" } else { "blue" };
        observe_read(policy.as_mut(), page, text, &[]);
    }
    let [good, poor] = [40, 41].map(|page| worth(policy.as_ref(), page));
    assert!(good > 1.5 * poor, "{good} {poor}");
}

#[test]
fn a_query_collects_examples_and_the_report_says_so() {
    let topic = Topic::words("red").unwrap();
    let mut soft = with_pages(BestFirst::new(&topic, Soft), 60);
    for page in 0..25 {
        observe_read(soft.as_mut(), page, &"red rose ".repeat(10), &[]);
    }
    assert!(soft.report().remarks.is_empty());
    for page in 25..50 {
        observe_read(soft.as_mut(), page, "blue sky", &[]);
    }
    let said = soft.report().remarks;
    assert_eq!(
        said,
        ["the topic was learned from 25 pages that have its words and 25 that have not"]
    );
    observe_read(soft.as_mut(), 50, "rose rose rose", &[51]);
    assert!(
        worth(soft.as_ref(), 51) > 0.5,
        "a word that occurs with those of the query was learned"
    );
    assert!(Topic::words("?!").is_err());
}

#[test]
fn importance_is_the_relevance_of_the_text_once_a_page_is_read() {
    let mut laser = Focused::new(Laser::new(&red(), LaserParameters::default()));
    for page in 0..2 {
        observe_discovery(&mut laser, page);
    }
    observe_read(&mut laser, 0, "red", &[1]);
    let history = crate::History::default();
    let importance = |number| {
        let page = crate::Page {
            number: crate::Number(number),
            history: &history,
        };
        crate::Policy::importance(&laser, page).value()
    };
    assert!(importance(0) > 0.5, "{}", importance(0));
    assert_eq!(importance(1), 0.0, "it was not read");
}
