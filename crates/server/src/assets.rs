//! Static files of the pages, compiled into the program so that there is nothing to install.
//!
//! **Invariant:** the URL of a file holds a hash of the content of all files. So a browser may
//! cache it forever, and never uses an old version. Only `/embed.js` has a fixed URL, and is
//! cached for an hour.

mod embed;

use std::sync::LazyLock;

use axum::Router;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;

struct Asset {
    name: &'static str,
    kind: &'static str,
    text: &'static str,
}

macro_rules! asset {
    ($name:literal, $kind:expr) => {
        Asset {
            name: $name,
            kind: $kind,
            text: include_str!(concat!("../assets/", $name)),
        }
    };
}

const CSS: &str = "text/css; charset=utf-8";
const JAVASCRIPT: &str = "text/javascript; charset=utf-8";

const ASSETS: [Asset; 5] = [
    asset!("dashboard.css", CSS),
    asset!("dashboard.js", JAVASCRIPT),
    asset!("avocet.css", CSS),
    asset!("search.js", JAVASCRIPT),
    asset!("avocet.svg", "image/svg+xml"),
];

/// A hash of the content of all files, as 12 hexadecimal digits.
static MARK: LazyLock<String> = LazyLock::new(|| {
    let all: String = ASSETS.iter().map(|asset| asset.text).collect();
    let digest = ring::digest::digest(&ring::digest::SHA256, all.as_bytes());
    data_encoding::HEXLOWER.encode(&digest.as_ref()[..6])
});

/// Returns the URL of a file, for templates.
pub fn url(name: &str) -> String {
    format!("/assets/{}/{name}", *MARK)
}

/// Returns the routes of the files and of the search box for other sites.
pub fn routes<S: Clone + Send + Sync + 'static>() -> Router<S> {
    Router::new()
        .route("/assets/{mark}/{name}", get(asset))
        .route("/embed.js", get(embed::script))
}

async fn asset(Path((_, name)): Path<(String, String)>) -> Response {
    let Some(asset) = ASSETS.iter().find(|asset| asset.name == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let headers = [
        (header::CONTENT_TYPE, asset.kind),
        (header::CACHE_CONTROL, "public, max-age=31536000, immutable"),
    ];
    (headers, asset.text).into_response()
}
