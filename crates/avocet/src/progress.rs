//! What a long run shows while it goes on: a living line on a terminal, a plain one now and then
//! elsewhere. Standard error only.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::engine::plan::Plan;
use crate::engine::shared::Shared;
use crate::live::snapshot::Snapshot;
use crate::logs::{is_json, say};
use crate::store;

/// How often a log gets a line.
const PLAIN_EVERY: Duration = Duration::from_secs(5);

/// How often the state is written.
const RECORD_EVERY: Duration = Duration::from_secs(2);

/// Shows how a crawl goes.
pub struct Progress {
    bar: Option<ProgressBar>,
    quiet: bool,
    last: Instant,
    before: (u64, u64),
    recorded: Option<Instant>,
}

impl Progress {
    /// Shows on standard error.
    pub fn start() -> Self {
        let bar = (std::io::stderr().is_terminal() && !is_json()).then(|| {
            let style = ProgressStyle::with_template("{spinner} {msg}");
            let style = style.unwrap_or_else(|_| ProgressStyle::default_spinner());
            ProgressBar::new_spinner().with_style(style)
        });
        Self {
            bar,
            quiet: false,
            last: Instant::now(),
            before: (0, 0),
            recorded: None,
        }
    }

    /// Shows nothing: somebody else does.
    pub fn quiet() -> Self {
        Self {
            bar: None,
            quiet: true,
            last: Instant::now(),
            before: (0, 0),
            recorded: None,
        }
    }

    /// Shows the state of the crawl, if it is time to.
    pub fn show(&mut self, shared: &Shared, elapsed: Duration, plan: &Plan) {
        let since = self.last.elapsed();
        let pause = if self.bar.is_some() {
            Duration::from_millis(400)
        } else {
            PLAIN_EVERY
        };
        if self.quiet || since < pause {
            return;
        }
        let line = self.line(shared, since, elapsed, plan);
        match &self.bar {
            Some(bar) => {
                bar.set_message(line);
                bar.tick();
            }
            None => say(&line),
        }
        self.last = Instant::now();
    }

    /// Writes the state of the crawl where `avocet status` finds it, now and then. It is a courtesy:
    /// where it cannot be written the crawl goes on.
    pub fn record(&mut self, look: impl FnOnce() -> Arc<Snapshot>, root: &Path) {
        if self.recorded.is_some_and(|at| at.elapsed() < RECORD_EVERY) {
            return;
        }
        self.recorded = Some(Instant::now());
        let snapshot = look();
        write(&snapshot.state, &store::state(root));
        write(&*snapshot, &store::snapshot(root));
    }

    /// Says something once.
    pub fn note(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => say(text),
        }
    }

    /// Takes the living line away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn line(&mut self, shared: &Shared, since: Duration, elapsed: Duration, plan: &Plan) -> String {
        let tally = &shared.tally;
        let done = tally.pages + tally.unchanged;
        let rate = |now: u64, before: u64| (now - before) as f64 / since.as_secs_f64();
        let pages_per_second = rate(done, self.before.0);
        let megabytes = rate(tally.bytes, self.before.1) / 1e6;
        self.before = (done, tally.bytes);
        let errors: Vec<String> = tally
            .errors
            .iter()
            .map(|(kind, count)| format!("{kind} {count}"))
            .collect();
        let mut line = format!(
            "{done} pages, {pages_per_second:.0}/s, {megabytes:.1} MB/s, {} servers open, {} idle, {} queued",
            shared.visits,
            shared.idle_connections(),
            shared.frontier.bench.waiting(),
        );
        if plan.is_continuous() {
            line += &format!(", price {:.3e}", shared.frontier.price().value());
        }
        if let Some(left) = shared.allowance {
            line += &format!(", {left} pages left");
        }
        if let Some(time) = plan.time {
            line += &format!(", {:.0} s left", time.saturating_sub(elapsed).as_secs_f64());
        }
        if !errors.is_empty() {
            line += &format!(" | {}", errors.join(", "));
        }
        line
    }
}

fn write(what: &impl serde::Serialize, path: &Path) {
    let written = serde_json::to_vec(what)
        .map_err(std::io::Error::other)
        .and_then(|bytes| store::replace(path, &bytes));
    if let Err(error) = written {
        tracing::debug!(%error, path = %path.display(), "the state could not be written");
    }
}
