//! Applies controls, off the threads that serve connections.

use std::sync::Arc;

use anyhow::Result;
use crawl::scope::ScopeRules;
use node::live::controls::{Applied, Control};
use node::settings::SettingInForce;

use crate::App;

/// Applies a control, and says what holds when.
pub async fn apply(app: &Arc<App>, control: Control) -> Result<Applied> {
    let reader = app.clone();
    let work = move || reader.node.apply(&control);
    app.readers.read(work).await
}

/// Pauses the crawl. Returns what to say of it.
pub async fn pause(app: &Arc<App>) -> Result<String> {
    let reader = app.clone();
    let new = tokio::task::spawn_blocking(move || reader.node.pause()).await??;
    Ok(match new {
        true => "the crawl pauses: what is under way ends and is committed".into(),
        false => "the crawl was paused before".into(),
    })
}

/// Resumes the crawl. Returns what to say of it.
pub async fn resume(app: &Arc<App>) -> Result<String> {
    let reader = app.clone();
    let was = tokio::task::spawn_blocking(move || reader.node.resume()).await??;
    Ok(match was {
        true => "the crawl goes on".into(),
        false => "the crawl was not paused".into(),
    })
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
