//! Serves the logo and the stylesheet of the brand.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::App;

pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/brand/{mark}/logo", get(logo))
        .route("/brand/{mark}/style.css", get(stylesheet))
}

async fn logo(State(app): State<Arc<App>>) -> Response {
    match &app.brand.logo {
        Some(logo) => file(logo.kind, logo.bytes.clone()),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

async fn stylesheet(State(app): State<Arc<App>>) -> Response {
    match &app.brand.style {
        Some(style) => file("text/css; charset=utf-8", style.clone().into_bytes()),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

fn file(kind: &'static str, bytes: Vec<u8>) -> Response {
    let headers = [
        (header::CONTENT_TYPE, kind),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    (headers, bytes).into_response()
}
