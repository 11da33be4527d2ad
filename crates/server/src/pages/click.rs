//! `/click`: counts a click on a result. `GET` also redirects to the page.
//!
//! A result of the search page links to the page itself, so that a reader sees where a link
//! leads. The browser reports the click by `POST`: with `navigator.sendBeacon` from the script,
//! or without a script by the attribute `ping`. A browser that supports neither reports no click
//! (Firefox without scripts, because it disables `ping`). `GET` is for programs that show results
//! of the API.
//!
//! **Invariant:** `GET` redirects only from a signed link, and only to a page in the index. A link
//! counts once, within 24 hours. A prefetch of the browser is not a click.

use std::sync::Arc;

use anyhow::Result;
use axum::Router;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use jiff::Timestamp;
use serde::Deserialize;

use super::message_of;
use crate::App;
use crate::app::{ShownResult, is_web};

#[derive(Deserialize)]
struct ClickParams {
    #[serde(default)]
    to: String,
}

pub fn routes() -> Router<Arc<App>> {
    Router::new().route("/click", get(click).post(report))
}

/// Counts a click that the browser reports; the browser itself goes to the page.
async fn report(State(app): State<Arc<App>>, Query(params): Query<ClickParams>) -> StatusCode {
    let Some(shown) = app.links.verify(&params.to) else {
        return StatusCode::NOT_FOUND;
    };
    match follow(&app, shown, true).await {
        Ok(Some(_)) => StatusCode::NO_CONTENT,
        Ok(None) => StatusCode::GONE,
        Err(error) => {
            tracing::error!("cannot handle a click: {error:#}");
            StatusCode::SERVICE_UNAVAILABLE
        }
    }
}

async fn click(
    State(app): State<Arc<App>>,
    Query(params): Query<ClickParams>,
    headers: HeaderMap,
) -> Response {
    let Some(shown) = app.links.verify(&params.to) else {
        return message_of(
            &app,
            StatusCode::NOT_FOUND,
            "No such result",
            "This link is not from this search page. Search again.",
        );
    };
    let is_prefetch = headers
        .get("sec-purpose")
        .or(headers.get("purpose"))
        .is_some_and(|purpose| purpose.as_bytes().starts_with(b"prefetch"));
    match follow(&app, shown, !is_prefetch).await {
        Ok(Some(url)) => {
            let headers = [
                (header::LOCATION, url),
                (header::CACHE_CONTROL, "no-store".to_owned()),
            ];
            (StatusCode::FOUND, headers).into_response()
        }
        Ok(None) => message_of(
            &app,
            StatusCode::GONE,
            "No longer found",
            "This page is no longer in the index. Search again.",
        ),
        Err(error) => {
            tracing::error!("cannot handle a click: {error:#}");
            message_of(
                &app,
                StatusCode::SERVICE_UNAVAILABLE,
                "Try again",
                "The page could not be looked up. Try again in a moment.",
            )
        }
    }
}

/// Returns the URL of a result, and counts the click if `counts` is set. In a cluster the page may
/// be in the index of another node.
///
/// Returns `None` if the page is no longer in the index, or its URL is not `http` or `https`.
async fn follow(app: &Arc<App>, shown: ShownResult, counts: bool) -> Result<Option<String>> {
    app.read(move |app| {
        let url = match (app.index.kept(shown.page)?, app.node.whole_search()) {
            (Some(kept), _) => Some(kept.url),
            (None, Some(whole)) => whole.url(shown.page)?,
            (None, None) => None,
        };
        let url = url.filter(|url| is_web(url));
        if let Some(url) = &url
            && counts
            && let Some(click) = app.clicks.count(&shown, url, Timestamp::now())
        {
            app.metrics.clicked();
            if let Err(error) = app.node.log_click(&click) {
                tracing::warn!("cannot write a click to the log: {error:#}");
            }
        }
        Ok(url)
    })
    .await
}
