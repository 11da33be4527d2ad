//! `bench sources`: the cost of planning polls of many sources, and of choosing the next poll.
//!
//! **Invariant:** facts are created before the timing starts. Two things are timed: one fact that
//! makes `policy::Sources` plan again, and the choices of the production frontier under a budget.
//! Two plans are timed separately: one when all sources have new clicks, and the next, when none
//! has.

mod live;

use std::fmt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use frontier::bench::Manners;
use frontier::{Frontier, FrontierLink};
use page::PageUrl;
use policy::catalog::{Catalog, Upkeep};
use policy::published::server::Quality;
use policy::source::SourceRules;
use policy::{
    Appeared, Crawl, Discovered, Fact, History, Moment, Number, Outcome, Price, Shown, Sources,
    Visit, VisitFact,
};
use serde::{Deserialize, Serialize};

use crate::child;
use crate::choosing::{self, PageHistories, TimedChoices, mixed};
use crate::machine::{resident, thread_time};
use crate::report;

const HOUR: u64 = 3_600;
const DAY: u64 = 24 * HOUR;
/// The time of the first visits to the sources.
const BEGIN: Moment = Moment::from_micros(1_646_092_800_000_000);
/// Articles per source.
const ARTICLES: u32 = 3;
/// Mean seconds between two polls of a source.
const ROUND: u64 = DAY;

/// The figures that a measuring process printed.
#[derive(Debug, Serialize, Deserialize)]
struct PlanCost {
    sources: u64,
    /// Seconds of a plan when all sources have new clicks.
    anew: f64,
    /// Seconds of the next plan, when no source has new clicks.
    again: f64,
    decisions: u64,
    /// Mean number of histories read per decision.
    looks: f64,
    /// Nanoseconds to choose a poll and to compute its next due time.
    decision: f64,
    bytes_a_source: f64,
}

#[derive(Debug, Serialize)]
struct SourcesReport {
    policy: String,
    rows: Vec<PlanCost>,
}

/// Options of `bench sources`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench sources
  cargo xtask bench sources --sources 100000 --policy echo-newpages
  cargo xtask bench sources --live --seconds 900

Without --live: times a plan for the given number of sources, once when every source has new clicks and once when none
has, and the choice of the next poll. Each size runs in its own process, on one core.
With --live: a server on loopback publishes four days of articles while `avocet run` crawls, once by bfs and once by the
policy, side by side and with the same budget. Reports the time from the publication of an article until search finds it.")]
pub struct SourcesOptions {
    /// Known sources, one row each
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [10_000, 100_000], value_parser = clap::value_parser!(u32).range(100..=2_000_000))]
    pub sources: Vec<u32>,
    /// Polls to time
    #[arg(long, value_name = "N", default_value_t = 100_000)]
    pub decisions: u32,
    /// The scheduler
    #[arg(long, value_name = "POLICY", default_value = "priced")]
    pub policy: String,
    /// Run `avocet` on sources that publish
    #[arg(long)]
    pub live: bool,
    /// Seconds in which the four days of a live run are replayed
    #[arg(long, value_name = "N", default_value_t = 900, value_parser = clap::value_parser!(u32).range(30..=86_400))]
    pub seconds: u32,
    /// Seed of the world of a live run
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub seed: u64,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// One row of the table.
#[derive(Debug, Serialize, Deserialize)]
pub struct SourcesCell {
    /// Known sources.
    pub sources: u32,
    /// Polls to time.
    pub decisions: u32,
    /// The scheduler.
    pub policy: String,
}

/// Runs the benchmark and prints the table.
pub fn run(options: &SourcesOptions, place: &Path) -> Result<()> {
    if options.live {
        return live::run(options, place);
    }
    let mut rows = Vec::new();
    for &sources in &options.sources {
        eprintln!("{sources} sources");
        let cell = SourcesCell {
            sources,
            decisions: options.decisions,
            policy: options.policy.clone(),
        };
        rows.push(child::measure("sources-cell", &cell, place)?.0);
    }
    let policy = options.policy.clone();
    report::print(&SourcesReport { policy, rows }, options.json)
}

/// Measures plans and choices in this process.
pub fn run_cell(options: &SourcesCell) -> Result<()> {
    let before = resident();
    let mut sources = polled_sources(options)?;
    let bytes = resident().saturating_sub(before) as f64;
    let mut plan = |at: u64| {
        let history = polled_for(0, at / HOUR, BEGIN);
        let began = thread_time();
        sources.observe(&Fact::Visited(VisitFact {
            page: Number(0),
            before: &history,
            after: &history,
        }));
        (thread_time() - began).as_secs_f64()
    };
    // All clicks are new to the first plan. No click is reported between the two plans.
    let (anew, again) = (plan(3 * DAY), plan(3 * DAY + DAY / 2));
    ensure!(
        sources.accounts().any(|account| account.clicked),
        "no source has clicks"
    );
    let choices = choose(options)?;
    let measured = PlanCost {
        sources: options.sources.into(),
        anew,
        again,
        decisions: choices.made.into(),
        looks: choices.looks as f64 / f64::from(choices.made),
        decision: choices.nanoseconds(),
        bytes_a_source: bytes / f64::from(options.sources),
    };
    println!("{}", serde_json::to_string(&measured)?);
    Ok(())
}

fn scheduled(options: &SourcesCell, settings: SourceRules) -> Result<Sources> {
    let scheduler = Catalog::standard().scheduler(&options.policy)?;
    Ok(Sources::new(scheduler, settings))
}

/// Returns sources that were polled for two days and named articles, which were clicked.
fn polled_sources(options: &SourcesCell) -> Result<Sources> {
    let per_second = f64::from(options.sources) / ROUND as f64;
    let settings = SourceRules {
        per_second,
        ..SourceRules::default()
    };
    let mut sources = scheduled(options, settings)?;
    let found = |page: u32, host: u32, at: Moment, on: Option<u32>| {
        let url = format!("http://host-{host}.example/news/a-page-with-words-{page}");
        (url, page, host, at, on)
    };
    let mut discover = |(url, page, host, at, on): (String, u32, u32, Moment, Option<u32>)| {
        sources.observe(&Fact::Discovered(Discovered {
            page: Number(page),
            url: &url,
            host,
            depth: u16::from(on.is_some()),
            seed: on.is_none(),
            at,
            appeared: on.map(|on| Appeared {
                on: Number(on),
                after: BEGIN,
            }),
        }));
    };
    (0..options.sources).for_each(|source| discover(found(source, source / 10, BEGIN, None)));
    let later = |hours: u64| BEGIN + Duration::from_secs(hours * HOUR);
    for article in 0..ARTICLES * options.sources {
        let on = article % options.sources;
        let page = options.sources + article;
        discover(found(
            page,
            on / 10,
            later(u64::from(article % 40)),
            Some(on),
        ));
    }
    for source in 0..options.sources {
        let history = polled_for(source, 48, BEGIN);
        sources.observe(&Fact::Visited(VisitFact {
            page: Number(source),
            before: &History::discovered(BEGIN, 0),
            after: &history,
        }));
    }
    for article in 0..ARTICLES * options.sources {
        sources.observe(&Fact::Shown(Shown {
            page: Number(options.sources + article),
            at: later(u64::from(article % 40) + u64::from(mixed(article) % 9)),
            views: 1.0,
            clicks: f64::from(mixed(article) % 5),
        }));
    }
    Ok(sources)
}

/// Returns the history of a source that was polled every twelve hours for `hours` after `since`.
fn polled_for(source: u32, hours: u64, since: Moment) -> History {
    let first = History::discovered(BEGIN, 0).after(Visit::new(since, Outcome::Changed));
    (1..=hours / 12).fold(first, |history, poll| {
        let at = since + Duration::from_secs(poll * 12 * HOUR);
        let visit = Visit::new(at, Outcome::Changed);
        history.after(visit).named(mixed(source ^ poll as u32) % 3)
    })
}

/// Chooses polls among sources that all have a due time.
fn choose(options: &SourcesCell) -> Result<TimedChoices> {
    let per_second = f64::from(options.sources) / ROUND as f64;
    let upkeep = Upkeep {
        budget: Some(per_second),
        ..Upkeep::default()
    };
    // No plan happens here: plans are timed separately.
    let settings = SourceRules {
        per_second,
        replan: Duration::from_secs(10_000 * DAY),
        ..SourceRules::default()
    };
    let policy = Crawl {
        refresh: Some(Catalog::standard().refresh("freshness", &upkeep)?),
        sources: Some(scheduled(options, settings)?),
        ..Crawl::default()
    };
    let manners = Manners {
        pages_per_visit: 1,
        ..Manners::default()
    };
    let mut frontier =
        Frontier::new(policy, Box::new(Quality), Price::LEAST, manners, 1).with_budget(per_second);
    let mut polled = PolledHistories(vec![None; options.sources as usize]);
    for source in 0..options.sources {
        let text = format!("http://host-{source}.example/");
        let url = PageUrl::parse(&text).with_context(|| text.clone())?;
        let link = FrontierLink {
            url: &url,
            depth: 0,
            hops: 0,
            source: None,
            absent: None,
        };
        let (_, fact) = frontier.hear(link, BEGIN);
        frontier.committed(&[fact]);
    }
    // The first round is not timed. It follows the budget: if all sources were polled at the same
    // time, none would soon be worth another poll.
    let step = Duration::from_secs_f64(1.0 / per_second);
    let begin = BEGIN + Duration::from_secs(48 * HOUR);
    choosing::choose(
        &mut frontier,
        &mut polled,
        (begin, step),
        options.sources,
        thread_time,
    )?;
    let now = begin + Duration::from_secs(ROUND);
    choosing::choose(
        &mut frontier,
        &mut polled,
        (now, step),
        options.decisions,
        thread_time,
    )
}

/// The history of each source; `None` before its first poll.
struct PolledHistories(Vec<Option<History>>);

impl PageHistories for PolledHistories {
    fn history(&self, page: Number) -> History {
        let new = History::discovered(BEGIN, 0);
        self.0[page.index()].unwrap_or(new)
    }

    fn visit(&mut self, page: Number, now: Moment) -> History {
        let known = match &self.0[page.index()] {
            Some(history) => {
                let new = mixed(history.finds.total ^ page.0) % 3;
                history.after(Visit::new(now, Outcome::Changed)).named(new)
            }
            // The first poll stands for two days of polls that end now.
            None => {
                let since = now.micros() - 48 * HOUR * 1_000_000;
                polled_for(page.0, 48, Moment::from_micros(since))
            }
        };
        self.0[page.index()] = Some(known);
        known
    }
}

impl fmt::Display for SourcesReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "CPU time of one core; scheduler {}", self.policy)?;
        writeln!(
            f,
            "{:>10} {:>12} {:>13} {:>10} {:>8} {:>14} {:>14}",
            "sources",
            "s, all new",
            "s, none new",
            "decisions",
            "looks",
            "ns a decision",
            "bytes a source"
        )?;
        for row in &self.rows {
            writeln!(
                f,
                "{:>10} {:>12.3} {:>13.3} {:>10} {:>8.1} {:>14.0} {:>14.0}",
                row.sources,
                row.anew,
                row.again,
                row.decisions,
                row.looks,
                row.decision,
                row.bytes_a_source
            )?;
        }
        Ok(())
    }
}
