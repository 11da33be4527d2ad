//! Messages of `avocet demo`: introduction, progress and evaluation.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use testweb::site::ServedWeb;

use super::evaluation::{Evaluation, freshness, publication};
use super::publication_delays::PublicationDelays;
use super::search_traffic::SearchTraffic;
use crate::cli::DemoArguments;
use node::live::Live;
use node::number::{counted, rate};

/// Time between two progress lines.
const LINE_EVERY: Duration = Duration::from_secs(10);
/// Period over which a progress line averages freshness, in seconds.
pub const RECENT: f64 = 20.0;

/// Number of moments in [`RECENT`] at which freshness is sampled.
pub const SAMPLES: u32 = 20;

/// What the introduction needs to know about the demo.
pub struct Introduction {
    pub root: PathBuf,
    pub temporary: bool,
    pub arguments: DemoArguments,
}

/// Prints the introduction once the server is up, and then a progress line every 10 s.
pub async fn report_progress(
    live: Arc<Live>,
    web: Arc<ServedWeb>,
    traffic: SearchTraffic,
    delays: PublicationDelays,
    introduction: Introduction,
) {
    let address = super::address(&live).await;
    print_introduction(&address, &web, &introduction);
    let mut tick = tokio::time::interval(LINE_EVERY);
    tick.tick().await;
    loop {
        tick.tick().await;
        // Sampling all copies takes long: a thread for blocking work keeps the server responsive.
        let (web, traffic, delays) = (web.clone(), traffic.clone(), delays.clone());
        let line = tokio::task::spawn_blocking(move || progress_line(&web, &traffic, &delays));
        if let Ok(line) = line.await {
            outln!("{line}");
        }
    }
}

fn print_introduction(address: &str, web: &ServedWeb, introduction: &Introduction) {
    let homes = web.homes();
    let every = |seconds: f64| format!("{:.0} s", seconds / introduction.arguments.speed);
    let sites = [
        format!(
            "a newspaper: an article every {}, corrections, live reports",
            every(8.0)
        ),
        "a manual: its pages are edited".to_owned(),
        format!("a forum: threads grow, a new one every {}", every(20.0)),
        format!(
            "a shop: prices change, something is sold out every {}",
            every(30.0)
        ),
    ];
    outln!("This machine now serves the web of an invented town, to itself only:\n");
    for (home, site) in homes.iter().zip(sites) {
        outln!("  {home:<26} {site}");
    }
    let fate = if introduction.temporary {
        ", which is deleted at the end"
    } else {
        ""
    };
    outln!(
        "\nAvocet keeps a copy fresh with at most {}, in {}{fate}.\nSimulated users make {}.\n",
        rate(introduction.arguments.budget.per_second, "fetch"),
        introduction.root.display(),
        rate(introduction.arguments.searches, "search")
    );
    outln!("  search     {address}/\n  dashboard  {address}/dashboard\n");
    outln!("What to look at:");
    outln!("  search for 'ferry timetable', and again a minute later: new articles have appeared");
    outln!(
        "  search for 'rope', open a product and watch its price; the search page shows when it was last checked"
    );
    outln!("  the dashboard: how the budget is spent, on which pages, and why");
    outln!(
        "  from another terminal: avocet pause --store {0}; avocet resume --store {0}",
        introduction.root.display()
    );
    outln!("\nFreshness, measured against the town itself, every 10 s (stop with Ctrl-C):");
}

fn progress_line(web: &ServedWeb, traffic: &SearchTraffic, delays: &PublicationDelays) -> String {
    let now = web.now();
    let lately = freshness(web, traffic, (now - RECENT).max(0.0), now, SAMPLES);
    let delay = publication(web, delays, now).mean_delay;
    let (searches, clicks) = {
        let counts = traffic.counts();
        (counts.searches, counts.clicks)
    };
    format!(
        "{:>4.0} s  {}, {}; copies {} fresh ({} if all pages were visited equally often), results shown {} ({}); new pages found after {}; {}, {}",
        now,
        counted(web.copies().pages(), "page"),
        counted(web.fetches().all(), "request"),
        share(lately.copies),
        share(lately.copies_if_alike),
        share(lately.shown),
        share(lately.shown_if_alike),
        seconds(delay),
        counted(searches, "search"),
        counted(clicks, "click"),
    )
}

/// Prints the evaluation at the end of the demo.
pub fn print_evaluation(evaluation: &Evaluation, root: &Path, temporary: bool) {
    let (fresh, new) = (&evaluation.freshness, &evaluation.publication);
    let fetches = &evaluation.fetches;
    outln!(
        "\nResults of {:.0} s, measured against the town itself:",
        evaluation.seconds
    );
    outln!(
        "  {} of {} fetched; {}: {} new, {} changed, {} unchanged, {} gone, {} for sitemaps and feeds, {} for robots.txt",
        evaluation.known,
        counted(evaluation.pages, "page"),
        counted(evaluation.requests, "request"),
        fetches.new,
        fetches.changed,
        fetches.unchanged,
        fetches.gone,
        fetches.lists,
        fetches.robots
    );
    outln!(
        "  copies that equal their page, from {:.0} s on: {} ({} if all pages were visited equally often)",
        fresh.from,
        share(fresh.copies),
        share(fresh.copies_if_alike)
    );
    outln!(
        "  results shown to searchers in that time that equal their page: {} ({} if all pages were visited equally often)",
        share(fresh.shown),
        share(fresh.shown_if_alike)
    );
    outln!(
        "  {} still exist; {} of them appeared in search, after {} on average, half of these within {}",
        counted(new.published, "new page"),
        new.found,
        seconds(new.mean_delay),
        seconds(new.median_delay)
    );
    outln!(
        "  {}, {}",
        counted(evaluation.searches, "search"),
        counted(evaluation.clicks, "click")
    );
    match temporary {
        true => outln!("The store is deleted; use --store DIR to keep it."),
        false => outln!("The store is in {}.", root.display()),
    }
}

/// Returns a delay in words.
pub fn seconds(delay: Option<f64>) -> String {
    delay.map_or("-".into(), |delay| format!("{delay:.1} s"))
}

/// Returns a share in per cent.
pub fn share(share: Option<f64>) -> String {
    share.map_or("-".into(), |share| format!("{:.0} %", share * 100.0))
}
