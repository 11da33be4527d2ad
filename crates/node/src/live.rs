//! The view of a running crawl for other threads and for the server.
//!
//! A [`Live`] outlives the engine. When policies change, the engine and its frontier are created
//! again, and the counts stay. Observers read the last [`Snapshot`]. Questions about a page go to
//! the engine, if one runs. Controls are written into files that the crawl watches.

pub mod controls;
pub mod core_figures;
pub mod loans;
pub mod meter;
pub mod orders;
pub mod pause;
pub mod progress;
pub mod snapshot;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};

use anyhow::{Context, Result};
use cluster::measures::PageSample;
use crawl::Summary;
use frontier::{PageKey, Visited};
use ledger::Ledger;
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::clock::{Clock, written};
use crate::explain::Explanation;
use crate::panics::POISONED;
use crate::reports::{ReportKind, ReportTable};
use crate::settings::policies::PolicySettings;
use crate::settings::{Layer, Settings, declared};
use crate::slots::Digests;
use crate::store;
use loans::Loans;
use meter::Meter;
use snapshot::{PolicyNames, Snapshot};

/// What other threads can ask of a running crawl. The engine implements this trait.
pub trait RunningCrawl: Send + Sync {
    /// Returns a snapshot of the crawl.
    fn snapshot(&self) -> Arc<Snapshot>;

    /// Returns the record of the last visit to a page, committed or not.
    fn visited(&self, key: PageKey) -> Option<Visited>;

    /// Explains a URL.
    fn explain(&self, url: &str) -> Result<Explanation>;

    /// Returns the ledger.
    fn ledger(&self) -> Arc<Ledger>;

    /// Makes a report from what is committed.
    fn report(&self, kind: ReportKind) -> Result<ReportTable>;

    /// Sets the budget, in fetches per second.
    fn afford(&self, per_second: f64);

    /// Returns count and checksum of each slot of this node, when all facts of the ledger are
    /// published. Returns `None` if the crawl ends meanwhile or runs on one machine.
    fn digests(&self) -> Option<Digests>;

    /// Returns a sample of the pages that this node of a cluster knows. Reads the whole ledger.
    /// Returns `None` if the crawl ends meanwhile.
    fn page_sample(&self) -> Option<PageSample>;
}

/// A crawl, as its observers see it.
pub struct Live {
    root: PathBuf,
    since: String,
    /// The configuration file that the crawl watches.
    config: Mutex<PathBuf>,
    address: Mutex<Option<String>>,
    /// The settings that the command line gives.
    flags: Mutex<Layer>,
    /// The settings of `flags` that are still in force.
    flags_in_force: Mutex<Layer>,
    /// Paths of the settings that controls have written since the start.
    controlled: Mutex<Vec<&'static str>>,
    policies: Mutex<PolicySettings>,
    meter: Mutex<Meter>,
    /// The summary of the engines that have ended.
    earlier: Mutex<Summary>,
    /// Notifies observers that there may be news.
    news: watch::Sender<()>,
    /// The last snapshot of an engine that has ended.
    last: Mutex<Arc<Snapshot>>,
    /// The engine that runs now. The lock is held during a question, so that the engine does not
    /// end before it has answered.
    engine: RwLock<Option<Arc<dyn RunningCrawl>>>,
    loans: Loans,
}

impl Live {
    /// Creates the view of a store's crawl, before the crawl starts.
    pub fn of(root: &Path) -> Arc<Self> {
        Arc::new(Self {
            root: root.to_owned(),
            since: written(Clock::start().now()),
            config: Mutex::new(Settings::path(root)),
            address: Mutex::default(),
            flags: Mutex::default(),
            flags_in_force: Mutex::default(),
            controlled: Mutex::default(),
            policies: Mutex::default(),
            meter: Mutex::default(),
            earlier: Mutex::default(),
            news: watch::Sender::default(),
            last: Mutex::default(),
            engine: RwLock::default(),
            loans: Loans::default(),
        })
    }

    /// Returns the directory of the store.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns who uses the store beside the crawl.
    pub fn loans(&self) -> &Loans {
        &self.loans
    }

    /// Returns when the program started.
    pub fn since(&self) -> &str {
        &self.since
    }

    /// Sets the configuration file that the crawl watches, if it is not the store's own.
    pub fn looks_at(&self, config: PathBuf) {
        *held(&self.config) = config;
    }

    /// Returns the configuration file that the crawl watches.
    pub fn config(&self) -> PathBuf {
        held(&self.config).clone()
    }

    /// Sets the address at which the crawl serves HTTP.
    pub fn listens(&self, address: String) {
        *held(&self.address) = Some(address);
    }

    /// Returns the address at which the crawl serves HTTP, if it does.
    pub fn address(&self) -> Option<String> {
        held(&self.address).clone()
    }

    /// Records the settings that the command line gives.
    pub fn has_flags(&self, flags: &Layer) {
        *held(&self.flags) = flags.clone();
    }

    /// Records which flags are still in force.
    pub fn holds_flags(&self, flags: &Layer) {
        *held(&self.flags_in_force) = flags.clone();
    }

    /// Returns the settings of the flags that are still in force.
    pub fn flags_in_force(&self) -> Layer {
        held(&self.flags_in_force).clone()
    }

    /// Returns the flags of the command line that give one of these settings, such as `--order`;
    /// for the seeds, `the URLs`.
    pub fn flags(&self, paths: &[&str]) -> Vec<String> {
        let given = held(&self.flags).paths();
        let given = |path: &&&str| given.iter().any(|flag| flag == **path);
        let declared = declared();
        let name = |path: &&str| {
            let setting = declared.iter().find(|setting| setting.path() == **path);
            let flag = setting.and_then(|setting| setting.flag.as_ref());
            flag.map_or("the URLs".to_owned(), |flag| format!("--{}", flag.name))
        };
        paths.iter().filter(given).map(name).collect()
    }

    /// Records that a control has written these settings: flags no longer apply to them.
    pub fn overrule_flags(&self, paths: &[&'static str]) {
        held(&self.controlled).extend(paths);
    }

    /// Returns the paths of the settings that controls have written.
    pub fn controlled(&self) -> Vec<&'static str> {
        held(&self.controlled).clone()
    }

    /// Records the policies that the crawl uses from now on.
    pub fn decides_by(&self, policies: &PolicySettings) {
        *held(&self.policies) = policies.clone();
    }

    /// Returns the policies that the crawl uses.
    pub fn policies(&self) -> PolicySettings {
        held(&self.policies).clone()
    }

    /// Locks and returns the counts.
    pub fn meter(&self) -> MutexGuard<'_, Meter> {
        held(&self.meter)
    }

    /// Returns the summary of the present engine, with the counts of the engines that have ended
    /// added.
    pub fn whole(&self, summary: Summary) -> Summary {
        summary.after(&held(&self.earlier))
    }

    /// Records the whole summary at the end of an engine.
    pub fn sums_up(&self, whole: &Summary) {
        *held(&self.earlier) = whole.clone();
    }

    /// Returns a snapshot of the crawl. While no engine runs, returns the last one of the previous
    /// engine.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        let current = self.ask(|engine| engine.snapshot());
        current.unwrap_or_else(|| held(&self.last).clone())
    }

    /// Returns a channel that changes when there may be news.
    pub fn watch(&self) -> watch::Receiver<()> {
        self.news.subscribe()
    }

    /// Notifies observers that there may be news.
    pub fn tick(&self) {
        self.news.send_replace(());
    }

    /// Sets the engine that runs now.
    pub fn runs(&self, engine: Arc<dyn RunningCrawl>) {
        *self.engine.write().expect(POISONED) = Some(engine);
    }

    /// Removes the engine after its end, and keeps its last snapshot.
    pub fn ends(&self, last: Arc<Snapshot>) {
        *held(&self.last) = last;
        *self.engine.write().expect(POISONED) = None;
    }

    /// Asks the engine; `None` if none runs now. The engine does not end before it has answered.
    pub fn ask<T>(&self, question: impl FnOnce(&dyn RunningCrawl) -> T) -> Option<T> {
        let engine = self.engine.read().expect(POISONED);
        engine.as_deref().map(question)
    }
}

impl PolicyNames {
    /// Returns the names of the policies of a crawl.
    pub fn of(policies: &PolicySettings) -> Self {
        let refresh = policies.refreshing();
        Self {
            order: policies.order().to_owned(),
            servers: policies.crawl.servers.clone(),
            refresh: refresh.map(|refresh| refresh.policy.clone()),
            sources: policies.scheduler().map(str::to_owned),
        }
    }
}

fn held<T>(lock: &Mutex<T>) -> MutexGuard<'_, T> {
    lock.lock().expect(POISONED)
}

/// Reads the state that the running crawl last wrote.
pub fn running(root: &Path) -> Result<Value> {
    let text = fs::read_to_string(store::state(root))
        .context("the crawl has not written its state yet")?;
    let mut state: Value = serde_json::from_str(&text)?;
    state["running"] = json!(true);
    Ok(state)
}
