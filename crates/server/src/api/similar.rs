//! `GET /api/v1/similar`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use page::PageUrl;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::refusal::Refused;
use super::search::{Match, within};
use super::{Params, Refusal};
use crate::{App, search};

/// The most pages that are returned.
const MOST: usize = 50;

/// To which page.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SimilarTo {
    /// Its URL.
    #[param(min_length = 1, max_length = 2048, example = "https://example.org/")]
    url: String,
    /// How many pages.
    #[param(minimum = 1, maximum = 50, default = 10)]
    limit: Option<u16>,
}

/// Pages that are about the same as another.
#[derive(Debug, Serialize, ToSchema)]
pub struct SimilarPages {
    /// The URL of the other, in normal form.
    url: String,
    /// Its title; may be empty.
    title: String,
    /// The pages, the most similar first.
    results: Vec<Match>,
}

/// Pages that are about the same as another
///
/// Found by the words that are frequent in the page and rare elsewhere. This is not logged as a search.
#[utoipa::path(
    get,
    path = "/similar",
    params(SimilarTo),
    responses(
        (status = 200, description = "The similar pages", body = SimilarPages),
        (status = 400, description = "A parameter is missing or wrong", body = Refused),
        (status = 404, description = "No such page is kept, or the URL is none of a page", body = Refused),
        (status = 429, description = "Too many requests from this address; Retry-After says when to come again", body = Refused),
        (status = 503, description = "Too many requests at once", body = Refused),
    )
)]
pub async fn similar(
    State(app): State<Arc<App>>,
    Params(asked): Params<SimilarTo>,
) -> Result<Json<SimilarPages>, Refusal> {
    let missing = |why| Err(Refusal::new(StatusCode::NOT_FOUND, "not_found", why));
    let limit = within("limit", asked.limit, 1, MOST, 10)?;
    let Ok(url) = PageUrl::parse(&asked.url) else {
        return missing("this is no URL of a page: write it like https://example.org/");
    };
    match search::similar(&app, url, limit).await? {
        Some(found) => Ok(Json(SimilarPages {
            url: found.url,
            title: found.title,
            results: found.results.into_iter().map(Match::of).collect(),
        })),
        None => missing("no such page is kept"),
    }
}
