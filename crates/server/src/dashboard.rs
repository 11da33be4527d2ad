//! The dashboard: what the crawler is doing, and why.
//!
//! A page that is whole without a script; with one, its parts are brought up to date as the crawl says something new.

mod chart;
mod charts;
mod events;
mod figures;
mod view;

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use policy::catalog::Catalog;

use crate::control::access::Visitor;
use crate::{App, assets, control, pages};
use node::live::snapshot::Snapshot;
use view::View;

pub use figures::{amount, short, when};

pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/dashboard", get(page))
        .route("/dashboard/events", get(events::events))
}

#[derive(Template)]
#[template(path = "dashboard.html")]
struct Dashboard {
    view: View,
    store: String,
    /// CSRF token for the forms of an operator.
    form: Option<String>,
    notice: Option<String>,
    seeds: Vec<String>,
    blocked: Vec<String>,
    orders: Vec<Choice>,
    refreshes: Vec<Choice>,
    schedulers: Vec<Choice>,
}

/// A policy that a form offers.
struct Choice {
    name: &'static str,
    /// Whether it is a published baseline, for comparison.
    published: bool,
}

impl Choice {
    fn all<T>(policies: &[T], of: impl Fn(&T) -> (&'static str, bool)) -> Vec<Self> {
        let choices = policies.iter().map(of);
        choices
            .map(|(name, published)| Self { name, published })
            .collect()
    }
}

async fn page(State(app): State<Arc<App>>, visitor: Visitor) -> Response {
    let said = snapshot(&app).await;
    let scope = control::scope(&app).await.unwrap_or_default();
    let catalog = Catalog::standard();
    let page = Dashboard {
        view: View::of(&said, app.node.is_crawling(&said)),
        store: app.node.root().display().to_string(),
        form: visitor
            .operator
            .map(|operator| app.token.form(operator.session.as_deref())),
        notice: app.take_notice(),
        seeds: scope.seeds,
        blocked: scope.block,
        orders: Choice::all(catalog.orders(), |one| (one.name, one.published)),
        refreshes: Choice::all(catalog.refreshes(), |one| (one.name, one.published)),
        schedulers: Choice::all(catalog.schedulers(), |one| (one.name, one.published)),
    };
    let kept = [(header::CACHE_CONTROL, "no-store")];
    (kept, pages::show(&page)).into_response()
}

/// Returns what the crawl last said of itself, in this process or another.
pub async fn snapshot(app: &Arc<App>) -> Arc<Snapshot> {
    let reader = app.clone();
    let snapshot = tokio::task::spawn_blocking(move || reader.node.snapshot()).await;
    snapshot.unwrap_or_default()
}
