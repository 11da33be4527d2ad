//! What stands between a browser and text of strangers?
//!
//! **Invariant:** every answer carries a policy that allows no script, style, picture, frame or form but our own
//! files: what a crawled page says cannot run even where escaping failed. And a server on loopback answers only to
//! names of loopback, so that no website can have its visitor's browser read a private store under a name of its
//! own (DNS rebinding).

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::App;

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

/// The name of an authority.
pub fn without_port(authority: &str) -> &str {
    match authority.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => authority,
    }
}

/// Whether a name is one that only this machine has.
pub fn is_loopback(name: &str) -> bool {
    let address = name.trim_start_matches('[').trim_end_matches(']');
    let is_address = address.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
    is_address || name.eq_ignore_ascii_case("localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_loopback() {
        let check = |authority, loopback| {
            assert_eq!(
                is_loopback(without_port(authority)),
                loopback,
                "{authority}"
            );
        };
        check("127.0.0.1:8321", true);
        check("127.9.0.1", true);
        check("LocalHost:1", true);
        check("[::1]:8321", true);
        check("[::1]", true);
        check("evil.example:8321", false);
        check("localhost.evil.example", false);
        check("127.0.0.1.evil.example", false);
        check("192.168.1.4", false);
        check("", false);
    }
}
