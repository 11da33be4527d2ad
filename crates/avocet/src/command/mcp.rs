//! `avocet mcp`: the store as tools for an agent, over standard input and output.

use std::path::Path;

use anyhow::Result;

use node::handle::NodeHandle;
use node::settings::Settings;
use server::{App, LISTEN};

/// Speaks until the other side has ended.
pub fn run(root: &Path) -> Result<()> {
    let config = Settings::load(None, root)?;
    let node = NodeHandle::open(root, None, Settings::path(root))?;
    let app = App::open(node, config, LISTEN)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let spoken = runtime.block_on(server::mcp::speak(app));
    // Standard input may still be read by a thread that nobody can stop.
    runtime.shutdown_background();
    spoken
}
