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
use jiff::{SignedDuration, Timestamp};
use policy::catalog::Catalog;

use super::control::access::Visitor;
use super::{App, assets, pages};
use crate::live::snapshot::Snapshot;
use crate::store;
use view::View;

pub use figures::{amount, short, when};

/// A crawl that has not said anything for so long has ended.
const SILENCE: SignedDuration = SignedDuration::from_secs(15);

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
    orders: Vec<&'static str>,
    refreshes: Vec<&'static str>,
    schedulers: Vec<&'static str>,
}

async fn page(State(app): State<Arc<App>>, visitor: Visitor) -> Response {
    let snapshot = app.snapshot().await;
    let scope = app.scope().await.unwrap_or_default();
    let catalog = Catalog::standard();
    let page = Dashboard {
        view: View::of(&snapshot, app.is_crawling(&snapshot)),
        store: app.root.display().to_string(),
        form: visitor
            .operator
            .map(|operator| app.token.form(operator.session.as_deref())),
        notice: app.take_notice(),
        seeds: scope.seeds,
        blocked: scope.block,
        orders: catalog.orders().iter().map(|one| one.name).collect(),
        refreshes: catalog.refreshes().iter().map(|one| one.name).collect(),
        schedulers: catalog.schedulers().iter().map(|one| one.name).collect(),
    };
    let kept = [(header::CACHE_CONTROL, "no-store")];
    (kept, pages::show(&page)).into_response()
}

impl App {
    /// What the crawl last said of itself, in this process or another.
    pub async fn snapshot(&self) -> Arc<Snapshot> {
        let (live, path) = (self.live.clone(), store::snapshot(&self.root));
        let read = move || match live {
            Some(live) => Some(live.snapshot()),
            None => {
                let read: Option<Snapshot> =
                    serde_json::from_slice(&std::fs::read(path).ok()?).ok();
                read.map(Arc::new)
            }
        };
        let snapshot = tokio::task::spawn_blocking(read).await;
        snapshot.ok().flatten().unwrap_or_default()
    }

    /// Whether somebody crawls the store now: a crawl says something every two seconds, also while it is paused. Where the store is in our
    /// hands, nobody does, however lately one spoke.
    pub fn is_crawling(&self, said: &Snapshot) -> bool {
        let at = said.state.at.parse::<Timestamp>();
        let lately = |at: &Timestamp| Timestamp::now().duration_since(*at) < SILENCE;
        self.live.is_some() || !self.lease.is_held() && at.as_ref().is_ok_and(lately)
    }
}
