//! The loop that alone joins the parts: frontier, fetch and repository.
//!
//! Up to `connections` visits run at once. Each takes the lock on the [`shared::Shared`] memory for
//! moments only; what they find goes through it to one [`committer`] thread. A permit is out for
//! every request that is not committed yet, and there are [`plan::Plan::at_risk`] of them: that is the
//! bound on what a kill at any instant can cost.

mod answered;
mod ask;
mod asked;
pub mod begin;
mod claimed;
pub mod collect;
pub mod committer;
pub mod heard;
mod heed;
pub mod host;
pub mod in_links;
mod manners;
#[cfg(test)]
mod paused;
pub mod plan;
mod probe;
mod reach;
mod recorded;
pub mod searches;
pub mod shared;
pub mod tally;
mod unsettled;
mod visit;
mod watched;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, mpsc};
use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use fetch::Fetcher;
use frontier::{Ledger, LedgerError, Next, PageKey, Present};
use policy::{History, Moment};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinSet;
use tracing::warn;

use crate::clock::Clock;
use crate::live::Live;
use crate::panics::{self, POISONED};
use crate::progress::Progress;
use crate::ranking::Choice;
use crate::recover;
use crate::store::Store;
use begin::begin;
use committer::{Committer, Done};
use plan::Plan;
use searches::Searches;
use shared::Shared;
use tally::Summary;
use watched::Said;

pub use answered::timestamp;

/// How long a settled page waits for the rest of its group.
const COMMIT_EVERY: Duration = Duration::from_millis(500);

/// A running crawl.
pub struct Engine {
    plan: Plan,
    clock: Clock,
    fetcher: Fetcher,
    ledger: Arc<Ledger>,
    shared: Mutex<Shared>,
    permits: Semaphore,
    /// Something settled, was offered or failed: look again.
    changed: Notify,
    stop: AtomicBool,
    /// No visit starts while this is so.
    paused: AtomicBool,
    /// Those who watch.
    live: Arc<Live>,
    said: Mutex<Said>,
    /// When facts from the future were first noticed, if there are any.
    noticed_ahead: Option<Moment>,
    failure: Mutex<Option<anyhow::Error>>,
}

/// Crawls until nothing is left to do, a limit is reached, or `interrupted` ends.
pub async fn crawl(
    store: &Store,
    plan: Plan,
    choice: Choice,
    progress: Progress,
    live: &Arc<Live>,
    interrupted: impl Future<Output = ()>,
) -> Result<Summary> {
    let crawled = start(store, plan, choice, progress, live, interrupted).await;
    crawled.map_err(|error| store.explain(error))
}

async fn start(
    store: &Store,
    plan: Plan,
    choice: Choice,
    progress: Progress,
    live: &Arc<Live>,
    interrupted: impl Future<Output = ()>,
) -> Result<Summary> {
    let clock = Clock::start();
    let ledger = Arc::new(store.ledger()?);
    let reserve = store.hold_reserve();
    let writers = recover::writers(store, &ledger, &plan)?;
    let (work, queue) = mpsc::channel();
    let begun = begin(store, &plan, choice, &ledger, clock.now(), work)?;
    begun.notes.iter().for_each(|note| progress.note(note));
    let engine = Arc::new(Engine {
        fetcher: Fetcher::new(plan.fetch.clone())?,
        permits: Semaphore::new(plan.at_risk()),
        shared: Mutex::new(begun.shared),
        noticed_ahead: begun.noticed_ahead,
        changed: Notify::new(),
        stop: AtomicBool::new(false),
        paused: AtomicBool::new(false),
        live: live.clone(),
        said: Mutex::default(),
        failure: Mutex::new(None),
        ledger: ledger.clone(),
        clock,
        plan,
    });
    let committing = engine.clone();
    let buffered = engine.plan.buffer.is_some();
    let thread = std::thread::Builder::new()
        .name("committer".into())
        .spawn(move || {
            let committer = Committer::new(&ledger, writers.archive, writers.index)
                .buffered(buffered)
                .with_reserve(reserve);
            if let Err(error) = committer.run(&queue, |done| committing.committed(&done)) {
                committing.fail(error);
            }
        })?;
    live.runs(engine.clone());
    let ended = engine.run(progress, interrupted, store.root()).await;
    live.ends(engine.snapshot());
    // The committer ends when nobody can send it work any more.
    let summary = engine.finish(store);
    tokio::task::spawn_blocking(move || thread.join())
        .await?
        .ok()
        .context("the committer panicked")?;
    if let Some(error) = engine.failure().take() {
        if engine.plan.index && store.is_full(&error) {
            publish_last_commits(store, &engine.ledger);
        }
        return Err(error);
    }
    store.release_reserve();
    if ended {
        engine.ledger.mark_run(None)?;
    }
    Ok(summary)
}

/// Makes all that the ledger has committed searchable although the disk is full, by giving back the
/// room held in reserve. The index writer of the crawl knew of pages that were not committed, so the
/// index catches up with the ledger as at a start.
fn publish_last_commits(store: &Store, ledger: &Ledger) {
    store.release_reserve();
    if let Err(error) = recover::open_index(store, ledger) {
        warn!("the last pages are searchable when there is room: {error:#}");
    }
}

impl Engine {
    /// Returns whether the crawl came to its own end.
    async fn run(
        self: &Arc<Self>,
        mut progress: Progress,
        interrupted: impl Future<Output = ()>,
        root: &Path,
    ) -> bool {
        let mut tick = tokio::time::interval(COMMIT_EVERY);
        let mut searches = self.plan.is_continuous().then(|| Searches::of(root));
        let mut recorded = None;
        self.tell_of_pause(root, &progress);
        self.tick(self.clock.now());
        tokio::pin!(interrupted);
        let mut done = false;
        let mut visits = JoinSet::new();
        loop {
            let now = self.clock.now();
            let wake = self.start_visits(now, &mut visits);
            if visits.is_empty() && (wake.is_none() || self.stopping()) {
                break;
            }
            let wake = wake.unwrap_or(now + Duration::from_secs(3600));
            tokio::select! {
                // A panic of a visit has raised the alarm.
                Some(_) = visits.join_next() => {}
                () = panics::alarm(), if !self.stopping() => {
                    self.fail(panics::first().unwrap_or_else(|| anyhow!("a panic")));
                }
                () = self.changed.notified() => {}
                () = tokio::time::sleep_until(self.clock.instant(wake)), if !self.stopping() => {}
                () = &mut interrupted, if !done => {
                    done = true;
                    self.stop.store(true, Ordering::Relaxed);
                    progress.note("stopping: waiting for requests under way");
                }
                _ = tick.tick() => {
                    if let Some(searches) = &mut searches {
                        self.follow_searches(searches, now);
                        self.record_sources(&mut recorded, root, now);
                    }
                    let mut shared = self.shared();
                    shared.flush();
                    shared.close_idle(now);
                    progress.show(&shared, self.clock.elapsed(), &self.plan);
                    drop(shared);
                    self.tell_of_pause(root, &progress);
                    self.tick(now);
                    progress.record(|| self.snapshot(), root);
                    if self.plan.time.is_some_and(|time| self.clock.elapsed() >= time) {
                        self.stop.store(true, Ordering::Relaxed);
                    }
                }
            }
        }
        progress.finish();
        if let Some(note) = self.left_for_later() {
            progress.note(&note);
        }
        !done
    }

    /// Says how many pages are left because their servers want to be left alone for longer than a crawl waits.
    fn left_for_later(&self) -> Option<String> {
        let shared = self.shared();
        let left = shared.frontier.bench.waiting();
        let unasked = left > 0 && !self.stopping() && shared.allowance != Some(0);
        unasked.then(|| {
            let most = self.plan.rest().as_secs();
            format!(
                "{left} pages are left: their servers asked to be left alone for more than {most} s; the same command fetches them later"
            )
        })
    }

    /// Starts visits while there is room. Returns when to look again; `None`: nothing waits.
    fn start_visits(self: &Arc<Self>, now: Moment, visits: &mut JoinSet<()>) -> Option<Moment> {
        loop {
            if self.stopping() {
                return None;
            }
            if self.paused() {
                return Some(now + Duration::from_secs(1));
            }
            let mut shared = self.shared();
            if shared.visits >= self.plan.connections {
                return Some(now + Duration::from_secs(1));
            }
            match shared.next(now, |key| self.past(key)) {
                Next::Idle if self.plan.is_continuous() && shared.allowance != Some(0) => {
                    return Some(now + Duration::from_secs(60));
                }
                Next::Idle => return None,
                Next::WaitUntil(moment) => return Some(moment),
                Next::Visit(visit) => {
                    drop(shared);
                    let engine = self.clone();
                    visits.spawn(async move { engine.visits(visit).await });
                }
            }
        }
    }

    /// Makes one visit after another, as long as something is due.
    async fn visits(self: Arc<Self>, first: frontier::Visit) {
        let mut next = Some(first);
        while let Some(visit) = next {
            self.visit(visit).await;
            next = None;
            if !self.resting() {
                let mut shared = self.shared();
                if shared.visits < self.plan.connections
                    && let Next::Visit(visit) = shared.next(self.clock.now(), |key| self.past(key))
                {
                    next = Some(visit);
                }
            }
        }
    }

    fn finish(&self, store: &Store) -> Summary {
        let mut shared = self.shared();
        shared.close();
        let store = store.root().display().to_string();
        Summary {
            store,
            ..shared.summary(self.clock.elapsed())
        }
    }

    fn committed(&self, done: &Done) {
        self.permits.add_permits(done.requests);
        let mut shared = self.shared();
        shared.committed(&done.entries);
        let now = self.clock.now();
        for gain in &done.gains {
            let frontier = &mut shared.frontier;
            frontier.learned(gain.page, &gain.before, &gain.after, now);
        }
    }

    /// From now on there are so many fetches a second, where there is a budget.
    pub fn afford(&self, per_second: f64) {
        let now = self.clock.now();
        self.shared().afford(per_second, now, |key| self.past(key));
        // It may be waiting for a fetch that the other budget would have brought.
        self.changed.notify_one();
    }

    async fn permit(&self) {
        // The semaphore is never closed.
        if let Ok(permit) = self.permits.acquire().await {
            permit.forget();
        }
    }

    /// Whether the user wants nothing new to begin, for now.
    fn paused(&self) -> bool {
        self.paused.load(Ordering::Relaxed)
    }

    /// Whether nothing new is to begin.
    fn resting(&self) -> bool {
        self.stopping() || self.paused()
    }

    fn tell_of_pause(&self, root: &Path, progress: &Progress) {
        if self.look_for_pause(root) {
            progress.note(&format!(
                "paused: nothing new is fetched until `avocet resume --store {}`",
                root.display()
            ));
        }
    }

    fn stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// What the ledger knows of a page that was visited, or only heard of.
    fn past(&self, key: PageKey) -> Option<History> {
        let history = match self.trust(self.ledger.visited(key))? {
            Some(visited) => visited.history,
            None => {
                let found = self.trust(self.ledger.discovery(key))??;
                History::discovered(found.at, found.depth)
            }
        };
        Some(self.present().history(&history))
    }

    /// The present, as facts of earlier runs are seen from it.
    fn present(&self) -> Present {
        Present::new(self.clock.now(), self.noticed_ahead)
    }

    fn trust<T>(&self, read: Result<T, LedgerError>) -> Option<T> {
        read.map_err(|error| self.fail(error.into())).ok()
    }

    /// Stops the crawl: what we broke is not the web's fault.
    fn fail(&self, error: anyhow::Error) {
        self.failure().get_or_insert(error);
        self.stop.store(true, Ordering::Relaxed);
        self.permits.add_permits(self.plan.connections);
        self.changed.notify_one();
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().expect(POISONED)
    }

    fn failure(&self) -> MutexGuard<'_, Option<anyhow::Error>> {
        self.failure.lock().expect(POISONED)
    }
}
