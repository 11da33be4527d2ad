//! Carries out the orders of operators, on blocking threads.

use std::sync::Arc;

use anyhow::Result;
use crawl::scope::ScopeRules;
use node::live::orders::CrawlOrder;
use node::settings::SettingInForce;
use node::whole_crawl::OrderResult;

use crate::App;

/// Carries out an order on the crawl: in a cluster on all nodes, or on the one with this name.
pub async fn order(app: &Arc<App>, order: CrawlOrder, node: Option<String>) -> Result<OrderResult> {
    let reader = app.clone();
    tokio::task::spawn_blocking(move || reader.node.order(&order, node.as_deref())).await?
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
