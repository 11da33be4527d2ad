//! The path prefix below which a reverse proxy offers this server (`[serve] base`).
//!
//! The prefix is removed from requests, if the proxy has not done so. It is added to the addresses
//! of this server in answers: in the attributes of our pages, in links of the API, in feeds and in
//! redirects.
//!
//! **Invariant:** only addresses that the server wrote are changed. Text of crawled pages and of
//! searchers cannot look like one, because quotes in it are escaped; and links to pages begin with
//! their scheme.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Uri, header};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::StreamExt;

use crate::App;

/// What stands before an address of this server in our answers.
const BEFORE: [&str; 5] = [
    " href=\"",
    " src=\"",
    " action=\"",
    " ping=\"",
    "\"click\":\"",
];
/// Largest answer that is changed, in bytes.
const LARGEST: usize = 64 << 20;

/// Adds the prefix to the addresses in an answer.
pub async fn add_base(State(app): State<Arc<App>>, request: Request, next: Next) -> Response {
    let Some(base) = app.settings.base.as_ref().map(|base| base.0.clone()) else {
        return next.run(request).await;
    };
    let mut response = next.run(request).await;
    if let Some(target) = response.headers().get(header::LOCATION)
        && let Some(target) = target
            .to_str()
            .ok()
            .filter(|target| target.starts_with('/'))
        && let Ok(target) = HeaderValue::try_from(format!("{base}{target}"))
    {
        response.headers_mut().insert(header::LOCATION, target);
    }
    let kind = response.headers().get(header::CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is = |prefix: &str| kind.starts_with(prefix);
    if is("text/event-stream") {
        // The server writes each event as one piece.
        let (head, body) = response.into_parts();
        let pieces = body.into_data_stream();
        let pieces = pieces.map(move |piece| piece.map(|bytes| prefixed(bytes, &base)));
        return Response::from_parts(head, Body::from_stream(pieces));
    }
    let json = is("application/json");
    if !(is("text/html") || json) {
        return response;
    }
    let (mut head, body) = response.into_parts();
    match axum::body::to_bytes(body, LARGEST).await {
        Ok(bytes) => {
            head.headers.remove(header::CONTENT_LENGTH);
            Response::from_parts(head, prefixed(bytes, &base).into())
        }
        Err(_) => axum::response::IntoResponse::into_response(
            axum::http::StatusCode::INTERNAL_SERVER_ERROR,
        ),
    }
}

/// Adds the prefix to the addresses in a text.
fn prefixed(bytes: Bytes, base: &str) -> Bytes {
    let Ok(text) = std::str::from_utf8(&bytes) else {
        return bytes;
    };
    let mut out = String::with_capacity(text.len() + 1024);
    let mut rest = text;
    while let Some(slash) = rest.find('/') {
        let (before, after) = rest.split_at(slash);
        out.push_str(before);
        let is_address = BEFORE.iter().any(|mark| out.ends_with(mark));
        if is_address && !after.starts_with("//") {
            out.push_str(base);
        }
        out.push('/');
        rest = &after[1..];
    }
    out.push_str(rest);
    out.into()
}

/// Removes the prefix from the path of a request. A path without it stays as it is: then the proxy
/// has removed it.
pub fn without_base(uri: &Uri, base: &str) -> Option<Uri> {
    let path = uri.path_and_query()?.as_str();
    let rest = path.strip_prefix(base)?;
    let rest = match rest.as_bytes().first() {
        None => "/".to_owned(),
        Some(b'?') => format!("/{rest}"),
        Some(b'/') => rest.to_owned(),
        Some(_) => return None,
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = rest.parse().ok();
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_addresses_get_the_prefix() {
        let check = |text: &str, expected: &str| {
            let found = prefixed(Bytes::copy_from_slice(text.as_bytes()), "/search");
            assert_eq!(found, expected.as_bytes(), "{text}");
        };
        check("<a href=\"/\">/x</a>", "<a href=\"/search/\">/x</a>");
        check(
            "<form action=\"/dashboard/control\">",
            "<form action=\"/search/dashboard/control\">",
        );
        check(
            "<a href=\"https://e.org/\" ping=\"/click?to=x\">",
            "<a href=\"https://e.org/\" ping=\"/search/click?to=x\">",
        );
        check(
            "<input value=\"/x\"> <a href=\"//e.org/\">",
            "<input value=\"/x\"> <a href=\"//e.org/\">",
        );
        check(
            "{\"click\":\"/click?to=x\",\"url\":\"/y\"}",
            "{\"click\":\"/search/click?to=x\",\"url\":\"/y\"}",
        );
        // In a title, quotes are escaped.
        check("&#34; href=&#34;/x", "&#34; href=&#34;/x");
    }

    #[test]
    fn the_prefix_of_a_request_is_removed() {
        let check = |uri: &str, expected: Option<&str>| {
            let found = without_base(&uri.parse().unwrap(), "/search");
            assert_eq!(
                found.map(|uri| uri.to_string()).as_deref(),
                expected,
                "{uri}"
            );
        };
        check("/search", Some("/"));
        check("/search?q=a", Some("/?q=a"));
        check("/search/api/v1/search?q=a", Some("/api/v1/search?q=a"));
        check("http://e.org/search/", Some("http://e.org/"));
        check("/searching", None);
        check("/", None);
    }
}
