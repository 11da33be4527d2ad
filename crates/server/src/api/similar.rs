//! `GET /api/v1/similar`: finds pages similar to a page.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use page::PageUrl;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::refusal::RefusalBody;
use super::search::{Match, within};
use super::{ApiRefusal, Params};
use crate::{App, search};

/// The maximum number of pages that are returned.
const MOST: usize = 50;

/// Parameters of `GET /api/v1/similar`.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SimilarTo {
    /// The URL of the page.
    #[param(min_length = 1, max_length = 2048, example = "https://example.org/")]
    url: String,
    /// The maximum number of pages to return, 1 to 50; 10 by default.
    #[param(minimum = 1, maximum = 50, default = 10)]
    limit: Option<u16>,
}

/// A page, and the pages with similar content.
#[derive(Debug, Serialize, ToSchema)]
pub struct SimilarPages {
    /// The normalized URL of the page.
    url: String,
    /// The title of the page; may be empty.
    title: String,
    /// The similar pages, the most similar first.
    results: Vec<Match>,
}

/// Find pages similar to a page
///
/// Similar pages share words that are frequent in the page and rare elsewhere. The request is not
/// logged as a search.
#[utoipa::path(
    get,
    path = "/similar",
    params(SimilarTo),
    responses(
        (status = 200, description = "The similar pages", body = SimilarPages),
        (status = 400, description = "A parameter is missing or wrong", body = RefusalBody),
        (status = 404, description = "The page is not in the store, or the URL is not that of a page", body = RefusalBody),
        (status = 429, description = "Too many requests from this address; Retry-After says when to try again", body = RefusalBody),
        (status = 503, description = "Too many requests at once", body = RefusalBody),
    )
)]
pub async fn similar(
    State(app): State<Arc<App>>,
    Params(params): Params<SimilarTo>,
) -> Result<Json<SimilarPages>, ApiRefusal> {
    let missing = |why| Err(ApiRefusal::not_found(why));
    let limit = within("limit", params.limit, 1, MOST, 10)?;
    let Ok(url) = PageUrl::parse(&params.url) else {
        return missing("this is not the URL of a page: write it like https://example.org/");
    };
    match search::similar(&app, url, limit).await? {
        Some(found) => Ok(Json(SimilarPages {
            url: found.url,
            title: found.title,
            results: found.results.into_iter().map(Match::of).collect(),
        })),
        None => missing("this page is not in the store"),
    }
}
