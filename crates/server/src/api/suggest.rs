//! `GET /api/v1/suggest`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::refusal::Refused;
use super::search::{checked_query, within};
use super::{Params, Refusal};
use crate::App;
use crate::request::languages;
use crate::search::{self, SUGGESTIONS, Suggestion};

/// What was typed so far.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Typed {
    /// The text; its last word may be the beginning of one.
    #[param(min_length = 1, max_length = 1000)]
    q: String,
    /// How many suggestions.
    #[param(minimum = 1, maximum = 20, default = 6)]
    limit: Option<u16>,
}

/// Pages and sections that the searcher may want.
#[derive(Debug, Serialize, ToSchema)]
pub struct Suggestions {
    /// What was typed.
    query: String,
    /// The suggestions, best first.
    suggestions: Vec<Suggestion>,
}

/// Suggest while a searcher types
///
/// Titles and headings that have words which begin with what was typed, then other pages that match. This is never
/// logged as a search.
#[utoipa::path(
    get,
    path = "/suggest",
    params(Typed),
    responses(
        (status = 200, description = "The suggestions", body = Suggestions),
        (status = 400, description = "A parameter is missing or wrong", body = Refused),
        (status = 429, description = "Too many requests from this address; Retry-After says when to come again", body = Refused),
        (status = 503, description = "Too many searches at once", body = Refused),
    )
)]
pub async fn suggest(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Params(typed): Params<Typed>,
) -> Result<Json<Suggestions>, Refusal> {
    checked_query(&typed.q)?;
    let limit = within("limit", typed.limit, 1, 20, SUGGESTIONS)?;
    let readers = languages::preferred(&headers);
    let suggestions = search::suggest(&app, typed.q.clone(), limit, readers).await?;
    Ok(Json(Suggestions {
        query: typed.q,
        suggestions,
    }))
}
