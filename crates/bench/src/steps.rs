//! `bench steps`: the time of every step of the crawl core, at the size of a large crawl.
//!
//! The driver is the core alone: a ledger in memory, a clock that jumps, and one site with sitemaps
//! of the size that the protocol allows. Each step is timed in CPU time of its thread, so a step
//! does not count the time in which other processes had the core of the processor. The crawl runs
//! several times, and the least time of each step counts.
//!
//! **Invariant:** every run makes the same steps. Otherwise the benchmark ends with an error.

mod site;

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use clap::Args;
use crawl::scope::{Reach, ScopeRules};
use crawl::{
    Action, Again, Answered, Begun, Claim, ConnectionId, ConnectionState, Core, Event, Judged,
    Opened, Plan, Policies, Reply, RobotsFile, Scope, Stored, VisitId, Work,
};
use frontier::{Entry, MemoryLedger, PageKey, Probe};
use node::settings::Settings;
use node::settings::policies::{ChosenPolicies, PolicySettings};
use page::url::traps::Rules;
use policy::{History, Moment};
use serde::Serialize;

use crate::machine::thread_time;
use crate::report;
use site::StepsSite;

/// The time at which the crawl begins.
const BEGIN: Moment = Moment::from_micros(1_700_000_000_000_000);
/// Time from a request to its answer.
const LATENCY: Duration = Duration::from_millis(5);
/// Time from a commit to its confirmation.
const COMMIT: Duration = Duration::from_millis(2);
/// Least time from one step to the next, as if each step took this long.
const STEP: Duration = Duration::from_micros(100);
/// Shares of the steps whose longest time is printed.
const SHARES: [f64; 5] = [0.5, 0.99, 0.999, 0.9999, 1.0];

/// Options of `bench steps`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench steps
  cargo xtask bench steps --sitemaps 2 --visits 2000 --runs 3

Runs the crawl core as `avocet run` does, with its default policies, on an invented site. Needs about 2 GB of memory.")]
pub struct StepsOptions {
    /// Sitemaps of the site
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=200))]
    pub sitemaps: u32,
    /// Entries of each sitemap
    #[arg(long, value_name = "N", default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..=50_000))]
    pub entries: u32,
    /// Pages to fetch
    #[arg(long, value_name = "N", default_value_t = 50_000)]
    pub visits: u64,
    /// Fetches per second
    #[arg(long, value_name = "N", default_value_t = 300.0)]
    pub budget: f64,
    /// Runs of the same crawl; the least time of each step counts
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=20))]
    pub runs: u32,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// The figures of `bench steps`.
#[derive(Debug, Serialize)]
struct StepsReport {
    /// URLs known at the end.
    urls: u64,
    /// Pages fetched.
    fetched: u64,
    /// Steps of one run.
    steps: usize,
    /// Total time of all steps, in seconds.
    seconds: f64,
    rows: Vec<StepQuantile>,
    /// Steps over one millisecond.
    long: usize,
    /// The longest steps.
    longest: Vec<LongStep>,
}

#[derive(Debug, Serialize)]
struct StepQuantile {
    /// Share of the steps that take at most this time.
    share: f64,
    microseconds: f64,
}

#[derive(Debug, Serialize)]
struct LongStep {
    /// Its number in the run, from 0.
    number: usize,
    /// The event of the step.
    event: &'static str,
    /// URLs in the ledger when it began.
    urls: usize,
    microseconds: f64,
}

/// One step of one run.
#[derive(Debug, Clone, Copy)]
struct TimedStep {
    number: usize,
    event: &'static str,
    urls: usize,
    took: Duration,
}

/// Runs the benchmark and prints the table.
pub fn run(options: &StepsOptions) -> Result<()> {
    let report = measure(options)?;
    report::print(&report, options.json)
}

fn measure(options: &StepsOptions) -> Result<StepsReport> {
    let mut least: Vec<TimedStep> = Vec::new();
    let (mut urls, mut fetched) = (0, 0);
    for run in 0..options.runs {
        eprintln!("run {} of {}", run + 1, options.runs);
        let mut driver = StepsDriver::new(options)?;
        driver.run(options.visits);
        (urls, fetched) = (driver.ledger.len() as u64, driver.fetched);
        if run == 0 {
            least = driver.steps;
            continue;
        }
        ensure!(
            driver.steps.len() == least.len(),
            "run {} made {} steps, but run 1 made {}",
            run + 1,
            driver.steps.len(),
            least.len()
        );
        for (least, step) in least.iter_mut().zip(driver.steps) {
            ensure!(
                least.event == step.event,
                "the runs have different events: {} and {}",
                least.event,
                step.event
            );
            least.took = least.took.min(step.took);
        }
    }
    Ok(summary(least, urls, fetched))
}

fn summary(mut steps: Vec<TimedStep>, urls: u64, fetched: u64) -> StepsReport {
    let micros = |took: Duration| took.as_secs_f64() * 1e6;
    steps.sort_unstable_by_key(|step| step.took);
    let count = steps.len();
    let total: Duration = steps.iter().map(|step| step.took).sum();
    let rows = SHARES.iter().filter_map(|&share| {
        let last = ((count as f64 * share).ceil() as usize).clamp(1, count.max(1));
        let step = steps.get(last - 1)?;
        Some(StepQuantile {
            share,
            microseconds: micros(step.took),
        })
    });
    let rows = rows.collect();
    let millisecond = Duration::from_millis(1);
    let longest = steps.iter().rev().take(10).map(|step| LongStep {
        number: step.number,
        event: step.event,
        urls: step.urls,
        microseconds: micros(step.took),
    });
    StepsReport {
        urls,
        fetched,
        steps: count,
        seconds: total.as_secs_f64(),
        rows,
        long: steps.iter().filter(|step| step.took > millisecond).count(),
        longest: longest.collect(),
    }
}

impl fmt::Display for StepsReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            out,
            "{} URLs, {} pages fetched, {} steps in {:.1} s of CPU time",
            self.urls, self.fetched, self.steps, self.seconds
        )?;
        writeln!(out, "share of steps   longest, µs")?;
        for row in &self.rows {
            let share = format!("{} %", row.share * 100.0);
            writeln!(out, "{share:>14} {:>13.1}", row.microseconds)?;
        }
        writeln!(out, "{} steps over 1 ms; the longest steps:", self.long)?;
        for step in &self.longest {
            writeln!(
                out,
                "{:>28.1}  step {}: {}, with {} URLs in the ledger",
                step.microseconds, step.number, step.event, step.urls
            )?;
        }
        Ok(())
    }
}

/// A request under way.
enum UnderWay {
    Event(Event<()>),
    Page {
        visit: VisitId,
        connection: ConnectionId,
        claim: Arc<Claim>,
    },
}

/// Drives the core on the invented site, and times its steps.
struct StepsDriver {
    core: Core<()>,
    ledger: MemoryLedger,
    site: StepsSite,
    now: Moment,
    wake: Option<Moment>,
    later: BTreeMap<(Moment, u64), UnderWay>,
    scheduled: u64,
    /// Answers given over each connection.
    served: BTreeMap<ConnectionId, u32>,
    fetched: u64,
    steps: Vec<TimedStep>,
}

impl StepsDriver {
    fn new(options: &StepsOptions) -> Result<Self> {
        let site = StepsSite {
            sitemaps: options.sitemaps,
            entries: options.entries,
        };
        let rules = ScopeRules {
            seeds: vec![site.home().as_str().to_owned()],
            reach: Reach::Host,
            ..ScopeRules::default()
        };
        let scope = Scope::new(&rules, Rules::default())?;
        let plan = Plan {
            seeds: vec![site.home()],
            connections: 64,
            delay: Some(Duration::ZERO),
            again: Again::Always {
                budget: options.budget,
            },
            ..Plan::default()
        };
        let mut settings = Settings::default();
        settings.budget.fetches_per_second = Some(options.budget);
        let nowhere = std::path::Path::new("");
        let choice = PolicySettings::new(&settings, nowhere, true).choose()?;
        let ledger = MemoryLedger::default();
        let policies = policies(choice).of_plan(&plan);
        let Ok(Begun { core, .. }) =
            Core::begin(plan, scope, policies, &ledger, |_, _| {}, 7, BEGIN);
        Ok(Self {
            core,
            ledger,
            site,
            now: BEGIN,
            wake: Some(BEGIN),
            later: BTreeMap::new(),
            scheduled: 0,
            served: BTreeMap::new(),
            fetched: 0,
            steps: Vec::new(),
        })
    }

    /// Runs until the pages are fetched.
    fn run(&mut self, visits: u64) {
        while self.fetched < visits {
            let answer = self.later.keys().next().map(|(at, _)| *at);
            let wake = self.wake.map(|wake| wake.max(self.now));
            let Some(next) = [answer, wake].into_iter().flatten().min() else {
                return;
            };
            self.now = next.max(self.now + STEP);
            let event = match self.later.first_entry() {
                Some(first) if first.key().0 <= next => match first.remove() {
                    UnderWay::Event(event) => event,
                    UnderWay::Page {
                        visit,
                        connection,
                        claim,
                    } => self.answer(visit, connection, &claim),
                },
                _ => Event::Woken,
            };
            self.step(event);
        }
    }

    fn step(&mut self, event: Event<()>) {
        let name = name(&event);
        let mut actions = Vec::new();
        self.wake = None;
        let begun = thread_time();
        self.core.step(event, self.now, &mut actions);
        let took = thread_time().saturating_sub(begun);
        self.steps.push(TimedStep {
            number: self.steps.len(),
            event: name,
            urls: self.ledger.len(),
            took,
        });
        for action in actions {
            self.carry_out(action);
        }
    }

    fn carry_out(&mut self, action: Action<()>) {
        let (after, event) = match action {
            Action::LoadPages { visit, pages, host } => {
                let facts = host.and_then(|host| self.ledger.host(host)).cloned();
                let event = Event::PagesLoaded {
                    visit,
                    pages: pages.into_iter().map(|key| self.stored(key)).collect(),
                    host: facts.map(|facts| (facts, None)),
                };
                (Duration::ZERO, event)
            }
            Action::LoadHistories(pages) => {
                let histories = pages.into_iter().map(|key| (key, self.history(key)));
                (Duration::ZERO, Event::HistoriesLoaded(histories.collect()))
            }
            Action::LoadVisits(pages) => {
                let visited = |key: PageKey| (key, self.ledger.visited(key).cloned());
                let visits = pages.into_iter().map(visited).collect();
                (Duration::ZERO, Event::VisitsLoaded(visits))
            }
            Action::Resolve { visit, .. } => {
                let address = Ok(Some(StepsSite::ADDRESS));
                (Duration::ZERO, Event::Resolved { visit, address })
            }
            Action::Connect {
                visit, connection, ..
            } => {
                self.served.insert(connection, 0);
                let opened = Ok(Opened {
                    address: StepsSite::ADDRESS,
                    connect_time: LATENCY,
                    took: LATENCY,
                    width: 1,
                });
                (LATENCY, Event::Connected { visit, opened })
            }
            Action::AskRules {
                visit, connection, ..
            } => {
                let event = Event::RulesArrived {
                    visit,
                    file: RobotsFile::Missing,
                    retry_after: None,
                    bytes: 0,
                    connection: self.serve(connection),
                };
                (LATENCY, event)
            }
            Action::Probe {
                visit, connection, ..
            } => {
                let event = Event::Probed {
                    visit,
                    found: Some(Probe::Honest),
                    reply: None,
                    bytes: 0,
                    connection: self.serve(connection),
                };
                (LATENCY, event)
            }
            Action::Get(get) => {
                for request in get.requests {
                    let page = UnderWay::Page {
                        visit: get.visit,
                        connection: get.connection,
                        claim: request.claim,
                    };
                    self.schedule(LATENCY, page);
                }
                return;
            }
            Action::Commit(work) => return self.commit(work),
            Action::WakeAt(moment) => {
                self.wake = Some(moment);
                return;
            }
            Action::Close(connection) => {
                self.served.remove(&connection);
                return;
            }
            Action::Finish
            | Action::Offer(_)
            | Action::Reached(_)
            | Action::Keep(_)
            | Action::Note(_)
            | Action::Abandon(_) => return,
        };
        self.schedule(after, UnderWay::Event(event));
    }

    fn schedule(&mut self, after: Duration, what: UnderWay) {
        self.scheduled += 1;
        self.later.insert((self.now + after, self.scheduled), what);
    }

    /// Counts an answer over a connection, which stays open.
    fn serve(&mut self, connection: ConnectionId) -> ConnectionState {
        let served = self.served.entry(connection).or_default();
        *served += 1;
        ConnectionState {
            open: true,
            served: *served,
        }
    }

    fn answer(&mut self, visit: VisitId, connection: ConnectionId, claim: &Claim) -> Event<()> {
        self.fetched += 1;
        let judged = Judged {
            verdict: self.site.judge(claim, self.now),
            sealed: None,
            reply: Reply {
                status: 200,
                retry_after: None,
            },
            first_byte: LATENCY,
            took: LATENCY,
        };
        Event::Answered {
            visit,
            page: claim.number,
            answer: Answered::Page(Box::new(judged)),
            connection: self.serve(connection),
        }
    }

    /// Commits facts, and reports them as the committer of the live crawl does.
    fn commit(&mut self, work: Work<()>) {
        let mut requests = 0;
        let mut facts = Vec::new();
        match work {
            Work::Facts(entries) => facts = entries,
            Work::Pages(records) => {
                for record in records {
                    requests += usize::from(record.asked);
                    facts.extend(record.admitted);
                    facts.push(Entry::Visited(record.key, Box::new(record.visited)));
                }
            }
            Work::Drop(_) => return,
        }
        self.ledger.commit(&facts);
        for event in Event::committed(facts, requests, Vec::new()) {
            self.schedule(COMMIT, UnderWay::Event(event));
        }
    }

    fn stored(&self, key: PageKey) -> Stored {
        Stored {
            key,
            discovery: self.ledger.discovery(key).cloned(),
            visited: self.ledger.visited(key).cloned(),
        }
    }

    fn history(&self, key: PageKey) -> Option<History> {
        let visited = self.ledger.visited(key).map(|visited| visited.history);
        visited.or_else(|| {
            let found = self.ledger.discovery(key)?;
            Some(History::discovered(found.at, found.depth))
        })
    }
}

/// Returns the policies of the core.
pub fn policies(choice: ChosenPolicies) -> Policies {
    Policies {
        order: choice.order,
        refresh: choice.refresh,
        sources: choice.sources,
        listings: choice.listings,
        least: choice.least,
        strategy: choice.strategy,
    }
}

fn name(event: &Event<()>) -> &'static str {
    match event {
        Event::Woken => "woken",
        Event::PagesLoaded { .. } => "pages loaded",
        Event::HistoriesLoaded(_) => "histories loaded",
        Event::VisitsLoaded(_) => "visits loaded",
        Event::Resolved { .. } => "resolved",
        Event::Connected { .. } => "connected",
        Event::RulesArrived { .. } => "rules arrived",
        Event::Probed { .. } => "probed",
        Event::Answered { .. } => "answered",
        Event::ConnectionClosed(_) => "connection closed",
        Event::Committed { .. } => "committed",
        Event::Offered(_) => "offered",
        Event::Mark(_) => "mark",
        Event::Searched(_) => "searched",
        Event::BudgetChanged(_) => "budget changed",
        Event::AddressesShared(_) => "addresses shared",
        Event::Paused(_) => "paused",
        Event::Stopped => "stopped",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_site_is_crawled_in_the_same_steps_twice() {
        let options = StepsOptions {
            sitemaps: 2,
            entries: 700,
            visits: 400,
            budget: 300.0,
            runs: 2,
            json: false,
        };
        let report = measure(&options).unwrap();
        assert_eq!(report.fetched, 400);
        assert_eq!(report.urls, 1 + 2 + 2 * 700, "all entries are known");
        let times: Vec<f64> = report.rows.iter().map(|row| row.microseconds).collect();
        assert!(times.is_sorted(), "{times:?}");
        assert_eq!(report.rows.len(), SHARES.len());
    }

    #[test]
    fn quantiles_are_the_longest_times_of_their_share() {
        let step = |took: u64| TimedStep {
            number: 0,
            event: "woken",
            urls: 0,
            took: Duration::from_micros(took),
        };
        let report = summary((1..=2000).rev().map(step).collect(), 0, 0);
        let times: Vec<f64> = report.rows.iter().map(|row| row.microseconds).collect();
        assert_eq!(
            times.iter().map(|time| time.round()).collect::<Vec<_>>(),
            [1000.0, 1980.0, 1998.0, 2000.0, 2000.0]
        );
        assert_eq!(report.long, 1000);
        assert_eq!(report.longest.len(), 10);
    }
}
