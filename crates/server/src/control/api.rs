//! The control API for programs: `/api/v1/control/…`, `/api/v1/seeds` and `/api/v1/settings`.

use std::sync::Arc;

use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::access::TokenAccess;
use super::controls;
use crate::App;
use crate::api::{ApiRefusal, Params, RefusalBody};
use node::live::controls::{Applied, Control, NewPolicies};
use node::live::orders::CrawlOrder;
use node::settings::{SettingInForce, Usage};
use node::whole_crawl::{NoSuchNode, NodeAnswer, NodeOutcome};

/// The maximum number of bytes in the body of a request.
const LARGEST: usize = 64 * 1024;

/// Returns the routes that change a crawl, and those that list its seeds and settings.
pub fn routes() -> OpenApiRouter<Arc<App>> {
    OpenApiRouter::new()
        .routes(routes!(pause))
        .routes(routes!(resume))
        .routes(routes!(budget))
        .routes(routes!(policy))
        .routes(routes!(block))
        .routes(routes!(seeds, add_seed, remove_seed))
        .routes(routes!(crawl))
        .routes(routes!(settings))
        .layer(axum::extract::DefaultBodyLimit::max(LARGEST))
}

/// The result of a control.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Done)]
struct ControlResult {
    /// Whether the control changed anything.
    changed: bool,
    /// What happened, for people.
    message: String,
    /// In a cluster: the answers of the nodes that the control was for. All nodes get a control,
    /// unless the parameter `node` names one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nodes: Vec<NodeConfirmation>,
    /// In a cluster: the nodes that did not confirm the control. Repeat it when they are back.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unconfirmed: Vec<String>,
}

/// The answer of a node to a control.
#[derive(Debug, Serialize, ToSchema)]
struct NodeConfirmation {
    /// The name of the node.
    node: String,
    /// Whether it carried out the control.
    confirmed: bool,
    /// Whether the control changed anything on it.
    changed: bool,
    /// What happened on it, or why it refused, for people. Absent if it did not answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
}

impl From<NodeAnswer> for NodeConfirmation {
    fn from(NodeAnswer { node, outcome }: NodeAnswer) -> Self {
        let (confirmed, changed, message) = match outcome {
            NodeOutcome::Done(Applied { changed, message }) => (true, changed, Some(message)),
            NodeOutcome::Refused(why) => (false, false, Some(why)),
            NodeOutcome::Silent => (false, false, None),
        };
        Self {
            node,
            confirmed,
            changed,
            message,
        }
    }
}

/// In a cluster: which node a control is for.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct ControlledNode {
    /// In a cluster: the name of the only node that the control is for. Without it, all nodes get
    /// the control.
    #[param(min_length = 1, max_length = 40, pattern = "^[a-z0-9-]+$")]
    node: Option<String>,
}

/// A seed to remove.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
struct RemovedSeed {
    /// The URL where a crawl begins.
    #[param(max_length = 2048)]
    url: String,
    /// In a cluster: the name of the only node that the control is for.
    #[param(min_length = 1, max_length = 40, pattern = "^[a-z0-9-]+$")]
    node: Option<String>,
}

/// A budget.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Budget)]
struct BudgetBody {
    /// Fetches per unit of time: `2/s`, `90/min`, `500/h`, `50000/day`.
    #[schema(
        example = "2/s",
        pattern = r"^[1-9][0-9]{0,8}(\.[0-9]{1,6})?/(s|min|h|day)$"
    )]
    rate: String,
}

/// Policies by name. A policy that is left out stays as it is.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Policies, min_properties = 1)]
struct PoliciesBody {
    /// The ordering, for new pages.
    #[schema(example = "rankmass")]
    order: Option<String>,
    /// The refresh policy, for known pages.
    #[schema(example = "holistic")]
    refresh: Option<String>,
    /// The scheduler, for sources; or `none`.
    #[schema(example = "priced")]
    sources: Option<String>,
}

/// A host to block or to unblock.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = Block)]
struct BlockBody {
    /// `example.org`, `example.org:8080` or `*.example.org`.
    #[schema(example = "example.org")]
    host: String,
    /// Whether to block the host; `false` unblocks it.
    #[serde(default = "yes")]
    #[schema(default = true)]
    blocked: bool,
}

fn yes() -> bool {
    true
}

/// A seed.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct Seed {
    /// The URL where a crawl begins.
    #[schema(example = "https://example.org/")]
    url: String,
}

/// What a crawl shall do from now on.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(as = NewCrawl)]
struct CrawlBody {
    /// URLs where the crawl begins, beside those that it has.
    #[serde(default)]
    #[schema(max_items = 1000, example = json!(["https://blog.example.org/"]))]
    seeds: Vec<String>,
    /// A new budget: `2/s`, `90/min`, `500/h`, `50000/day`.
    #[schema(
        example = "500/h",
        pattern = r"^[1-9][0-9]{0,8}(\.[0-9]{1,6})?/(s|min|h|day)$"
    )]
    budget: Option<String>,
}

/// The result of starting or extending a crawl.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CrawlResult)]
struct CrawlAnswer {
    /// Whether a crawl runs on the store. If not, the next `avocet run` or `avocet crawl` without
    /// URLs has the seeds.
    running: bool,
    /// Whether anything changed.
    changed: bool,
    /// What happened, for people: one sentence per seed, one for the budget, one if a paused crawl
    /// was resumed.
    messages: Vec<String>,
}

/// All settings in force, in the order of the reference.
#[derive(Debug, Serialize, ToSchema)]
struct SettingList {
    /// One entry for each setting.
    settings: Vec<SettingRow>,
}

/// One setting.
#[derive(Debug, Serialize, ToSchema)]
struct SettingRow {
    /// The path of the setting in `avocet.toml`.
    #[schema(example = "crawl.connections")]
    setting: String,
    /// The value in force; absent if none is set and the default is not a fixed value.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<serde_json::Value>,
    /// The layer that gives the value: `default`, `file` or `flag`.
    #[schema(example = "file")]
    origin: &'static str,
    /// The default, in words.
    default: Option<String>,
    /// The numbers that are allowed, in words, if they are limited.
    #[schema(example = "1 to 10000")]
    range: Option<String>,
    /// The flag of `avocet crawl`, `run` or `serve` that sets it, if there is one.
    #[schema(example = "--connections")]
    flag: Option<String>,
    /// What the setting means.
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

/// The seeds and the blocked hosts.
#[derive(Debug, Serialize, ToSchema)]
struct Seeds {
    /// The URLs where the crawl begins.
    seeds: Vec<String>,
    /// Hosts that the crawl does not contact.
    blocked: Vec<String>,
}

type ControlAnswer = Result<Json<ControlResult>, ApiRefusal>;

/// Pause the crawl
///
/// No new fetch begins; fetches under way end and are committed. `status` shows when this is done.
#[utoipa::path(post, path = "/control/pause", tag = "control", security(("token" = [])), params(ControlledNode),
    responses((status = 200, body = ControlResult), (status = "4XX", body = RefusalBody), (status = "5XX", body = RefusalBody)))]
async fn pause(
    State(app): State<Arc<App>>,
    _: TokenAccess,
    Params(to): Params<ControlledNode>,
) -> ControlAnswer {
    pass(&app, CrawlOrder::Pause, to.node).await
}

/// Resume the crawl
#[utoipa::path(post, path = "/control/resume", tag = "control", security(("token" = [])), params(ControlledNode),
    responses((status = 200, body = ControlResult), (status = "4XX", body = RefusalBody), (status = "5XX", body = RefusalBody)))]
async fn resume(
    State(app): State<Arc<App>>,
    _: TokenAccess,
    Params(to): Params<ControlledNode>,
) -> ControlAnswer {
    pass(&app, CrawlOrder::Resume, to.node).await
}

/// Set the budget
#[utoipa::path(post, path = "/control/budget", tag = "control", security(("token" = [])), params(ControlledNode), request_body = BudgetBody,
    responses((status = 200, body = ControlResult), (status = "4XX", body = RefusalBody), (status = "5XX", body = RefusalBody)))]
async fn budget(
    State(app): State<Arc<App>>,
    _: TokenAccess,
    Params(to): Params<ControlledNode>,
    body: Bytes,
) -> ControlAnswer {
    let BudgetBody { rate } = read(&body)?;
    apply(&app, Control::Budget(rate), to.node).await
}

/// Change the policies
#[utoipa::path(post, path = "/control/policy", tag = "control", security(("token" = [])), params(ControlledNode), request_body = PoliciesBody,
    responses((status = 200, body = ControlResult), (status = "4XX", body = RefusalBody), (status = "5XX", body = RefusalBody)))]
async fn policy(
    State(app): State<Arc<App>>,
    _: TokenAccess,
    Params(to): Params<ControlledNode>,
    body: Bytes,
) -> ControlAnswer {
    let PoliciesBody {
        order,
        refresh,
        sources,
    } = read(&body)?;
    let new = NewPolicies {
        order,
        refresh,
        sources,
    };
    apply(&app, Control::Policy(new), to.node).await
}

/// Block or unblock a host
#[utoipa::path(post, path = "/control/block", tag = "control", security(("token" = [])), params(ControlledNode), request_body = BlockBody,
    responses((status = 200, body = ControlResult), (status = "4XX", body = RefusalBody), (status = "5XX", body = RefusalBody)))]
async fn block(
    State(app): State<Arc<App>>,
    _: TokenAccess,
    Params(to): Params<ControlledNode>,
    body: Bytes,
) -> ControlAnswer {
    let BlockBody { host, blocked } = read(&body)?;
    let control = if blocked {
        Control::Block(host)
    } else {
        Control::Unblock(host)
    };
    apply(&app, control, to.node).await
}

/// Start or extend the crawl
///
/// Adds seeds, sets the budget, and resumes a paused crawl. In a cluster, all nodes get this. If a
/// seed is refused, the seeds before it stay added.
#[utoipa::path(post, path = "/crawl", tag = "control", security(("token" = [])), request_body = CrawlBody,
    responses((status = 200, body = CrawlAnswer), (status = "4XX", body = RefusalBody), (status = "5XX", body = RefusalBody)))]
async fn crawl(
    State(app): State<Arc<App>>,
    _: TokenAccess,
    body: Bytes,
) -> Result<Json<CrawlAnswer>, ApiRefusal> {
    let CrawlBody { seeds, budget } = read(&body)?;
    let added = seeds.into_iter().map(Control::AddSeed);
    let controls = added.chain(budget.map(Control::Budget));
    let orders = controls.map(CrawlOrder::Change).chain([CrawlOrder::Resume]);
    let (mut changed, mut messages) = (false, Vec::new());
    for order in orders {
        let is_resumption = order == CrawlOrder::Resume;
        let Json(done) = pass(&app, order, None).await?;
        changed |= done.changed;
        // A crawl that was not paused needs no word.
        if done.changed || !is_resumption {
            messages.push(done.message);
        }
    }
    let running = app.read(|app| Ok(app.node.is_crawling(&app.node.snapshot())));
    Ok(Json(CrawlAnswer {
        running: running.await?,
        changed,
        messages,
    }))
}

/// List the settings in force, each with the layer that gives it
#[utoipa::path(get, path = "/settings", tag = "control", security(("token" = [])),
    responses((status = 200, body = SettingList), (status = "4XX", body = RefusalBody), (status = "5XX", body = RefusalBody)))]
async fn settings(
    State(app): State<Arc<App>>,
    _: TokenAccess,
) -> Result<Json<SettingList>, ApiRefusal> {
    let settings = controls::settings(&app).await?;
    let settings = settings.into_iter().map(SettingRow::from).collect();
    Ok(Json(SettingList { settings }))
}

/// List the seeds and the blocked hosts
#[utoipa::path(get, path = "/seeds", tag = "control", security(("token" = [])),
    responses((status = 200, body = Seeds), (status = "4XX", body = RefusalBody), (status = "5XX", body = RefusalBody)))]
async fn seeds(State(app): State<Arc<App>>, _: TokenAccess) -> Result<Json<Seeds>, ApiRefusal> {
    let scope = controls::scope(&app).await?;
    Ok(Json(Seeds {
        seeds: scope.seeds,
        blocked: scope.block,
    }))
}

/// Add a seed
///
/// A seed passes the same checks as a link: a private address or an unusual port is refused unless
/// the configuration allows it.
#[utoipa::path(post, path = "/seeds", tag = "control", security(("token" = [])), params(ControlledNode), request_body = Seed,
    responses((status = 200, body = ControlResult), (status = "4XX", body = RefusalBody), (status = "5XX", body = RefusalBody)))]
async fn add_seed(
    State(app): State<Arc<App>>,
    _: TokenAccess,
    Params(to): Params<ControlledNode>,
    body: Bytes,
) -> ControlAnswer {
    let Seed { url } = read(&body)?;
    apply(&app, Control::AddSeed(url), to.node).await
}

/// Remove a seed
#[utoipa::path(delete, path = "/seeds", tag = "control", security(("token" = [])), params(RemovedSeed),
    responses((status = 200, body = ControlResult), (status = "4XX", body = RefusalBody), (status = "5XX", body = RefusalBody)))]
async fn remove_seed(
    State(app): State<Arc<App>>,
    _: TokenAccess,
    Params(seed): Params<RemovedSeed>,
) -> ControlAnswer {
    // A text that is not a URL is not a seed either, so the answer is 404.
    apply(&app, Control::RemoveSeed(seed.url), seed.node)
        .await
        .map_err(ApiRefusal::or_missing)
}

/// Parses the body of a request as JSON. The content type need not be checked against CSRF, since
/// the request carries the token.
fn read<T: DeserializeOwned>(body: &Bytes) -> Result<T, ApiRefusal> {
    serde_json::from_slice(body).map_err(|wrong| {
        ApiRefusal::parameter(&format!("the body of the request is wrong: {wrong}"))
    })
}

async fn apply(app: &Arc<App>, control: Control, node: Option<String>) -> ControlAnswer {
    pass(app, CrawlOrder::Change(control), node).await
}

async fn pass(app: &Arc<App>, order: CrawlOrder, node: Option<String>) -> ControlAnswer {
    match controls::order(app, order, node).await {
        Ok(result) => Ok(Json(ControlResult {
            changed: result.changed,
            unconfirmed: result
                .unconfirmed()
                .into_iter()
                .map(str::to_owned)
                .collect(),
            message: result.message,
            nodes: result
                .nodes
                .into_iter()
                .map(NodeConfirmation::from)
                .collect(),
        })),
        Err(error) => Err(match error.downcast_ref::<Usage>() {
            Some(wrong) => ApiRefusal::parameter(&wrong.to_string()),
            None if error.is::<NoSuchNode>() => ApiRefusal::not_found(&error.to_string()),
            None => error.into(),
        }),
    }
}
