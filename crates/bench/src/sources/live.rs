//! `bench sources --live`: the time from publication of an article until search finds it.
//!
//! A server on loopback publishes the articles of an invented world, `avocet run` polls within a
//! budget, and simulated people click the articles that search finds.
//!
//! **Invariant:** both schedulers (`bfs` and the one of `--policy`) see the same world at the same
//! time on the same machine, with the same budget. Each has its own server, store and click log,
//! so neither learns from the other.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use lab::loopback::{Had, Trial};
use repository::index::Index;
use repository::log::{Click, EventLog};
use serde::Serialize;
use tokio::runtime;

use super::SourcesOptions;
use crate::program::AvocetProgram;
use crate::report;

const DAYS: f64 = Trial::DAYS;
const DAY: f64 = 86_400.0;
/// Seconds between two times at which `avocet` makes new documents searchable.
const INDEX_EVERY: f64 = 15.0;
/// The time between two reads of the index. After each read, the new clicks are logged.
const LOOK: Duration = Duration::from_millis(200);

/// The results of one scheduler.
#[derive(Debug, Serialize)]
struct LiveResult {
    policy: String,
    polls: u64,
    /// Numbers of articles published, fetched, and found by search.
    published: usize,
    fetched: usize,
    found: usize,
    /// Simulated hours from publication to fetch.
    fetched_after: Delay,
    /// Simulated hours from publication until search finds the article.
    found_after: Delay,
    /// The share of the clicks in the second half of the run that are on articles which search
    /// found before the click.
    clicks_served: f64,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct Delay {
    mean: f64,
    median: f64,
}

impl Delay {
    /// Returns mean and median, in hours, of delays in seconds.
    fn of(mut seconds: Vec<f64>) -> Self {
        seconds.sort_by(f64::total_cmp);
        let middle = seconds.get(seconds.len() / 2);
        Self {
            mean: seconds.iter().sum::<f64>() / seconds.len().max(1) as f64 / 3600.0,
            median: middle.copied().unwrap_or(f64::NAN) / 3600.0,
        }
    }
}

#[derive(Debug, Serialize)]
struct LiveReport {
    budget: f64,
    seconds: u32,
    rows: Vec<LiveResult>,
}

/// A running crawl.
struct LiveCrawl {
    policy: String,
    trial: Trial,
    child: Child,
    store: PathBuf,
    index: Option<Index>,
    clicks: EventLog<Click>,
}

/// Runs both schedulers and prints the table.
pub fn run(options: &SourcesOptions, place: &Path) -> Result<()> {
    let program = AvocetProgram::build()?;
    let speed = DAYS * DAY / f64::from(options.seconds);
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let mut running = Vec::new();
    let mut listening = Vec::new();
    for policy in ["bfs", &options.policy] {
        let _entered = runtime.enter();
        let trial = Trial::begin(options.seed, speed, Had::Found)?;
        let listens = runtime.block_on(trial.press.listen(None))?;
        running.push(start(
            &program,
            place,
            policy,
            trial,
            &listens.url(),
            options,
        )?);
        listening.push(listens);
    }
    while !running.iter().all(|crawl| crawl.trial.is_over()) {
        std::thread::sleep(LOOK);
        for crawl in &mut running {
            crawl.update()?;
        }
    }
    for crawl in &mut running {
        let status = crawl.child.wait().context("cannot wait for avocet")?;
        ensure!(status.success(), "avocet run ended with {status}");
    }
    let report = LiveReport {
        budget: Trial::BUDGET,
        seconds: options.seconds,
        rows: running.iter().map(LiveCrawl::earned).collect(),
    };
    report::print(&report, options.json)
}

fn start(
    program: &AvocetProgram,
    place: &Path,
    policy: &str,
    trial: Trial,
    proxy: &str,
    options: &SourcesOptions,
) -> Result<LiveCrawl> {
    let store = place.join(policy);
    fs::create_dir_all(&store)?;
    let speed = DAYS * DAY / f64::from(options.seconds);
    // Converts simulated time to real time, at least a second.
    let here = |seconds: f64| format!("{}ms", (seconds / speed * 1000.0).ceil().max(1000.0));
    let settings = format!(
        "[crawl]\nscope = \"any\"\n[source]\npolicy = {policy:?}\nreplan = {:?}\nbin = {:?}\nolder_than = {:?}\n",
        here(1800.0),
        here(1200.0),
        here(3.0 * DAY),
    );
    fs::write(store.join("avocet.toml"), settings)?;
    let seeds: String = trial
        .press
        .sources()
        .iter()
        .map(|source| format!("{source}\n"))
        .collect();
    let list = place.join("seeds");
    fs::write(&list, seeds)?;
    let budget = format!("{}/s", Trial::BUDGET * speed);
    let child = Command::new(program.path())
        .args(["run", "--json", "--delay", "0s", "--proxy", proxy])
        .args(["--budget", &budget])
        .args(["--time", &format!("{}s", options.seconds)])
        .arg("--seeds")
        .arg(&list)
        .arg("--store")
        .arg(&store)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .context("cannot start avocet")?;
    Ok(LiveCrawl {
        policy: policy.to_owned(),
        clicks: EventLog::open(&store.join("log")),
        trial,
        child,
        store,
        index: None,
    })
}

impl LiveCrawl {
    /// Records which articles search finds now, and logs the clicks on them since the last call.
    fn update(&mut self) -> Result<()> {
        let place = self.store.join("index");
        if self.index.is_none() && place.join("meta.json").exists() {
            self.index = Index::open(&place).ok();
        }
        if let Some(index) = &self.index {
            index.refresh()?;
            index.ids(|page| self.trial.press.found(page))?;
        }
        let clicks = self.trial.clicks().into_iter();
        let lines: Vec<Click> = clicks
            .map(|(time, url, clicks)| Click {
                time,
                url: url.as_str().to_owned(),
                count: u64::from(clicks),
                query: None,
                rank: None,
            })
            .collect();
        self.clicks.append_all(&lines)?;
        Ok(())
    }

    fn earned(&self) -> LiveResult {
        let (press, end) = (&self.trial.press, self.trial.end());
        let (fetched, published) = press.delays(end);
        let found = press.delays_to_search(end);
        LiveResult {
            policy: self.policy.clone(),
            polls: press.polls(),
            published,
            fetched: fetched.len(),
            found: found.len(),
            fetched_after: Delay::of(fetched),
            found_after: Delay::of(found),
            clicks_served: self.trial.served(),
        }
    }
}

impl Drop for LiveCrawl {
    /// Ends the crawl if the benchmark fails.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl fmt::Display for LiveReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{DAYS} days in {} s, {} fetches per simulated second",
            self.seconds, self.budget
        )?;
        let shown = INDEX_EVERY * DAYS * DAY / f64::from(self.seconds) / 3600.0;
        writeln!(
            f,
            "hours from publication, mean and median; new documents become searchable every {INDEX_EVERY} s, or {shown:.2} simulated hours"
        )?;
        writeln!(
            f,
            "{:<14} {:>6} {:>9} {:>7} {:>6} {:>15} {:>15} {:>13}",
            "policy",
            "polls",
            "published",
            "fetched",
            "found",
            "to fetch",
            "to search",
            "clicks served"
        )?;
        let hours = |delay: Delay| format!("{:.2} / {:.2}", delay.mean, delay.median);
        for row in &self.rows {
            writeln!(
                f,
                "{:<14} {:>6} {:>9} {:>7} {:>6} {:>15} {:>15} {:>12.1}%",
                row.policy,
                row.polls,
                row.published,
                row.fetched,
                row.found,
                hours(row.fetched_after),
                hours(row.found_after),
                row.clicks_served * 100.0
            )?;
        }
        Ok(())
    }
}
