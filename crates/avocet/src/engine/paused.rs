//! Does the engine do what the simulator says it does?
//!
//! The whole engine, with HTTP, ledger and committer, on pipes in memory and under a clock that is paused and
//! jumps: the second of three drivers of one core. The first is `lab::run`, the third is the program on
//! sockets (`tests/whole/drivers.rs`).

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use fetch::{AllowPrivate, Http, Network, Pipes, Settings};
use frontier::bench::Manners;
use lab::run::order_of_crawl;
use lab::site::Proxy;
use lab::world::{Linked, World};
use page::PageUrl;
use policy::Crawl;
use policy::retry::Retry;
use repository::archive::Level;

use super::plan::Plan;
use super::tally::Summary;
use crate::progress::Progress;
use crate::ranking::{Choice, Ranking};
use crate::scope::{Reach, ScopeRules};
use crate::store::Store;

/// What a pipe holds before its writer waits.
const PIPE: usize = 64 * 1024;

/// How long a connection takes: less than the engine's patience, long enough for a test that would wait.
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
            let proxy = Arc::new(Proxy::new(world));
            let store = tempfile::tempdir().unwrap();
            let summary = crawl(store.path(), &proxy, &seed, choice(order, servers)).await;
            assert_eq!(proxy.fetched(), simulated, "{order}, {servers}");
            assert_eq!(summary.pages as usize, simulated.len());
        }
    }
    // Every connection took twenty seconds, and nobody waited for it.
    assert!(begun.elapsed() > CONNECT * 50, "{:?}", begun.elapsed());
}

fn world() -> Linked {
    let knobs = [("pages", "150"), ("hosts", "6")].map(|(name, value)| (name.into(), value.into()));
    let world = World::open("invented:graph", &knobs, 4).unwrap();
    world.linked().unwrap()
}

fn simulated(world: &Linked, order: &str, servers: &str) -> Vec<usize> {
    let Choice {
        order, strategy, ..
    } = choice(order, servers);
    let crawl = Crawl {
        order,
        ..Crawl::default()
    };
    let manners = Manners::default();
    order_of_crawl(world, crawl, strategy, manners, &[0])
}

fn choice(order: &str, servers: &str) -> Choice {
    let ranking = Ranking {
        order: order.into(),
        servers: servers.into(),
        ..Ranking::default()
    };
    ranking.choose().unwrap()
}

async fn crawl(root: &Path, proxy: &Arc<Proxy>, seed: &PageUrl, choice: Choice) -> Summary {
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
    let plan = Plan {
        seeds: vec![seed.clone()],
        scope: ScopeRules {
            seeds: vec![seed.as_str().to_owned()],
            reach: Reach::Any,
            ..ScopeRules::default()
        },
        traps: page::url::traps::Rules::default(),
        fetch: Settings {
            http: Http::Http11,
            proxy: fetch::Proxy::parse("http://127.0.0.1:9").ok(),
            allow_private: AllowPrivate::Always,
            network: Network::Memory(pipes),
            ..Settings::default()
        },
        pages: None,
        time: None,
        connections: 1,
        per_server: 1,
        pages_per_host: u32::MAX,
        delay: Some(Duration::ZERO),
        refresh: None,
        retry: Retry::default(),
        buffer: None,
        stop_coverage: None,
        archive: false,
        level: Level::default(),
        index: false,
    };
    let store = Store::create(root).unwrap();
    let never = std::future::pending();
    super::crawl(&store, plan, choice, Progress::start(), never)
        .await
        .unwrap()
}
