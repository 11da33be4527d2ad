//! `avocet mcp`: offers the store as tools to an AI agent, over standard input and output.
//!
//! While a crawl runs on the store and serves, its own tools answer. They know its frontier and, in
//! a cluster, search all nodes.

mod bridge;

use std::path::Path;

use anyhow::Result;
use tokio::runtime::Runtime;

use bridge::RunningServerBridge;
use node::handle::NodeHandle;
use node::settings::Settings;
use server::{App, LISTEN};

/// Answers requests until the agent closes standard input.
pub fn run(root: &Path) -> Result<()> {
    let runtime = Runtime::new()?;
    if let Some(crawl) = RunningServerBridge::find(root) {
        return crawl.serve(&runtime);
    }
    let config = Settings::load(None, root)?;
    let node = NodeHandle::open(root, None, Settings::path(root))?;
    let app = App::open(node, config, LISTEN)?;
    let spoken = runtime.block_on(server::mcp::speak(app));
    // A thread may still block on standard input, and cannot be stopped.
    runtime.shutdown_background();
    spoken
}
