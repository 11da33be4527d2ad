//! Tests of the whole engine, with HTTP, ledger and committer, on in-memory pipes.
//!
//! The clock is paused and jumps to the next event. One test compares the order of fetches with
//! the simulator `lab::run`. The test `tests/whole/drivers.rs` of the crate `avocet` compares the
//! program on sockets with the same simulator.

mod backoff;
mod operator_pause;
mod press;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fetch::{AllowPrivate, HttpMode, NetworkTransport, Pipes};
use frontier::bench::Manners;
use lab::loopback::WorldProxy;
use lab::run::order_of_crawl;
use lab::world::{Linked, World};
use page::PageUrl;
use policy::Crawl;
use repository::archive::Level;
use testweb::site::{Changes, Faults, RobotsShares, ServedWeb, Spread, WebClock, WebPlan};

use super::plan::EnginePlan;
use crate::live::Live;
use crate::live::progress::NoProgress;
use crate::settings::Layer;
use crate::settings::policies::{ChosenPolicies, PolicySettings};
use crate::store::Store;
use crawl::Again;
use crawl::Summary;
use crawl::scope::{Reach, ScopeRules};

/// The capacity of a pipe in bytes.
const PIPE: usize = 64 * 1024;

/// Delay of the first answer on a new connection. It is below the engine's limit for a response
/// head (30 s), and so long that a test in real time would take many minutes.
const CONNECT: Duration = Duration::from_secs(20);

#[tokio::test(start_paused = true)]
async fn the_engine_fetches_in_the_order_of_the_simulator() {
    let begun = tokio::time::Instant::now();
    for order in [
        "breadth-first",
        "backlink",
        "pagerank",
        "rankmass",
        "opic",
        "random(3)",
    ] {
        for servers in ["quality", "breadth-first"] {
            let world = world();
            let seed = world.graph().url(0).clone();
            let simulated = simulated(&world, order, servers);
            assert!(simulated.len() > 100, "{order}: {}", simulated.len());
            let proxy = Arc::new(WorldProxy::new(world));
            let store = tempfile::tempdir().unwrap();
            let summary = crawl(store.path(), &proxy, &seed, choice(order, servers)).await;
            assert_eq!(proxy.fetched(), simulated, "{order}, {servers}");
            assert_eq!(summary.pages as usize, simulated.len());
        }
    }
    // Every connection took twenty seconds of the paused clock, and none of real time.
    assert!(begun.elapsed() > CONNECT * 50, "{:?}", begun.elapsed());
}

fn world() -> Linked {
    let knobs = [("pages", "150"), ("hosts", "6")].map(|(name, value)| (name.into(), value.into()));
    let world = World::open("invented:graph", &knobs, 4).unwrap();
    world.linked().unwrap()
}

fn simulated(world: &Linked, order: &str, servers: &str) -> Vec<usize> {
    let ChosenPolicies {
        order, strategy, ..
    } = choice(order, servers);
    let crawl = Crawl {
        order,
        ..Crawl::default()
    };
    let manners = Manners::default();
    order_of_crawl(world, crawl, strategy, manners, &[0])
}

fn choice(order: &str, servers: &str) -> ChosenPolicies {
    let mut policies = PolicySettings::default();
    policies.crawl.order = Some(order.into());
    policies.crawl.servers = servers.into();
    policies.choose().unwrap()
}

/// Returns the policies of `avocet run` with these settings and this budget, in fetches per second.
fn run_policies(toml: &str, budget: f64) -> PolicySettings {
    let mut settings = Layer::parse(toml).unwrap().settings().unwrap();
    settings.budget.fetches_per_second = Some(budget);
    PolicySettings::new(&settings, Path::new("."), true)
}

async fn crawl(
    root: &Path,
    proxy: &Arc<WorldProxy>,
    seed: &PageUrl,
    choice: ChosenPolicies,
) -> Summary {
    let proxy = Arc::clone(proxy);
    let pipes: Pipes = Arc::new(move |_| {
        let (ours, theirs) = tokio::io::duplex(PIPE);
        let proxy = Arc::clone(&proxy);
        tokio::spawn(async {
            tokio::time::sleep(CONNECT).await;
            proxy.attend(theirs).await;
        });
        ours
    });
    let mut plan = plan(std::slice::from_ref(seed), pipes);
    plan.fetch.proxy = fetch::ProxySettings::parse("http://127.0.0.1:9").ok();
    let store = Store::create(root).unwrap();
    run(&store, plan, choice, &Live::of(root)).await
}

/// Runs a crawl to its end.
async fn run(store: &Store, plan: EnginePlan, choice: ChosenPolicies, live: &Arc<Live>) -> Summary {
    let never = std::future::pending();
    let crawled = super::crawl(store, plan, choice, NoProgress, live, never);
    crawled.await.unwrap()
}

/// At the same budget, a policy that learns change rates keeps more copies fresh than a uniform
/// one. Both keep to the budget. Each page changes as a Poisson process with its own rate.
#[tokio::test(start_paused = true)]
async fn a_policy_that_learns_change_rates_keeps_more_copies_fresh() {
    let mut reached = Vec::new();
    for refresh in ["uniform", "freshness"] {
        let (serving, mut plan) = living_web();
        let pages = serving.web().pages().count();
        let budget = 2.0 * pages as f64 / DAY;
        plan.rules.again = Again::Always { budget };
        plan.time = Some(Duration::from_secs_f64(DAYS * DAY));
        let directory = tempfile::tempdir().unwrap();
        let store = Store::create(directory.path()).unwrap();
        // All pages have the same weight, as in the measure of freshness below.
        let settings = format!(
            "crawl.order = \"location\"\ncrawl.location = [\"depth=1\"]\n\
             refresh.policy = \"{refresh}\"\nsource.policy = \"none\""
        );
        let choice = run_policies(&settings, budget).choose().unwrap();
        run(&store, plan, choice, &Live::of(directory.path())).await;
        let requests = serving.log().requests() as f64;
        let allowed = budget * DAYS * DAY;
        assert!(
            (0.95..1.01).contains(&(requests / allowed)),
            "{refresh}: {requests} of {allowed}"
        );
        let fresh = serving.freshness(DAYS / 2.0 * DAY, DAYS * DAY).unwrap();
        reached.push(fresh);
    }
    let [uniform, learned] = reached[..] else {
        panic!("two policies are compared")
    };
    assert!(learned > uniform + 0.01, "{learned}, not above {uniform}");
}

/// A day of this web, in seconds. It is one hour, so that the engine wakes up less often.
const DAY: f64 = 3600.0;
/// The duration of a crawl, in days of this web.
const DAYS: f64 = 16.0;

/// Returns a web whose pages change at very different rates, with a median of once a day, and the
/// plan of a crawl of it.
fn living_web() -> (Arc<ServedWeb>, EnginePlan) {
    let no_robots = RobotsShares {
        missing: 1.0,
        ..RobotsShares::default()
    };
    let web = WebPlan {
        servers: 4,
        pages: 60,
        robots: no_robots,
        faults: Faults::default(),
        duplicates: 0.0,
        calendars: 0.0,
        changes: Changes {
            share: 1.0,
            interval: Spread {
                median: DAY,
                sigma: 2.5,
            },
        },
        ..WebPlan::small(5)
    };
    let web = web.invent();
    let homes = web
        .servers()
        .map(|(server, _)| web.url(web.home(server), 80));
    let homes: Vec<PageUrl> = homes.map(|home| PageUrl::parse(&home).unwrap()).collect();
    let serving = Arc::new(ServedWeb::in_memory(web, WebClock::Running(1.0)));
    let served = Arc::clone(&serving);
    let pipes: Pipes = Arc::new(move |address| {
        let (ours, theirs) = tokio::io::duplex(PIPE);
        tokio::spawn(served.attend(address, theirs));
        ours
    });
    (serving, plan(&homes, pipes))
}

/// Returns the plan of a crawl from these seeds over pipes.
fn plan(seeds: &[PageUrl], pipes: Pipes) -> EnginePlan {
    EnginePlan {
        term: None,
        rules: crawl::Plan {
            seeds: seeds.to_vec(),
            delay: Some(Duration::ZERO),
            ..crawl::Plan::default()
        },
        scope: ScopeRules {
            seeds: seeds.iter().map(|seed| seed.as_str().to_owned()).collect(),
            reach: Reach::Any,
            ..ScopeRules::default()
        },
        traps: page::url::traps::Rules::default(),
        fetch: fetch::FetchOptions {
            http: HttpMode::Http11,
            allow_private: AllowPrivate::Always,
            network: NetworkTransport::Memory(pipes),
            ..fetch::FetchOptions::default()
        },
        pages: None,
        time: None,
        min_free: None,
        archive: false,
        level: Level::default(),
    }
}
