//! A click on a result: counted, and led on to the page if that is asked for.
//!
//! A result of the search page links to the page itself. The browser reports the click by `POST`: the script of the
//! page with `navigator.sendBeacon`, and without a script the attribute `ping`. `GET` counts the click and redirects; it
//! is for programs that show results of the API. A browser with neither script nor `ping` (Firefox has `ping` off)
//! counts no click: a reader sees where a link leads, and that is worth more than the count.
//!
//! **Invariant:** `GET` leads only to a page that is in the index, from an address that we sealed; an address counts
//! once, and only on the day it was handed out. A browser that fetches ahead of its user does not click.

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
struct Clicked {
    #[serde(default)]
    to: String,
}

pub fn routes() -> Router<Arc<App>> {
    Router::new().route("/click", get(click).post(report))
}

/// Counts a click that the browser reports; the browser itself goes to the page.
async fn report(State(app): State<Arc<App>>, Query(clicked): Query<Clicked>) -> StatusCode {
    let Some(shown) = app.links.verify(&clicked.to) else {
        return StatusCode::NOT_FOUND;
    };
    match follow(&app, shown, true).await {
        Ok(Some(_)) => StatusCode::NO_CONTENT,
        Ok(None) => StatusCode::GONE,
        Err(error) => {
            tracing::error!("a click failed: {error:#}");
            StatusCode::SERVICE_UNAVAILABLE
        }
    }
}

async fn click(
    State(app): State<Arc<App>>,
    Query(clicked): Query<Clicked>,
    headers: HeaderMap,
) -> Response {
    let Some(shown) = app.links.verify(&clicked.to) else {
        return message_of(
            &app,
            StatusCode::NOT_FOUND,
            "No such result",
            "This address was not handed out by this search page. Search again.",
        );
    };
    let ahead = headers
        .get("sec-purpose")
        .or(headers.get("purpose"))
        .is_some_and(|purpose| purpose.as_bytes().starts_with(b"prefetch"));
    match follow(&app, shown, !ahead).await {
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
            "This page has left the index since it was shown. Search again.",
        ),
        Err(error) => {
            tracing::error!("a click failed: {error:#}");
            message_of(
                &app,
                StatusCode::SERVICE_UNAVAILABLE,
                "Try again",
                "The page could not be looked up. Try again in a moment.",
            )
        }
    }
}

/// Looks up where a result leads, and counts the click if it is one. Returns `None` if it leads nowhere.
async fn follow(app: &Arc<App>, shown: ShownResult, counts: bool) -> Result<Option<String>> {
    let reader = app.clone();
    let work = move || {
        let kept = reader.index.kept(shown.page)?;
        let url = kept.map(|kept| kept.url).filter(|url| is_web(url));
        if let Some(url) = &url
            && counts
            && reader.clicks.count(&shown, url, Timestamp::now())
        {
            reader.metrics.clicked();
        }
        Ok(url)
    };
    app.readers.read(work).await
}
