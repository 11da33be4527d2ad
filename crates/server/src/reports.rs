//! Reports for operators: a page of the dashboard, CSV files, and the API.

use std::sync::Arc;

use askama::Template;
use axum::extract::{Path, Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde::Deserialize;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::api::{ApiRefusal, RefusalBody};
use crate::control::access::{TokenAccess, ViewAccess};
use crate::{App, assets, pages};
use node::handle::Elsewhere;
use node::reports::{ReportKind, ReportTable};

/// Rows that the page shows; the CSV file has all.
const SHOWN: usize = 200;

pub fn routes() -> Router<Arc<App>> {
    Router::new()
        .route("/dashboard/reports", get(page))
        .route("/dashboard/reports.csv", get(csv))
}

pub fn api_routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new().routes(routes!(report))
}

/// Parameters of the page and of the CSV file.
#[derive(Debug, Deserialize)]
struct ReportParams {
    report: Option<String>,
}

impl ReportParams {
    /// Returns the report; the broken links if none is named.
    fn kind(&self) -> Option<ReportKind> {
        match &self.report {
            Some(name) => ReportKind::named(name),
            None => Some(ReportKind::BrokenLinks),
        }
    }
}

#[derive(Template)]
#[template(path = "reports.html")]
struct ReportPage {
    kind: ReportKind,
    kinds: [ReportKind; 7],
    heads: Vec<String>,
    rows: Vec<Vec<ReportCell>>,
    total: usize,
    /// Why there is no report.
    wrong: Option<String>,
}

/// A cell of a table.
struct ReportCell {
    text: String,
    /// Whether it is the URL of a page, which the inspector shows.
    is_url: bool,
    is_number: bool,
}

async fn page(
    State(app): State<Arc<App>>,
    _: ViewAccess,
    Query(params): Query<ReportParams>,
) -> Response {
    let Some(kind) = params.kind() else {
        return no_such_report();
    };
    let (table, wrong) = match made(&app, kind).await {
        Ok(table) => (Some(table), None),
        Err(error) => (None, Some(format!("{error:#}"))),
    };
    let total = table.as_ref().map_or(0, |table| table.total);
    let heads = table.iter().flat_map(|table| &table.columns);
    let heads = heads.map(|name| name.replace('_', " ")).collect();
    let rows = table
        .iter()
        .flat_map(|table| table.rows.iter().zip(table.texts()));
    let rows = rows.take(SHOWN).map(|(values, texts)| {
        let cells = values.iter().zip(texts);
        let cell = |(value, text): (&serde_json::Value, String)| ReportCell {
            is_url: text.starts_with("http://") || text.starts_with("https://"),
            is_number: value.is_number(),
            text,
        };
        cells.map(cell).collect()
    });
    let page = ReportPage {
        kind,
        kinds: ReportKind::ALL,
        heads,
        rows: rows.collect(),
        total,
        wrong,
    };
    let kept = [(header::CACHE_CONTROL, "no-store")];
    (kept, pages::show(&page)).into_response()
}

async fn csv(
    State(app): State<Arc<App>>,
    _: ViewAccess,
    Query(params): Query<ReportParams>,
) -> Response {
    let Some(kind) = params.kind() else {
        return no_such_report();
    };
    match made(&app, kind).await {
        Ok(table) => {
            let name = format!("attachment; filename=\"{}.csv\"", kind.name());
            let kind = "text/csv; charset=utf-8".to_owned();
            let head = [
                (header::CONTENT_TYPE, kind),
                (header::CONTENT_DISPOSITION, name),
            ];
            (head, table.csv()).into_response()
        }
        Err(error) => pages::message(
            StatusCode::SERVICE_UNAVAILABLE,
            "No report now",
            &format!("{error:#}"),
        ),
    }
}

fn no_such_report() -> Response {
    pages::message(
        StatusCode::NOT_FOUND,
        "No such report",
        "There is no report of this name.",
    )
}

/// Makes a report, on a blocking thread.
async fn made(app: &Arc<App>, kind: ReportKind) -> anyhow::Result<ReportTable> {
    app.read(move |app| app.node.report(kind)).await
}

/// Make a report about the store
///
/// Reports: `broken-links`, `sitemap-only`, `duplicates`, `slow-servers`, `top-searches`,
/// `searches-without-result`, `searches-without-click`. The answer has the names of the `columns`,
/// the `rows`, at most 10,000, and the `total` number of rows.
#[utoipa::path(get, path = "/reports/{report}", security(("token" = [])),
    params(("report" = String, Path, description = "The name of the report")),
    responses((status = 200, body = serde_json::Value), (status = "4XX", body = RefusalBody), (status = "5XX", body = RefusalBody)))]
async fn report(
    State(app): State<Arc<App>>,
    _: TokenAccess,
    Path(name): Path<String>,
) -> Result<Json<ReportTable>, ApiRefusal> {
    let kind = ReportKind::named(&name)
        .ok_or_else(|| ApiRefusal::not_found("there is no report of this name"))?;
    match made(&app, kind).await {
        Ok(table) => Ok(Json(table)),
        Err(error) if error.is::<Elsewhere>() => Err(ApiRefusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "elsewhere",
            &error.to_string(),
        )),
        Err(error) => Err(error.into()),
    }
}
