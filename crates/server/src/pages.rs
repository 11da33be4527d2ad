//! Pages for people: HTML, made on the server, that works without a script.
//!
//! **Invariant:** everything in a page is escaped by its template; no template says `safe`.

mod brand;
mod cached;
mod click;
mod opensearch;
mod search;
mod similar;

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

use crate::app::Brand;
use crate::{App, assets};

pub use brand::routes as brand_routes;

pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(search::page))
        .route("/similar", get(similar::page))
        .route("/cached", get(cached::page))
        .route("/cached/copy", get(cached::copy))
        .route("/opensearch.xml", get(opensearch::description))
        .merge(click::routes())
}

/// What can be said where there is no page.
#[derive(Template)]
#[template(path = "message.html")]
struct Message<'a> {
    brand: &'a Brand,
    title: &'a str,
    message: &'a str,
}

/// A page for operators that only says something.
pub fn message(status: StatusCode, title: &str, message: &str) -> Response {
    branded(&Brand::default(), status, title, message)
}

/// A page for searchers that only says something.
pub fn message_of(app: &App, status: StatusCode, title: &str, message: &str) -> Response {
    branded(&app.brand, status, title, message)
}

fn branded(brand: &Brand, status: StatusCode, title: &str, message: &str) -> Response {
    let page = Message {
        brand,
        title,
        message,
    };
    (status, show(&page)).into_response()
}

/// Nothing is served here.
pub async fn missing(State(app): State<Arc<App>>) -> Response {
    message_of(
        &app,
        StatusCode::NOT_FOUND,
        "Not found",
        "There is no page at this address.",
    )
}

/// The parameter `url`, as it was written; empty if there is none.
fn named_url(raw: Option<&str>) -> String {
    let mut pairs = form_urlencoded::parse(raw.unwrap_or_default().as_bytes());
    let found = pairs.find(|(name, _)| name == "url");
    found.map_or(String::new(), |(_, value)| value.trim().to_owned())
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
