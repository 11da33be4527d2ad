//! Tests of online learning: examples count once, and waiting pages are revalued.

use std::sync::Arc;

use super::guide::GAMMA;
use super::*;
use crate::catalog::{Catalog, Order, Wishes};

#[test]
fn a_page_that_is_read_again_counts_once_as_found() {
    let mut soft = with_pages(BestFirst::new(&red(), Soft), 2);
    observe_read(soft.as_mut(), 0, "red", &[1]);
    observe_read(soft.as_mut(), 0, "red", &[1]);
    assert_eq!(soft.report().found, Some(1));
    observe_read(soft.as_mut(), 0, "blue", &[1]);
    assert_eq!(soft.report().found, Some(0), "no longer of the topic");
}

#[test]
fn a_page_that_is_read_again_is_no_second_training_example() {
    let topic = red();
    for (name, mut policy) in [
        ("learned", with_pages(Learned::new(&topic), 20)),
        ("intelligent", with_pages(Intelligent::new(&topic), 20)),
    ] {
        observe_read(policy.as_mut(), 0, "blue", &[1, 2, 3, 4]);
        observe_read(policy.as_mut(), 1, "red", &[5, 6]);
        observe_read(policy.as_mut(), 2, "blue", &[7, 8]);
        // The links of page 1 are valued with what was learned since.
        observe_read(policy.as_mut(), 1, "red", &[5, 6]);
        let before = [3, 5, 7].map(|page| worth(policy.as_ref(), page));
        for _ in 0..20 {
            observe_read(policy.as_mut(), 1, "red", &[5, 6]);
        }
        let after = [3, 5, 7].map(|page| worth(policy.as_ref(), page));
        assert_eq!(before, after, "{name}");
    }
}

#[test]
fn anchors_add_up_for_a_page_that_waits() {
    let mut judge = TopicJudge::new(&red());
    judge.discover(&discovered(0));
    let before = judge.expected(Number(0));
    judge.follow(&LinkFact::new(Number(0), "red"));
    let once = judge.expected(Number(0));
    judge.follow(&LinkFact::new(Number(0), "red"));
    let twice = judge.expected(Number(0));
    assert!(twice > once && once > before, "{before} {once} {twice}");
}

#[test]
fn a_worse_parent_does_not_lower_a_worth() {
    let mut soft = with_pages(BestFirst::new(&red(), Soft), 3);
    observe_read(soft.as_mut(), 0, "red", &[1, 2]);
    let before = worth(soft.as_ref(), 2);
    observe_read(soft.as_mut(), 1, "blue near far", &[2]);
    assert_eq!(worth(soft.as_ref(), 2), before);
}

#[test]
fn a_longer_path_does_not_lower_the_depth_in_fish_search() {
    let mut fish = with_pages(BestFirst::new(&red(), Fish::default()), 6);
    observe_read(fish.as_mut(), 0, "red", &[1, 2]);
    observe_read(fish.as_mut(), 2, "blue", &[3]);
    // The second path to 1 is longer.
    observe_read(fish.as_mut(), 3, "blue", &[1]);
    observe_read(fish.as_mut(), 1, "blue", &[4]);
    observe_read(fish.as_mut(), 4, "blue", &[5]);
    assert_eq!(worth(fish.as_ref(), 5), 0.5);
}

/// Links called `list` lead to pages off the topic with links called `red`. Links called `end`
/// lead to pages without links.
#[test]
fn links_that_lead_to_the_topic_are_worth_more_than_dead_ends() {
    let topic = red();
    let method = BestFirst::new(&topic, Reinforcement::new(&topic, GAMMA));
    for (name, mut policy) in [
        ("reinforcement", with_pages(method, 200)),
        ("learned", with_pages(Learned::new(&topic), 200)),
    ] {
        let links: Vec<_> = (1..=24)
            .map(|to| (to, if to % 2 == 0 { "list" } else { "end" }, ""))
            .collect();
        observe_links(policy.as_mut(), 0, "blue", &links);
        for page in 1..=20 {
            let behind: Vec<_> = (0..4).map(|nth| (40 + 4 * page + nth, "red", "")).collect();
            let links = if page % 2 == 0 { &behind[..] } else { &[] };
            observe_links(policy.as_mut(), page, "blue near far", links);
        }
        // A new page has links of both kinds.
        observe_links(
            policy.as_mut(),
            21,
            "blue near far",
            &[(30, "list", ""), (31, "end", "")],
        );
        let [list, end] = [30, 31].map(|page| worth(policy.as_ref(), page));
        assert!(list > 1.1 * end, "{name}: {list} {end}");
    }
}

/// With a discount of 0, a link to a page off the topic is worth the same whatever follows.
#[test]
fn the_discount_of_reinforcement_decides_how_much_further_links_count() {
    let topic = red();
    let gap = |gamma| {
        let method = BestFirst::new(&topic, Reinforcement::new(&topic, gamma));
        let mut policy = with_pages(method, 200);
        let links: Vec<_> = (1..=24)
            .map(|to| (to, if to % 2 == 0 { "list" } else { "end" }, ""))
            .collect();
        observe_links(policy.as_mut(), 0, "blue", &links);
        for page in 1..=20 {
            let behind: Vec<_> = (0..4).map(|nth| (40 + 4 * page + nth, "red", "")).collect();
            let links = if page % 2 == 0 { &behind[..] } else { &[] };
            observe_links(policy.as_mut(), page, "blue near far", links);
        }
        let links = [(30, "list", ""), (31, "end", "")];
        observe_links(policy.as_mut(), 21, "blue near far", &links);
        worth(policy.as_ref(), 30) - worth(policy.as_ref(), 31)
    };
    let [none, half, most] = [0.0, 0.5, 0.9].map(gap);
    assert!(
        none.abs() < 0.02 && half > 0.02 && most > half,
        "{none} {half} {most}"
    );
}

/// In a completed crawl, links called `list` led to pages off the topic with links to the topic.
#[test]
fn models_of_completed_crawls_rank_links_from_the_first_page_on() {
    let mut crawled = CrawledGraph::default();
    for _ in 0..20 {
        let [home, list, red, end] = [0.0, 0.0, 1.0, 0.0].map(|reward| crawled.page(reward));
        for (from, to, anchor) in [
            (home, list, "list"),
            (list, red, "paint"),
            (home, end, "end"),
        ] {
            let pointer = Pointer {
                url: "",
                anchor,
                around: "",
            };
            crawled.link(from, to, &pointer);
        }
    }
    let topic = Topic {
        guide: crawled.learn(),
        ..red()
    };
    for name in ["reinforcement", "learned"] {
        let wishes = Wishes {
            topic: Some(Arc::new(topic.clone())),
            ..Wishes::default()
        };
        let mut policy = Catalog::standard().order(name, &wishes).unwrap();
        (0..4).for_each(|page| observe_discovery(policy.as_mut(), page));
        let links = [(1, "paint", ""), (2, "list", ""), (3, "end", "")];
        observe_links(policy.as_mut(), 0, "blue", &links);
        let [paint, list, end] = [1, 2, 3].map(|page| worth(policy.as_ref(), page));
        assert!(paint > list && list > end, "{name}: {paint} {list} {end}");
    }
}

/// Links called `list` lead to pages with further links, either to new pages or always to the same.
#[test]
fn rewards_count_more_while_links_lead_to_new_pages() {
    let gap = |new: bool| {
        let mut learned = with_pages(Learned::new(&red()), 400);
        let links: Vec<_> = (1..=60)
            .map(|to| (to, if to % 2 == 0 { "list" } else { "end" }, ""))
            .collect();
        observe_links(learned.as_mut(), 0, "blue", &links);
        for page in 1..=50 {
            // The same four pages every time, or four new ones.
            let first = if new { 100 + 4 * page } else { 100 };
            let behind: Vec<_> = (first..first + 4).map(|to| (to, "red", "")).collect();
            let links = if page % 2 == 0 { &behind[..] } else { &[] };
            observe_links(learned.as_mut(), page, "blue near far", links);
        }
        let links = [(390, "list", ""), (391, "end", "")];
        observe_links(learned.as_mut(), 51, "blue near far", &links);
        worth(learned.as_ref(), 390) - worth(learned.as_ref(), 391)
    };
    let [new, old] = [true, false].map(gap);
    assert!(new > 1.5 * old, "{new} {old}");
}

/// Two pages have the same ambiguous text. The link to the first is of a kind that led to the
/// topic, the link to the second is not. The training labels differ, and so does the relevance
/// expected of their siblings.
#[test]
fn links_influence_the_training_label() {
    let mut learned = with_pages(Learned::new(&red()), 90);
    let kinds = |nth: u32| ["sign", "end"][nth as usize % 2];
    let links: Vec<_> = (1..=40).map(|to| (to, kinds(to), "")).collect();
    observe_links(learned.as_mut(), 0, "blue", &links);
    for page in 1..=30 {
        let text = if page % 2 == 0 {
            "red"
        } else {
            "blue near far"
        };
        observe_read(learned.as_mut(), page, text, &[]);
    }
    // 38 and 39 have the same text. Each links to one page by a known kind of link, and to
    // another by a new kind.
    for (parent, first, kind) in [(38, 50, "sign"), (39, 60, "end")] {
        let links = [(first, kind, ""), (first + 1, "other", "")];
        observe_links(learned.as_mut(), parent, "stone", &links);
        observe_read(learned.as_mut(), first, "stone", &[]);
    }
    let [good, poor] = [51, 61].map(|page| {
        let terms = terms(learned.as_ref(), page);
        let siblings = terms
            .iter()
            .find(|term| term.name == "siblings on the topic");
        siblings.unwrap().value
    });
    assert!(good > poor + 0.1, "{good} {poor}");
}

/// Fourteen examples seen once teach little about two words (a gap of 0.22). Replay at each
/// sweep teaches more.
#[test]
fn replay_widens_the_gap_between_two_words() {
    let mut learned = with_pages(Learned::new(&red()), 60);
    let kinds = |nth: u32| ["sign", "end"][nth as usize % 2];
    let links: Vec<_> = (1..40).map(|to| (to, kinds(to), "")).collect();
    observe_links(learned.as_mut(), 0, "blue", &links);
    let elsewhere = [(50, "sign", ""), (51, "end", "")];
    observe_links(learned.as_mut(), 40, "blue", &elsewhere);
    for page in 1..=14 {
        let text = ["red", "blue near far"][page as usize % 2];
        observe_read(learned.as_mut(), page, text, &[]);
    }
    let gap = worth(learned.as_ref(), 50) - worth(learned.as_ref(), 51);
    assert!(gap > 0.28, "{gap}");
}

#[test]
fn a_read_neighbour_counts_for_the_links_next_to_it() {
    for (text, good) in [("red", true), ("blue near far", false)] {
        let mut learned = with_pages(Learned::new(&red()), 20);
        observe_read(learned.as_mut(), 0, "stone", &[1, 2, 3, 4, 5, 6, 7, 8]);
        observe_read(learned.as_mut(), 1, text, &[]);
        let [next, far] = [2, 8].map(|page| {
            let beside = term(learned.as_ref(), page, "neighbours on the topic");
            beside - term(learned.as_ref(), page, "siblings under the same tags")
        });
        assert_eq!(next > far, good, "{text} {next} {far}");
    }
}

/// Returns one term of a page's worth.
fn term(policy: &dyn Policy, page: u32, name: &str) -> f64 {
    let terms = terms(policy, page);
    let term = terms.iter().find(|term| term.name == name);
    term.unwrap().value
}

#[test]
fn siblings_are_revalued_at_once_after_a_surprise() {
    for (text, better) in [("red", true), ("blue near far", false)] {
        let mut learned = with_pages(Learned::new(&red()), 20);
        let links: Vec<_> = (1..10).map(|to| (to, "", "")).collect();
        observe_links(learned.as_mut(), 0, "stone", &links);
        let before = worth(learned.as_ref(), 9);
        observe_read(learned.as_mut(), 1, text, &[]);
        let after = worth(learned.as_ref(), 9);
        assert_eq!(after > before + 0.02, better, "{text} {before} {after}");
    }
}

/// New weights of words also change the worth of waiting pages that are unrelated to the page
/// just read.
#[test]
fn unrelated_waiting_pages_are_revalued() {
    let mut learned = with_pages(Learned::new(&red()), 60);
    let links: Vec<_> = (1..41).map(|to| (to, "sign", "")).collect();
    observe_links(learned.as_mut(), 0, "blue", &links);
    observe_links(learned.as_mut(), 40, "blue", &[(50, "sign", "")]);
    let before = worth(learned.as_ref(), 50);
    for page in 1..=30 {
        observe_read(learned.as_mut(), page, "red", &[]);
    }
    let after = worth(learned.as_ref(), 50);
    assert!(after > before + 0.05, "{before} {after}");
}

#[test]
fn siblings_of_matching_pages_are_worth_more() {
    let mut policy = with_pages(Intelligent::new(&red()), 30);
    observe_read(policy.as_mut(), 0, "blue", &[1, 2]);
    observe_read(policy.as_mut(), 1, "blue", &[10, 11, 12, 13]);
    observe_read(policy.as_mut(), 2, "blue", &[20, 21, 22, 23]);
    for page in [10, 11, 12] {
        observe_read(policy.as_mut(), page, "red", &[]);
        observe_read(policy.as_mut(), page + 10, "blue", &[]);
    }
    // Page 3 links to both, so that both are revalued with the same change.
    observe_read(policy.as_mut(), 3, "blue", &[13, 23]);
    let [good, poor] = [13, 23].map(|page| worth(policy.as_ref(), page));
    assert!(good > 1.2 * poor, "{good} {poor}");
}

/// After a restart, all discoveries are replayed first, then all reads. Pages must have the same
/// worth.
#[test]
fn a_replay_gives_the_same_worths_as_the_crawl() {
    const PAGES: u32 = 400;
    const READ: u32 = 100;
    let catalog = Catalog::standard();
    // Some links lead to new pages, some back to known ones; anchors and tag paths repeat.
    let links = |page: u32| -> Vec<(u32, &str, &str)> {
        let each = (0..12).map(|nth| {
            let to = (page * 5 + nth * nth + 1) % PAGES;
            let word = ["red", "list", "blue", "end", "far red"][(to % 5) as usize];
            (to, word, ["ul li", "p", "td"][(nth % 3) as usize])
        });
        let mut each: Vec<_> = each.collect();
        each.sort_unstable();
        each.dedup_by_key(|link| link.0);
        each
    };
    let text = |page: u32| ["red red near", "blue near far", "far red", "blue"][page as usize % 4];
    // Page numbers follow the order of discovery.
    let mut known = vec![0];
    for nth in 0..READ {
        for (to, ..) in links(known[nth as usize]) {
            if !known.contains(&to) {
                known.push(to);
            }
        }
    }
    let number = |page: u32| known.iter().position(|known| *known == page).unwrap() as u32;
    let read = |policy: &mut dyn Policy, nth: u32| {
        let page = known[nth as usize];
        let links = links(page).into_iter();
        let links: Vec<_> = links
            .map(|(to, word, path)| (number(to), word, path))
            .collect();
        observe_links(policy, nth, text(page), &links);
    };
    let all = known.len() as u32;
    let topics = [red(), Topic::words("red").unwrap()];
    let methods: Vec<String> = catalog.focuses().flat_map(Order::examples).collect();
    for (topic, method) in topics
        .iter()
        .flat_map(|topic| methods.iter().map(move |method| (topic, method)))
    {
        let wishes = Wishes {
            topic: Some(Arc::new(topic.clone())),
            ..Wishes::default()
        };
        let make = || catalog.order(method, &wishes).unwrap();
        let (mut through, mut resumed) = (make(), make());
        let mut next = 0;
        for nth in 0..READ {
            let page = known[nth as usize];
            let last = links(page).into_iter().map(|(to, ..)| number(to)).max();
            while next <= last.unwrap_or(0) {
                observe_discovery(through.as_mut(), next);
                next += 1;
            }
            read(through.as_mut(), nth);
        }
        (0..all).for_each(|page| observe_discovery(resumed.as_mut(), page));
        (0..READ).for_each(|nth| read(resumed.as_mut(), nth));
        for page in READ..all {
            let [one, other] = [&through, &resumed].map(|policy| worth(policy.as_ref(), page));
            assert_eq!(one, other, "{method}, page {page} of {all}");
        }
    }
}
