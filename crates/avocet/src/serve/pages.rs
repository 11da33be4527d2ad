//! Pages for people: HTML, made on the server, that works without a script.
//!
//! **Invariant:** everything in a page is escaped by its template; no template says `safe`.

mod opensearch;
mod search;

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use super::App;
use super::assets;

pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(search::page))
        .route("/opensearch.xml", get(opensearch::description))
}

/// What can be said where there is no page.
#[derive(Template)]
#[template(path = "message.html")]
struct Message<'a> {
    title: &'a str,
    message: &'a str,
}

/// A page that only says something.
pub fn message(status: StatusCode, title: &str, message: &str) -> Response {
    (status, show(&Message { title, message })).into_response()
}

/// Nothing is served here.
pub async fn missing() -> Response {
    message(
        StatusCode::NOT_FOUND,
        "Not found",
        "There is no page at this address.",
    )
}

/// A template as an answer.
pub fn show(page: &impl Template) -> Response {
    match page.render() {
        Ok(html) => ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response(),
        Err(error) => {
            tracing::error!(%error, "a page cannot be made");
            (
                StatusCode::INTERNAL_SERVER_ERROR,
                "This page cannot be made.\n",
            )
                .into_response()
        }
    }
}
