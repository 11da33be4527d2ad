//! The JSON API for programs, with an OpenAPI document generated from the same types.
//!
//! **Invariant:** every handler below `/api/v1` answers in JSON, errors included. An error has a
//! stable code for programs and a message for people. Only a request that is refused before its
//! handler runs (foreign host name, body too large) gets plain text.

mod changes;
mod cluster;
mod cors;
mod document;
mod page;
mod page_of_api;
mod params;
mod refusal;
mod search;
mod sections;
mod similar;
mod sites;
mod sources;
mod stated;
mod status;
mod suggest;

use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode, Uri};
use axum::routing::get;
use axum::{Json, Router};
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::App;

pub use page::kept;
pub use params::Params;
pub use refusal::{ApiRefusal, RefusalBody};
pub(super) use search::SectionLink;

/// Returns all routes below `/api/v1`; `others` are those that other parts of the server add.
pub fn routes(app: &Arc<App>, others: OpenApiRouter<Arc<App>>) -> Router<Arc<App>> {
    let (router, document) = OpenApiRouter::with_openapi(document::ApiDocument::openapi())
        .nest(
            "/api/v1",
            OpenApiRouter::new()
                .routes(routes!(search::search))
                .routes(routes!(suggest::suggest))
                .routes(routes!(page::page))
                .routes(routes!(similar::similar))
                .routes(routes!(status::status))
                .routes(routes!(cluster::cluster))
                .routes(routes!(sites::sites))
                .routes(routes!(sources::sources))
                .routes(routes!(changes::changes))
                .merge(others),
        )
        .split_for_parts();
    let document = Arc::new(document);
    let described = Arc::new(serde_json::to_value(&*document).unwrap_or_default());
    let prefix = app
        .settings
        .base
        .as_ref()
        .map_or(String::new(), |base| base.0.clone());
    router
        .route(
            "/api",
            get(move |headers: HeaderMap| async move {
                page_of_api::show(&described, &prefix, &headers)
            }),
        )
        .route(
            "/api/v1/openapi.json",
            get(move || async move { Json(document) }),
        )
        .route("/api/v1", get(missing))
        .route("/api/v1/{*rest}", get(missing))
        .method_not_allowed_fallback(wrong_method)
        .layer(axum::middleware::from_fn_with_state(
            app.clone(),
            cors::allow,
        ))
}

async fn missing(uri: Uri) -> ApiRefusal {
    let path = uri.path();
    ApiRefusal::not_found(&format!(
        "there is nothing at {path}: /api/v1/openapi.json lists the API"
    ))
}

async fn wrong_method() -> ApiRefusal {
    ApiRefusal::new(
        StatusCode::METHOD_NOT_ALLOWED,
        "method",
        "this path does not allow that method: /api/v1/openapi.json lists the methods",
    )
}
