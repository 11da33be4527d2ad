//! `avocet serve`: the search page, for as long as the program runs.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use serde_json::json;

use crate::cli::Serve;
use crate::signal::signalled;
use node::handle::NodeHandle;
use node::panics;
use node::settings::config::Config;
use node::store::keys;
use server::{App, LISTEN};

/// Serves until it is interrupted.
pub fn run(root: &Path, json: bool, wishes: &Serve) -> Result<()> {
    let config = Config::load(wishes.config.as_deref(), root)?;
    let listen = wishes.listen.or(config.serve.listen).unwrap_or(LISTEN);
    let path = wishes.config.clone();
    let path = path.unwrap_or_else(|| Config::path(root));
    let app = App::open(NodeHandle::open(root, None, path)?, config, listen)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
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
