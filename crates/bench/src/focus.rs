//! `bench focus`: the cost of judging pages and links by a topic.
//!
//! **Invariant:** focused and plain runs alternate. Each fetches every page that can be reached,
//! into its own store. This process serves the pages; its cost is not counted.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use clap::Args;
use lab::loopback::WorldProxy;
use lab::world::{Labels, Linked, World};
use serde::Serialize;
use tokio::runtime;

use crate::child::{self, EndedProcess};
use crate::instructions;
use crate::machine::occupied;
use crate::program::{AvocetProgram, CrawlSummary};
use crate::report::{self, median};

/// Training pages of each class.
const LESSONS: usize = 300;

#[derive(Debug, Serialize)]
struct FocusReport {
    world: String,
    topic: String,
    method: String,
    pages: u64,
    /// The ordering of the plain crawl.
    against: String,
    /// CPU seconds of each run.
    plain: Vec<f64>,
    focused: Vec<f64>,
    /// The share of a focused crawl's CPU time that the plain crawl of the same pair does not need:
    /// the median over the pairs.
    share: f64,
    /// The minimum and the maximum share of any pair.
    shares: [f64; 2],
    /// The same share of instructions in user mode, if they can be counted.
    share_of_instructions: Option<f64>,
    /// Size of the topic on disk, in bytes.
    topic_bytes: u64,
    /// Peak memory of any run, in bytes.
    plain_peak: u64,
    focused_peak: u64,
}

/// Options of `bench focus`.
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  cargo xtask bench focus
  cargo xtask bench focus --world ../shared/data/webkb --target course --runs 5

Crawls a whole web over loopback, with archive and index: by an ordering without a topic, and by a method of focused
crawling whose topic is trained on some of the pages. The random order changes servers as often as the focused one.
Breadth-first stays longer on a server and opens half the connections, so it is cheaper for other reasons than judging.
The runs alternate; CPU time is that of the crawling process alone. If valgrind is installed, the instructions of one
crawl of each kind are counted as well; these do not depend on other load of the machine.")]
pub struct FocusOptions {
    /// A directory with labels and bodies, or invented:topics
    #[arg(long, value_name = "WORLD", default_value = "invented:topics")]
    pub world: String,
    /// The label to use as the topic [default: the first]
    #[arg(long, value_name = "LABEL")]
    pub target: Option<String>,
    /// The method of focused crawling
    #[arg(long, value_name = "METHOD", default_value = "learned")]
    pub focus: String,
    /// The ordering without a topic, for comparison
    #[arg(long, value_name = "ORDER", default_value = "random")]
    pub against: String,
    /// Pages of an invented world
    #[arg(long, value_name = "N", default_value_t = 5000, value_parser = clap::value_parser!(u32).range(100..=100_000))]
    pub pages: u32,
    /// Number of pairs of runs
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub runs: u32,
    /// Print one JSON document instead of the table
    #[arg(long)]
    pub json: bool,
}

/// Runs the benchmark and prints the table.
pub fn run(options: &FocusOptions, place: &Path) -> Result<()> {
    let program = AvocetProgram::build()?;
    let knobs = match options.world.starts_with("invented:") {
        true => vec![("pages".to_owned(), options.pages.to_string())],
        false => Vec::new(),
    };
    let (world, labels) = World::open(&options.world, &knobs, 1)?.topical()?;
    let target = match &options.target {
        Some(name) => name.clone(),
        None => labels
            .names()
            .first()
            .context("no page has a label")?
            .clone(),
    };
    let bench = FocusBench {
        program,
        target,
        method: &options.focus,
        against: &options.against,
        seed: start(&world).to_owned(),
        place,
    };
    let topic_bytes = bench.train(&world, &labels)?;
    let proxy = Arc::new(WorldProxy::new(world));
    let runtime = runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let listening = runtime.block_on(proxy.listen(None))?;
    let proxy = listening.url();
    let mut found: [Vec<(EndedProcess, CrawlSummary)>; 2] = [Vec::new(), Vec::new()];
    for run in 0..options.runs {
        eprintln!("run {} of {}", run + 1, options.runs);
        // The second run of a pair may profit from warm caches, so the order alternates.
        let order = if run % 2 == 0 { [0, 1] } else { [1, 0] };
        for kind in order {
            found[kind].push(bench.crawl(kind == 1, &proxy)?);
        }
    }
    let pages = found[0][0].1.pages;
    let same = found.iter().flatten().all(|(_, run)| run.pages == pages);
    ensure!(
        same && pages > 0,
        "the crawls did not fetch the same number of pages"
    );
    let counted = bench.instructions(&proxy)?;
    let cpu = found.each_ref().map(|runs| seconds(runs));
    let mut pairs = shares(&cpu);
    pairs.sort_by(f64::total_cmp);
    let peak = found.each_ref().map(|runs| {
        let peaks = runs.iter().map(|(ended, _)| ended.peak);
        peaks.max().unwrap_or(0)
    });
    let [plain, focused] = cpu;
    let report = FocusReport {
        world: options.world.clone(),
        topic: bench.target.clone(),
        method: options.focus.clone(),
        pages,
        against: options.against.clone(),
        plain,
        focused,
        share: median(pairs.iter().copied()).unwrap_or(0.0),
        shares: [pairs[0], pairs[pairs.len() - 1]],
        share_of_instructions: counted,
        topic_bytes,
        plain_peak: peak[0],
        focused_peak: peak[1],
    };
    report::print(&report, options.json)
}

struct FocusBench<'a> {
    program: AvocetProgram,
    target: String,
    method: &'a str,
    against: &'a str,
    seed: String,
    place: &'a Path,
}

impl FocusBench<'_> {
    /// Trains the topic on pages written to files. Returns its size in bytes.
    fn train(&self, world: &Linked, labels: &Labels) -> Result<u64> {
        let folders = ["other", "topic"].map(|name| self.place.join(name));
        let mut counts = [0, 0];
        for folder in &folders {
            fs::create_dir_all(folder)?;
        }
        for page in 0..labels.pages() {
            let mut names = labels
                .of(page)
                .iter()
                .map(|&label| &labels.names()[label as usize]);
            let on = usize::from(names.any(|name| *name == self.target));
            if let Some((title, text)) = world.text(page).filter(|_| counts[on] < LESSONS) {
                let file = folders[on].join(format!("{page}.txt"));
                fs::write(file, format!("{title}\n{text}"))?;
                counts[on] += 1;
            }
        }
        let mut command = Command::new(self.program.path());
        command.args(["topic", "train", "topic", "--json", "--positive"]);
        command.arg(&folders[1]).arg("--negative").arg(&folders[0]);
        command.arg("--store").arg(self.place.join("taught"));
        child::run(&mut command, &self.errors())?;
        Ok(occupied(&self.place.join("taught/topics")))
    }

    fn crawl(&self, focused: bool, proxy: &str) -> Result<(EndedProcess, CrawlSummary)> {
        let ended = child::run(&mut self.command(focused, proxy)?, &self.errors())?;
        self.clear()?;
        let summary = serde_json::from_str(&ended.output)
            .context("cannot parse the output of avocet crawl")?;
        Ok((ended, summary))
    }

    /// Returns the share of a focused crawl's instructions that the plain crawl does not need.
    fn instructions(&self, proxy: &str) -> Result<Option<f64>> {
        if !instructions::can_count() {
            return Ok(None);
        }
        let count = |focused| -> Result<f64> {
            eprintln!("counting instructions");
            let count = instructions::count(&self.command(focused, proxy)?, &self.errors())?;
            self.clear()?;
            Ok(count as f64)
        };
        Ok(Some(1.0 - count(false)? / count(true)?))
    }

    /// Returns the command of a crawl into a new store that holds only the topic.
    fn command(&self, focused: bool, proxy: &str) -> Result<Command> {
        let store = self.store();
        fs::create_dir_all(store.join("topics"))?;
        fs::copy(
            self.place.join("taught/topics/topic.json"),
            store.join("topics/topic.json"),
        )?;
        let mut command = Command::new(self.program.path());
        command.args([
            "crawl", &self.seed, "--json", "--scope", "any", "--delay", "0s",
        ]);
        command.args(["--proxy", proxy, "--connections", "16"]);
        match focused {
            true => command.args(["--topic", "topic", "--focus", self.method]),
            false => command.args(["--order", self.against]),
        };
        command.arg("--store").arg(&store);
        Ok(command)
    }

    fn clear(&self) -> Result<()> {
        fs::remove_dir_all(self.store()).context("cannot remove the store")
    }

    fn store(&self) -> PathBuf {
        self.place.join("store")
    }

    fn errors(&self) -> PathBuf {
        self.place.join("errors.txt")
    }
}

/// Returns the page, of a sample of about 200, from which most pages can be reached.
fn start(world: &Linked) -> &str {
    let graph = world.graph();
    let step = (graph.pages() / 200).max(1);
    let pages = (0..graph.pages()).step_by(step);
    let best = pages.max_by_key(|page| graph.reachable(&[*page]).len());
    graph.url(best.unwrap_or(0)).as_str()
}

fn seconds(runs: &[(EndedProcess, CrawlSummary)]) -> Vec<f64> {
    let times = runs.iter().map(|(ended, _)| ended.cpu);
    times.map(|time: Duration| time.as_secs_f64()).collect()
}

/// Returns, for each pair, the share of the focused run's CPU time that the plain run does not
/// need.
fn shares([plain, focused]: &[Vec<f64>; 2]) -> Vec<f64> {
    let pairs = plain.iter().zip(focused);
    pairs
        .map(|(plain, focused)| 1.0 - plain / focused)
        .collect()
}

impl fmt::Display for FocusReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const MEGA: f64 = 1e6;
        writeln!(
            f,
            "{} pages of {}, topic {}",
            self.pages, self.world, self.topic
        )?;
        let each =
            |times: &[f64]| 1e3 * median(times.iter().copied()).unwrap_or(0.0) / self.pages as f64;
        for (name, times, peak) in [
            (&self.against, &self.plain, self.plain_peak),
            (&self.method, &self.focused, self.focused_peak),
        ] {
            writeln!(
                f,
                "  {name:14} {:.3} ms of CPU a page, at most {:.0} MB",
                each(times),
                peak as f64 / MEGA
            )?;
        }
        writeln!(
            f,
            "judging takes {:.1} % of the crawl's CPU ({:.1} to {:.1}); the topic has {:.1} MB",
            100.0 * self.share,
            100.0 * self.shares[0],
            100.0 * self.shares[1],
            self.topic_bytes as f64 / MEGA
        )?;
        match self.share_of_instructions {
            Some(share) => writeln!(f, "and {:.1} % of its instructions", 100.0 * share),
            None => Ok(()),
        }
    }
}
