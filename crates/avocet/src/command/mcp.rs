//! `avocet mcp`: the store as tools for an agent, over standard input and output.

use std::path::Path;

use anyhow::Result;

use crate::config::Config;
use crate::serve::{self, App, Crawl, LISTEN};

/// Speaks until the other side has ended.
pub fn run(root: &Path) -> Result<()> {
    let config = Config::load(None, root)?;
    let crawl = Crawl {
        live: None,
        config: Config::path(root),
    };
    let app = App::open(root, config, LISTEN, crawl)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let spoken = runtime.block_on(serve::mcp::speak(app));
    // Standard input may still be read by a thread that nobody can stop.
    runtime.shutdown_background();
    spoken
}
