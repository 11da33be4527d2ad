//! Serves `/embed.js`, the search box that other sites include with one script tag.
//!
//! **Invariant:** the script contains nothing about the store, so any site may load it. Browsers
//! let it read the API only on origins that `[serve] cors` lists; elsewhere the box only opens the
//! search page.

use axum::http::{HeaderName, header};
use axum::response::IntoResponse;

const HEADERS: [(HeaderName, &str); 4] = [
    (header::CONTENT_TYPE, "text/javascript; charset=utf-8"),
    (header::CACHE_CONTROL, "public, max-age=3600"),
    (header::ACCESS_CONTROL_ALLOW_ORIGIN, "*"),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        "cross-origin",
    ),
];

pub async fn script() -> impl IntoResponse {
    (HEADERS, include_str!("../../assets/embed.js"))
}
