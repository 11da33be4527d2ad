//! The page inspector: everything known about one URL, from its discovery to its next visit.
//!
//! It shows what `avocet explain` prints, the answers that the archive keeps of the page, and what
//! changed between two of them.

mod difference;

use std::sync::Arc;

use anyhow::Result;
use askama::Template;
use axum::Json;
use axum::Router;
use axum::extract::{Query, RawQuery, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use jiff::Timestamp;
use serde::Deserialize;
use utoipa::IntoParams;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::{ApiRefusal, Params, RefusalBody};
use crate::control::access::ViewAccess;
use crate::dashboard::{amount, short, when};
use crate::{App, assets, pages};
use difference::Difference;
use node::explain::Explanation;
use node::handle::{Elsewhere, PageVersion, Timeline};
use node::number::counted;
use node::settings::Usage;
use node::settings::last_crawl::NeverCrawled;

pub fn routes() -> Router<Arc<App>> {
    Router::new().route("/dashboard/page", get(page))
}

pub fn api_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(explanation))
}

/// Parameters of the inspector page.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct InspectorParams {
    url: String,
    /// The versions to compare, by their number in the timeline.
    from: Option<usize>,
    to: Option<usize>,
}

#[derive(Template)]
#[template(path = "inspector.html")]
struct Inspector {
    url: String,
    /// The error message, if the page cannot be shown.
    wrong: Option<String>,
    page: Option<Inspected>,
    in_cluster: bool,
    now: Timestamp,
}

impl Inspector {
    fn amount(&self, count: &u64) -> String {
        amount(*count)
    }

    fn short(&self, number: &f64) -> String {
        short(*number)
    }

    fn short32(&self, number: &f32) -> String {
        short(f64::from(*number))
    }

    fn counted(&self, number: impl std::fmt::Display, noun: &str) -> String {
        counted(number, noun)
    }

    /// Returns a time to the second, written as in the timeline.
    fn second(&self, time: &str) -> String {
        time.get(..19).unwrap_or(time).replace('T', " ")
    }

    fn when(&self, time: &str) -> String {
        when(time, self.now)
    }
}

/// What the inspector shows of a page.
struct Inspected {
    explained: Explanation,
    timeline: Timeline,
    difference: Option<Difference>,
}

impl Inspected {
    fn is_from(&self, version: &PageVersion) -> bool {
        let difference = self.difference.as_ref();
        difference.is_some_and(|difference| difference.from.number == version.number)
    }

    fn is_to(&self, version: &PageVersion) -> bool {
        let difference = self.difference.as_ref();
        difference.is_some_and(|difference| difference.to.number == version.number)
    }
}

async fn page(
    State(app): State<Arc<App>>,
    _: ViewAccess,
    Query(params): Query<InspectorParams>,
    RawQuery(raw): RawQuery,
) -> Response {
    let url = params.url.trim().to_owned();
    let elsewhere = pages::at_owner(&app, &url, "/dashboard/page", raw.as_deref());
    if let Some(elsewhere) = elsewhere {
        return elsewhere;
    }
    let mut shown = Inspector {
        url: url.clone(),
        wrong: None,
        page: None,
        in_cluster: app.node.whole_crawl().is_some(),
        now: Timestamp::now(),
    };
    let mut status = StatusCode::OK;
    if !url.is_empty() {
        match inspect(&app, params).await {
            Ok(page) => shown.page = Some(page),
            Err(error) => {
                let usage = error.downcast_ref::<Usage>();
                status = match usage {
                    Some(_) => StatusCode::BAD_REQUEST,
                    None => StatusCode::SERVICE_UNAVAILABLE,
                };
                shown.wrong = Some(format!("{error:#}"));
            }
        }
    }
    let kept = [(header::CACHE_CONTROL, "no-store")];
    (status, kept, pages::show(&shown)).into_response()
}

/// Parameters of `GET /api/v1/explain`.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ExplainParams {
    /// The URL of the page.
    #[param(min_length = 1, max_length = 2048)]
    url: String,
}

/// Explain what the crawler does with a page
///
/// The same as `avocet explain --json`, except that `search` is `null`: how the page was
/// discovered, what visits found, what it is worth and why, and when it is due.
#[utoipa::path(get, path = "/explain", tag = "pages", params(ExplainParams),
    responses((status = 200, body = serde_json::Value), (status = "4XX", body = RefusalBody), (status = "5XX", body = RefusalBody)))]
async fn explanation(
    State(app): State<Arc<App>>,
    Params(params): Params<ExplainParams>,
) -> Result<Json<Explanation>, ApiRefusal> {
    match explain(&app, params.url).await {
        Ok(explanation) => Ok(Json(explanation)),
        Err(error) => match error.downcast_ref::<Usage>() {
            Some(wrong) => Err(ApiRefusal::not_found(&wrong.to_string())),
            None if error.is::<NeverCrawled>() => Err(ApiRefusal::not_found(
                "nothing was crawled into this store yet, so no fetch is planned",
            )),
            None if error.is::<Elsewhere>() => Err(ApiRefusal::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "elsewhere",
                &error.to_string(),
            )),
            None => Err(error.into()),
        },
    }
}

/// Explains a page, on a blocking thread.
pub async fn explain(app: &Arc<App>, url: String) -> Result<Explanation> {
    app.read(move |app| app.node.explain(&url)).await
}

async fn inspect(app: &Arc<App>, params: InspectorParams) -> Result<Inspected> {
    app.read(move |app| {
        let explained = app.node.explain(params.url.trim())?;
        let url = node::explain::parse(&explained.url)?;
        let timeline = app.node.versions(&url)?;
        let pair = timeline.compared(params.from, params.to);
        let difference = match pair {
            Some((from, to)) => Some(Difference::between(&app.node, &url, from, to)?),
            None => None,
        };
        Ok(Inspected {
            explained,
            timeline,
            difference,
        })
    })
    .await
}
