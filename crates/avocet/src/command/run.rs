//! `avocet run`: keeps a store fresh for as long as the program runs.
//!
//! The configuration file is read again when it changes. A change of the budget alone is applied to
//! the running crawl, unless a policy has planned ahead with the old budget. After any other change
//! the requests under way finish, the frontier is rebuilt from the ledger with the new settings,
//! and the crawl continues. The server keeps its settings. If the file has an error, the program
//! reports it, and the old settings stay in force.

mod serving;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;
use tokio::runtime::Runtime;

use super::crawl::{
    describe, plan, print, record, refuse_other_files, refuse_without_target, retain, with_seeds,
};
use crate::cli::RunArguments;
use crate::logs::say;
use crate::progress::StatusLine;
use crate::signal::{StopSignals, exit_at_next};
use crawl::Again;
use crawl::Summary;
use node::cluster_seat::ClusterSeat;
use node::documents;
use node::engine;
use node::engine::plan::EnginePlan;
use node::live::Live;
use node::membership::Membership;
use node::number::rate;
use node::settings::policies::PolicySettings;
use node::settings::{ControlsFile, Layer, Settings, Usage};
use node::socket::StoreSocket;
use node::store::{InUse, Store, modified};

/// Time between two checks of the configuration file for changes.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// Time between two attempts to open the store after a command has used it.
const RETURN_EVERY: Duration = Duration::from_millis(20);

/// Time between two removals of old versions from the archive (`[archive] keep`).
const RETAIN_EVERY: Duration = Duration::from_secs(86_400);

/// Crawls and refreshes until interrupted, or until a limit of pages or time is reached.
pub fn run(root: &Path, json: bool, arguments: &RunArguments) -> Result<()> {
    let summary = keep(root, arguments, &Live::of(root), StatusLine::start, None)?;
    if json {
        outln!("{}", serde_json::to_string(&summary)?);
    } else {
        print(&summary);
    }
    Ok(())
}

/// Does the work of [`run`], for a caller with its own progress display and, optionally, a listener
/// that is already bound.
pub(super) fn keep(
    root: &Path,
    arguments: &RunArguments,
    live: &Arc<Live>,
    progress: fn() -> StatusLine,
    listener: Option<TcpListener>,
) -> Result<Summary> {
    let source = SettingsSource::new(root, arguments, live)?;
    let mut setup = source.read()?;
    refuse_other_files(root, arguments.crawl.force)?;
    let mut store = Store::create(root)?;
    let _socket = StoreSocket::open(live);
    let runtime = Runtime::new()?;
    let seat = Arc::new(ClusterSeat::default());
    let crawl = serving::ServedCrawl {
        live: live.clone(),
        seat: seat.clone(),
    };
    let serving = serving::begin(root, arguments, &setup.settings, crawl, listener);
    let mut served = runtime.block_on(serving)?;
    // Listens from here on, so that no signal is lost while policies change.
    let mut signals = runtime.block_on(async { StopSignals::listen() });
    let membership = runtime.block_on(Membership::join(&setup.settings.cluster, live, &seat))?;
    let begun = Instant::now();
    setup.announce(root);
    let mut retains = true;
    loop {
        if std::mem::take(&mut retains) {
            retain(&store, &setup.settings)?;
            live.loans().release();
        }
        source.record(&setup)?;
        let choice = setup.policies.choose()?;
        let mut plan = setup.plan.clone();
        plan.time = plan.time.map(|time| time.saturating_sub(begun.elapsed()));
        let indexed = plan.rules.index;
        if let Some(membership) = &membership {
            let term = runtime.block_on(async {
                tokio::select! {
                    () = signals.next() => None,
                    term = membership.term(&store, &plan) => Some(term),
                }
            });
            let Some(term) = term else {
                runtime.block_on(served.end());
                return Ok(Summary::default());
            };
            plan.term = Some(term?);
        }
        let mut ended = TermEnd::Finished;
        let interrupted = async {
            tokio::select! {
                () = signals.next() => {
                    exit_at_next();
                    membership.as_ref().inspect(|membership| membership.is_leaving());
                }
                new = source.changed(&setup) => ended = TermEnd::Settings(Box::new(new)),
                () = slots_change(membership.as_ref()) => ended = TermEnd::Slots,
                () = retention_due(live), if setup.settings.archive.keep.is_some() => {
                    ended = TermEnd::Retention;
                }
                () = live.loans().wanted() => ended = TermEnd::Loan,
            }
        };
        let done = engine::crawl(&store, plan, choice, progress(), live, interrupted);
        let summary = runtime.block_on(done)?;
        match ended {
            TermEnd::Finished => {
                if let Some(membership) = membership {
                    runtime.block_on(membership.leave(&store, indexed))?;
                }
                runtime.block_on(served.end());
                return Ok(summary);
            }
            TermEnd::Settings(new) => {
                say("the configuration has changed; the new settings are now in force");
                setup = *new;
                setup.announce(root);
            }
            // The budget may have changed in the last term, without its end.
            TermEnd::Slots => setup = source.read()?,
            TermEnd::Retention => {
                retains = true;
                setup = source.read()?;
            }
            TermEnd::Loan => {
                let Some(returned) = runtime.block_on(lend(store, live, &mut signals))? else {
                    runtime.block_on(served.end());
                    return Ok(summary);
                };
                store = returned;
                setup = source.read()?;
            }
        }
    }
}

/// Why a run of the engine has ended.
enum TermEnd {
    /// It was interrupted, or has reached a limit.
    Finished,
    /// The settings have changed.
    Settings(Box<CrawlSetup>),
    /// Old versions are to be removed from the archive, which no crawl and no command may use
    /// meanwhile.
    Retention,
    /// A command has asked for the store.
    Loan,
    /// In a cluster: slots come to this node or leave it.
    Slots,
}

/// Waits until it is time to remove old versions and no command reads the store.
async fn retention_due(live: &Live) {
    tokio::time::sleep(RETAIN_EVERY).await;
    live.loans().reserved().await;
}

/// Closes the store for the commands that wait for it, and opens it again when the last one is
/// done. Returns `None` if a signal asks for the end meanwhile.
pub(super) async fn lend(
    store: Store,
    live: &Live,
    signals: &mut StopSignals,
) -> Result<Option<Store>> {
    let root = store.root().to_owned();
    drop(store);
    say("the crawl waits: a command uses the store");
    loop {
        let lent = async {
            live.loans().lend().await;
            tokio::time::sleep(RETURN_EVERY).await;
        };
        tokio::select! {
            () = signals.next() => return Ok(None),
            () = lent => {}
        }
        match Store::create(&root) {
            // Another command has been faster.
            Err(error) if error.is::<InUse>() => {}
            store => {
                live.loans().release();
                say("the crawl goes on");
                return store.map(Some);
            }
        }
    }
}

/// Waits until the slots of this node should change. Without a cluster, waits for ever.
async fn slots_change(membership: Option<&Membership>) {
    match membership {
        Some(membership) => membership.change_due().await,
        None => std::future::pending().await,
    }
}

/// The settings in force, and what follows from them.
struct CrawlSetup {
    plan: EnginePlan,
    policies: PolicySettings,
    settings: Settings,
    /// Modification times of the configuration file and of the controls when they were read.
    written: [Option<SystemTime>; 2],
}

impl CrawlSetup {
    /// Returns whether `new` differs by the budget alone and no policy has planned ahead with the
    /// old budget.
    fn differ_by_budget(&self, new: &Self) -> bool {
        let same_budget = Settings {
            budget: new.settings.budget.clone(),
            ..self.settings.clone()
        };
        same_budget == new.settings && self.policies.differs_by_budget(&new.policies)
    }

    fn announce(&self, root: &Path) {
        say(&format!(
            "keeping {} fresh in {}; refresh {}, ordering {}, sources {}; at most {}; after a kill at most {} requests are repeated",
            describe(&self.plan.rules.seeds),
            root.display(),
            self.policies.refresh.policy,
            self.policies.order(),
            self.policies.source.policy,
            rate(self.settings.budget(), "fetch"),
            self.plan.core().at_risk()
        ));
    }
}

/// The source of settings: the flags of the program, and a file that may change.
struct SettingsSource<'a> {
    root: &'a Path,
    arguments: &'a RunArguments,
    flags: Layer,
    /// The file as it was at the start of the program.
    launched: Layer,
    live: &'a Live,
}

impl<'a> SettingsSource<'a> {
    fn new(root: &'a Path, arguments: &'a RunArguments, live: &'a Live) -> Result<Self> {
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

    /// Returns when the file and the controls were last modified.
    fn written(&self) -> [Option<SystemTime>; 2] {
        [self.file(), ControlsFile::path(self.root)].map(|path| modified(&path))
    }

    fn read(&self) -> Result<CrawlSetup> {
        let written = self.written();
        let file = Settings::file(self.arguments.crawl.config.as_deref(), self.root)?;
        let controlled = self.live.controlled();
        let flags = self
            .flags
            .without_outdated(&self.launched, &file, &controlled);
        let mut settings = flags.over(&file).settings()?;
        documents::configure(&settings.documents);
        self.live.holds_flags(&flags);
        let (plan, policies) = plan_and_policies(self.root, &mut settings, self.arguments)?;
        Ok(CrawlSetup {
            plan,
            policies,
            settings,
            written,
        })
    }

    /// Stores what is in force, for `explain` and for the next crawl.
    fn record(&self, setup: &CrawlSetup) -> Result<()> {
        self.live.decides_by(&setup.policies);
        record(&setup.plan, setup.policies.clone(), &setup.settings).write(self.root)
    }

    /// Waits until the file has changed and has no error, and returns the new setup.
    ///
    /// A change for which [`CrawlSetup::differ_by_budget`] holds is applied to the running crawl,
    /// and the wait continues.
    async fn changed(&self, begun: &CrawlSetup) -> CrawlSetup {
        let mut written = begun.written;
        let mut newest: Option<CrawlSetup> = None;
        loop {
            tokio::time::sleep(CHECK_EVERY).await;
            let now = self.written();
            if now == written {
                continue;
            }
            written = now;
            let current = newest.as_ref().unwrap_or(begun);
            match self.read() {
                Ok(new) if current.differ_by_budget(&new) => {
                    if let Err(error) = self.change_budget(&new) {
                        say(&format!("{error:#}"));
                    }
                    newest = Some(new);
                }
                Ok(new) => return new,
                Err(error) => say(&format!("the old settings stay in force: {error:#}")),
            }
        }
    }

    /// Gives the running crawl its new budget.
    fn change_budget(&self, setup: &CrawlSetup) -> Result<()> {
        let budget = setup.settings.budget();
        self.live.ask(|engine| engine.afford(budget));
        say(&format!("the budget is now {}", rate(budget, "fetch")));
        self.record(setup)
    }
}

/// Returns the plan and the policies of a crawl that does not end.
fn plan_and_policies(
    root: &Path,
    settings: &mut Settings,
    arguments: &RunArguments,
) -> Result<(EnginePlan, PolicySettings)> {
    let flags = &arguments.crawl;
    let ends = flags.stop_coverage.is_some() || flags.until_found.is_some();
    if flags.refresh_after.is_some() || ends {
        let why = "--refresh-after, --stop-coverage and --until-found are for `avocet crawl`; `avocet run` refreshes by --refresh and does not end";
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
    refuse_without_target(&plan, &policies.choose()?)?;
    Ok((plan, policies))
}
