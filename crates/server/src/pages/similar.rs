//! The page that lists the pages similar to a page.

use std::sync::Arc;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use jiff::Timestamp;
use page::PageUrl;

use super::search::{ResultLine, failed};
use super::{assets, at_owner, message_of, named_url, show};
use crate::App;
use crate::app::Brand;

/// The maximum number of similar pages that are shown.
const SHOWN: usize = 10;

#[derive(Template)]
#[template(path = "similar.html")]
struct SimilarPage<'a> {
    brand: &'a Brand,
    title: String,
    url: String,
    results: Vec<ResultLine>,
}

pub async fn page(State(app): State<Arc<App>>, RawQuery(raw): RawQuery) -> Response {
    let url = named_url(raw.as_deref());
    if let Some(elsewhere) = at_owner(&app, &url, "/similar", raw.as_deref()) {
        return elsewhere;
    }
    let found = match PageUrl::parse(&url) {
        Ok(url) => crate::search::similar(&app, url, SHOWN).await,
        Err(_) => Ok(None),
    };
    match found {
        Ok(Some(found)) => {
            let now = Timestamp::now();
            let results = found.results.into_iter();
            let title = found.title.trim().to_owned();
            show(&SimilarPage {
                brand: &app.brand,
                title: if title.is_empty() {
                    found.url.clone()
                } else {
                    title
                },
                url: found.url,
                results: results.map(|found| ResultLine::of(found, now)).collect(),
            })
        }
        Ok(None) => message_of(
            &app,
            StatusCode::NOT_FOUND,
            "No such page",
            "No page with this URL is in the index. Search for it.",
        ),
        Err(error) => failed(&app, &error),
    }
}
