//! The dashboard: shows what the crawler is doing, and why.
//!
//! The page is complete without JavaScript. With JavaScript, parts of it follow each new snapshot.

mod chart;
mod charts;
mod cluster;
mod events;
mod figures;
mod sites;
mod view;

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use policy::catalog::Catalog;

use crate::control::access::ViewAccess;
use crate::{App, assets, control, pages};
use node::live::snapshot::Snapshot;
use view::DashboardView;

pub use figures::{amount, short, when};

pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/dashboard", get(page))
        .route("/dashboard/events", get(events::events))
        .route("/dashboard/sites", get(sites::page))
        .route("/dashboard/sites/preview", post(sites::preview))
        .route("/dashboard/cluster", get(cluster::page))
        .route("/dashboard/cluster/events", get(cluster::events))
}

#[derive(Template)]
#[template(path = "dashboard.html")]
struct Dashboard {
    view: DashboardView,
    store: String,
    /// CSRF token for the forms of an operator.
    form: Option<String>,
    notice: Option<String>,
    /// In a cluster: the names of all nodes.
    nodes: Vec<String>,
    seeds: Vec<String>,
    blocked: Vec<String>,
    orders: Vec<PolicyChoice>,
    refreshes: Vec<PolicyChoice>,
    schedulers: Vec<PolicyChoice>,
}

/// A policy that a form offers.
struct PolicyChoice {
    name: &'static str,
    /// Whether it is a published baseline, for comparison.
    published: bool,
}

impl PolicyChoice {
    fn all<T>(policies: &[T], of: impl Fn(&T) -> (&'static str, bool)) -> Vec<Self> {
        let choices = policies.iter().map(of);
        choices
            .map(|(name, published)| Self { name, published })
            .collect()
    }
}

async fn page(State(app): State<Arc<App>>, access: ViewAccess) -> Response {
    let snapshot = snapshot(&app).await;
    let scope = control::scope(&app).await.unwrap_or_default();
    let catalog = Catalog::standard();
    let page = Dashboard {
        view: DashboardView::of(&snapshot, app.node.is_crawling(&snapshot)),
        store: app.node.root().display().to_string(),
        form: access
            .operator
            .map(|operator| app.token.form(operator.session.as_deref())),
        notice: app.take_notice(),
        nodes: node_names(&app),
        seeds: scope.seeds,
        blocked: scope.block,
        orders: PolicyChoice::all(catalog.orders(), |one| (one.name, one.published)),
        refreshes: PolicyChoice::all(catalog.refreshes(), |one| (one.name, one.published)),
        schedulers: PolicyChoice::all(catalog.schedulers(), |one| (one.name, one.published)),
    };
    let kept = [(header::CACHE_CONTROL, "no-store")];
    (kept, pages::show(&page)).into_response()
}

/// Returns the names of all nodes; none without a cluster.
fn node_names(app: &App) -> Vec<String> {
    let cluster = app.node.whole_crawl().map(|whole| whole.overview());
    let nodes = cluster.into_iter().flat_map(|cluster| cluster.nodes);
    nodes.map(|node| node.name).collect()
}

/// Returns the last snapshot of the crawl, which runs in this process or another.
pub async fn snapshot(app: &Arc<App>) -> Arc<Snapshot> {
    let reader = app.clone();
    let snapshot = tokio::task::spawn_blocking(move || reader.node.snapshot()).await;
    snapshot.unwrap_or_default()
}
