//! HTML pages for searchers, rendered on the server; they work without a script.
//!
//! **Invariant:** templates escape every value; no template uses the filter `safe`.

mod atom;
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
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use page::PageUrl;

use crate::app::Brand;
use crate::{App, assets};

pub use brand::routes as brand_routes;

/// The Content-Security-Policy of all answers, except cached copies and the page around them: it
/// allows only our own scripts, styles, pictures and forms.
pub const POLICY: &str = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; \
    connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/", get(search::page))
        .route("/similar", get(similar::page))
        .route("/cached", get(cached::page))
        .route("/cached/copy", get(cached::copy))
        .route("/opensearch.xml", get(opensearch::description))
        .route("/atom", get(atom::feed))
        .merge(click::routes())
}

/// A page that shows only a message.
#[derive(Template)]
#[template(path = "message.html")]
struct MessagePage<'a> {
    brand: &'a Brand,
    title: &'a str,
    message: &'a str,
}

/// Returns a message page for operators, with the default brand.
pub fn message(status: StatusCode, title: &str, message: &str) -> Response {
    branded(&Brand::default(), status, title, message)
}

/// Returns a message page for searchers, with the brand of the server.
pub fn message_of(app: &App, status: StatusCode, title: &str, message: &str) -> Response {
    branded(&app.brand, status, title, message)
}

fn branded(brand: &Brand, status: StatusCode, title: &str, message: &str) -> Response {
    let page = MessagePage {
        brand,
        title,
        message,
    };
    (status, show(&page)).into_response()
}

/// Leads to the node of the cluster that owns a page, for what only the owner knows. `query` is the
/// query of the request. Returns `None` if this node owns the page, or is in no cluster.
pub fn at_owner(app: &App, url: &str, path: &str, query: Option<&str>) -> Option<Response> {
    let url = PageUrl::parse(url).ok()?;
    let owner = app.node.whole_crawl()?.other_owner(&url)?;
    let address = owner.address.and_then(|address| {
        let query = query.unwrap_or_default();
        HeaderValue::try_from(format!("{address}{path}?{query}")).ok()
    });
    Some(match address {
        Some(address) => {
            let head = [(header::LOCATION, address)];
            (StatusCode::TEMPORARY_REDIRECT, head).into_response()
        }
        None => {
            let node = owner.node;
            let message = format!("The node {node} of this crawl has this page.");
            message_of(app, StatusCode::NOT_FOUND, "On another node", &message)
        }
    })
}

/// Answers 404 for a path that does not exist.
pub async fn missing(State(app): State<Arc<App>>) -> Response {
    message_of(
        &app,
        StatusCode::NOT_FOUND,
        "Not found",
        "There is no page at this address.",
    )
}

/// Returns the URL of this server, as the client sees it; `None` if the request names no host.
pub fn base_url(headers: &HeaderMap) -> Option<String> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    // A proxy that terminates TLS says so in this header.
    let secure = text("x-forwarded-proto") == Some("https");
    let scheme = if secure { "https" } else { "http" };
    let host = text(header::HOST.as_str())?;
    Some(format!("{scheme}://{host}"))
}

/// Returns the URL of this server with the path prefix of the settings.
fn public_url(app: &App, headers: &HeaderMap) -> Option<String> {
    let base = app
        .settings
        .base
        .as_ref()
        .map_or("", |base| base.0.as_str());
    Some(base_url(headers)? + base)
}

/// Returns the query parameter `url`, or an empty text if there is none.
fn named_url(raw: Option<&str>) -> String {
    let mut pairs = form_urlencoded::parse(raw.unwrap_or_default().as_bytes());
    let found = pairs.find(|(name, _)| name == "url");
    found.map_or(String::new(), |(_, value)| value.trim().to_owned())
}

/// Renders a template as an answer.
pub fn show(page: &impl Template) -> Response {
    match page.render() {
        Ok(html) => ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response(),
        Err(error) => {
            tracing::error!(%error, "cannot render a page");
            (
                StatusCode::INTERNAL_SERVER_ERROR,
                "The server cannot render this page; its log has the reason.\n",
            )
                .into_response()
        }
    }
}
