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
use crate::settings::config::Config;
use crate::settings::ranking::Ranking;
use crate::store;
use controls::ControlledSetting;
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
    /// What flags of the command line are about.
    flags: Mutex<Vec<ControlledSetting>>,
    /// What was wished for since.
    wished: Mutex<Vec<ControlledSetting>>,
    ranking: Mutex<Ranking>,
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
            config: Mutex::new(Config::path(root)),
            address: Mutex::default(),
            flags: Mutex::default(),
            wished: Mutex::default(),
            ranking: Mutex::default(),
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

    /// Takes note of what flags of the command line are about.
    pub fn has_flags(&self, topics: Vec<ControlledSetting>) {
        *held(&self.flags) = topics;
    }

    /// The flags about these topics.
    pub fn flags(&self, topics: &[ControlledSetting]) -> Vec<&'static str> {
        let flags = held(&self.flags);
        let about = flags.iter().filter(|topic| topics.contains(topic));
        about.map(|topic| topic.flag()).collect()
    }

    /// Takes note that somebody wished for something: flags about the same are no longer heeded.
    pub fn overrule_flags(&self, topics: &[ControlledSetting]) {
        held(&self.wished).extend(topics);
    }

    /// Whether somebody wished for something that a flag may be about.
    pub fn overrules_flag(&self, topic: ControlledSetting) -> bool {
        held(&self.wished).contains(&topic)
    }

    /// Takes note of the policies that the crawl decides by from now on.
    pub fn decides_by(&self, ranking: &Ranking) {
        *held(&self.ranking) = ranking.clone();
    }

    /// The policies that it decides by.
    pub fn ranking(&self) -> Ranking {
        held(&self.ranking).clone()
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
    /// Those of a ranking, by name.
    pub fn of(ranking: &Ranking) -> Self {
        let refresh = ranking.refresh.as_ref();
        Self {
            order: ranking.order.clone(),
            servers: ranking.servers.clone(),
            refresh: refresh.map(|refresh| refresh.policy.clone()),
            sources: refresh.map(|refresh| refresh.sources.policy.clone()),
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
