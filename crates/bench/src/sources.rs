//! What does it cost to plan polls of many content sources, and to choose the next?
//!
//! **Invariant:** facts are made before the clock starts. What is timed is one fact that makes `policy::Sources` think everything over, and the production
//! frontier under a budget as it chooses. Plans are told apart: one of sources that all have new clicks, and the next, when none has.

mod live;

use std::env;
use std::fmt;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use frontier::bench::Manners;
use frontier::{Frontier, Link};
use page::PageUrl;
use policy::catalog::{Catalog, Upkeep};
use policy::published::server::Quality;
use policy::source::Settings;
use policy::{
    Appeared, Crawl, Discovered, Fact, History, Moment, Number, Outcome, Price, Shown, Sources,
    Visit, Visited,
};
use serde::{Deserialize, Serialize};

use crate::child;
use crate::choosing::{self, Choices, Pages, mixed};
use crate::cli::{self, SourcesCell};
use crate::machine::{Machine, resident, thread_time};

const HOUR: u64 = 3_600;
const DAY: u64 = 24 * HOUR;
/// When the sources were first read.
const BEGIN: Moment = Moment::from_micros(1_646_092_800_000_000);
/// Articles of each source.
const ARTICLES: u32 = 3;
/// A source is polled every so many seconds, on average.
const ROUND: u64 = DAY;

/// What a process measured of itself.
#[derive(Debug, Serialize, Deserialize)]
struct Planned {
    sources: u64,
    /// Seconds of a plan when all sources have new clicks.
    anew: f64,
    /// Seconds of the next plan, when none has.
    again: f64,
    decisions: u64,
    /// Sources whose history was looked at, for each.
    looks: f64,
    /// Nanoseconds to choose a poll and to make the next appointment.
    decision: f64,
    bytes_a_source: f64,
}

#[derive(Debug, Serialize)]
struct Report {
    command: String,
    machine: Machine,
    policy: String,
    rows: Vec<Planned>,
}

/// Measures, and prints the table.
pub fn run(wishes: &cli::Sources, place: &Path) -> Result<()> {
    if wishes.live {
        return live::run(wishes, place);
    }
    let usual = vec![10_000, 100_000];
    let sizes = match wishes.sources.is_empty() {
        true => usual,
        false => wishes.sources.clone(),
    };
    let mut rows = Vec::new();
    for sources in sizes {
        eprintln!("{sources} sources");
        let asked = [
            "sources-cell".to_owned(),
            sources.to_string(),
            wishes.decisions.to_string(),
            wishes.policy.clone(),
        ];
        let mut command = Command::new(env::current_exe()?);
        let ended = child::run(command.args(&asked), &place.join("errors"))?;
        rows.push(serde_json::from_str(&ended.output).context("a child printed no JSON")?);
    }
    let report = Report {
        command: said(),
        machine: Machine::this(),
        policy: wishes.policy.clone(),
        rows,
    };
    match wishes.json {
        true => println!("{}", serde_json::to_string(&report)?),
        false => print!("{report}"),
    }
    Ok(())
}

/// The command, as a user writes it.
fn said() -> String {
    let arguments = env::args().skip(1).collect::<Vec<_>>().join(" ");
    format!("cargo xtask bench {arguments}")
}

/// Plans and chooses, in this process.
pub fn run_cell(asked: &SourcesCell) -> Result<()> {
    let before = resident();
    let mut sources = told(asked)?;
    let bytes = resident().saturating_sub(before) as f64;
    let mut plan = |at: u64| {
        let history = polled_for(0, at / HOUR, BEGIN);
        let began = thread_time();
        sources.observe(&Fact::Visited(Visited {
            page: Number(0),
            before: &history,
            after: &history,
        }));
        (thread_time() - began).as_secs_f64()
    };
    // Half of the articles are clicked between two plans, at least one of every source.
    let (anew, again) = (plan(3 * DAY), plan(3 * DAY + DAY / 2));
    ensure!(
        sources.accounts().any(|account| account.clicked),
        "nobody clicked"
    );
    let choices = choose(asked)?;
    let measured = Planned {
        sources: asked.sources.into(),
        anew,
        again,
        decisions: choices.made.into(),
        looks: choices.looks as f64 / f64::from(choices.made),
        decision: choices.nanoseconds(),
        bytes_a_source: bytes / f64::from(asked.sources),
    };
    println!("{}", serde_json::to_string(&measured)?);
    Ok(())
}

fn scheduled(asked: &SourcesCell, settings: Settings) -> Result<Sources> {
    let scheduler = Catalog::standard().scheduler(&asked.policy)?;
    Ok(Sources::new(scheduler, settings))
}

/// Sources that were polled for two days and named articles, which were clicked.
fn told(asked: &SourcesCell) -> Result<Sources> {
    let per_second = f64::from(asked.sources) / ROUND as f64;
    let settings = Settings {
        per_second,
        ..Settings::default()
    };
    let mut sources = scheduled(asked, settings)?;
    let found = |page: u32, host: u32, at: Moment, on: Option<u32>| {
        let url = format!("http://host-{host}.example/news/a-page-with-words-{page}");
        (url, page, host, at, on)
    };
    let mut tell = |(url, page, host, at, on): (String, u32, u32, Moment, Option<u32>)| {
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
    (0..asked.sources).for_each(|source| tell(found(source, source / 10, BEGIN, None)));
    let later = |hours: u64| BEGIN + Duration::from_secs(hours * HOUR);
    for article in 0..ARTICLES * asked.sources {
        let on = article % asked.sources;
        let page = asked.sources + article;
        tell(found(
            page,
            on / 10,
            later(u64::from(article % 40)),
            Some(on),
        ));
    }
    for source in 0..asked.sources {
        let history = polled_for(source, 48, BEGIN);
        sources.observe(&Fact::Visited(Visited {
            page: Number(source),
            before: &History::discovered(BEGIN, 0),
            after: &history,
        }));
    }
    for article in 0..ARTICLES * asked.sources {
        sources.observe(&Fact::Shown(Shown {
            page: Number(asked.sources + article),
            at: later(u64::from(article % 40) + u64::from(mixed(article) % 9)),
            views: 1.0,
            clicks: f64::from(mixed(article) % 5),
        }));
    }
    Ok(sources)
}

/// What is known of a source that was polled every twelve hours, for so many hours from then on.
fn polled_for(source: u32, hours: u64, since: Moment) -> History {
    let first = History::discovered(BEGIN, 0).after(Visit::new(since, Outcome::Changed));
    (1..=hours / 12).fold(first, |history, poll| {
        let at = since + Duration::from_secs(poll * 12 * HOUR);
        let visit = Visit::new(at, Outcome::Changed);
        history.after(visit).named(mixed(source ^ poll as u32) % 3)
    })
}

/// Chooses polls among so many sources that all have an appointment.
fn choose(asked: &SourcesCell) -> Result<Choices> {
    let per_second = f64::from(asked.sources) / ROUND as f64;
    let upkeep = Upkeep {
        budget: Some(per_second),
        ..Upkeep::default()
    };
    // Plans are timed elsewhere.
    let settings = Settings {
        per_second,
        replan: Duration::from_secs(10_000 * DAY),
        ..Settings::default()
    };
    let policy = Crawl {
        refresh: Some(Catalog::standard().refresh("freshness", &upkeep)?),
        sources: Some(scheduled(asked, settings)?),
        ..Crawl::default()
    };
    let manners = Manners {
        pages_per_visit: 1,
        ..Manners::default()
    };
    let mut frontier =
        Frontier::new(policy, Box::new(Quality), Price::LEAST, manners, 1).with_budget(per_second);
    let mut polled = Polled(vec![None; asked.sources as usize]);
    for source in 0..asked.sources {
        let text = format!("http://host-{source}.example/");
        let url = PageUrl::parse(&text).with_context(|| text.clone())?;
        let link = Link {
            url: &url,
            depth: 0,
            hops: 0,
            source: None,
            absent: None,
        };
        let (_, fact) = frontier.hear(link, BEGIN);
        frontier.committed(&[fact]);
    }
    // The first round is not timed. It goes as the budget does: polled in one rush, no source would be worth a poll for a while.
    let step = Duration::from_secs_f64(1.0 / per_second);
    let begin = BEGIN + Duration::from_secs(48 * HOUR);
    choosing::choose(
        &mut frontier,
        &mut polled,
        (begin, step),
        asked.sources,
        thread_time,
    )?;
    let now = begin + Duration::from_secs(ROUND);
    choosing::choose(
        &mut frontier,
        &mut polled,
        (now, step),
        asked.decisions,
        thread_time,
    )
}

/// What is known of each source; `None`: it was not polled yet.
struct Polled(Vec<Option<History>>);

impl Pages for Polled {
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
            // It was polled before, all through two days that end now.
            None => {
                let since = now.micros() - 48 * HOUR * 1_000_000;
                polled_for(page.0, 48, Moment::from_micros(since))
            }
        };
        self.0[page.index()] = Some(known);
        known
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "$ {}", self.command)?;
        let machine = &self.machine;
        writeln!(
            f,
            "{} cores, {}; CPU time of one; {}",
            machine.cores, machine.cpu, self.policy
        )?;
        writeln!(
            f,
            "{:>10} {:>12} {:>13} {:>10} {:>8} {:>14} {:>14}",
            "sources",
            "s, all anew",
            "s, none anew",
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
