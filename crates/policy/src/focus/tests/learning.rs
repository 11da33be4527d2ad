//! What is learned from a page, once; and what is learned of pages that wait elsewhere?

use super::*;

#[test]
fn a_page_that_is_read_again_is_found_once() {
    let mut soft = heard(BestFirst::new(&red(), Soft), 2);
    reads(soft.as_mut(), 0, "red", &[1]);
    reads(soft.as_mut(), 0, "red", &[1]);
    assert_eq!(soft.report().found, Some(1));
    reads(soft.as_mut(), 0, "blue", &[1]);
    assert_eq!(soft.report().found, Some(0), "it is of the topic no more");
}

#[test]
fn a_page_that_is_read_again_teaches_nothing_new() {
    let topic = red();
    for (name, mut policy) in [
        ("learned", heard(Learned::new(&topic), 20)),
        ("intelligent", heard(Intelligent::new(&topic), 20)),
    ] {
        reads(policy.as_mut(), 0, "blue", &[1, 2, 3, 4]);
        reads(policy.as_mut(), 1, "red", &[5, 6]);
        reads(policy.as_mut(), 2, "blue", &[7, 8]);
        // What it leads to is valued by what was learned since.
        reads(policy.as_mut(), 1, "red", &[5, 6]);
        let before = [3, 5, 7].map(|page| worth(policy.as_ref(), page));
        for _ in 0..20 {
            reads(policy.as_mut(), 1, "red", &[5, 6]);
        }
        let after = [3, 5, 7].map(|page| worth(policy.as_ref(), page));
        assert_eq!(before, after, "{name}");
    }
}

#[test]
fn anchors_add_up_for_a_page_that_waits() {
    let mut judge = Judge::new(&red());
    judge.discover(&Discovered {
        page: Number(0),
        url: "",
        host: 0,
        depth: 1,
        seed: false,
        at: Moment::START,
        appeared: None,
    });
    let before = judge.expected(Number(0));
    judge.follow(&Link::new(Number(0), "red"));
    let once = judge.expected(Number(0));
    judge.follow(&Link::new(Number(0), "red"));
    let twice = judge.expected(Number(0));
    assert!(twice > once && once > before, "{before} {once} {twice}");
}

#[test]
fn a_worse_parent_takes_nothing_back() {
    let mut soft = heard(BestFirst::new(&red(), Soft), 3);
    reads(soft.as_mut(), 0, "red", &[1, 2]);
    let before = worth(soft.as_ref(), 2);
    reads(soft.as_mut(), 1, "blue near far", &[2]);
    assert_eq!(worth(soft.as_ref(), 2), before);
}

#[test]
fn a_fish_that_was_fed_stays_so() {
    let mut fish = heard(BestFirst::new(&red(), Fish::default()), 6);
    reads(fish.as_mut(), 0, "red", &[1, 2]);
    reads(fish.as_mut(), 2, "blue", &[3]);
    // The second way to 1 is a longer one from the topic.
    reads(fish.as_mut(), 3, "blue", &[1]);
    reads(fish.as_mut(), 1, "blue", &[4]);
    reads(fish.as_mut(), 4, "blue", &[5]);
    assert_eq!(worth(fish.as_ref(), 5), 0.5);
}

/// Links called `list` lead to pages off the topic with links called `red`, those called `end` to pages with none.
#[test]
fn what_leads_to_the_topic_is_worth_more_than_what_ends() {
    let topic = red();
    let method = BestFirst::new(&topic, Reinforcement::new(&topic));
    for (name, mut policy) in [
        ("reinforcement", heard(method, 200)),
        ("learned", heard(Learned::new(&topic), 200)),
    ] {
        let links: Vec<_> = (1..=24)
            .map(|to| (to, if to % 2 == 0 { "list" } else { "end" }, ""))
            .collect();
        reads_links(policy.as_mut(), 0, "blue", &links);
        for page in 1..=20 {
            let behind: Vec<_> = (0..4).map(|nth| (40 + 4 * page + nth, "red", "")).collect();
            let links = if page % 2 == 0 { &behind[..] } else { &[] };
            reads_links(policy.as_mut(), page, "blue near far", links);
        }
        // A page of its own has links of both kinds that nobody has seen.
        reads_links(
            policy.as_mut(),
            21,
            "blue near far",
            &[(30, "list", ""), (31, "end", "")],
        );
        let [list, end] = [30, 31].map(|page| worth(policy.as_ref(), page));
        assert!(list > 1.1 * end, "{name}: {list} {end}");
    }
}

/// What was learned of words counts for all pages that wait, also for those that no page just read has to do with.
#[test]
fn pages_that_wait_elsewhere_are_valued_anew() {
    let mut learned = heard(Learned::new(&red()), 60);
    let links: Vec<_> = (1..41).map(|to| (to, "sign", "")).collect();
    reads_links(learned.as_mut(), 0, "blue", &links);
    reads_links(learned.as_mut(), 40, "blue", &[(50, "sign", "")]);
    let before = worth(learned.as_ref(), 50);
    for page in 1..=30 {
        reads(learned.as_mut(), page, "red", &[]);
    }
    let after = worth(learned.as_ref(), 50);
    assert!(after > before + 0.05, "{before} {after}");
}

#[test]
fn siblings_of_what_satisfied_are_interesting() {
    let mut policy = heard(Intelligent::new(&red()), 30);
    reads(policy.as_mut(), 0, "blue", &[1, 2]);
    reads(policy.as_mut(), 1, "blue", &[10, 11, 12, 13]);
    reads(policy.as_mut(), 2, "blue", &[20, 21, 22, 23]);
    for page in [10, 11, 12] {
        reads(policy.as_mut(), page, "red", &[]);
        reads(policy.as_mut(), page + 10, "blue", &[]);
    }
    // Both are valued anew by a link of one page, whose own kind they share.
    reads(policy.as_mut(), 3, "blue", &[13, 23]);
    let [good, poor] = [13, 23].map(|page| worth(policy.as_ref(), page));
    assert!(good > 1.2 * poor, "{good} {poor}");
}
