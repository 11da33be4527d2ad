//! What stands between a browser and text of strangers?
//!
//! **Invariant:** every answer carries a policy that allows no script, style, picture, frame or form but our own
//! files: what a crawled page says cannot run even where escaping failed. And a server on loopback answers only to
//! names of loopback, so that no website can have its visitor's browser read a private store under a name of its
//! own (DNS rebinding).

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::App;
use crate::request::without_port;

const HEADERS: [(HeaderName, &str); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; \
         form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // What someone searched for is not for the pages that were found.
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// Passes a request on, and adds to its answer what every answer carries.
pub async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let mut response = match host(&request) {
        // RFC 9112, 3.2: a proxy before us may have gone by the other one.
        _ if request.headers().get_all(header::HOST).iter().nth(1).is_some() => {
            (StatusCode::BAD_REQUEST, "A request names one host.\n").into_response()
        }
        Some(name) if app.answers_to(name) => next.run(request).await,
        _ => (
            StatusCode::MISDIRECTED_REQUEST,
            "This server does not go by that name. If it should, add the name to [serve] hosts in avocet.toml.\n",
        )
            .into_response(),
    };
    let headers = response.headers_mut();
    for (name, value) in HEADERS {
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    response
}

/// The name that the client asked for, without a port.
fn host(request: &Request) -> Option<&str> {
    let named = match request.uri().authority() {
        Some(authority) => authority.as_str(),
        None => request.headers().get(header::HOST)?.to_str().ok()?,
    };
    Some(without_port(named))
}
