//! Tests of catalog lookups: valid expressions, error messages and help tables.

use super::*;
use crate::{Discovered, Fact, History, Moment, Moves, Number, Page};

fn inputs() -> Wishes {
    Wishes {
        query: Some("computer".into()),
        location: vec!["host:.edu=2".into(), "depth=0.5".into()],
        scores: Some(Arc::default()),
        topic: Some(Arc::new(Topic::words("computer").unwrap())),
    }
}

fn error(expression: &str, inputs: &Wishes) -> String {
    match Catalog::standard().order(expression, inputs) {
        Ok(_) => panic!("{expression} is read"),
        Err(error) => error.to_string(),
    }
}

/// Returns the worth, by this expression, of a page two links from a seed.
fn worth(expression: &str) -> f64 {
    let mut order = Catalog::standard().order(expression, &inputs()).unwrap();
    let discovered = Discovered {
        page: Number(0),
        url: "https://cs.stanford.edu/computer",
        host: 0,
        depth: 2,
        seed: false,
        at: crate::Moment::START,
        appeared: None,
    };
    order.observe(&Fact::Discovered(discovered), &mut Moves::default());
    let history = History::discovered(Moment::START, 2);
    let page = Page {
        number: Number(0),
        history: &history,
    };
    order.worth(page, Moment::START).value()
}

#[test]
fn expressions_are_weighted_sums() {
    for (expression, expected) in [
        ("breadth-first", 1.0 / 3.0),
        (" depth-limited(2) ", 1.0 / 3.0),
        ("depth-limited(1)", 0.0),
        ("pagerank", 0.1),
        ("pagerank*2", 0.2),
        ("0.5*hot-anchor", 1.0),
        ("hot-anchor*1000 + pagerank", 2000.1),
        ("similarity*0.3 + pagerank*0.7", 0.3 * 0.25 + 0.07),
        ("location + 3*location", 4.0),
        ("depth-limited(1) + hot-anchor*1000", 0.0),
        ("backlink*0.000001", 1e-12),
        ("hot-anchor*1e308 + hot-anchor*1e308", f64::MAX),
    ] {
        let worth = worth(expression);
        assert!(
            (worth - expected).abs() <= 1e-7 * expected,
            "{expression}: {worth}"
        );
    }
}

#[test]
fn every_name_can_be_built_and_is_in_the_help() {
    let catalog = Catalog::standard();
    let help = catalog.help();
    for order in catalog.orders() {
        for expression in order.examples() {
            let built = catalog.order(&expression, &inputs());
            assert!(built.is_ok(), "{expression}");
        }
        assert!(help.contains(&format!("  {}", order.form())), "{help}");
        assert!(
            !order.summary.is_empty() && !order.scale.is_empty(),
            "{}",
            order.name
        );
    }
    for servers in catalog.strategies() {
        assert!(catalog.servers(servers.name).is_ok(), "{}", servers.name);
        assert!(help.contains(&format!("  {}  ", servers.name)), "{help}");
    }
    assert!(
        help.lines()
            .all(|line| line.chars().count() <= 130 && line.trim_end() == line),
        "{help}"
    );
}

/// Recommended policies come first, and published baselines below their own heading.
#[test]
fn published_baselines_come_last() {
    let catalog = Catalog::standard();
    let last = |published: &[bool]| published.is_sorted() && published.contains(&true);
    let orders: Vec<_> = catalog.orders().iter().map(|one| one.published).collect();
    let strategies: Vec<_> = (catalog.strategies().iter())
        .map(|one| one.published)
        .collect();
    let refreshes: Vec<_> = (catalog.refreshes().iter())
        .map(|one| one.published)
        .collect();
    let schedulers: Vec<_> = (catalog.schedulers().iter())
        .map(|one| one.published)
        .collect();
    let estimators: Vec<_> = (catalog.estimators().iter())
        .map(|one| one.published)
        .collect();
    for lists in [orders, strategies, refreshes, schedulers, estimators] {
        assert!(last(&lists), "{lists:?}");
    }
    let defaults = [
        catalog.orders()[0].name,
        catalog.strategies()[0].name,
        catalog.refreshes()[0].name,
        catalog.schedulers()[0].name,
        catalog.estimators()[0].name,
    ];
    assert_eq!(
        defaults,
        ["rankmass", "best-prefix", "holistic", "priced", "gamma"]
    );
    for (help, pick, baseline) in [
        (catalog.help(), "  learned ", "  random("),
        (catalog.help(), "  best-prefix ", "  performance "),
        (catalog.refresh_help(), "  holistic", "  adaptive "),
        (catalog.scheduler_help(), "  priced ", "  echo-newpages "),
    ] {
        let (pick, baseline) = (help.find(pick).unwrap(), help.find(baseline).unwrap());
        let heading = help[pick..].find(PUBLISHED_HEADING).map(|at| pick + at);
        assert!(
            heading.is_some_and(|heading| pick < heading && heading < baseline),
            "{help}"
        );
    }
}

#[test]
fn errors_say_what_to_write() {
    let none = Wishes::default();
    let choices = "choices: rankmass, breadth-first, depth-limited, pagerank, opic, parent-quality, location, given, \
                   similarity, learned, bandit, random, backlink, forward-links, hot-anchor, hot-page, soft, hard, anchor, \
                   context-graph, reinforcement, laser, fish, shark, agents, intelligent";
    for (expression, expected) in [
        ("pagernk", format!("unknown ordering `pagernk`: did you mean `pagerank`? {choices}")),
        ("PageRank", format!("unknown ordering `PageRank`: did you mean `pagerank`? {choices}")),
        ("zzz", format!("unknown ordering `zzz`: {choices}")),
        ("backlink + breadth-frist*2", format!("unknown ordering `breadth-frist`: did you mean `breadth-first`? {choices}")),
        ("pagerank*", "malformed ordering `pagerank*`: a weight above zero is expected at column 10; \
                       write for example `pagerank*0.7 + similarity*0.3`".into()),
        ("similarity", "ordering `similarity` needs a query: --query \"words to look for\"".into()),
        ("location", "ordering `location` needs rules: --location host:.edu=2 --location path:/docs/=3 --location depth=0.8".into()),
        ("given", "ordering `given` needs scores of URLs: --scores FILE".into()),
        ("soft", "ordering `soft` needs a topic: --topic NAME, or --topic \"words of a query\"".into()),
        ("pagerank(3)", "ordering `pagerank` takes nothing in parentheses".into()),
        ("depth-limited", "ordering `depth-limited` takes the largest depth, 0 to 65535: depth-limited(5)".into()),
        ("depth-limited(70000)", "ordering `depth-limited` takes the largest depth, 0 to 65535: depth-limited(5)".into()),
        ("random(x)", "ordering `random` takes a seed, an integer of at least 0: random(7)".into()),
    ] {
        assert_eq!(error(expression, &none), expected);
    }
    let odd = Wishes {
        query: Some("?!".into()),
        location: vec!["host:.edu".into()],
        ..Wishes::default()
    };
    assert_eq!(
        error("hot-page", &odd),
        "the query \"?!\" contains no word; give at least one letter or digit"
    );
    assert!(
        error("location", &odd)
            .starts_with("the rule `host:.edu` has no factor; write for example")
    );
}

/// Every argument out of its range is refused, and the message has the range and an example.
#[test]
fn arguments_of_published_methods_have_ranges() {
    for (name, wrong, says) in [
        (
            "laser",
            vec!["1", "-0.1", "0.5, 0.9", "0.5, 11", "0.5, 1, 1", "x", ""],
            "takes the discount of relevance per link, 0 to 0.95 (0.7), and the exponent of the number of parents, \
             1 to 10 (1): laser(0.5, 2)",
        ),
        (
            "context-graph",
            vec!["0", "5", "1.5", "2, 0.5", "2, 101"],
            "1 to 4 (2)",
        ),
        (
            "reinforcement",
            vec!["1", "-1", "0.5, 0.5"],
            "0 to 0.99 (0.5)",
        ),
        (
            "fish",
            vec!["0", "256", "1, 0", "1.5", "1, 10001"],
            "1 to 255 (3)",
        ),
        (
            "shark",
            vec!["1.1", "0.5, -0.1", "0, 0, 2", "0, 0, 0, 0"],
            "0 to 1 each",
        ),
        (
            "agents",
            vec!["3", ""],
            "takes `words`, for agents that also learn which words of links are good, or nothing",
        ),
    ] {
        for argument in wrong {
            let error = error(&format!("{name}({argument})"), &inputs());
            assert!(
                error.starts_with(&format!("ordering `{name}` takes ")),
                "{error}"
            );
            assert!(error.contains(says), "{error}");
        }
    }
    for right in [
        "laser(0.5)",
        "laser(0, 10)",
        "context-graph(1)",
        "shark(1)",
        "fish(255, 10000)",
    ] {
        assert!(
            Catalog::standard().order(right, &inputs()).is_ok(),
            "{right}"
        );
    }
}

#[test]
fn the_quota_of_polls_is_a_share() {
    let catalog = Catalog::standard();
    for wrong in ["0", "1", "-0.5", "x", "0.2, 0.3"] {
        let error = catalog
            .scheduler(&format!("fixed-quota({wrong})"))
            .map(|_| ())
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "scheduler `fixed-quota` takes the share of all fetches that polls get, above 0 and below 1 (0.5): \
             fixed-quota(0.3)"
        );
    }
    let error = catalog.scheduler("bfs(3)").map(|_| ()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "scheduler `bfs` takes nothing in parentheses"
    );
    let outlooks = [(1e-3, 2.0, 1e-5), (1e-4, 5.0, 1e-4), (1e-2, 0.5, 1e-6)];
    let outlooks = outlooks.map(|(rate, profit, decay)| crate::source::Outlook {
        rate,
        profit,
        decay,
    });
    for (name, share) in [
        ("fixed-quota", 0.5),
        ("fixed-quota(0.3)", 0.3),
        ("fixed-quota(0.9)", 0.9),
    ] {
        let mut scheduler = catalog.scheduler(name).unwrap();
        scheduler.plan(&outlooks, 0.05);
        let intervals = (0..outlooks.len()).filter_map(|source| scheduler.interval(source));
        let polls: f64 = intervals.map(|interval| 1.0 / interval).sum();
        assert!((polls - share * 0.05).abs() < 1e-6, "{name}: {polls}");
        assert!(catalog.plans_ahead("holistic", name), "{name}");
    }
}

#[test]
fn an_unknown_server_strategy_gets_a_suggestion() {
    let error = Catalog::standard()
        .servers("best-prefx")
        .map(|_| ())
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown server strategy `best-prefx`: did you mean `best-prefix`? \
         choices: best-prefix, breadth-first, performance, quality, crawl-ability"
    );
}

#[test]
fn an_added_ordering_replaces_the_one_of_the_same_name() {
    let never = Order::new("opic", "nothing", |_, _| {
        Ok(Box::new(crate::order::DepthLimited::new(0)))
    });
    let catalog = Catalog::standard().with(never);
    assert_eq!(catalog.names().filter(|&name| name == "opic").count(), 1);
    assert_eq!(catalog.orders().len(), Catalog::standard().orders().len());
}

fn refresh_error(expression: &str, upkeep: &Upkeep) -> String {
    match Catalog::standard().refresh(expression, upkeep) {
        Ok(_) => panic!("{expression} is read"),
        Err(error) => error.to_string(),
    }
}

/// All inputs that a refresh policy can require.
fn upkeep() -> Upkeep {
    Upkeep {
        rates: Some(Arc::default()),
        budget: Some(1.0),
        ..Upkeep::default()
    }
}

#[test]
fn every_refresh_policy_and_estimator_can_be_built_and_is_in_the_help() {
    let catalog = Catalog::standard();
    let help = catalog.refresh_help();
    for refresh in catalog.refreshes() {
        for expression in refresh.examples() {
            let made = catalog.refresh(&expression, &upkeep());
            assert!(made.is_ok(), "{expression}");
        }
        assert!(help.contains(&format!("  {}", refresh.name)), "{help}");
    }
    for rate in catalog.estimators() {
        let upkeep = Upkeep {
            rate: Some(rate.name.to_owned()),
            ..upkeep()
        };
        assert!(
            catalog.refresh("freshness", &upkeep).is_ok(),
            "{}",
            rate.name
        );
        assert!(help.contains(&format!("  {}  ", rate.name)), "{help}");
    }
    assert!(
        help.lines()
            .all(|line| line.chars().count() <= 130 && line.trim_end() == line),
        "{help}"
    );
}

#[test]
fn errors_of_refresh_policies_say_what_to_write() {
    let plain = Upkeep::default();
    for (expression, expected) in [
        (
            "freshnes",
            "unknown refresh policy `freshnes`: did you mean `freshness`? choices: holistic, user-centric-marginal, harmonic, ",
        ),
        (
            "holistic(0)",
            "refresh policy `holistic` takes the half-life of measured gains in days, above zero: holistic(90)",
        ),
        (
            "age(3)",
            "refresh policy `age` takes nothing in parentheses",
        ),
        (
            "age*2",
            "malformed refresh policy `age*2`: the end is expected at column 4; write for example `currency(0.95, 7)`",
        ),
        (
            "",
            "malformed refresh policy ``: a name is expected at column 1; write for example",
        ),
        (
            "uniform(0)",
            "refresh policy `uniform` takes a number of days above zero: uniform(7)",
        ),
        (
            "uniform(x)",
            "refresh policy `uniform` takes a number of days above zero: uniform(7)",
        ),
        (
            "currency(1, 7)",
            "refresh policy `currency` takes days, or a goal below 1 and days: currency(0.95, 7)",
        ),
        (
            "currency(.5, 7, 9)",
            "refresh policy `currency` takes days, or a goal",
        ),
    ] {
        let error = refresh_error(expression, &plain);
        assert!(error.starts_with(expected), "{error}");
    }
    for (rate, expected) in [
        (
            "gama",
            "unknown estimator `gama`: did you mean `gamma`? choices: gamma, given, naive, bias-corrected, mle, site, buckets",
        ),
        ("mle(3)", "estimator `mle` takes nothing in parentheses"),
        (
            "given",
            "estimator `given` needs the change rates of URLs: --rates FILE",
        ),
    ] {
        let upkeep = Upkeep {
            rate: Some(rate.to_owned()),
            ..Upkeep::default()
        };
        assert_eq!(refresh_error("freshness", &upkeep), expected);
    }
}
