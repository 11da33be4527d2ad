//! Tests of crawls of a town, small enough to check by hand.

use std::time::Duration;

use page::PageUrl;
use policy::catalog::{Catalog, Upkeep, Wishes};

use super::*;
use crate::kinds::{NamedPeriod, Sitemap, TownPage, TownSource};

const HOUR: u64 = 3_600_000_000;

fn at(hours: u64) -> Moment {
    Moment::from_micros((1_000_000 + hours) * HOUR)
}

fn page(name: &str, born: u64, changes: &[u64], clicks: impl Iterator<Item = u64>) -> TownPage {
    TownPage {
        url: PageUrl::parse(&format!("http://a.example/{name}")).unwrap(),
        site: 0,
        born: at(born),
        changes: changes.iter().map(|&hours| at(hours)).collect(),
        clicks: clicks.map(at).collect(),
        links: Vec::new(),
    }
}

/// One source that names a page at hour 50, and two old pages: one is clicked every hour and
/// changes every day, the other is neither clicked nor changes.
fn town() -> Town {
    let days: Vec<u64> = (1..20).map(|day| 24 * day + 1).collect();
    Town {
        from: at(0),
        until: at(480),
        pages: vec![
            page("busy", 0, &days, 1..480),
            page("quiet", 0, &[], 0..0),
            page("new", 50, &[], 60..480),
        ],
        old: 2,
        sources: vec![TownSource {
            url: PageUrl::parse("http://a.example/").unwrap(),
            site: 0,
            named: vec![NamedPeriod {
                page: 2,
                from: at(50),
                until: at(480),
            }],
            links: vec![0, 1],
        }],
        sitemaps: vec![Sitemap {
            url: PageUrl::parse("http://a.example/sitemap.xml").unwrap(),
            site: 0,
            hints: days.iter().map(|&hours| (at(hours), 0)).collect(),
        }],
        seconds: vec![600.0],
    }
}

fn policies() -> TownPolicies {
    let catalog = Catalog::standard();
    TownPolicies {
        order: catalog.order("rankmass", &Wishes::default()).unwrap(),
        refresh: catalog.refresh("holistic", &Upkeep::default()).unwrap(),
        scheduler: catalog.scheduler("priced").unwrap(),
    }
}

fn quota(new: f64, polls: f64) -> Split {
    Split::Quota(QuotaShares { new, polls })
}

fn served(split: Split, scarce: Scarce) -> Served {
    served_in(&town(), split, scarce)
}

fn served_in(town: &Town, split: Split, scarce: Scarce) -> Served {
    let plan = JointPlan {
        scarce,
        split,
        known: Known::default(),
        measured: at(100),
        listings: Duration::from_secs(86_400),
        seed: 1,
    };
    crawl(town, policies(), &plan)
}

#[test]
fn a_town_is_served_and_every_fetch_is_counted() {
    let per_second = 1.0 / 3_600.0;
    let one = served(Split::OnePrice, Scarce::Fetches(per_second));
    assert_eq!((one.clicks, one.new_clicks), (760.0, 380.0));
    let fetches = one.firsts + one.polls + one.refreshes;
    assert!((360.0..=381.0).contains(&fetches), "{one:?}");
    // The new page never changes, so its copy serves all clicks. Every click on the busy page
    // after a change is served once the page was refreshed.
    assert_eq!(one.new, 380.0, "{one:?}");
    assert!(one.old > 300.0, "{one:?}");
    assert_eq!(one.busy, 600.0 * fetches);
}

#[test]
fn without_discovery_new_pages_are_not_served_and_without_refresh_old_ones_are_not() {
    let few = Scarce::Fetches(0.5 / 3_600.0);
    let refresh = served(quota(0.0, 0.0), few);
    assert_eq!((refresh.new, refresh.firsts), (0.0, 0.0));
    assert!(refresh.old > 250.0, "{refresh:?}");
    let discovery = served(quota(0.5, 0.5), few);
    assert_eq!((discovery.old, discovery.refreshes), (0.0, 0.0));
    assert_eq!(discovery.new, 380.0);
}

#[test]
fn connections_limit_what_is_fetched() {
    // A request takes 6000 s. One site is one server, which has one visit at a time.
    let slow = Town {
        sitemaps: Vec::new(),
        seconds: vec![6_000.0],
        ..town()
    };
    let most = 0.6 * 380.0;
    for count in [1, 3] {
        let by = RankBy::Second;
        let found = served_in(&slow, Split::OnePrice, Scarce::Connections { count, by });
        let fetches = found.firsts + found.polls + found.refreshes;
        assert!(fetches <= most + 1.0 && fetches > 0.3 * most, "{found:?}");
        assert_eq!(found.new, 380.0);
    }
}

#[test]
fn all_contestants_spend_the_same_budget() {
    let plan = crate::invent::town::TownPlan {
        sites: 3,
        pages: 100,
        days: 8.0,
        births: 30.0,
        ..crate::invent::town::TownPlan::default()
    };
    let town = plan.invent(1).unwrap();
    let per_second = 100.0 / 86_400.0;
    // In the first days, up to 3 % of the budget are lost: the price is not settled.
    let measured = town.from + Duration::from_secs_f64(town.seconds() / 3.0);
    let budget = per_second * town.until.since(measured).as_secs_f64();
    for split in [
        Split::OnePrice,
        quota(0.2, 0.2),
        quota(0.0, 0.0),
        Split::OldNewRatio,
        Split::RefreshFirst,
        Split::DiscoveryFirst,
    ] {
        let plan = JointPlan {
            scarce: Scarce::Fetches(per_second),
            split,
            known: Known::default(),
            measured,
            listings: Duration::from_secs(86_400),
            seed: 1,
        };
        let found = crawl(&town, policies(), &plan);
        let fetches = found.firsts + found.polls + found.refreshes;
        assert!(
            (fetches / budget - 1.0).abs() < 0.01,
            "{split:?}: {fetches} of {budget}"
        );
    }
}

#[test]
fn the_same_town_gives_the_same_crawl() {
    let few = Scarce::Fetches(0.5 / 3_600.0);
    for split in [Split::OnePrice, Split::OldNewRatio, Split::DiscoveryFirst] {
        assert_eq!(served(split, few), served(split, few));
    }
}

/// New pages are worth more than the first guess, and the crawl must fetch some to learn that.
/// One price once used every draw of P. Most draws from a skewed posterior are far below its mean,
/// so it hardly polled any source and did not fetch what it found.
#[test]
fn one_price_discovers_new_pages_with_a_scarce_budget() {
    let plan = crate::invent::town::TownPlan {
        sites: 3,
        pages: 100,
        days: 10.0,
        births: 30.0,
        ..crate::invent::town::TownPlan::default()
    };
    let (mut ours, mut ratio, mut known) = (0.0, 0.0, 0.0);
    for seed in 1..=4 {
        let town = plan.invent(seed).unwrap();
        let run = |split, known| {
            let plan = JointPlan {
                scarce: Scarce::Fetches(80.0 / 86_400.0),
                split,
                known,
                measured: town.from + Duration::from_secs(3 * 86_400),
                listings: Duration::from_secs(86_400),
                seed,
            };
            let served = crawl(&town, policies(), &plan);
            served.old + served.new
        };
        ours += run(Split::OnePrice, Known::default());
        ratio += run(Split::OldNewRatio, Known::default());
        let [copies, sources] = [true; 2];
        known += run(Split::OnePrice, Known { copies, sources });
    }
    assert!(ours > 0.95 * ratio, "{ours} and {ratio}");
    // True rates in the place of estimates earn more, so the price itself is right.
    assert!(
        known > 1.05 * ours.max(ratio),
        "{known}, {ours} and {ratio}"
    );
}
