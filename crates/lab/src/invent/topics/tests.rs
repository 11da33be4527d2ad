//! Tests of the distributions of the topics generator.

use std::collections::HashSet;

use super::*;
use crate::world::World;

fn small() -> TopicsPlan {
    TopicsPlan {
        pages: 2_000,
        ..TopicsPlan::default()
    }
}

fn topic_of(web: &LabelledWorld, page: usize) -> u32 {
    web.labels().of(page)[0]
}

#[test]
fn all_pages_are_reached_from_the_first_and_every_page_has_one_label() {
    for plan in [
        small(),
        TopicsPlan {
            pages: 1,
            ..small()
        },
        TopicsPlan {
            topics: 1,
            islands: 1,
            ..small()
        },
        TopicsPlan {
            same: 0.0,
            ..small()
        },
    ] {
        let web = plan.invent(1);
        assert_eq!(
            web.graph().reachable(&[0]).len(),
            plan.pages as usize,
            "{plan:?}"
        );
        assert!((0..web.graph().pages()).all(|page| web.labels().of(page).len() == 1));
    }
    assert_eq!(small().invent(1).labels().names().len(), 12);
}

#[test]
fn shares_of_links_to_the_own_and_neighbouring_topics_are_as_set() {
    for (same, near) in [(0.7, 0.6), (0.3, 0.9)] {
        let web = TopicsPlan {
            same,
            near,
            ..small()
        }
        .invent(2);
        let (mut stay, mut beside, mut all) = (0.0, 0.0, 0.0);
        for (from, to) in web.graph().edges() {
            let apart = (topic_of(&web, to) + 12 - topic_of(&web, from)) % 12;
            all += 1.0;
            match apart {
                0 => stay += 1.0,
                1 | 11 => beside += 1.0,
                _ => {}
            }
        }
        // Of the links to any other topic, two of eleven go to a neighbour.
        let expected = near + (1.0 - near) * 2.0 / 11.0;
        let (stays, found) = (stay / all, beside / (all - stay));
        assert!((stays - same).abs() < 0.04, "{stays} instead of {same}");
        assert!(
            (found - expected).abs() < 0.06,
            "{found} instead of {expected}"
        );
        assert!((all / 2_000.0 - 8.0).abs() < 0.5, "{all}");
    }
}

#[test]
fn islands_of_a_topic_are_hardly_linked_to_each_other() {
    let web = TopicsPlan {
        same: 0.9,
        ..small()
    }
    .invent(3);
    let hosts_of = |pages: &[usize]| {
        let host = |&page: &usize| web.graph().url(page).host();
        pages.iter().map(host).collect::<HashSet<_>>().len()
    };
    // A crawl that follows only pages on the topic stays on its first island: 3 of 12 hosts. The
    // first page of an island may be linked from any page, so the test allows two islands.
    let all: Vec<usize> = (0..2_000)
        .filter(|&page| topic_of(&web, page) == 0)
        .collect();
    let alone = web.graph().among(&all);
    let found: Vec<usize> = alone
        .reachable(&[0])
        .into_iter()
        .map(|place| all[place])
        .collect();
    assert_eq!(hosts_of(&all), 12);
    assert!(hosts_of(&found) <= 6, "{}", hosts_of(&found));
    assert!(
        found.len() * 3 < all.len() * 2 && found.len() > 20,
        "{} of {}",
        found.len(),
        all.len()
    );
}

#[test]
fn links_have_words_of_their_target_and_texts_of_their_topic() {
    let web = small().invent(4);
    let words = |page: usize| -> HashSet<String> {
        let text = &web.body(page).text;
        let prose = text
            .split_once("<p>")
            .unwrap()
            .1
            .split_once("</p>")
            .unwrap()
            .0;
        prose.split(' ').map(str::to_owned).collect()
    };
    // Two pages of a topic have more words in common than two of different topics.
    let (mut alike, mut other, mut pairs) = (0, 0, [0, 0]);
    for page in 0..200 {
        let shared = words(page).intersection(&words(page + 200)).count();
        let same = topic_of(&web, page) == topic_of(&web, page + 200);
        *(if same { &mut alike } else { &mut other }) += shared;
        pairs[usize::from(same)] += 1;
    }
    assert!(
        alike * pairs[0] > 2 * other * pairs[1],
        "{alike} {other} {pairs:?}"
    );

    let linked = World::Topic(web).linked().unwrap();
    for page in 0..50 {
        for (nth, &to) in linked.graph().links(page).iter().enumerate() {
            let (title, _) = linked.text(to as usize).unwrap();
            let anchor = linked.anchor(page, nth);
            assert!(
                !anchor.is_empty() && title.starts_with(anchor),
                "{anchor:?} of {title:?}"
            );
        }
    }
}

#[test]
fn a_smaller_web_is_the_beginning_of_a_larger() {
    let (small, large) = (
        TopicsPlan {
            pages: 300,
            ..small()
        }
        .invent(5),
        small().invent(5),
    );
    for page in 0..300 {
        assert_eq!(small.graph().url(page), large.graph().url(page));
        assert!(
            large
                .graph()
                .links(page)
                .starts_with(small.graph().links(page))
        );
        let prose =
            |web: &LabelledWorld| web.body(page).text.split_once("<ul>").unwrap().0.to_owned();
        assert_eq!(prose(&small), prose(&large));
    }
}

#[test]
fn hosts_of_the_largest_plan_are_distinct() {
    let largest = TopicsPlan {
        topics: 10_000,
        islands: 1_000,
        hosts: 1_000,
        ..TopicsPlan::default()
    };
    assert_eq!(largest.host(9_999_999, 999), 9_999_999_999);
    assert_eq!(largest.host(0, 999) + 1, largest.host(1, 0));
}
