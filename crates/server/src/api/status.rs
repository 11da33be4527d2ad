//! `GET /api/v1/status`: reports the size of the store and the state of its crawl.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;
use axum::Json;
use axum::extract::State;
use serde::Serialize;
use serde_json::Value;
use utoipa::ToSchema;

use super::ApiRefusal;
use super::refusal::RefusalBody;
use crate::App;
use node::handle::StoreStatus;

/// The size of the store, and the state of its crawl.
#[derive(Debug, Clone, Default, Serialize, ToSchema)]
pub struct Status {
    /// Whether a crawl runs.
    pub running: bool,
    /// Pages in the index.
    pub documents: u64,
    /// URLs known to the crawl.
    pub urls_seen: u64,
    /// URLs to fetch, now or later; without a running crawl, the URLs that were not requested yet.
    pub queued: u64,
    /// Pages with a copy; while a crawl runs, the pages that it has fetched.
    pub pages: u64,
    /// Number of errors by error code; without a running crawl, of pages whose last visit had the
    /// error.
    pub errors: BTreeMap<String, u64>,
    /// The full state of the running crawl; `null` if none runs.
    #[schema(required, value_type = Option<Object>)]
    pub crawl: Option<Value>,
}

/// Report the size of the store and the state of its crawl
#[utoipa::path(
    get,
    path = "/status",
    responses(
        (status = 200, description = "The status", body = Status),
        (status = 429, description = "Too many requests from this address; Retry-After says when to try again", body = RefusalBody),
        (status = 503, description = "Too many requests at once", body = RefusalBody),
    )
)]
pub async fn status(State(app): State<Arc<App>>) -> Result<Json<Status>, ApiRefusal> {
    Ok(Json(app.read(read).await?))
}

fn read(app: &App) -> Result<Status> {
    let documents = app.index.count();
    let state = match app.node.status()? {
        StoreStatus::AtRest(holdings) => {
            return Ok(Status {
                documents,
                urls_seen: holdings.urls_seen,
                queued: holdings.queued,
                pages: holdings.pages,
                errors: holdings.errors,
                ..Status::default()
            });
        }
        StoreStatus::Crawled(state) => state,
    };
    let number = |name: &str| state[name].as_u64().unwrap_or_default();
    let errors = state["errors"].as_object().into_iter().flatten();
    Ok(Status {
        running: true,
        documents,
        urls_seen: number("urls_seen"),
        queued: number("queued"),
        pages: number("pages"),
        errors: errors
            .map(|(kind, count)| (kind.clone(), count.as_u64().unwrap_or_default()))
            .collect(),
        crawl: Some(state),
    })
}
