//! Tests of content sources beyond the laws.

use std::time::Duration;

use super::*;
use crate::{
    Appeared, Discovered, Fact, History, LinkFact, Moment, Number, Outcome, Page, Part, Read,
    Shown, Sources, Text, Visit, VisitFact,
};

const HOUR: u64 = 3_600;
const DAY: u64 = 24 * HOUR;

fn at(seconds: u64) -> Moment {
    Moment::from_micros(1_646_092_800_000_000) + Duration::from_secs(seconds)
}

/// A registry of sources, with the histories of its pages.
struct SourcesScenario {
    sources: Sources,
    histories: Vec<History>,
}

impl SourcesScenario {
    fn new(settings: SourceRules) -> Self {
        Self {
            sources: Sources::new(Box::new(Priced), settings),
            histories: Vec::new(),
        }
    }

    fn find(&mut self, url: &str, seconds: u64, on: Option<(u32, u64)>) -> u32 {
        self.find_on(0, url, seconds, on)
    }

    fn find_on(&mut self, host: u32, url: &str, seconds: u64, on: Option<(u32, u64)>) -> u32 {
        let page = self.histories.len() as u32;
        self.histories.push(History::discovered(at(seconds), 0));
        self.sources.observe(&Fact::Discovered(Discovered {
            page: Number(page),
            url,
            host,
            depth: 0,
            seed: false,
            at: at(seconds),
            appeared: on.map(|(on, after)| Appeared {
                on: Number(on),
                after: at(after),
            }),
        }));
        page
    }

    fn read(&mut self, page: u32, links: &[u32], out_links: u32) {
        let links: Vec<LinkFact<'_>> = links
            .iter()
            .map(|&to| LinkFact::new(Number(to), ""))
            .collect();
        self.sources.observe(&Fact::Read(Read {
            page: Number(page),
            text: Text::Nothing,
            links: &links,
            out_links,
            part: Part::WHOLE,
        }));
    }

    fn visit(&mut self, page: u32, seconds: u64, new: u32) {
        let history = &mut self.histories[page as usize];
        let before = *history;
        *history = before
            .after(Visit::new(at(seconds), Outcome::Unchanged))
            .named(new);
        self.sources.observe(&Fact::Visited(VisitFact {
            page: Number(page),
            before: &before,
            after: history,
        }));
    }

    fn click(&mut self, page: u32, seconds: u64, clicks: f64) {
        self.sources.observe(&Fact::Shown(Shown {
            page: Number(page),
            at: at(seconds),
            views: 0.0,
            clicks,
        }));
    }

    fn kind(&self, page: u32) -> Option<SourceKind> {
        let mut accounts = self.sources.accounts();
        let found = accounts.find(|account| account.page == Number(page));
        found.map(|account| account.kind)
    }

    fn profit(&self, page: u32) -> f64 {
        let mut accounts = self.sources.accounts();
        let found = accounts.find(|account| account.page == Number(page));
        found.unwrap().outlook.profit
    }
}

/// A linked page becomes a source with age, although the main page never changes and is not read
/// again. The facts come in the order of a restart.
#[test]
fn what_a_main_page_links_to_becomes_a_source_with_age() {
    let mut scenario = SourcesScenario::new(SourceRules::default());
    let main = scenario.find("http://e.org/", 0, None);
    let section = scenario.find("http://e.org/news/", 0, None);
    let article = scenario.find("http://e.org/news/1", 0, None);
    scenario.read(main, &[main, section], 2);
    scenario.read(section, &[main, article], 2);
    for page in [main, section, article] {
        scenario.visit(page, 1, 0);
    }
    assert_eq!(scenario.kind(section), None);
    scenario.visit(main, 2 * DAY, 0);
    assert_eq!(
        scenario.kind(section),
        None,
        "pages of two days are too new"
    );
    scenario.visit(main, 4 * DAY, 0);
    assert_eq!(scenario.kind(section), Some(SourceKind::Near));
    assert_eq!(
        (scenario.kind(main), scenario.kind(article)),
        (Some(SourceKind::Main), None)
    );
    let page = |scenario: &SourcesScenario, number: u32| {
        let history = &scenario.histories[number as usize];
        scenario.sources.polls(Page {
            number: Number(number),
            history,
        })
    };
    assert!(!page(&scenario, section), "it was looked at once");
    scenario.visit(section, 5 * DAY, 1);
    assert!(page(&scenario, section) && page(&scenario, main) && !page(&scenario, article));
}

#[test]
fn where_a_main_page_leads_and_nowhere_else_is_a_source_at_once() {
    let mut scenario = SourcesScenario::new(SourceRules::default());
    let main = scenario.find("http://e.org/", 0, None);
    let home = scenario.find("http://e.org/home", 0, None);
    scenario.read(main, &[home], 1);
    scenario.visit(main, 1, 0);
    assert_eq!(scenario.kind(home), Some(SourceKind::Near));
}

#[test]
fn clicks_count_without_a_visit() {
    let mut scenario = SourcesScenario::new(SourceRules::default());
    let main = scenario.find("http://e.org/", 0, None);
    scenario.visit(main, 0, 0);
    let article = scenario.find("http://e.org/1", HOUR, Some((main, 0)));
    scenario.visit(main, HOUR, 1);
    let before = scenario.profit(main);
    scenario.click(article, HOUR + 60, 50.0);
    assert_eq!(scenario.profit(main), before);
    scenario.sources.wait(at(HOUR + 60));
    assert!(
        scenario.profit(main) > 100.0 * before,
        "{}",
        scenario.profit(main)
    );
}

/// The unit of refreshes changes when the first gains are measured. Stakes from before count in
/// the new unit at once, without and with clicks.
#[test]
fn profit_follows_the_unit_of_refreshes() {
    let mut scenario = SourcesScenario::new(SourceRules::default());
    let main = scenario.find("http://e.org/", 0, None);
    scenario.visit(main, 0, 0);
    let article = scenario.find("http://e.org/1", HOUR, Some((main, 0)));
    scenario.sources.weigh(Number(article), 2.0);
    scenario.sources.serve(2.0);
    let in_unit = |scenario: &mut SourcesScenario, unit: f64| {
        scenario.sources.value_in(unit);
        scenario.sources.wait(at(HOUR));
        scenario.profit(main)
    };
    let before = in_unit(&mut scenario, 1.0);
    assert!((in_unit(&mut scenario, 1e-3) / before - 1e-3).abs() < 1e-12);
    for nonsense in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(in_unit(&mut scenario, nonsense), 1e-3 * before);
    }
    scenario.click(article, HOUR + 60, 50.0);
    let clicked = in_unit(&mut scenario, 1e-3);
    assert!((in_unit(&mut scenario, 1.0) / clicked - 1e3).abs() < 1e-6);
}

/// Twenty sites that publish a page an hour for 150 hours, and one more that named four pages in
/// the hours 101 to 104 and none since. Every 25th page has 50 clicks over two days. The others
/// have none, and the four pages have none either. Returns the scenario, a usual site and the
/// unlucky one.
fn unlucky(settings: SourceRules) -> (SourcesScenario, u32, u32) {
    let mut scenario = SourcesScenario::new(settings);
    let mains: Vec<u32> = (0..21)
        .map(|host| scenario.find_on(host, &format!("http://{host}.org/"), 0, None))
        .collect();
    for &main in &mains[..20] {
        scenario.visit(main, 0, 0);
    }
    scenario.visit(mains[20], 100 * HOUR, 0);
    let mut popular: Vec<(u32, u64)> = Vec::new();
    for hour in 1..=150 {
        for (host, &main) in (0..).zip(&mains) {
            if host == 20 && !(101..=104).contains(&hour) {
                continue;
            }
            let url = format!("http://{host}.org/{hour}");
            let before = (hour - 1) * HOUR;
            let page = scenario.find_on(host, &url, hour * HOUR, Some((main, before)));
            if host < 20 && (hour + u64::from(host) * 7).is_multiple_of(25) {
                popular.push((page, hour));
            }
            scenario.visit(main, hour * HOUR, 1);
        }
        for &(page, found) in &popular {
            let clicks = match hour - found {
                1 => 20.0,
                12 => 15.0,
                24 => 10.0,
                48 => 5.0,
                _ => continue,
            };
            scenario.click(page, hour * HOUR, clicks);
        }
    }
    scenario.sources.wait(at(150 * HOUR));
    (scenario, mains[3], mains[20])
}

#[test]
fn four_pages_without_a_click_do_not_lock_out_a_source() {
    let (scenario, usual, unlucky_site) = unlucky(SourceRules::default());
    let [usual, quiet] = [usual, unlucky_site].map(|main| scenario.profit(main));
    assert!((1.0..4.0).contains(&usual), "{usual}");
    // A prior that counts half a click would leave less than a tenth.
    assert!(
        quiet > 0.4 * usual,
        "{quiet} clicks a page, usually {usual}"
    );
    // At a price at which the usual site is polled, the unlucky one is polled again within days.
    let price = crate::Price::new(usual / 2.0).unwrap();
    for seed in 1..=40 {
        let (mut scenario, _, unlucky_site) = unlucky(SourceRules {
            seed,
            ..SourceRules::default()
        });
        let is_due = |day: &u64| {
            scenario.sources.wait(at(150 * HOUR + day * DAY));
            let page = Page {
                number: Number(unlucky_site),
                history: &scenario.histories[unlucky_site as usize],
            };
            scenario.sources.due(page, price).is_some()
        };
        let day = (0..14).find(is_due);
        assert!(day.is_some(), "seed {seed}: not polled within two weeks");
    }
}

/// One page with many clicks counts visibly, and so does a click in the first minutes of the first
/// page of a source.
#[test]
fn first_clicks_count() {
    let (mut scenario, _, unlucky_site) = unlucky(SourceRules::default());
    let fresh = scenario.find_on(21, "http://21.org/", 150 * HOUR, None);
    scenario.visit(fresh, 150 * HOUR, 0);
    let [before, unclicked] = [unlucky_site, fresh].map(|main| scenario.profit(main));
    let [many, one] = [(20, unlucky_site), (21, fresh)].map(|(host, main)| {
        let url = format!("http://{host}.org/new");
        let page = scenario.find_on(host, &url, 151 * HOUR, Some((main, 150 * HOUR)));
        scenario.visit(main, 151 * HOUR, 1);
        page
    });
    scenario.click(one, 151 * HOUR + 60, 1.0);
    scenario.click(many, 151 * HOUR + 60, 200.0);
    scenario.sources.wait(at(152 * HOUR));
    let [after, clicked] = [unlucky_site, fresh].map(|main| scenario.profit(main));
    assert!(
        after > 2.0 * before,
        "{after} after 200 clicks, {before} before"
    );
    assert!(
        clicked > 1.2 * unclicked,
        "{clicked} after one click, {unclicked} before"
    );
}

/// Polls of a little-known source use a P that differs from day to day and is never below the
/// expected P. Fetches of its pages use it too, if only fetched pages can show clicks.
#[test]
fn profit_is_drawn_where_a_choice_can_teach_it() {
    let worths = |seen: Seen| {
        let (mut scenario, _, main) = unlucky(SourceRules {
            seen,
            ..SourceRules::default()
        });
        let page = scenario.find_on(
            20,
            "http://20.org/new",
            151 * HOUR,
            Some((main, 150 * HOUR)),
        );
        let worths = (7..27).map(|day| {
            let now = at(day * DAY);
            scenario.sources.wait(now);
            let history = History {
                asked: Some(at(day * DAY - 12 * HOUR)),
                ..scenario.histories[main as usize]
            };
            let number = Number(main);
            let poll = Page {
                number,
                history: &history,
            };
            let terms = scenario.sources.terms(poll);
            let factor = terms.iter().find(|term| term.name.starts_with("factor"));
            assert!(factor.is_none_or(|factor| factor.value > 1.0), "{terms:?}");
            let poll = scenario.sources.worth(poll, now).value();
            let page = scenario.sources.page(Number(page), at(151 * HOUR)).unwrap();
            [poll, page.value()]
        });
        worths.collect::<Vec<[f64; 2]>>()
    };
    let differ = |worths: &[[f64; 2]], which: usize| {
        let values = || worths.iter().map(|worth| worth[which]);
        values().fold(0.0, f64::max) > 2.0 * values().fold(f64::INFINITY, f64::min)
    };
    let known = worths(Seen::Known);
    assert!(differ(&known, 0) && !differ(&known, 1), "{known:?}");
    let fetched = worths(Seen::Fetched);
    assert!(differ(&fetched, 0) && differ(&fetched, 1), "{fetched:?}");
}

/// What new pages earned of what they could, on a source with two pages: an exact case.
#[test]
fn clicks_before_a_fetch_are_estimated_from_the_curve() {
    for seen in [Seen::Known, Seen::Fetched] {
        let mut scenario = SourcesScenario::new(SourceRules {
            seen,
            ..SourceRules::default()
        });
        let main = scenario.find("http://e.org/", 0, None);
        scenario.visit(main, 0, 0);
        let [fetched, waiting] = ["1", "2"]
            .map(|name| scenario.find(&format!("http://e.org/{name}"), HOUR, Some((main, 0))));
        scenario.visit(main, HOUR, 2);
        assert_eq!(
            scenario.sources.new_page_clicks(),
            None,
            "nothing was clicked"
        );
        scenario.visit(fetched, 3 * HOUR, 0);
        scenario.click(fetched, 2 * HOUR, 6.0);
        scenario.click(fetched, 4 * HOUR, 10.0);
        scenario.click(waiting, 4 * HOUR, 3.0);
        scenario.sources.wait(at(5 * HOUR));
        let clicks = scenario.sources.new_page_clicks().unwrap();
        let account = scenario.sources.accounts().next().unwrap();
        let hour = account.outlook.decay * HOUR as f64;
        // The pages appeared at any time of the hour before their discovery.
        let before = |hours: f64| {
            let left = -(-hour).exp_m1() / hour * (-hour * hours).exp();
            account.outlook.profit * (1.0 - left)
        };
        let missed = match seen {
            // Before the discovery of both pages, and the clicks that the logs show.
            Seen::Known => 2.0 * before(0.0) + 6.0 + 3.0,
            // Up to the fetch, and up to the last click that is known.
            Seen::Fetched => before(2.0) + before(3.0),
        };
        assert_eq!(clicks.earned, 10.0, "{seen:?}");
        assert!(
            (clicks.missed / missed - 1.0).abs() < 1e-6,
            "{clicks:?}, {missed}"
        );
        assert_eq!(clicks.share(), 10.0 / (10.0 + clicks.missed));
    }
}

/// ECHO's default of .01 clicks would never be worth a poll where copies are clicked every day.
#[test]
fn before_any_new_page_appeared_one_is_expected_to_be_like_the_mean_page() {
    for clicks in [0.0, 50.0] {
        let mut scenario = SourcesScenario::new(SourceRules {
            seen: Seen::Fetched,
            ..SourceRules::default()
        });
        let main = scenario.find("http://e.org/", 0, None);
        let other = scenario.find("http://e.org/other", 0, None);
        scenario.sources.value_in(0.002);
        for page in [main, other] {
            scenario.visit(page, 1, 0);
            scenario.sources.serve(1.0);
        }
        scenario.click(other, HOUR, clicks);
        scenario.click(other, 2 * HOUR, clicks);
        scenario.visit(main, 3 * HOUR, 0);
        // The stake of the mean page for the day that interest is assumed to last.
        let expected = 0.002 * DAY as f64;
        let found = scenario.profit(main);
        assert!((found / expected - 1.0).abs() < 1e-6, "{found} {expected}");
    }
}

#[test]
fn a_page_counts_for_all_sources_that_link_to_it() {
    for (credit, expected) in [
        (Credit::All, [7.0, 7.0, 0.0]),
        (Credit::First, [7.0, 0.0, 0.0]),
    ] {
        let mut scenario = SourcesScenario::new(SourceRules {
            credit,
            ..SourceRules::default()
        });
        let mains = [0, 1, 2].map(|host| {
            let main = scenario.find_on(host, &format!("http://{host}.org/"), 0, None);
            scenario.visit(main, 0, 0);
            main
        });
        let page = scenario.find_on(0, "http://0.org/1", HOUR, Some((mains[0], 0)));
        scenario.read(mains[0], &[page], 5);
        scenario.visit(mains[0], HOUR, 1);
        scenario.click(page, HOUR + 60, 5.0);
        // The second source links to it only now, and keeps the link.
        for poll in [2, 3] {
            scenario.read(mains[1], &[page], 5);
            scenario.visit(mains[1], poll * HOUR, 0);
        }
        scenario.click(page, 4 * HOUR, 2.0);
        // A page that is too old is no news for the third.
        scenario.visit(mains[1], 8 * DAY, 0);
        scenario.read(mains[2], &[page], 5);
        scenario.visit(mains[2], 8 * DAY, 0);
        let accounts: Vec<Account> = scenario.sources.accounts().collect();
        let clicks = mains.map(|main| {
            let account = accounts.iter().find(|account| account.page == Number(main));
            account.unwrap().clicks
        });
        assert_eq!(clicks, expected, "{credit:?}");
    }
}

/// A busy source is not polled before the least time, although a poll would be worth the price.
#[test]
fn a_source_rests_between_two_polls() {
    let mut scenario = SourcesScenario::new(SourceRules {
        least: Duration::from_secs(100),
        ..SourceRules::default()
    });
    let main = scenario.find("http://e.org/", 0, None);
    scenario.visit(main, 0, 0);
    let found = scenario.find("http://e.org/1", HOUR, Some((main, 0)));
    scenario.visit(main, HOUR, 1);
    scenario.click(found, HOUR + 60, 1e6);
    scenario.sources.wait(at(HOUR + 60));
    let page = Page {
        number: Number(main),
        history: &scenario.histories[main as usize],
    };
    let worth = |seconds: u64| scenario.sources.worth(page, at(HOUR + seconds)).value();
    assert_eq!(worth(99), 0.0);
    assert!(worth(100) > 0.0);
    let due = scenario.sources.due(page, crate::Price::new(1e-9).unwrap());
    assert_eq!(due, Some(at(HOUR + 100)));
}

/// The first click anywhere replaces stakes by clicks. A source without a click of its own keeps
/// the rank that its stakes gave it.
#[test]
fn a_click_elsewhere_does_not_raise_a_source_above_its_stakes() {
    let mut scenario = SourcesScenario::new(SourceRules::default());
    let homes = [
        (0, "http://a.org/", 0.1),
        (1, "http://b.org/", 2.0),
        (2, "http://c.org/", 2.0),
    ];
    let homes = homes.map(|(host, url, stake)| {
        let home = scenario.find_on(host, url, 0, None);
        scenario.visit(home, 0, 0);
        let article = scenario.find_on(host, &format!("{url}1"), HOUR, Some((home, 0)));
        scenario.visit(home, HOUR, 1);
        scenario.sources.weigh(Number(article), stake);
        scenario.sources.serve(stake);
        (home, article)
    });
    let profits = |scenario: &SourcesScenario| homes.map(|(home, _)| scenario.profit(home));
    scenario.sources.wait(at(2 * HOUR));
    let before = profits(&scenario);
    scenario.click(homes[2].1, 2 * HOUR, 5.0);
    scenario.sources.wait(at(2 * HOUR));
    let after = profits(&scenario);
    let unclicked = (before[0] / before[1], after[0] / after[1]);
    assert!((unclicked.0 - 0.05).abs() < 1e-9, "{before:?}");
    // One page without a click says that both are worth less than their stakes.
    assert!(unclicked.1 < 0.5, "{after:?}");
    assert!(
        after[2] / after[1] > 1.2 * before[2] / before[1],
        "{after:?}"
    );
}

/// With [`Seen::Fetched`], clicks on pages that were not fetched are ignored.
#[test]
fn clicks_from_before_a_page_was_fetched_do_not_count() {
    let clicks = |seen, fetched: Option<u64>, clicked| {
        let mut scenario = SourcesScenario::new(SourceRules {
            seen,
            ..SourceRules::default()
        });
        let main = scenario.find("http://e.org/", 0, None);
        scenario.visit(main, 0, 0);
        let article = scenario.find("http://e.org/1", HOUR, Some((main, 0)));
        scenario.visit(main, HOUR, 1);
        if let Some(seconds) = fetched {
            scenario.visit(article, seconds, 0);
        }
        scenario.click(article, clicked, 5.0);
        let mut accounts = scenario.sources.accounts();
        accounts.next().unwrap().clicks
    };
    assert_eq!(clicks(Seen::Known, None, 2 * HOUR), 5.0);
    assert_eq!(clicks(Seen::Fetched, None, 2 * HOUR), 0.0);
    assert_eq!(clicks(Seen::Fetched, Some(3 * HOUR), 2 * HOUR), 0.0);
    assert_eq!(clicks(Seen::Fetched, Some(3 * HOUR), 4 * HOUR), 5.0);
}

/// Of two new pages of one source, the one in the popular section is worth more. Together they
/// have the mean worth of the source.
#[test]
fn a_page_is_worth_more_in_a_section_that_is_clicked() {
    let mut scenario = SourcesScenario::new(SourceRules::default());
    let main = scenario.find("http://e.org/", 0, None);
    scenario.visit(main, 0, 0);
    let (mut now, mut last) = (0, 0);
    for turn in 0..600 {
        now += HOUR;
        let sport = scenario.find(
            &format!("http://e.org/sport/{turn}"),
            now,
            Some((main, last)),
        );
        let money = scenario.find(
            &format!("http://e.org/money/{turn}"),
            now,
            Some((main, last)),
        );
        scenario.visit(main, now, 2);
        scenario.click(sport, now + 60, 20.0);
        if turn % 2 == 0 {
            scenario.click(money, now + 60, 1.0);
        }
        last = now;
    }
    let sport = scenario.find("http://e.org/sport/new", now, Some((main, last)));
    let money = scenario.find("http://e.org/money/new", now, Some((main, last)));
    let worth = |page| {
        scenario
            .sources
            .page(Number(page), at(now))
            .unwrap()
            .value()
    };
    let ratio = worth(sport) / worth(money);
    assert!((8.0..60.0).contains(&ratio), "{ratio}");
    let average = f64::midpoint(worth(sport), worth(money));
    assert!(
        (0.5..2.0).contains(&(average / scenario.profit(main))),
        "{average}"
    );
}

/// A source that names pages by day is due at dawn, not at midnight.
#[test]
fn a_source_that_sleeps_at_night_is_left_alone() {
    let waits = |rhythm| {
        let mut scenario = SourcesScenario::new(SourceRules {
            rhythm,
            ..SourceRules::default()
        });
        let main = scenario.find("http://e.org/", 0, None);
        scenario.visit(main, 0, 0);
        // Starts at midnight UTC: four weeks, polled every hour, with three new pages per hour
        // from 8 to 20 h.
        for hour in 1..=28 * 24 {
            let new = if (9..=20).contains(&(hour % 24)) {
                3
            } else {
                0
            };
            for page in 0..new {
                let url = format!("http://e.org/{hour}/{page}");
                scenario.find(&url, hour * HOUR, Some((main, (hour - 1) * HOUR)));
            }
            scenario.visit(main, hour * HOUR, new);
        }
        let worth_after = |from: u64, hours: u64| {
            let asked = at(28 * DAY + from * HOUR);
            let history = History {
                asked: Some(asked),
                ..scenario.histories[0]
            };
            let page = Page {
                number: Number(main),
                history: &history,
            };
            let later = asked + Duration::from_secs(hours * HOUR);
            scenario.sources.worth(page, later).value()
        };
        (worth_after(0, 4), worth_after(10, 4))
    };
    let (night, day) = waits(false);
    assert_eq!(night, day);
    let (night, day) = waits(true);
    assert!(day > 2.0 * night, "{day} by day, {night} by night");
}
