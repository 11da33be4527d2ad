//! Applies the controls of operators, on blocking threads.

use std::sync::Arc;

use anyhow::Result;
use crawl::scope::ScopeRules;
use node::live::controls::{Applied, Control};
use node::settings::SettingInForce;

use crate::App;

/// Applies a control and returns whether it changed anything, with a message.
pub async fn apply(app: &Arc<App>, control: Control) -> Result<Applied> {
    app.read(move |app| app.node.apply(&control)).await
}

/// Pauses the crawl. Returns whether this changed anything, with a message.
pub async fn pause(app: &Arc<App>) -> Result<Applied> {
    let reader = app.clone();
    let changed = tokio::task::spawn_blocking(move || reader.node.pause()).await??;
    let message = match changed {
        true => "the crawl pauses: fetches under way end and are committed",
        false => "the crawl is paused already",
    };
    let message = message.to_owned();
    Ok(Applied { changed, message })
}

/// Resumes the crawl. Returns whether this changed anything, with a message.
pub async fn resume(app: &Arc<App>) -> Result<Applied> {
    let reader = app.clone();
    let changed = tokio::task::spawn_blocking(move || reader.node.resume()).await??;
    let message = match changed {
        true => "the crawl resumes",
        false => "the crawl was not paused",
    };
    let message = message.to_owned();
    Ok(Applied { changed, message })
}

/// Returns the scope of the crawl.
pub async fn scope(app: &Arc<App>) -> Result<ScopeRules> {
    let reader = app.clone();
    tokio::task::spawn_blocking(move || reader.node.scope()).await?
}

/// Returns the settings in force.
pub async fn settings(app: &Arc<App>) -> Result<Vec<SettingInForce>> {
    let reader = app.clone();
    tokio::task::spawn_blocking(move || reader.node.settings()).await?
}
