//! `avocet run`: keeps a store fresh for as long as the program runs.
//!
//! The file is read again when it changes. A change of the budget alone reaches the crawl that runs.
//! After any other change, requests under way end, the frontier is made again from the ledger by the
//! new settings, and the crawl goes on. A file with an error is reported and has no effect.

mod serving;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;

use super::crawl::{describe, plan, print, refuse_aimless, with_seeds};
use crate::cli::Run;
use crate::logs::say;
use crate::progress::StatusLine;
use crate::signal::{Signals, signalled};
use crawl::Again;
use crawl::Summary;
use node::engine;
use node::engine::plan::Plan;
use node::live::Live;
use node::settings::last_crawl::LastCrawl;
use node::settings::policies::PolicySettings;
use node::settings::{Layer, Settings, Usage};
use node::store::Store;

/// How often the file is looked at for changes.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Crawls and refreshes until it is interrupted.
pub fn run(root: &Path, json: bool, arguments: &Run) -> Result<()> {
    let summary = keep(root, arguments, &Live::of(root), StatusLine::start, None)?;
    if json {
        outln!("{}", serde_json::to_string(&summary)?);
    } else {
        print(&summary);
    }
    Ok(())
}

/// Does the work of [`run`] for a caller that shows progress in its own way and may have taken the
/// address to listen at.
pub(super) fn keep(
    root: &Path,
    arguments: &Run,
    live: &Arc<Live>,
    progress: fn() -> StatusLine,
    listener: Option<TcpListener>,
) -> Result<Summary> {
    let source = SettingsSource::new(root, arguments, live)?;
    let mut orders = source.read()?;
    let store = Store::create(root)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let serving = serving::begin(root, arguments, &orders.settings, live, listener);
    let mut served = runtime.block_on(serving)?;
    // A signal that comes while policies are changed is not lost.
    let mut signals = runtime.block_on(async { Signals::listen() });
    let begun = Instant::now();
    loop {
        orders.announce(root);
        source.record(&orders)?;
        let choice = orders.policies.choose()?;
        let mut plan = orders.plan.clone();
        plan.time = plan.time.map(|time| time.saturating_sub(begun.elapsed()));
        let mut next = None;
        let interrupted = async {
            tokio::select! {
                () = signals.next() => {
                    // A second signal ends the program at once.
                    tokio::spawn(async {
                        signalled().await;
                        std::process::exit(130);
                    });
                }
                new = source.changed(orders) => next = Some(new),
            }
        };
        let done = engine::crawl(&store, plan, choice, progress(), live, interrupted);
        let summary = runtime.block_on(done)?;
        let Some(new) = next else {
            runtime.block_on(served.end());
            return Ok(summary);
        };
        say("the configuration has changed: going on by it");
        orders = new;
    }
}

/// What the crawl does from a moment on.
struct Orders {
    plan: Plan,
    policies: PolicySettings,
    /// All settings in force.
    settings: Settings,
    /// When the file was written that they come from.
    written: Option<SystemTime>,
}

impl Orders {
    /// Returns whether new orders differ from these by their budget alone, and no policy has
    /// planned ahead for the old one.
    fn differ_by_budget(&self, new: &Self) -> bool {
        let same_budget = Settings {
            budget: new.settings.budget.clone(),
            ..self.settings.clone()
        };
        same_budget == new.settings && self.policies.differs_by_budget(&new.policies)
    }

    fn announce(&self, root: &Path) {
        say(&format!(
            "keeping {} fresh in {}: {}, {} and sources {}, at most {:.6} fetches a second; a kill can cost at most {} requests",
            describe(&self.plan.rules.seeds),
            root.display(),
            self.policies.refresh.policy,
            self.policies.order(),
            self.policies.source.policy,
            self.settings.budget(),
            self.plan.core().at_risk()
        ));
    }
}

/// Where settings come from: the flags of the program and a file that may change.
struct SettingsSource<'a> {
    root: &'a Path,
    arguments: &'a Run,
    flags: Layer,
    /// The file as it was when the program started.
    launched: Layer,
    live: &'a Live,
}

impl<'a> SettingsSource<'a> {
    fn new(root: &'a Path, arguments: &'a Run, live: &'a Live) -> Result<Self> {
        let flags = with_seeds(&arguments.layer(), &arguments.crawl)?;
        live.has_flags(&flags);
        let config = arguments.crawl.config.as_deref();
        if let Some(config) = config {
            live.looks_at(config.to_owned());
        }
        Ok(Self {
            root,
            arguments,
            flags,
            launched: Settings::file(config, root)?,
            live,
        })
    }

    /// Returns the path of the file.
    fn file(&self) -> PathBuf {
        let named = self.arguments.crawl.config.clone();
        named.unwrap_or_else(|| Settings::path(self.root))
    }

    fn read(&self) -> Result<Orders> {
        let written = modified(&self.file());
        let file = Settings::file(self.arguments.crawl.config.as_deref(), self.root)?;
        let controlled = self.live.controlled();
        let flags = self
            .flags
            .without_outdated(&self.launched, &file, &controlled);
        let settings = flags.over(&file).settings()?;
        self.live.holds_flags(&flags);
        let (plan, policies) = orders(self.root, &settings, self.arguments)?;
        Ok(Orders {
            plan,
            policies,
            settings,
            written,
        })
    }

    /// Writes what the crawl goes by from now on, for `explain` and for the next crawl.
    fn record(&self, orders: &Orders) -> Result<()> {
        let last = LastCrawl {
            policies: orders.policies.clone(),
            scope: orders.plan.scope.clone(),
            domains: orders.plan.rules.domains,
            allow_private: orders.settings.fetch.allow_private,
        };
        self.live.decides_by(&last.policies);
        last.write(self.root)
    }

    /// Returns new orders when the file has changed into another without an error. A change of the
    /// budget alone is handed to the crawl that runs, and this goes on waiting.
    async fn changed(&self, mut current: Orders) -> Orders {
        let file = self.file();
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let now = modified(&file);
            if now == current.written {
                continue;
            }
            current.written = now;
            match self.read() {
                Ok(new) if current.differ_by_budget(&new) => {
                    if let Err(error) = self.afford(&new) {
                        say(&format!("{error:#}"));
                    }
                    current = new;
                }
                Ok(new) => return new,
                Err(error) => say(&format!("going on as before: {error:#}")),
            }
        }
    }

    /// Hands the crawl that runs its new budget.
    fn afford(&self, orders: &Orders) -> Result<()> {
        let budget = orders.settings.budget();
        self.live.ask(|engine| engine.afford(budget));
        say(&format!("going on with {budget:.6} fetches a second"));
        self.record(orders)
    }
}

/// Returns the plan and the policies of a crawl that does not end.
fn orders(root: &Path, settings: &Settings, arguments: &Run) -> Result<(Plan, PolicySettings)> {
    let flags = &arguments.crawl;
    let ends = flags.stop_coverage.is_some() || flags.until_found.is_some();
    if flags.refresh_after.is_some() || ends {
        let why = "`run` refreshes by --refresh and does not end: --refresh-after, --stop-coverage and --until-found are for `crawl`";
        return Err(Usage(why.into()).into());
    }
    let mut plan = plan(settings, flags, root)?;
    let rules = &mut plan.rules;
    rules.again = Again::Always {
        budget: settings.budget(),
    };
    rules.retry.attempts = settings.crawl.attempts.unwrap_or(u16::MAX);
    rules.retry.confirm = Some(settings.crawl.confirm_after.0);
    rules.pages_per_host = settings.crawl.pages_per_host.unwrap_or(u32::MAX);
    let policies = PolicySettings::new(settings, root, true);
    refuse_aimless(&plan, &policies.choose()?)?;
    Ok((plan, policies))
}

fn modified(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file).ok()?.modified().ok()
}
