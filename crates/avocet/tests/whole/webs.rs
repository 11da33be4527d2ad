//! Simple webs for tests, and the logs of their servers.

use std::collections::BTreeMap;
use std::path::PathBuf;

use testweb::site::{Faults, RobotsShares, ServedWeb, WebClock, WebPlan};

use crate::program::TestProgram;

/// Plans a web in which every page answers and no server has a robots.txt.
pub fn plain(seed: u64, servers: usize, pages: usize) -> WebPlan {
    let allowed = RobotsShares {
        missing: 1.0,
        ..RobotsShares::default()
    };
    WebPlan {
        servers,
        pages,
        robots: allowed,
        faults: Faults::default(),
        duplicates: 0.0,
        ..WebPlan::small(seed)
    }
}

pub async fn serve(plan: WebPlan) -> ServedWeb {
    ServedWeb::start(plan.invent(), WebClock::Still, None)
        .await
        .unwrap()
}

pub fn crawl<'a>(homes: &'a [String], more: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["crawl", "--allow-private", "--scope", "any"];
    arguments.extend(homes.iter().map(String::as_str));
    arguments.extend(more);
    arguments
}

/// Returns the number of requests for each page so far.
pub fn requests(serving: &ServedWeb) -> BTreeMap<String, u32> {
    let mut counts = serving.log().counts();
    counts.retain(|url, _| !url.ends_with("/robots.txt"));
    counts
}

/// Returns the pages in the order of their requests, by all crawls so far.
pub fn asked(serving: &ServedWeb) -> Vec<String> {
    let web = serving.web();
    let mut visits = Vec::new();
    for (server, _) in web.servers() {
        let home = serving.url(web.home(server));
        let origin = home.trim_end_matches('/');
        let pages = serving.log().visits(server);
        visits.extend(
            pages
                .iter()
                .map(|visit| (visit.arrived, format!("{origin}{}", visit.path))),
        );
    }
    visits.retain(|(_, url)| !url.ends_with("/robots.txt"));
    visits.sort();
    visits.into_iter().map(|(_, url)| url).collect()
}

/// Writes a file of scores, by a fixed rule on the page number. Returns its path and the scores.
pub fn scores(program: &TestProgram, serving: &ServedWeb) -> (PathBuf, BTreeMap<String, f64>) {
    let web = serving.web();
    let urls = web.pages().map(|page| serving.url(page.number()));
    let table: BTreeMap<String, f64> = urls
        .enumerate()
        .map(|(number, url)| (url, ((number * 7919) % 1009 + 1) as f64))
        .collect();
    let lines: Vec<String> = table
        .iter()
        .map(|(url, score)| format!("{url}\t{score}\n"))
        .collect();
    let path = program.path("scores.tsv");
    std::fs::write(&path, lines.concat()).unwrap();
    (path, table)
}
