//! `POST /api/v1/control/…` and `/api/v1/seeds`: what operators do, for programs.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::StatusCode;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::access::Program;
use super::controls;
use crate::App;
use crate::api::{Params, Refusal, Refused};
use node::live::controls::{Applied, Control, NewPolicies};
use node::settings::{SettingInForce, Usage};

/// The most bytes that a control takes.
const LARGEST: usize = 64 * 1024;

/// Everything that changes a crawl.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(pause))
        .routes(routes!(resume))
        .routes(routes!(budget))
        .routes(routes!(policy))
        .routes(routes!(block))
        .routes(routes!(seeds, add_seed, remove_seed))
        .routes(routes!(settings))
        .layer(axum::extract::DefaultBodyLimit::max(LARGEST))
}

/// What came of a control.
#[derive(Debug, Serialize, ToSchema)]
struct Done {
    /// Whether something is other than before.
    changed: bool,
    /// In words.
    message: String,
}

/// A budget.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Budget {
    /// Fetches over time: `2/s`, `90/min`, `500/h`, `50000/day`.
    #[schema(
        example = "2/s",
        pattern = r"^[1-9][0-9]{0,8}(\.[0-9]{1,6})?/(s|min|h|day)$"
    )]
    rate: String,
}

/// Policies by name; what is left out stays as it is.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(min_properties = 1)]
struct Policies {
    /// The ordering of new pages.
    #[schema(example = "rankmass")]
    order: Option<String>,
    /// The refresh of known pages.
    #[schema(example = "holistic")]
    refresh: Option<String>,
    /// The scheduler of pages that name new ones, or `none`.
    #[schema(example = "priced")]
    sources: Option<String>,
}

/// A host that is asked no more, or again.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Block {
    /// `example.org`, `example.org:8080` or `*.example.org`.
    #[schema(example = "example.org")]
    host: String,
    /// Whether it is to be blocked; else it is let go.
    #[serde(default = "yes")]
    #[schema(default = true)]
    blocked: bool,
}

fn yes() -> bool {
    true
}

/// A seed.
#[derive(Debug, Deserialize, ToSchema, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct Seed {
    /// Where a crawl begins.
    #[param(max_length = 2048)]
    #[schema(example = "https://example.org/")]
    url: String,
}

/// All settings in force, in the order of the reference.
#[derive(Debug, Serialize, ToSchema)]
struct SettingList {
    settings: Vec<SettingRow>,
}

/// One setting.
#[derive(Debug, Serialize, ToSchema)]
struct SettingRow {
    /// Its path in `avocet.toml`.
    #[schema(example = "crawl.connections")]
    setting: String,
    /// The value in force; absent if there is none and the default depends on something.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<serde_json::Value>,
    /// The layer that gives it: `default`, `file` or `flag`.
    #[schema(example = "file")]
    origin: &'static str,
    /// The default in words.
    default: Option<String>,
    /// The numbers that are allowed, in words.
    #[schema(example = "1 to 10000")]
    range: Option<String>,
    /// The flag of `avocet crawl`, `run` or `serve` that gives it.
    #[schema(example = "--connections")]
    flag: Option<String>,
    /// What it means.
    about: String,
}

impl From<SettingInForce> for SettingRow {
    fn from(setting: SettingInForce) -> Self {
        Self {
            setting: setting.setting,
            value: setting.value,
            origin: setting.origin.name(),
            default: setting.default,
            range: setting.range,
            flag: setting.flag,
            about: setting.about,
        }
    }
}

/// Where the crawl begins.
#[derive(Debug, Serialize, ToSchema)]
struct Seeds {
    /// The URLs.
    seeds: Vec<String>,
    /// Hosts that are not asked.
    blocked: Vec<String>,
}

type Answered = Result<Json<Done>, Refusal>;

/// Have the crawl pause
///
/// Nothing new is fetched; what is under way ends and is committed. `status` says when that is done.
#[utoipa::path(post, path = "/control/pause", tag = "control", security(("token" = [])),
    responses((status = 200, body = Done), (status = "4XX", body = Refused), (status = "5XX", body = Refused)))]
async fn pause(State(app): State<Arc<App>>, _: Program) -> Answered {
    let message = controls::pause(&app).await?;
    Ok(Json(Done {
        changed: true,
        message,
    }))
}

/// Have the crawl go on
#[utoipa::path(post, path = "/control/resume", tag = "control", security(("token" = [])),
    responses((status = 200, body = Done), (status = "4XX", body = Refused), (status = "5XX", body = Refused)))]
async fn resume(State(app): State<Arc<App>>, _: Program) -> Answered {
    let message = controls::resume(&app).await?;
    Ok(Json(Done {
        changed: true,
        message,
    }))
}

/// Set the budget
#[utoipa::path(post, path = "/control/budget", tag = "control", security(("token" = [])), request_body = Budget,
    responses((status = 200, body = Done), (status = "4XX", body = Refused), (status = "5XX", body = Refused)))]
async fn budget(State(app): State<Arc<App>>, _: Program, body: Bytes) -> Answered {
    let Budget { rate } = read(&body)?;
    apply(&app, Control::Budget(rate)).await
}

/// Change the policies
#[utoipa::path(post, path = "/control/policy", tag = "control", security(("token" = [])), request_body = Policies,
    responses((status = 200, body = Done), (status = "4XX", body = Refused), (status = "5XX", body = Refused)))]
async fn policy(State(app): State<Arc<App>>, _: Program, body: Bytes) -> Answered {
    let Policies {
        order,
        refresh,
        sources,
    } = read(&body)?;
    let new = NewPolicies {
        order,
        refresh,
        sources,
    };
    apply(&app, Control::Policy(new)).await
}

/// Block a host, or let it go
#[utoipa::path(post, path = "/control/block", tag = "control", security(("token" = [])), request_body = Block,
    responses((status = 200, body = Done), (status = "4XX", body = Refused), (status = "5XX", body = Refused)))]
async fn block(State(app): State<Arc<App>>, _: Program, body: Bytes) -> Answered {
    let Block { host, blocked } = read(&body)?;
    let control = if blocked {
        Control::Block(host)
    } else {
        Control::Unblock(host)
    };
    apply(&app, control).await
}

/// The settings in force, each with the layer that gives it
#[utoipa::path(get, path = "/settings", tag = "control", security(("token" = [])),
    responses((status = 200, body = SettingList), (status = "4XX", body = Refused), (status = "5XX", body = Refused)))]
async fn settings(State(app): State<Arc<App>>, _: Program) -> Result<Json<SettingList>, Refusal> {
    let settings = controls::settings(&app).await?;
    let settings = settings.into_iter().map(SettingRow::from).collect();
    Ok(Json(SettingList { settings }))
}

/// Where the crawl begins
#[utoipa::path(get, path = "/seeds", tag = "control", security(("token" = [])),
    responses((status = 200, body = Seeds), (status = "4XX", body = Refused), (status = "5XX", body = Refused)))]
async fn seeds(State(app): State<Arc<App>>, _: Program) -> Result<Json<Seeds>, Refusal> {
    let scope = controls::scope(&app).await?;
    Ok(Json(Seeds {
        seeds: scope.seeds,
        blocked: scope.block,
    }))
}

/// Add a seed
///
/// It passes the gate that links pass: a private address or an unusual port is refused unless the operator allows it.
#[utoipa::path(post, path = "/seeds", tag = "control", security(("token" = [])), request_body = Seed,
    responses((status = 200, body = Done), (status = "4XX", body = Refused), (status = "5XX", body = Refused)))]
async fn add_seed(State(app): State<Arc<App>>, _: Program, body: Bytes) -> Answered {
    let Seed { url } = read(&body)?;
    apply(&app, Control::AddSeed(url)).await
}

/// Remove a seed
#[utoipa::path(delete, path = "/seeds", tag = "control", security(("token" = [])), params(Seed),
    responses((status = 200, body = Done), (status = "4XX", body = Refused), (status = "5XX", body = Refused)))]
async fn remove_seed(
    State(app): State<Arc<App>>,
    _: Program,
    Params(seed): Params<Seed>,
) -> Answered {
    // What is no URL is no seed either.
    apply(&app, Control::RemoveSeed(seed.url))
        .await
        .map_err(Refusal::or_missing)
}

/// Reads a control. What type the client claims it to be does not matter: it has shown the token.
fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T, Refusal> {
    serde_json::from_slice(body).map_err(|wrong| Refusal::parameter(&format!("the body: {wrong}")))
}

async fn apply(app: &Arc<App>, control: Control) -> Answered {
    match controls::apply(app, control).await {
        Ok(Applied { changed, message }) => Ok(Json(Done { changed, message })),
        Err(error) => match error.downcast_ref::<Usage>() {
            Some(wrong) => Err(Refusal::new(
                StatusCode::BAD_REQUEST,
                "parameter",
                &wrong.to_string(),
            )),
            None => Err(error.into()),
        },
    }
}
