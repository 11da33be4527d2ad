//! `avocet serve`: serves the search page, the dashboard and the API.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use serde_json::json;
use tokio::runtime::Runtime;

use crate::cli::ServeArguments;
use crate::signal::signalled;
use node::documents;
use node::handle::NodeHandle;
use node::panics;
use node::settings::Settings;
use node::store::keys;
use server::{App, LISTEN};

/// Serves until interrupted, or until a task panics.
pub fn run(root: &Path, json: bool, arguments: &ServeArguments) -> Result<()> {
    let file = Settings::file(arguments.config.as_deref(), root)?;
    let settings = arguments.settings.layer.over(&file).settings()?;
    documents::configure(&settings.documents);
    let listen = settings.serve.listen.map_or(LISTEN, |listen| listen.0);
    let path = arguments.config.clone();
    let path = path.unwrap_or_else(|| Settings::path(root));
    let app = App::open(NodeHandle::open(root, None, path)?, settings, listen)?;
    let runtime = Runtime::new()?;
    runtime.block_on(async {
        let serving = server::start(app, server::listen(listen).await?)?;
        let address = format!("http://{}/", serving.address);
        if json {
            outln!("{}", json!({ "listening": address }));
        } else {
            outln!("serving {} at {address}", root.display());
            outln!(
                "dashboard: {address}dashboard; its controls need the token in {}",
                keys::token_path(root).display()
            );
        }
        std::io::stdout().flush()?;
        tokio::select! {
            () = signalled() => {}
            () = panics::alarm() => {}
        }
        serving.stop().await;
        Ok(())
    })
}
