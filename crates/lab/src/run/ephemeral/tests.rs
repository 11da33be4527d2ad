//! Does a crawl spend its budget, see only what a crawler sees, and never do better than the bound?

use policy::catalog::Catalog;
use policy::source::Settings;

use super::*;
use crate::invent;
use crate::world::{Clicked, News, Shown};

fn second(number: u64) -> Moment {
    Moment::from_micros(number * 1_000_000)
}

fn link(article: u32, from: u64, until: u64) -> Shown {
    Shown {
        source: 0,
        article,
        from: second(from),
        until: second(until),
    }
}

/// One source. Article 0 is old; 1 is there from 150 until `gone`, 2 from 350 on, 3 at the very end.
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

fn plan(per_second: f64) -> Plan {
    Plan {
        per_second,
        push: Duration::from_secs(700),
        seen: Seen::Known,
        seed: 1,
    }
}

fn sources(name: &str, plan: &Plan) -> Sources {
    let settings = Settings {
        per_second: plan.per_second,
        seen: plan.seen,
        ..Settings::default()
    };
    Sources::new(Catalog::standard().scheduler(name).unwrap(), settings)
}

#[test]
fn clicks_are_left_by_the_second() {
    let news = small(250);
    let stage = Stage::new(&news).unwrap();
    for (at, left) in [
        (0, 10.0),
        (300, 7.0),
        (600, 4.0),
        (900, 2.0),
        (1_200, 0.0),
        (5_000, 0.0),
    ] {
        assert_eq!(stage.profit(1, second(at)), left, "{at}");
    }
    assert_eq!((stage.from, stage.until), (second(0), second(1_000)));
    assert_eq!(
        stage.appeared(0),
        None,
        "what is there at the beginning is old"
    );
    assert_eq!(stage.appeared(2), Some(second(350)));
    assert_eq!(stage.gone(1), second(250));
}

#[test]
fn breadth_first_by_hand() {
    let news = small(250);
    let stage = Stage::new(&news).unwrap();
    // A step every 100 seconds: polls, and each page right after the poll that showed it.
    let plan = plan(0.01);
    let crawled = crawl(&stage, sources("bfs", &plan), &plan);
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
    assert_eq!(
        when(0),
        [Some(0), None],
        "old pages are known and not fetched"
    );
    assert_eq!(when(1), [Some(200), Some(300)]);
    assert_eq!(when(2), [Some(400), Some(500)]);
    assert_eq!(when(3), [Some(1_000), None]);
    assert_eq!(crawled.lost, 0);
}

#[test]
fn a_link_between_two_polls_is_missed_for_ever() {
    let news = small(190);
    let stage = Stage::new(&news).unwrap();
    let plan = plan(0.01);
    let crawled = crawl(&stage, sources("bfs", &plan), &plan);
    assert_eq!(crawled.articles[1], Known::default());
    assert_eq!(crawled.articles[2].found, Some(second(400)));
}

#[test]
fn logs_tell_of_clicks_on_known_pages_when_they_are_pushed() {
    let news = small(250);
    let stage = Stage::new(&news).unwrap();
    for (seen, expected) in [(Seen::Known, [0.0, 0.0, 6.0]), (Seen::Fetched, [0.0; 3])] {
        let plan = Plan { seen, ..plan(0.01) };
        let mut run = Run::new(&stage, sources("bfs", &plan), &plan);
        run.look_around();
        let mut told = Vec::new();
        for now in steps(&stage, 0.01) {
            run.step(now);
            if [200, 600, 700].map(second).contains(&now) {
                told.push(run.sources.accounts().next().unwrap().clicks);
            }
        }
        // At 700 the bin from 0 has ended, and that from 600 has not. It was over when page 1 was fetched, so our own log has nothing.
        assert_eq!(told, expected, "{seen:?}");
    }
}

#[test]
fn every_step_is_a_poll_a_page_or_lost_and_all_is_the_same_again() {
    let world = invent::sources::Plan {
        sources: 60,
        sites: 6,
        days: 2.0,
        articles: 0.01,
        profit: 0.05,
        ..invent::sources::Plan::default()
    };
    let news = world.invent(3);
    let stage = Stage::new(&news).unwrap();
    let plan = Plan {
        push: Duration::from_secs(3_600),
        ..plan(0.006)
    };
    for scheduler in Catalog::standard().schedulers() {
        let done = crawl(&stage, sources(scheduler.name, &plan), &plan);
        let fetched = done
            .articles
            .iter()
            .filter(|known| known.fetched.is_some())
            .count();
        let used = done.polls.len() + fetched + done.lost as usize;
        assert_eq!(
            used,
            steps(&stage, plan.per_second).count(),
            "{}",
            scheduler.name
        );
        for (article, known) in done.articles.iter().enumerate() {
            let appeared = stage.appeared(article).unwrap_or(stage.from);
            assert!(known.found.is_none_or(|found| found >= appeared));
            assert!(
                known
                    .fetched
                    .is_none_or(|fetched| Some(fetched) > known.found)
            );
        }
        let again = crawl(&stage, sources(scheduler.name, &plan), &plan);
        assert_eq!(done, again, "{}", scheduler.name);
        assert!(
            fetched > 0 || scheduler.name == "frequency",
            "{}",
            scheduler.name
        );
    }
}
