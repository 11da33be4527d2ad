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
    let Some(base) = super::public_url(&app, &headers) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let brand = &app.brand;
    match (OpenSearchDescription { brand, base }).render() {
        Ok(xml) => {
            let kind = "application/opensearchdescription+xml; charset=utf-8";
            ([(header::CONTENT_TYPE, kind)], xml).into_response()
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}
