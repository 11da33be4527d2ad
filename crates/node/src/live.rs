//! What may others know of a crawl while it runs, and what may they tell it?
//!
//! A [`Live`] outlives the engine: policies change, frontiers are made again, and what was counted stays. Whoever
//! watches reads the last [`Snapshot`]; whoever asks about a page asks the engine, if there is one; and whoever wants
//! something else of the crawl writes it into the store, where the crawl looks.

pub mod controls;
pub mod core_figures;
pub mod meter;
pub mod pause;
pub mod progress;
pub mod remote;
pub mod snapshot;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};

use anyhow::{Context, Result};
use frontier::{PageKey, Visited};
use serde_json::{Value, json};
use tokio::sync::watch;

use crate::clock::Clock;
use crate::explain::Explanation;
use crate::panics::POISONED;
use crate::settings::policies::PolicySettings;
use crate::settings::{Layer, Settings, declared};
use crate::store;
use meter::{Meter, written};
use snapshot::{Policies, Snapshot};

/// What a crawl answers while it runs. The engine implements it.
pub trait RunningCrawl: Send + Sync {
    /// Returns how the crawl stands.
    fn snapshot(&self) -> Arc<Snapshot>;

    /// Returns what the last visit to a page found, committed or not.
    fn visited(&self, key: PageKey) -> Option<Visited>;

    /// Explains a URL.
    fn explain(&self, url: &str) -> Result<Explanation>;

    /// Sets the budget, in fetches a second.
    fn afford(&self, per_second: f64);
}

/// A crawl, for those who watch it.
pub struct Live {
    root: PathBuf,
    since: String,
    /// The configuration that the crawl looks at.
    config: Mutex<PathBuf>,
    address: Mutex<Option<String>>,
    /// The settings that the command line gives.
    flags: Mutex<Layer>,
    /// Those of them that still hold.
    flags_in_force: Mutex<Layer>,
    /// Paths of the settings that controls have written since.
    controlled: Mutex<Vec<&'static str>>,
    policies: Mutex<PolicySettings>,
    meter: Mutex<Meter>,
    /// That there may be news.
    news: watch::Sender<()>,
    /// What was said last by an engine that has ended.
    last: Mutex<Arc<Snapshot>>,
    /// The engine that runs now. Held while it is asked, so that it does not end meanwhile.
    engine: RwLock<Option<Arc<dyn RunningCrawl>>>,
}

impl Live {
    /// Of the crawl of a store, which has not begun.
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
            news: watch::Sender::default(),
            last: Mutex::default(),
            engine: RwLock::default(),
        })
    }

    /// The store.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// When the program began.
    pub fn since(&self) -> &str {
        &self.since
    }

    /// Takes note of the configuration that the crawl looks at, where it is not the store's own.
    pub fn looks_at(&self, config: PathBuf) {
        *held(&self.config) = config;
    }

    /// The configuration that the crawl looks at.
    pub fn config(&self) -> PathBuf {
        held(&self.config).clone()
    }

    /// Takes note of where the crawl can be asked over HTTP.
    pub fn listens(&self, address: String) {
        *held(&self.address) = Some(address);
    }

    /// Where it can be asked.
    pub fn address(&self) -> Option<String> {
        held(&self.address).clone()
    }

    /// Records the settings that the command line gives.
    pub fn has_flags(&self, flags: &Layer) {
        *held(&self.flags) = flags.clone();
    }

    /// Records which of the flags still hold.
    pub fn holds_flags(&self, flags: &Layer) {
        *held(&self.flags_in_force) = flags.clone();
    }

    /// Returns the settings that flags give and that still hold.
    pub fn flags_in_force(&self) -> Layer {
        held(&self.flags_in_force).clone()
    }

    /// Returns the flags of the command line that give one of these settings.
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

    /// Records that a control has written these settings: flags do not hold for them any more.
    pub fn overrule_flags(&self, paths: &[&'static str]) {
        held(&self.controlled).extend(paths);
    }

    /// Returns the paths of the settings that controls have written.
    pub fn controlled(&self) -> Vec<&'static str> {
        held(&self.controlled).clone()
    }

    /// Records the policies that the crawl decides by from now on.
    pub fn decides_by(&self, policies: &PolicySettings) {
        *held(&self.policies) = policies.clone();
    }

    /// Returns the policies that the crawl decides by.
    pub fn policies(&self) -> PolicySettings {
        held(&self.policies).clone()
    }

    /// What is counted.
    pub fn meter(&self) -> MutexGuard<'_, Meter> {
        held(&self.meter)
    }

    /// What the crawl says of itself; between two engines, what the last one said.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        let said = self.ask(|engine| engine.snapshot());
        said.unwrap_or_else(|| held(&self.last).clone())
    }

    /// Tells when there may be news.
    pub fn watch(&self) -> watch::Receiver<()> {
        self.news.subscribe()
    }

    /// Tells that there may be news.
    pub fn tick(&self) {
        self.news.send_replace(());
    }

    /// Takes note of the engine that runs.
    pub fn runs(&self, engine: Arc<dyn RunningCrawl>) {
        *self.engine.write().expect(POISONED) = Some(engine);
    }

    /// Takes note that it has ended, and of what it said last: nobody asks it any more.
    pub fn ends(&self, last: Arc<Snapshot>) {
        *held(&self.last) = last;
        *self.engine.write().expect(POISONED) = None;
    }

    /// Asks the engine; `None`: none runs now. It does not end before it has answered.
    pub fn ask<T>(&self, question: impl FnOnce(&dyn RunningCrawl) -> T) -> Option<T> {
        let engine = self.engine.read().expect(POISONED);
        engine.as_deref().map(question)
    }
}

impl Policies {
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

/// What the running crawl last said of itself.
pub fn running(root: &Path) -> Result<Value> {
    let text =
        fs::read_to_string(store::state(root)).context("the crawl has not said anything yet")?;
    let mut state: Value = serde_json::from_str(&text)?;
    state["running"] = json!(true);
    Ok(state)
}
