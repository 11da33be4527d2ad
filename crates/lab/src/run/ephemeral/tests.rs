//! Tests of crawls of news worlds: they spend the budget and see only what a crawler sees.

use policy::catalog::Catalog;
use policy::source::SourceRules;

use super::*;
use crate::invent;
use crate::world::{Clicked, LinkPeriod, News};

fn second(number: u64) -> Moment {
    Moment::from_micros(number * 1_000_000)
}

fn link(article: u32, from: u64, until: u64) -> LinkPeriod {
    LinkPeriod {
        source: 0,
        article,
        from: second(from),
        until: second(until),
    }
}

/// One source. Article 0 is old. Article 1 is linked from second 150 until `gone`, article 2
/// from 350 on, article 3 at the very end.
fn small(gone: u64) -> News {
    let articles = [
        "http://a.example/0",
        "http://a.example/1",
        "http://a.example/2",
        "http://a.example/3",
    ];
    let links = vec![
        link(0, 0, 9_000),
        link(1, 150, gone),
        link(2, 350, 9_000),
        link(3, 1_000, 9_000),
    ];
    let click = |article, at, clicks| Clicked {
        article,
        at: second(at),
        clicks,
    };
    let clicks = vec![click(1, 0, 6), click(1, 600, 4), click(2, 1_200, 5)];
    News::new(
        ["http://a.example/"].into_iter(),
        articles.into_iter(),
        links,
        clicks,
    )
}

fn plan(per_second: f64) -> EphemeralPlan {
    EphemeralPlan {
        per_second,
        push: Duration::from_secs(700),
        seen: Seen::Known,
        seed: 1,
    }
}

fn sources(name: &str, plan: &EphemeralPlan) -> Sources {
    let settings = SourceRules {
        per_second: plan.per_second,
        seen: plan.seen,
        seed: plan.seed,
        // The sources are given: no article may become one.
        older: Duration::MAX,
        ..SourceRules::default()
    };
    Sources::new(Catalog::standard().scheduler(name).unwrap(), settings)
}

#[test]
fn profit_counts_the_clicks_left_to_the_second() {
    let news = small(250);
    let timeline = NewsTimeline::new(&news).unwrap();
    for (at, left) in [
        (0, 10.0),
        (300, 7.0),
        (600, 4.0),
        (900, 2.0),
        (1_200, 0.0),
        (5_000, 0.0),
    ] {
        assert_eq!(timeline.profit(1, second(at)), left, "{at}");
    }
    assert_eq!((timeline.from, timeline.until), (second(0), second(1_000)));
    assert_eq!(
        timeline.appeared(0),
        None,
        "what is there at the beginning is old"
    );
    assert_eq!(timeline.appeared(2), Some(second(350)));
    assert_eq!(timeline.gone(1), second(250));
}

#[test]
fn times_of_a_breadth_first_crawl_agree_with_hand_calculation() {
    let news = small(250);
    let timeline = NewsTimeline::new(&news).unwrap();
    // One fetch every 100 seconds. Each page is fetched right after the poll that showed it.
    let plan = plan(0.01);
    let crawled = crawl(&timeline, sources("bfs", &plan), &plan);
    let polls: Vec<u64> = crawled
        .polls
        .iter()
        .map(|(at, _)| at.micros() / 1_000_000)
        .collect();
    assert_eq!(polls, [100, 200, 400, 600, 700, 800, 900, 1_000]);
    let when = |article: usize| {
        let known = crawled.articles[article];
        [known.found, known.fetched].map(|at| at.map(|at| at.micros() / 1_000_000))
    };
    assert_eq!(when(0), [None, None], "what is old is not discovered");
    assert_eq!(when(1), [Some(200), Some(300)]);
    assert_eq!(when(2), [Some(400), Some(500)]);
    assert_eq!(when(3), [Some(1_000), None]);
    assert_eq!(crawled.lost, 0);
}

#[test]
fn an_article_linked_only_between_two_polls_is_never_found() {
    let news = small(190);
    let timeline = NewsTimeline::new(&news).unwrap();
    let plan = plan(0.01);
    let crawled = crawl(&timeline, sources("bfs", &plan), &plan);
    assert_eq!(crawled.articles[1], ArticleTimes::default());
    assert_eq!(crawled.articles[2].found, Some(second(400)));
}

#[test]
fn a_push_contains_clicks_on_known_pages() {
    let news = small(250);
    let timeline = NewsTimeline::new(&news).unwrap();
    let crawled = {
        let plan = plan(0.01);
        crawl(&timeline, sources("bfs", &plan), &plan)
    };
    for (seen, expected) in [(Seen::Known, [6.0, 4.0]), (Seen::Fetched, [0.0, 4.0])] {
        let mut logs = ClickLogs::new(news.articles().len(), seen);
        logs.discovered(1);
        logs.fetched(&timeline, 1, second(300));
        let pushed = [700, 1_200].map(|at| {
            let met = logs.push(&timeline, &crawled.articles, second(at));
            assert!(met.iter().all(|met| met.page == news.articles()[1].id()));
            met.iter().map(|met| met.clicks).sum::<f64>()
        });
        // At 700 the bin from 0 has ended and the bin from 600 has not. The first bin had begun
        // when page 1 was fetched, so the crawler's own log lacks it.
        assert_eq!(pushed, expected, "{seen:?}");
    }
}

#[test]
fn pushed_clicks_reach_the_scheduler() {
    let news = busy(3, 2.0);
    let timeline = NewsTimeline::new(&news).unwrap();
    let polled = |push: u64| {
        let plan = EphemeralPlan {
            push: Duration::from_secs(push),
            ..plan(0.006)
        };
        crawl(&timeline, sources("echo-newpages", &plan), &plan).polls
    };
    let (hourly, never) = (polled(3_600), polled(30 * 86_400));
    assert_eq!(hourly[..60], never[..60], "no click is known yet");
    assert_ne!(hourly, never);
}

#[test]
fn every_source_is_polled_once_before_anything_else() {
    let news = busy(3, 2.0);
    let timeline = NewsTimeline::new(&news).unwrap();
    let first = |seed: u64| {
        let plan = EphemeralPlan {
            seed,
            ..plan(0.006)
        };
        let crawled = crawl(&timeline, sources("priced", &plan), &plan);
        let first: Vec<u32> = crawled.polls[..60].iter().map(|poll| poll.1).collect();
        let done = crawled.polls[59].0;
        let fetched = |known: &ArticleTimes| known.fetched.is_some_and(|fetched| fetched < done);
        assert!(!crawled.articles.iter().any(fetched));
        first
    };
    let (one, two) = (first(1), first(2));
    assert_ne!(one, two, "the order is random");
    for mut order in [one, two] {
        order.sort_unstable();
        assert_eq!(order, (0..60).collect::<Vec<u32>>());
    }
}

/// Sixty sources.
fn busy(seed: u64, days: f64) -> News {
    let world = invent::sources::SourcesPlan {
        sources: 60,
        sites: 6,
        days,
        articles: 0.01,
        profit: 0.05,
        ..invent::sources::SourcesPlan::default()
    };
    world.invent(seed)
}

#[test]
fn a_crawl_keeps_to_its_budget_and_is_repeatable() {
    let news = busy(3, 2.0);
    let timeline = NewsTimeline::new(&news).unwrap();
    let plan = EphemeralPlan {
        push: Duration::from_secs(3_600),
        ..plan(0.006)
    };
    for scheduler in Catalog::standard().schedulers() {
        let done = crawl(&timeline, sources(scheduler.name, &plan), &plan);
        let fetched = done
            .articles
            .iter()
            .filter(|known| known.fetched.is_some())
            .count();
        let used = (done.polls.len() + fetched) as u64 + done.lost;
        let all = fetches(&timeline, plan.per_second);
        assert_eq!(used, all, "{}", scheduler.name);
        if scheduler.name == "priced" {
            assert!(done.lost * 20 < all, "{} of {all} are lost", done.lost);
        }
        for (article, known) in done.articles.iter().enumerate() {
            let appeared = timeline.appeared(article).unwrap_or(timeline.from);
            assert!(known.found.is_none_or(|found| found >= appeared));
            assert!(
                known
                    .fetched
                    .is_none_or(|fetched| Some(fetched) > known.found)
            );
        }
        let again = crawl(&timeline, sources(scheduler.name, &plan), &plan);
        assert_eq!(done, again, "{}", scheduler.name);
        assert!(
            fetched > 0 || scheduler.name == "frequency",
            "{}",
            scheduler.name
        );
    }
}

/// Returns the clicks that `priced` earns in a world of each seed, by rate.
fn earned(rates: [f64; 4], world: impl Fn(u64) -> News) -> [f64; 4] {
    let mut earned = [0.0; 4];
    for seed in 1..=6 {
        let news = world(seed);
        let timeline = NewsTimeline::new(&news).unwrap();
        for (earned, rate) in earned.iter_mut().zip(rates) {
            let plan = EphemeralPlan {
                push: Duration::from_secs(3_600),
                seed,
                ..plan(rate)
            };
            let done = crawl(&timeline, sources("priced", &plan), &plan);
            let fetched = done.articles.iter().enumerate();
            let profit = fetched.filter_map(|(article, known)| {
                timeline.appeared(article)?;
                Some(timeline.profit(article, known.fetched?))
            });
            *earned += profit.sum::<f64>();
        }
    }
    earned
}

/// In paired runs, more budget does not earn less on average.
#[test]
fn more_budget_does_not_earn_less() {
    let rates = [0.002, 0.004, 0.008, 0.016];
    let earned = earned(rates, |seed| {
        let world = invent::sources::SourcesPlan {
            sources: 40,
            sites: 6,
            days: 4.0,
            articles: 0.01,
            profit: 0.05,
            ..invent::sources::SourcesPlan::default()
        };
        world.invent(seed)
    });
    assert!(earned.is_sorted(), "{earned:?} clicks at {rates:?}");
}

/// Ten sites for two weeks. The first publishes an article an hour, and every fourth has 160
/// clicks over two days, but those of the first four hours have none. The others publish every
/// second hour, and every fourth article has 10 clicks.
fn unlucky_night() -> News {
    const HOUR: u64 = 3_600;
    const SITES: u32 = 10;
    let begin = 1_646_092_800;
    let (mut articles, mut links, mut clicks) = (Vec::new(), Vec::new(), Vec::new());
    let mut publish = |site: u32, at: u64, hours: u64, count: u32| {
        let article = articles.len() as u32;
        articles.push(format!("http://site{site}.example/{at}"));
        links.push(LinkPeriod {
            source: site,
            article,
            from: second(at),
            until: second(at + hours * HOUR),
        });
        let curve = [
            (0, 40),
            (4, 32),
            (8, 24),
            (14, 19),
            (20, 16),
            (28, 13),
            (36, 10),
            (48, 6),
        ];
        for (hours, share) in curve {
            let clicked = count * share / 160;
            if clicked > 0 {
                clicks.push(Clicked {
                    article,
                    at: second((at + hours * HOUR) / 600 * 600),
                    clicks: clicked,
                });
            }
        }
    };
    for site in 0..SITES {
        // What a source shows at the first moment is old.
        publish(site, begin, 3, 0);
        let (every, most) = if site == 0 { (1, 160) } else { (2, 10) };
        let hours = (0..14 * 24).step_by(every).enumerate();
        for (count, hour) in hours {
            let unlucky = site == 0 && hour < 4;
            let popular = !unlucky && (count + 1 + site as usize).is_multiple_of(4);
            let at = begin + hour as u64 * HOUR + 60 * (7 * u64::from(site) % 55) + 30;
            publish(site, at, 10, if popular { most } else { 0 });
        }
    }
    let urls: Vec<String> = (0..SITES)
        .map(|site| format!("http://site{site}.example/"))
        .collect();
    let (urls, articles) = (urls.iter(), articles.iter());
    News::new(
        urls.map(String::as_str),
        articles.map(String::as_str),
        links,
        clicks,
    )
}

/// Four articles without a click lock out no site. With a prior of half a click `priced` earned
/// less at each of the other rates than at the smallest one: the more it polled in the first
/// night, the more it knew of the unlucky articles, and it never came back.
#[test]
fn more_budget_does_not_earn_less_after_an_unlucky_night() {
    let rates = [0.0002, 0.0004, 0.0008, 0.0016];
    let earned = earned(rates, |_| unlucky_night());
    assert!(earned.is_sorted(), "{earned:?} clicks at {rates:?}");
    // The smallest budget finds the site again too, since its pages are examined at doubling ages.
    assert!(
        earned[3] > 1.5 * earned[0],
        "{earned:?} clicks at {rates:?}"
    );
}

/// The crawl's own estimate of what new pages earned is near the truth, which only the judge
/// knows. It is too low where polls are rare: links disappear, so those that a poll finds are
/// younger than the time since the last poll suggests.
#[test]
fn a_crawl_knows_what_its_new_pages_earned() {
    let mut found = Vec::new();
    for seen in [Seen::Known, Seen::Fetched] {
        for rate in [0.004, 0.012] {
            let (mut estimated, mut earned) = (0.0, 0.0);
            for seed in 1..=4 {
                let news = busy(seed, 4.0);
                let timeline = NewsTimeline::new(&news).unwrap();
                let plan = EphemeralPlan {
                    push: Duration::from_secs(3_600),
                    seen,
                    seed,
                    ..plan(rate)
                };
                let done = crawl(&timeline, sources("priced", &plan), &plan);
                estimated += done.estimate.unwrap().share() / 4.0;
                earned += share_of_found(&timeline, &done) / 4.0;
            }
            found.push((estimated, earned));
        }
    }
    let off = |(estimated, earned): &(f64, f64)| (estimated - earned).abs();
    assert!(found.iter().all(|pair| off(pair) < 0.12), "{found:.3?}");
}

/// Returns the clicks after the fetch of their page, as a share of the clicks on all pages that
/// the crawl found, up to its end.
fn share_of_found(timeline: &NewsTimeline<'_>, done: &NewsCrawl) -> f64 {
    let (mut earned, mut all) = (0.0, 0.0);
    for (article, known) in done.articles.iter().enumerate() {
        let Some(appeared) = timeline.appeared(article).filter(|_| known.found.is_some()) else {
            continue;
        };
        let until = |from: Moment| {
            timeline.profit(article, from) - timeline.profit(article, timeline.until.max(from))
        };
        all += until(appeared);
        earned += known.fetched.map_or(0.0, until);
    }
    earned / all
}
