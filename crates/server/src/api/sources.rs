//! `GET /api/v1/sources`: lists the sources of new pages.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::refusal::RefusalBody;
use super::search::within;
use super::{ApiRefusal, Params};
use crate::App;
use node::explain::sources::SourceSummary;

/// Parameters of `GET /api/v1/sources`.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SourcesParams {
    /// The maximum number of sources to return, 1 to 1000; 100 by default. Those with the largest
    /// expected gain come first.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<u16>,
    /// `true` also lists pages that are not polled and never named a new page; `false` by default.
    #[param(default = false)]
    all: Option<bool>,
}

/// The sources: pages that are polled to find new pages, or that named a new page before.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Listed)]
pub struct SourceList {
    /// The sources, the best first.
    sources: Vec<SourceBody>,
}

/// One source.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Source)]
pub struct SourceBody {
    /// The URL.
    url: String,
    /// Why it is a source: `main` (the main page of a host, or a seed), `listing` (a sitemap or
    /// feed) or `near` (a page one link from a main page).
    kind: String,
    /// Whether it is polled at the current price.
    on: bool,
    /// Why it is polled, or why not.
    why: String,
    /// New pages that it named so far.
    found: u32,
    /// Expected new pages per day.
    new_a_day: f64,
    /// The expected profit of a new page that is fetched as it appears, in clicks.
    profit: f64,
    /// Whether `profit` is estimated from clicks. If not, it is predicted from the quality of the
    /// pages that the source named.
    clicked: bool,
    /// The share of a new page's profit that is lost if the page is found a day late.
    lost_in_a_day: f64,
    /// Hours from the last fetch to the next poll, at the current price; `null` if no poll is
    /// planned.
    interval_hours: Option<f64>,
    /// When it was last fetched; `null` if it never was.
    polled: Option<String>,
    /// When the next poll is due; `null` if none is planned.
    due: Option<String>,
}

impl From<SourceSummary> for SourceBody {
    fn from(row: SourceSummary) -> Self {
        Self {
            url: row.url,
            kind: row.kind,
            on: row.on,
            why: row.why,
            found: row.found,
            new_a_day: row.new_a_day,
            profit: row.profit,
            clicked: row.clicked,
            lost_in_a_day: row.lost_in_a_day,
            interval_hours: row.interval_hours,
            polled: row.polled,
            due: row.due,
        }
    }
}

/// List the sources: pages that are polled to find new pages, or that named a new page before
#[utoipa::path(
    get,
    path = "/sources",
    params(SourcesParams),
    responses(
        (status = 200, description = "The sources", body = SourceList),
        (status = 400, description = "A parameter is wrong", body = RefusalBody),
        (status = 429, description = "Too many requests from this address; Retry-After says when to try again", body = RefusalBody),
        (status = 503, description = "Too many requests at once", body = RefusalBody),
    )
)]
pub async fn sources(
    State(app): State<Arc<App>>,
    Params(params): Params<SourcesParams>,
) -> Result<Json<SourceList>, ApiRefusal> {
    let limit = within("limit", params.limit, 1, 1000, 100)?;
    let all = params.all.unwrap_or(false);
    let mut sources = app.read(|app| app.node.sources()).await?;
    sources.retain(|row| all || row.on || row.found > 0);
    sources.truncate(limit);
    let sources = sources.into_iter().map(SourceBody::from).collect();
    Ok(Json(SourceList { sources }))
}
