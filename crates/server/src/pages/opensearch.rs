//! The OpenSearch description, with which a browser adds the search page to its search engines.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};

use crate::App;
use crate::app::Brand;

#[derive(Template)]
#[template(path = "opensearch.xml")]
struct OpenSearchDescription<'a> {
    brand: &'a Brand,
    /// The URL of this server, as the browser sees it.
    base: String,
}

pub async fn description(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    // A proxy that terminates TLS says so in this header.
    let secure = text("x-forwarded-proto") == Some("https");
    let scheme = if secure { "https" } else { "http" };
    let Some(host) = text(header::HOST.as_str()) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let base = format!("{scheme}://{host}");
    let brand = &app.brand;
    match (OpenSearchDescription { brand, base }).render() {
        Ok(xml) => {
            let kind = "application/opensearchdescription+xml; charset=utf-8";
            ([(header::CONTENT_TYPE, kind)], xml).into_response()
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
