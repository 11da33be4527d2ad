//! `GET /api/v1/sources`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::refusal::Refused;
use super::{Params, Refusal};
use crate::App;
use node::explain::sources::Row;

/// Which sources.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Asked {
    /// How many, those that name most worth first.
    #[param(minimum = 1, maximum = 1000, default = 100)]
    limit: Option<u16>,
    /// Also pages that are not polled and never named a new page.
    #[param(default = false)]
    all: Option<bool>,
}

/// The pages that are polled for new ones.
#[derive(Debug, Serialize, ToSchema)]
pub struct Listed {
    /// Best first.
    sources: Vec<Source>,
}

/// What is known of one source.
#[derive(Debug, Serialize, ToSchema)]
pub struct Source {
    /// Its URL.
    url: String,
    /// Why it is a source: `main`, `listing` or `near` a main page.
    kind: String,
    /// Whether it is polled at the price of now.
    on: bool,
    /// Why, or why not.
    why: String,
    /// New pages that it named so far.
    found: u32,
    /// New pages that are expected of it, a day.
    new_a_day: f64,
    /// What a new page gives, in the crawl's unit of worth.
    profit: f64,
    /// Whether people clicked pages that it named; if not, their quality stands for clicks.
    clicked: bool,
    /// The share of profit that is lost in a day.
    lost_in_a_day: f64,
    /// Hours between polls, at the price of now.
    interval_hours: Option<f64>,
    /// When it was last polled.
    polled: Option<String>,
    /// When it is due.
    due: Option<String>,
}

impl From<Row> for Source {
    fn from(row: Row) -> Self {
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

/// The pages that are polled for new ones
#[utoipa::path(
    get,
    path = "/sources",
    params(Asked),
    responses(
        (status = 200, description = "The sources", body = Listed),
        (status = 400, description = "A parameter is wrong", body = Refused),
        (status = 429, description = "Too many requests from this address; Retry-After says when to come again", body = Refused),
        (status = 503, description = "Too many requests at once", body = Refused),
    )
)]
pub async fn sources(
    State(app): State<Arc<App>>,
    Params(asked): Params<Asked>,
) -> Result<Json<Listed>, Refusal> {
    let limit = asked.limit.unwrap_or(100);
    if !(1..=1000).contains(&limit) {
        return Err(Refusal::parameter("limit must be 1 to 1000"));
    }
    let all = asked.all.unwrap_or(false);
    let reader = app.clone();
    let mut sources = app.readers.read(move || reader.node.sources()).await?;
    sources.retain(|row| all || row.on || row.found > 0);
    sources.truncate(limit.into());
    let sources = sources.into_iter().map(Source::from).collect();
    Ok(Json(Listed { sources }))
}
