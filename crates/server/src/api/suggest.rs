//! `GET /api/v1/suggest`: suggests pages and sections while a searcher types.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::refusal::RefusalBody;
use super::search::{checked_query, within};
use super::{ApiRefusal, Params};
use crate::App;
use crate::request::languages;
use crate::search::{self, SUGGESTIONS, Suggestion};

/// Parameters of `GET /api/v1/suggest`.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Typed {
    /// The text typed so far; its last word may be incomplete.
    #[param(min_length = 1, max_length = 1000)]
    q: String,
    /// The maximum number of suggestions to return, 1 to 20; 6 by default.
    #[param(minimum = 1, maximum = 20, default = 6)]
    limit: Option<u16>,
}

/// Pages and sections that the searcher may want.
#[derive(Debug, Serialize, ToSchema)]
pub struct Suggestions {
    /// The text typed.
    query: String,
    /// The suggestions, best first.
    suggestions: Vec<Suggestion>,
}

/// Suggest while a searcher types
///
/// Returns titles and headings with words that begin with the typed ones, then other pages that
/// match. The request is never logged as a search.
#[utoipa::path(
    get,
    path = "/suggest",
    params(Typed),
    responses(
        (status = 200, description = "The suggestions", body = Suggestions),
        (status = 400, description = "A parameter is missing or wrong", body = RefusalBody),
        (status = 429, description = "Too many requests from this address; Retry-After says when to try again", body = RefusalBody),
        (status = 503, description = "Too many searches at once", body = RefusalBody),
    )
)]
pub async fn suggest(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Params(typed): Params<Typed>,
) -> Result<Json<Suggestions>, ApiRefusal> {
    checked_query(&typed.q)?;
    let limit = within("limit", typed.limit, 1, 20, SUGGESTIONS)?;
    let readers = languages::preferred(&headers);
    let suggestions = search::suggest(&app, typed.q.clone(), limit, readers).await?;
    Ok(Json(Suggestions {
        query: typed.q,
        suggestions,
    }))
}
