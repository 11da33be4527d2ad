//! `avocet lab serve`: serves a world on loopback, for any crawler that can use a proxy.

use std::sync::Arc;

use anyhow::{Result, bail};
use lab::loopback::WorldProxy;
use lab::world::{World, WorldPart};
use node::number::counted;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::cli::lab::LabServeArguments;
use crate::signal::signalled;

/// Serves until interrupted.
pub fn run(json: bool, arguments: &LabServeArguments) -> Result<()> {
    let LabServeArguments {
        world, knobs, seed, ..
    } = arguments;
    let world = World::open_part(world, knobs, *seed, WorldPart::Links)?.linked()?;
    let graph = world.graph();
    let plain = |page: &usize| !graph.url(*page).is_secure();
    let Some(first) = (0..graph.pages()).find(plain) else {
        bail!(
            "{} has no page with an http URL, and a proxy cannot serve https pages: use another world",
            arguments.world
        );
    };
    let first = graph.url(first).as_str().to_owned();
    let pages = (0..graph.pages()).filter(plain).count();
    let proxy = Arc::new(WorldProxy::new(world));
    let runtime = Runtime::new()?;
    runtime.block_on(async {
        let listening = proxy.listen(arguments.port).await?;
        let url = listening.url();
        if json {
            outln!(
                "{}",
                json!({ "proxy": url, "pages": pages, "first": first })
            );
        } else {
            let pages = counted(pages, "page");
            outln!("serving {pages} through the proxy {url} until Ctrl-C; crawl them with");
            outln!("  avocet crawl '{first}' --scope any --delay 0s --proxy {url}");
        }
        signalled().await;
        Ok(())
    })
}
