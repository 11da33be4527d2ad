//! `avocet run`: a store is kept fresh, for as long as the program runs.
//!
//! The configuration is looked at while it runs: when the file changes, requests under way end, the frontier is made
//! again from the ledger by the new policies, and the crawl goes on. If it is the budget alone that changes, the crawl is told so and nothing
//! ends. A file that is not right is complained about, and the crawl goes on as it was.

mod flags;
mod serving;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};

use anyhow::Result;
use page::PageUrl;

use super::crawl::{allows_private, describe, plan, print, ranking, refuse_aimless};
use crate::cli::Run;
use crate::logs::say;
use crate::progress::StatusLine;
use crate::signal::{Signals, signalled};
use crawl::Again;
use crawl::Summary;
use node::engine;
use node::engine::plan::Plan;
use node::live::Live;
use node::settings::config::{Config, Time};
use node::settings::polling::{self, Polling};
use node::settings::ranking::{LastCrawl, Ranking};
use node::settings::upkeep::{POLICY, Rate, Refreshing};
use node::settings::usage::Usage;
use node::store::Store;

/// How long after a page was found missing it is asked for once more, where the user does not say.
const CONFIRM: Duration = Duration::from_secs(3600);
/// How often the configuration is looked at.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Crawls and refreshes until it is interrupted.
pub fn run(root: &Path, json: bool, wishes: &Run) -> Result<()> {
    let summary = keep(root, wishes, &Live::of(root), StatusLine::start, None)?;
    if json {
        outln!("{}", serde_json::to_string(&summary)?);
    } else {
        print(&summary);
    }
    Ok(())
}

/// The same, for whoever watches and shows it in another way, and may have taken a place to listen at.
pub(super) fn keep(
    root: &Path,
    wishes: &Run,
    live: &Arc<Live>,
    progress: fn() -> StatusLine,
    place: Option<TcpListener>,
) -> Result<Summary> {
    let source = Source::new(root, wishes, live)?;
    let mut orders = source.read()?;
    let store = Store::create(root)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let serving = serving::begin(root, wishes, &source.launched, live, place);
    let mut served = runtime.block_on(serving)?;
    // A word that comes while policies are changed is not lost.
    let mut signals = runtime.block_on(async { Signals::listen() });
    let begun = Instant::now();
    loop {
        orders.announce(root);
        source.take_note(&orders)?;
        let Orders { mut plan, terms } = orders;
        plan.time = plan.time.map(|time| time.saturating_sub(begun.elapsed()));
        let choice = terms.ranking.choose()?;
        let mut next = None;
        let interrupted = async {
            tokio::select! {
                () = signals.next() => {
                    // Whoever asks twice does not want to wait for requests under way.
                    tokio::spawn(async {
                        signalled().await;
                        std::process::exit(130);
                    });
                }
                new = source.changed(terms) => next = Some(new),
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

/// What is to be done, as flags and configuration say.
struct Orders {
    plan: Plan,
    terms: Terms,
}

/// What tells orders from those before.
struct Terms {
    ranking: Ranking,
    seeds: Vec<PageUrl>,
    allow_private: bool,
    /// What the configuration says beside the budget.
    rest: toml::Table,
    /// When it was written.
    written: Option<SystemTime>,
}

impl Terms {
    /// Whether others differ from these by their budget alone, and nothing was planned ahead for it.
    fn differ_by_budget(&self, new: &Self) -> bool {
        let alike = (&self.seeds, &self.rest) == (&new.seeds, &new.rest);
        alike && self.ranking.differs_by_budget(&new.ranking)
    }
}

/// Where orders come from.
struct Source<'a> {
    root: &'a Path,
    wishes: Run,
    /// What the configuration said when the program was started.
    launched: Config,
    live: &'a Live,
}

impl<'a> Source<'a> {
    fn new(root: &'a Path, wishes: &Run, live: &'a Live) -> Result<Self> {
        live.has_flags(flags::given(wishes));
        if let Some(config) = &wishes.crawl.config {
            live.looks_at(config.clone());
        }
        let launched = Config::load(wishes.crawl.config.as_deref(), root)?;
        let mut wishes = wishes.clone();
        if wishes.crawl.seeds.is_some() {
            // Standard input cannot be read again.
            let seeds = plan(&launched, &wishes.crawl, root)?.seeds;
            wishes.crawl.urls = seeds.iter().map(|seed| seed.as_str().to_owned()).collect();
            wishes.crawl.seeds = None;
        }
        Ok(Self {
            root,
            wishes,
            launched,
            live,
        })
    }

    /// The configuration that is looked at.
    fn file(&self) -> PathBuf {
        let named = self.wishes.crawl.config.clone();
        named.unwrap_or_else(|| Config::path(self.root))
    }

    fn read(&self) -> Result<Orders> {
        let written = modified(&self.file());
        let config = Config::load(self.wishes.crawl.config.as_deref(), self.root)?;
        let wishes = flags::heeded(&self.wishes, &self.launched, &config, self.live);
        let (plan, ranking) = orders(self.root, &config, &wishes)?;
        let terms = Terms {
            ranking,
            seeds: plan.seeds.clone(),
            allow_private: allows_private(&config, &wishes.crawl),
            rest: beside_budget(&self.file()),
            written,
        };
        Ok(Orders { plan, terms })
    }

    /// Writes down what the crawl goes by from now on, for `explain` and for the next crawl.
    fn take_note(&self, orders: &Orders) -> Result<()> {
        let last = LastCrawl {
            ranking: orders.terms.ranking.clone(),
            scope: orders.plan.scope.clone(),
            domains: orders.plan.domains,
            allow_private: orders.terms.allow_private,
        };
        self.live.decides_by(&last.ranking);
        last.write(self.root)
    }

    /// Ends when the configuration has changed into another that is right. Of another budget, if that is all that has changed, the
    /// crawl is told while it goes on.
    async fn changed(&self, mut terms: Terms) -> Orders {
        let file = self.file();
        loop {
            tokio::time::sleep(LOOK_EVERY).await;
            let now = modified(&file);
            if now == terms.written {
                continue;
            }
            terms.written = now;
            match self.read() {
                Ok(orders) if terms.differ_by_budget(&orders.terms) => {
                    if let Err(error) = self.afford(&orders) {
                        say(&format!("{error:#}"));
                    }
                    terms = orders.terms;
                }
                Ok(orders) => return orders,
                Err(error) => say(&format!("going on as before: {error:#}")),
            }
        }
    }

    /// Tells the crawl that runs of its new budget.
    fn afford(&self, orders: &Orders) -> Result<()> {
        if let Some(refreshing) = &orders.terms.ranking.refresh {
            let budget = refreshing.budget;
            self.live.ask(|engine| engine.afford(budget));
            say(&format!("going on with {budget:.6} fetches a second"));
        }
        self.take_note(orders)
    }
}

impl Orders {
    fn announce(&self, root: &Path) {
        let Some(refreshing) = &self.terms.ranking.refresh else {
            return;
        };
        say(&format!(
            "keeping {} fresh in {}: {}, {} and sources {}, at most {:.6} fetches a second; a kill can cost at most {} requests",
            describe(&self.plan.seeds),
            root.display(),
            refreshing.policy,
            self.terms.ranking.order,
            refreshing.sources.policy,
            refreshing.budget,
            self.plan.core().at_risk()
        ));
    }
}

/// What is to be done and by which policies, or what is wrong with the wishes.
fn orders(root: &Path, config: &Config, wishes: &Run) -> Result<(Plan, Ranking)> {
    let flags = &wishes.crawl;
    let ends = flags.stop_coverage.is_some() || flags.until_found.is_some();
    if flags.refresh_after.is_some() || ends {
        let why = "`run` refreshes by --refresh and does not end: --refresh-after, --stop-coverage and --until-found are for `crawl`";
        return Err(Usage(why.into()).into());
    }
    let refreshing = refreshing(config, wishes);
    let mut plan = plan(config, &wishes.crawl, root)?;
    plan.again = Again::Always {
        budget: refreshing.budget,
    };
    plan.retry.attempts = config.crawl.attempts.unwrap_or(u16::MAX);
    let confirm = config.crawl.confirm_after.map(|time| time.0);
    plan.retry.confirm = Some(confirm.unwrap_or(CONFIRM));
    plan.pages_per_host = config.crawl.pages_per_host.unwrap_or(u32::MAX);
    let ranking = Ranking {
        refresh: Some(refreshing),
        ..ranking(config, &wishes.crawl, root)
    };
    refuse_aimless(&plan, &ranking.choose()?)?;
    Ok((plan, ranking))
}

/// How the store is kept fresh: flags win over the configuration.
pub(super) fn refreshing(config: &Config, wishes: &Run) -> Refreshing {
    let set = config.refresh.clone();
    let in_full = |path: PathBuf| std::path::absolute(&path).unwrap_or(path);
    Refreshing {
        policy: (wishes.refresh.clone().or(set.policy)).unwrap_or_else(|| POLICY.into()),
        rate: wishes.rate.clone().or(set.rate),
        rates: wishes.rates.clone().or(set.rates).map(in_full),
        budget: (wishes.budget.or(config.budget.rate()))
            .unwrap_or(Rate::USUAL)
            .per_second,
        step: set.step.map(|time| time.0),
        slots: set.slots,
        listings: set.listings.map(|time| time.0),
        sources: polling(config, wishes),
    }
}

fn polling(config: &Config, wishes: &Run) -> Polling {
    let set = &config.source;
    let policy = wishes.sources.clone().or(set.policy.clone());
    let time = |time: Option<Time>| time.map(|time| time.0);
    Polling {
        share: set.share,
        polls: set.polls,
        replan: time(set.replan),
        bin: time(set.bin),
        older: time(set.older_than),
        rhythm: set.rhythm,
        profit: set.profit,
        clicks: set.clicks,
        ..Polling::by(policy.as_deref().unwrap_or(polling::SCHEDULER))
    }
}

/// What a configuration says beside the budget; nothing where there is none.
fn beside_budget(file: &Path) -> toml::Table {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let mut said: toml::Table = text.parse().unwrap_or_default();
    said.remove("budget");
    said
}

fn modified(file: &Path) -> Option<SystemTime> {
    std::fs::metadata(file).ok()?.modified().ok()
}
