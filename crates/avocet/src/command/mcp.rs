//! `avocet mcp`: offers the store as tools to an AI agent, over standard input and output.

use std::path::Path;

use anyhow::Result;
use tokio::runtime::Runtime;

use node::handle::NodeHandle;
use node::settings::Settings;
use server::{App, LISTEN};

/// Answers requests until the agent closes standard input.
pub fn run(root: &Path) -> Result<()> {
    let config = Settings::load(None, root)?;
    let node = NodeHandle::open(root, None, Settings::path(root))?;
    let app = App::open(node, config, LISTEN)?;
    let runtime = Runtime::new()?;
    let spoken = runtime.block_on(server::mcp::speak(app));
    // A thread may still block on standard input, and cannot be stopped.
    runtime.shutdown_background();
    spoken
}
