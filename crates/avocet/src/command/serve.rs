//! `avocet serve`: the search page, for as long as the program runs.

use std::io::Write;
use std::path::Path;

use anyhow::Result;
use serde_json::json;

use crate::cli::Serve;
use crate::config::Config;
use crate::panics;
use crate::serve::{self, App, Crawl, LISTEN};
use crate::signal::signalled;

/// Serves until it is interrupted.
pub fn run(root: &Path, json: bool, wishes: &Serve) -> Result<()> {
    let config = Config::load(wishes.config.as_deref(), root)?;
    let listen = wishes.listen.or(config.serve.listen).unwrap_or(LISTEN);
    let path = wishes.config.clone();
    let crawl = Crawl {
        live: None,
        config: path.unwrap_or_else(|| Config::path(root)),
    };
    let app = App::open(root, config, listen, crawl)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let serving = serve::start(app, serve::listen(listen).await?)?;
        let address = format!("http://{}/", serving.address);
        if json {
            outln!("{}", json!({ "listening": address }));
        } else {
            outln!("serving {} at {address}", root.display());
            outln!(
                "dashboard: {address}dashboard; its controls need the token in {}",
                serve::token::path(root).display()
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
