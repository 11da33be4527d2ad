//! Applies the controls of operators, on blocking threads.

use std::sync::Arc;

use anyhow::Result;
use crawl::scope::ScopeRules;
use node::live::controls::{Applied, Control};
use node::settings::SettingInForce;

use crate::App;

/// Applies a control and returns whether it changed anything, with a message.
pub async fn apply(app: &Arc<App>, control: Control) -> Result<Applied> {
    let reader = app.clone();
    let work = move || reader.node.apply(&control);
    app.readers.read(work).await
}

/// Pauses the crawl and returns a message for the operator.
pub async fn pause(app: &Arc<App>) -> Result<String> {
    let reader = app.clone();
    let new = tokio::task::spawn_blocking(move || reader.node.pause()).await??;
    Ok(match new {
        true => "the crawl pauses: fetches under way end and are committed".into(),
        false => "the crawl is paused already".into(),
    })
}

/// Resumes the crawl and returns a message for the operator.
pub async fn resume(app: &Arc<App>) -> Result<String> {
    let reader = app.clone();
    let was = tokio::task::spawn_blocking(move || reader.node.resume()).await??;
    Ok(match was {
        true => "the crawl resumes".into(),
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
