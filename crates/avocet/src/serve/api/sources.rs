//! `GET /api/v1/sources`

use std::sync::Arc;

use anyhow::Result as Done;
use axum::Json;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::refusal::Refused;
use super::{Params, Refusal};
use crate::command::sources::{at_rest, running};
use crate::ranking::LastCrawl;
use crate::serve::App;
use crate::sources::Row;

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
    sources: Vec<Row>,
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
    let mut sources = app.readers.read(move || reader.sources()).await?;
    sources.retain(|row| all || row.on || row.found > 0);
    sources.truncate(limit.into());
    Ok(Json(Listed { sources }))
}

impl App {
    /// The sources of a crawl that runs, as it last wrote them; else those that the next would have.
    fn sources(&self) -> Done<Vec<Row>> {
        if !LastCrawl::exists(&self.root) {
            return Ok(Vec::new());
        }
        let here = self.lease.ask(|ledger, store| {
            let sequence = ledger.sequence()?;
            self.listed
                .of(sequence, || Ok(at_rest(store, ledger)?.sources))
        });
        match here {
            Some(rows) => rows,
            // A crawl that has just begun, or polls nothing, has not written any.
            None => Ok(running(&self.root).map_or_else(|_| Vec::new(), |listed| listed.sources)),
        }
    }
}
