//! `avocet lab serve`: a world on loopback, for any crawler that can be told of a proxy.

use std::sync::Arc;

use anyhow::{Result, bail};
use lab::loopback::Proxy;
use lab::world::World;
use serde_json::json;

use crate::cli::lab::Serve;
use crate::signal::signalled;

/// Serves until the user ends it.
pub fn run(json: bool, wishes: &Serve) -> Result<()> {
    let world = World::open(&wishes.world, &wishes.knobs, wishes.seed)?.linked()?;
    let graph = world.graph();
    let plain = |page: &usize| !graph.url(*page).is_secure();
    let Some(first) = (0..graph.pages()).find(plain) else {
        bail!(
            "{} has no page with an http URL: of https a proxy sees nothing but the host",
            wishes.world
        );
    };
    let first = graph.url(first).as_str().to_owned();
    let pages = (0..graph.pages()).filter(plain).count();
    let proxy = Arc::new(Proxy::new(world));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let listening = proxy.listen(wishes.port).await?;
        let url = listening.url();
        if json {
            outln!(
                "{}",
                json!({ "proxy": url, "pages": pages, "first": first })
            );
        } else {
            outln!("{pages} pages behind {url}, until Ctrl-C; crawl them with");
            outln!("  avocet crawl '{first}' --scope any --delay 0s --proxy {url}");
        }
        signalled().await;
        Ok(())
    })
}
