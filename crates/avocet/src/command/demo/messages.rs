//! Messages of `avocet demo`: introduction, progress and evaluation.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use testweb::site::ServedWeb;

use super::baseline::Baseline;
use super::evaluation::{DemoFreshness, Evaluation, freshness, publication};
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
    baseline: Option<Arc<Baseline>>,
    introduction: Introduction,
) {
    let address = super::address(&live).await;
    print_introduction(&address, &web, baseline.as_deref(), &introduction);
    let mut tick = tokio::time::interval(LINE_EVERY);
    tick.tick().await;
    loop {
        tick.tick().await;
        // Sampling all copies takes long: a thread for blocking work keeps the server responsive.
        let (web, traffic, delays) = (web.clone(), traffic.clone(), delays.clone());
        let baseline = baseline.clone();
        let line = tokio::task::spawn_blocking(move || {
            progress_line(&web, baseline.as_deref(), &traffic, &delays)
        });
        if let Ok(line) = line.await {
            outln!("{line}");
        }
    }
}

fn print_introduction(
    address: &str,
    web: &ServedWeb,
    baseline: Option<&Baseline>,
    introduction: &Introduction,
) {
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
    outln!(
        "\nEvery 10 s: which share of the copies equals its page in the town now (stop with Ctrl-C)."
    );
    if let Some(baseline) = baseline {
        outln!(
            "To compare, a second crawl with the same budget and the policy {:?} copies the same town.",
            baseline.policy()
        );
    }
    outln!("");
}

fn progress_line(
    web: &ServedWeb,
    baseline: Option<&Baseline>,
    traffic: &SearchTraffic,
    delays: &PublicationDelays,
) -> String {
    let now = web.now();
    let (copies, of_baseline) = (web.copies(), baseline.map(Baseline::copies));
    let period = (now - RECENT).max(0.0)..now;
    let lately = freshness(web, of_baseline.as_ref(), traffic, period, SAMPLES);
    let existing =
        (web.web().pages()).filter(|page| page.exists(now) && web.web().is_text(page.number()));
    let (mut pages, mut copied) = (0, 0);
    for page in existing {
        pages += 1;
        copied += usize::from(copies.first(page.number()).is_some());
    }
    let progress = DemoProgress {
        seconds: now,
        pages,
        copied,
        baseline: baseline.map(Baseline::policy),
        lately,
        delay: publication(web, delays, now).mean_delay,
    };
    progress.line()
}

/// How far the demo is.
struct DemoProgress<'a> {
    seconds: f64,
    /// Pages of the town that exist now.
    pages: usize,
    /// Those of them that were fetched.
    copied: usize,
    /// The refresh policy of the baseline.
    baseline: Option<&'a str>,
    lately: DemoFreshness,
    /// Mean time until a new page is found by searchers, in seconds.
    delay: Option<f64>,
}

impl DemoProgress<'_> {
    fn line(&self) -> String {
        let lately = &self.lately;
        let compared = |ours: Option<f64>, theirs: Option<f64>| match self.baseline {
            Some(policy) => format!("{} ({policy} {})", share(ours), share(theirs)),
            None => share(ours),
        };
        let mut line = format!(
            "{:>4.0} s  fresh: {} of the copies, {} of the results that searchers saw; new pages are found after {}",
            self.seconds,
            compared(lately.copies, lately.baseline_copies),
            compared(lately.shown, lately.baseline_shown),
            seconds(self.delay),
        );
        if let Some(state) = self.state() {
            line += &format!(" — {state}");
        }
        line
    }

    /// Returns what keeps the demo from being ahead, if anything does.
    fn state(&self) -> Option<String> {
        // Pages appear all the time, so a few of them never have a copy yet.
        if self.copied * 10 < self.pages * 9 {
            return Some(format!(
                "still fetching first copies: {} of {}",
                self.copied,
                counted(self.pages, "page")
            ));
        }
        let (ours, theirs) = (self.lately.copies?, self.lately.baseline_copies?);
        match ours - theirs {
            ahead if ahead >= 0.005 => {
                Some(format!("{:.0} points ahead", (ahead * 100.0).max(1.0)))
            }
            ahead if ahead > -0.005 => Some("as good as the baseline".to_owned()),
            behind => Some(format!("{:.0} points behind", (-behind * 100.0).max(1.0))),
        }
    }
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
    let compared = |ours: Option<f64>, theirs: Option<f64>| match &evaluation.baseline {
        Some(policy) => format!("{} ({} with {policy})", share(ours), share(theirs)),
        None => share(ours),
    };
    if let (Some(policy), Some(requests)) = (&evaluation.baseline, evaluation.baseline_requests) {
        outln!(
            "  the baseline: a second crawl of the same town with the policy {policy} and the same budget made {}",
            counted(requests, "request")
        );
    }
    outln!(
        "  copies that equal their page, from {:.0} s on: {}",
        fresh.from,
        compared(fresh.copies, fresh.baseline_copies)
    );
    outln!(
        "  results shown to searchers in that time that equal their page: {}",
        compared(fresh.shown, fresh.baseline_shown)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_compares_with_the_baseline_and_says_why_the_demo_is_not_ahead() {
        let progress = |copied, copies, baseline_copies| DemoProgress {
            seconds: 40.0,
            pages: 200,
            copied,
            baseline: Some("uniform"),
            lately: DemoFreshness {
                from: 20.0,
                until: 40.0,
                copies: Some(copies),
                baseline_copies: Some(baseline_copies),
                shown: Some(0.95),
                baseline_shown: None,
            },
            delay: Some(21.04),
        };
        let line = progress(190, 0.86, 0.82).line();
        let expected = "  40 s  fresh: 86 % (uniform 82 %) of the copies, 95 % (uniform -) of the results that searchers saw; \
                        new pages are found after 21.0 s — 4 points ahead";
        assert_eq!(line, expected);
        let state = |copied, ours, theirs| progress(copied, ours, theirs).state().unwrap();
        let first = "still fetching first copies: 90 of 200 pages";
        assert_eq!(state(90, 0.9, 0.8), first);
        assert_eq!(state(190, 0.8, 0.803), "as good as the baseline");
        assert_eq!(state(190, 0.8, 0.82), "2 points behind");
    }
}
