//! Security headers for every answer, and a check of the host name of every request.
//!
//! **Invariant:** every answer carries a Content-Security-Policy under which text of a crawled page
//! cannot run, even where escaping failed. It allows only our own scripts, styles, pictures and
//! forms, unless the handler sets another policy, as for cached copies.
//!
//! **Invariant:** a server on loopback answers only to names of loopback and of `[serve] hosts`.
//! This prevents DNS rebinding: a website cannot use its visitor's browser to read a private
//! store under its own domain name.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::App;
use crate::pages::POLICY;
use crate::request::without_port;

const HEADERS: [(HeaderName, &str); 5] = [
    (header::CONTENT_SECURITY_POLICY, POLICY),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    // The URL of a search holds the query, which the sites of the results must not learn.
    (header::REFERRER_POLICY, "no-referrer"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "same-origin",
    ),
];

/// Refuses a request for a foreign host name, passes on any other, and adds the security headers.
pub async fn guard(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let mut response = match host(&request) {
        // RFC 9112, section 3.2. With two names, a proxy before this server may have used the
        // other.
        _ if request.headers().get_all(header::HOST).iter().nth(1).is_some() => {
            (StatusCode::BAD_REQUEST, "A request must name exactly one host.\n").into_response()
        }
        Some(name) if app.answers_to(name) => next.run(request).await,
        _ => (
            StatusCode::MISDIRECTED_REQUEST,
            "This server does not answer to that host name. If it should, add the name to [serve] hosts in avocet.toml.\n",
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

/// Returns the host name that the client requested, without the port.
fn host(request: &Request) -> Option<&str> {
    let named = match request.uri().authority() {
        Some(authority) => authority.as_str(),
        None => request.headers().get(header::HOST)?.to_str().ok()?,
    };
    Some(without_port(named))
}
