//! Tests of page budgets: endless domains take a small share, and honest ones are crawled
//! completely.

use std::sync::Arc;

use serde_json::json;
use testweb::lying::{Farm, Site};
use testweb::proxy::Listening;

use crate::program::{TestProgram, holds};

async fn farm() -> (Arc<Farm>, Listening) {
    let farm = Arc::new(Farm::default());
    let listening = farm.listen().await.unwrap();
    (farm, listening)
}

fn crawl<'a>(proxy: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["crawl", Farm::SEED, "--scope", "any", "--proxy", proxy];
    arguments.extend(["--delay", "0s", "--no-index"]);
    arguments.extend(more);
    arguments
}

fn count(farm: &Farm, wanted: impl Fn(&Site) -> bool) -> usize {
    farm.asked().iter().filter(|site| wanted(site)).count()
}

fn is_honest(site: &Site) -> bool {
    matches!(site, Site::Honest(_) | Site::Large)
}

/// Returns the first URL of a domain that was not requested.
fn deferred(program: &TestProgram, domain: &str) -> String {
    let lines = program.lines(&["export", "urls"]).into_iter();
    let mut waiting = lines.filter(|line| line["status"].is_null());
    let found = waiting.find_map(|line| {
        let url = line["url"].as_str().unwrap();
        url.contains(domain).then(|| url.to_owned())
    });
    found.unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tarpit_takes_a_small_share_of_a_crawl_while_honest_pages_are_left() {
    let (farm, listening) = farm().await;
    let program = TestProgram::new();
    // Enough for all honest pages, for the budget of the tarpit (at most 90 pages), and for the
    // host names of the wildcard domain (at most 6, with one page each).
    let pages = (Farm::HONEST + 100).to_string();
    program.json(&crawl(&listening.url(), &["--pages", &pages]));
    let all = farm.asked().len();
    let trapped = count(&farm, |site| *site == Site::Tarpit);
    assert!(trapped * 100 < all * 15, "{trapped} of {all}");
    assert_eq!(count(&farm, is_honest), Farm::HONEST);
    assert!(farm.names() <= 6, "{} names", farm.names());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_crawl_ends_and_says_what_it_deferred_and_why() {
    let (farm, listening) = farm().await;
    let program = TestProgram::new();
    let place = listening.url();
    let summary = program.json(&crawl(&place, &[]));
    assert_eq!(count(&farm, is_honest), Farm::HONEST);
    // Spare capacity finishes a domain of at most 8,000 known pages. A page of the tarpit has 20
    // new links, so this limit is reached after 400 fetches. 64 pages are released at a time.
    let trapped = count(&farm, |site| *site == Site::Tarpit);
    assert!((100..=400 + 64).contains(&trapped), "{trapped}");
    assert!(farm.names() <= 6, "{} names", farm.names());
    let domains = summary["deferred_domains"].as_array().unwrap();
    assert_eq!(domains[0][0], "tarpit.example");
    assert_eq!(domains[1][0], "wildcard.example");
    assert_eq!(summary["deferred"], summary["queued"]);

    let url = deferred(&program, "tarpit.example");
    let told = program.json(&["explain", &url]);
    let budget = &told["budget"];
    assert_eq!(budget["deferred"], true, "{told}");
    holds(
        budget,
        &json!({ "domain": "tarpit.example", "spent": "domain" }),
    );
    assert_eq!(budget["linking_domains"], 1);
    assert_eq!(budget["used"], trapped);
    assert_eq!(budget["known"].as_u64(), Some(1 + 20 * trapped as u64));
    let why = told["not_fetched"].as_str().unwrap();
    assert!(
        why.starts_with("deferred: the domain tarpit.example"),
        "{why}"
    );
    let text = program.text(&["explain", &url]);
    assert!(text.contains("linked by 1 other domain,"), "{text}");
    let url = deferred(&program, "wildcard.example");
    assert_eq!(program.json(&["explain", &url])["budget"]["spent"], "names");
    let own = program.json(&["explain", Farm::SEED]);
    assert!(own["budget"].is_null(), "a seed's domain has no budget");

    // A second run has the same evidence, and so nothing to fetch.
    let asked = farm.asked().len();
    program.json(&crawl(&place, &[]));
    assert_eq!(farm.asked().len(), asked);
}

/// Without budgets the same crawl follows endless pages and host names.
#[tokio::test(flavor = "multi_thread")]
async fn budgets_can_be_switched_off() {
    let (farm, listening) = farm().await;
    let program = TestProgram::new();
    let config = program.store().join("avocet.toml");
    std::fs::write(config, "[crawl]\ndomain_pages = 0\n").unwrap();
    let pages = (Farm::HONEST + 100).to_string();
    let summary = program.json(&crawl(&listening.url(), &["--pages", &pages]));
    assert_eq!(summary["deferred"], 0);
    let honest = count(&farm, is_honest);
    assert!(
        honest < Farm::HONEST,
        "{honest}, and {} names",
        farm.names()
    );
    assert!(farm.names() > 6, "{} names", farm.names());
}
