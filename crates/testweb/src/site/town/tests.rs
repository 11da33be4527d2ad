//! Tests of the town: reproducibility, rates of events, and searches.

use std::collections::BTreeSet;

use super::super::truth::TruthScope;
use super::*;

fn town(seed: u64, speed: f64) -> Web {
    let epoch = SystemTime::UNIX_EPOCH + Duration::from_secs(1_700_000_000);
    let town = Town { seed, speed, epoch };
    town.invent()
}

/// Returns the pages of a site that exist and are not lists.
fn texts(web: &Web, server: ServerNumber, at: f64) -> BTreeSet<PageNumber> {
    let TextSource::Town(records) = &web.text_source else {
        panic!("no town");
    };
    let there = web
        .pages()
        .filter(|page| page.server == server && page.exists(at));
    let numbers = there.map(InventedPage::number);
    numbers
        .filter(|page| {
            !matches!(records.kind(*page), TownPageKind::PageList(_)) && web.is_text(*page)
        })
        .collect()
}

#[test]
fn the_same_town_is_the_same_web_to_the_byte() {
    let (one, two, other) = (town(1, 1.0), town(1, 1.0), town(2, 1.0));
    let pages: Vec<PageNumber> = one.pages().map(InventedPage::number).take(400).collect();
    for at in [0.0, 60.0] {
        assert!(
            pages
                .iter()
                .all(|page| one.html(*page, at, 80) == two.html(*page, at, 80))
        );
    }
    assert!(
        pages
            .iter()
            .any(|page| one.html(*page, 0.0, 80) != other.html(*page, 0.0, 80))
    );
}

#[test]
fn the_text_of_a_page_differs_exactly_when_its_version_differs() {
    let web = town(3, 4.0);
    let mut changed = 0;
    for page in web
        .pages()
        .filter(|page| page.exists(0.0) && page.exists(60.0))
    {
        let same = web.version(page, 0.0).id == web.version(page, 60.0).id;
        let text = |at| web.html(page.number, at, 80);
        assert_eq!(text(0.0) == text(60.0), same, "{}", page.path);
        changed += usize::from(!same);
    }
    assert!(changed > 50, "{changed}");
}

#[test]
fn pages_appear_and_disappear_at_the_rate_of_their_site() {
    let web = town(5, 1.0);
    let minutes = 30.0 * 60.0;
    // New articles every 8 s and threads every 20 s: Poisson counts, within four standard
    // deviations.
    for (site, expected) in [(NEWSPAPER, 225.0), (FORUM, 90.0), (MANUAL, 0.0)] {
        let new = texts(&web, site, minutes).len() - texts(&web, site, 0.0).len();
        assert!(
            (new as f64 - expected).abs() <= 4.0 * f64::sqrt(expected),
            "{site:?}: {new}"
        );
    }
    let (before, after) = (texts(&web, SHOP, 0.0), texts(&web, SHOP, minutes));
    let (gone, new) = (
        before.difference(&after).count(),
        after.difference(&before).count(),
    );
    // After 0.75 mean lifetimes, a share of 1 - exp(-3/4) of 80 products is gone: 42, with a
    // standard deviation of 4.5.
    assert!((24..=60).contains(&gone), "{gone}");
    assert!((25..=60).contains(&new), "{new}");
    // A town that is twice as fast reaches the same state in half the time.
    let fast = town(5, 2.0);
    assert_eq!(
        texts(&fast, NEWSPAPER, minutes / 2.0),
        texts(&web, NEWSPAPER, minutes)
    );
}

#[test]
fn threads_grow_and_never_show_fewer_posts() {
    let web = town(7, 1.0);
    let posts = |page: PageNumber, at| web.html(page, at, 80).matches("class=\"post\"").count();
    let threads = texts(&web, FORUM, 0.0);
    let growing = threads
        .iter()
        .filter(|page| posts(**page, 300.0) > posts(**page, 0.0));
    assert!(growing.count() > 20);
    assert!(
        threads
            .iter()
            .all(|page| posts(*page, 300.0) >= posts(*page, 0.0))
    );
}

#[test]
fn nearly_all_of_the_past_is_reachable_and_paths_are_distinct() {
    let web = town(9, 1.0);
    let homes: Vec<PageNumber> = web.servers().map(|(server, _)| web.home(server)).collect();
    let reached = web.reachable(&homes, TruthScope::Any, 0.0);
    for (server, _) in web.servers() {
        let there = texts(&web, server, 0.0);
        let share =
            there.iter().filter(|page| reached.contains(page)).count() as f64 / there.len() as f64;
        assert!(share > 0.95, "{server:?}: {share}");
    }
    assert_eq!(web.paths.len(), web.pages.len(), "no path is there twice");
    let url = web.url(PageNumber(3), 8080);
    assert_eq!(web.find(&url, 8080), Some(PageNumber(3)));
    assert_eq!(web.find(&url, 8081), None);
}

#[test]
fn queries_follow_zipfs_law_and_users_click_existing_pages_with_the_words() {
    let (web, searchers) = (
        town(11, 1.0),
        Searchers {
            seed: 11,
            rate: 2.0,
            speed: 1.0,
        },
    );
    let wishes: Vec<UserSearch> = searchers.wishes().take(2_000).collect();
    let mean = wishes.iter().map(|wish| wish.after).sum::<f64>() / 2_000.0;
    assert!((0.45..0.55).contains(&mean), "{mean}");
    let ferry = wishes
        .iter()
        .filter(|wish| wish.query.starts_with("ferry"))
        .count();
    let train = wishes
        .iter()
        .filter(|wish| wish.query.starts_with("night"))
        .count();
    assert!(ferry > 5 * train, "{ferry} {train}");
    // A product that is sold out gets few clicks; an existing page with the words gets many.
    let minute = 2_400.0;
    let gone = web
        .pages()
        .find(|page| page.server == SHOP && page.life.dies < minute)
        .unwrap();
    let there = texts(&web, FORUM, minute).into_iter().next().unwrap();
    let TextSource::Town(records) = &web.text_source else {
        panic!("no town")
    };
    let title = records.title(&web, web.page(there)).to_lowercase();
    let word = title.split(' ').next().unwrap().trim_end_matches(':');
    let clicks = |page: PageNumber| {
        let wishes = (0..2_000).map(|number| UserSearch {
            number,
            after: 0.0,
            query: word.into(),
        });
        wishes
            .filter(|wish| searchers.choose(wish, &[page], &web, minute).is_some())
            .count()
    };
    let (few, many) = (clicks(gone.number), clicks(there));
    assert!(few < 120 && many > 500, "{few} {many}");
}
