//! Test that the program on sockets fetches pages in the order of the simulator.
//!
//! The program and the simulator drive the same core. The engine under a paused clock is the third
//! driver; `crates/node/src/engine/paused.rs` tests it.

use std::sync::Arc;

use frontier::bench::Manners;
use lab::loopback::WorldProxy;
use lab::run::order_of_crawl;
use lab::world::World;
use policy::Crawl;
use policy::catalog::{Catalog, Wishes};

use crate::program::TestProgram;

#[tokio::test(flavor = "multi_thread")]
async fn the_program_fetches_in_the_order_of_the_simulator() {
    for (order, servers) in [
        ("breadth-first", "breadth-first"),
        ("pagerank", "quality"),
        ("rankmass", "quality"),
        ("backlink*0.5 + opic", "quality"),
    ] {
        let knobs =
            [("pages", "150"), ("hosts", "6")].map(|(name, value)| (name.into(), value.into()));
        let world = World::open("invented:graph", &knobs, 5).unwrap();
        let world = world.linked().unwrap();
        let seed = world.graph().url(0).as_str().to_owned();
        let catalog = Catalog::standard();
        let crawl = Crawl {
            order: catalog.order(order, &Wishes::default()).unwrap(),
            ..Crawl::default()
        };
        let strategy = catalog.servers(servers).unwrap();
        let simulated = order_of_crawl(&world, crawl, strategy, Manners::default(), &[0]);
        assert!(simulated.len() > 100, "{}", simulated.len());

        let proxy = Arc::new(WorldProxy::new(world));
        let listening = proxy.listen(None).await.unwrap();
        let program = TestProgram::new();
        let place = listening.url();
        let mut arguments = vec!["crawl", &seed, "--scope", "any", "--proxy", &place];
        arguments.extend(["--delay", "0s", "--connections", "1", "--no-index"]);
        arguments.extend(["--order", order, "--servers", servers]);
        let summary = program.json(&arguments);
        assert_eq!(proxy.fetched(), simulated, "{order}, {servers}");
        assert_eq!(summary["pages"], simulated.len());
    }
}
