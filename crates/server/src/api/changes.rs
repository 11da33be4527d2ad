//! `GET /api/v1/changes`: the changes that crawls found, as JSON Lines or server-sent events.
//!
//! **Invariant:** the number of requests that wait for changes is bounded, and they end when the
//! server shuts down.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Result;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use jiff::Timestamp;
use node::settings::is_of_site;
use repository::changes::{ChangeKind, PageChange};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use utoipa::{IntoParams, ToSchema};

use super::refusal::RefusalBody;
use super::search::within;
use super::{ApiRefusal, Params};
use crate::App;

/// Time between two looks at the log while a request waits.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Longest wait for the first change, in seconds.
const LONGEST_WAIT: usize = 60;
/// Changes that are read at once.
const GROUP: usize = 1000;

/// Parameters of `GET /api/v1/changes`.
#[derive(Debug, Clone, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct ChangesParams {
    /// Changes after this one: the `number` of the last change that the caller has, or a time
    /// (RFC 3339). 0 by default, for all that the log has. Server-sent events continue from
    /// `Last-Event-ID`.
    #[param(
        pattern = r"^([0-9]{1,15}|20[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z)$"
    )]
    since: Option<String>,
    /// The maximum number of changes to return, 1 to 10000; 1000 by default.
    #[param(minimum = 1, maximum = 10_000, default = 1000)]
    limit: Option<u16>,
    /// If there is no change yet, wait up to this number of seconds for one (long poll), 0 to 60; 0
    /// by default.
    #[param(minimum = 0, maximum = 60, default = 0)]
    wait: Option<u16>,
    /// Only this host and its subdomains.
    #[param(min_length = 1, max_length = 255)]
    site: Option<String>,
    /// Only this kind: `new`, `changed` or `gone`.
    #[param(inline)]
    change: Option<PageChangeKind>,
}

/// What happened to a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = ChangeKind)]
pub enum PageChangeKind {
    /// Its first copy was fetched.
    New,
    /// Its text has changed.
    Changed,
    /// It left the index.
    Gone,
}

impl From<ChangeKind> for PageChangeKind {
    fn from(kind: ChangeKind) -> Self {
        match kind {
            ChangeKind::New => Self::New,
            ChangeKind::Changed => Self::Changed,
            ChangeKind::Gone => Self::Gone,
        }
    }
}

/// A change of a page, in a line of its own.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Change)]
pub struct ChangeBody {
    /// Its number: pass the last one as `since` to continue. After a crash, a change may be
    /// repeated with another number.
    number: u64,
    /// When the page was requested.
    #[schema(format = DateTime)]
    at: String,
    /// What happened.
    change: PageChangeKind,
    /// The URL of the page.
    url: String,
    /// The HTTP status of the answer.
    #[schema(required)]
    status: Option<u16>,
    /// The title of the page, if known. Plain text from a page: escape it wherever it is shown.
    #[schema(required)]
    title: Option<String>,
}

impl From<PageChange> for ChangeBody {
    fn from(change: PageChange) -> Self {
        Self {
            number: change.number,
            at: change.at,
            change: change.change.into(),
            url: change.url,
            status: change.status,
            title: change.title,
        }
    }
}

/// The request, checked.
#[derive(Clone)]
struct ChangeQuery {
    since: u64,
    limit: usize,
    site: Option<String>,
    change: Option<PageChangeKind>,
}

/// List the changes that crawls found: new, changed and gone pages
///
/// The answer has one JSON object per line, oldest first. With `Accept: text/event-stream` it is a
/// stream of server-sent events that does not end; each event is named after its change, and its id
/// is the number.
#[utoipa::path(
    get,
    path = "/changes",
    params(ChangesParams),
    responses(
        (status = 200, description = "The changes, one per line", body = ChangeBody, content_type = "application/x-ndjson"),
        (status = 400, description = "A parameter is wrong", body = RefusalBody),
        (status = 429, description = "Too many requests from this address; Retry-After says when to try again", body = RefusalBody),
        (status = 503, description = "Too many requests at once", body = RefusalBody),
    )
)]
pub async fn changes(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Params(params): Params<ChangesParams>,
) -> Result<Response, ApiRefusal> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let streams = text("accept").is_some_and(|kinds| kinds.contains("text/event-stream"));
    let wait = within("wait", params.wait, 0, LONGEST_WAIT, 0)?;
    let query = ChangeQuery {
        since: since(&app, text("last-event-id").or(params.since.as_deref())).await?,
        limit: within("limit", params.limit, 1, 10_000, 1000)?,
        site: params.site,
        change: params.change,
    };
    if !streams && wait == 0 {
        return Ok(json_lines(query.read(&app).await?.1));
    }
    let Ok(place) = app.listeners.clone().try_acquire_owned() else {
        let why = "too many requests wait for changes: try again later";
        return Err(ApiRefusal::new(
            StatusCode::SERVICE_UNAVAILABLE,
            "busy",
            why,
        ));
    };
    if streams {
        let events = stream::unfold((app, query, place), |(app, query, place)| async move {
            let (query, found) = query.wait(&app, None).await?;
            let events = found.into_iter().map(event);
            Some((
                stream::iter(events.collect::<Vec<_>>()),
                (app, query, place),
            ))
        });
        let events = futures_util::StreamExt::flatten(events);
        return Ok(Sse::new(events)
            .keep_alive(KeepAlive::default())
            .into_response());
    }
    let until = Instant::now() + Duration::from_secs(wait as u64);
    let found = query.wait(&app, Some(until)).await;
    Ok(json_lines(
        found.map(|(_, found)| found).unwrap_or_default(),
    ))
}

/// Reads the parameter `since`: a number or a time.
async fn since(app: &Arc<App>, text: Option<&str>) -> Result<u64, ApiRefusal> {
    let Some(text) = text else { return Ok(0) };
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    let time: Timestamp = text.parse().map_err(|_| {
        ApiRefusal::parameter(
            "since is neither a number nor a time: write 4711 or 2026-11-16T11:10:00Z",
        )
    })?;
    Ok(app.read(move |app| app.node.change_before(time)).await?)
}

impl ChangeQuery {
    /// Reads the changes from `since` on. Returns them, and the query that continues.
    async fn read(mut self, app: &Arc<App>) -> Result<(Self, Vec<ChangeBody>)> {
        let mut found = Vec::new();
        loop {
            let since = self.since;
            let read = app.read(move |app| app.node.changes(since, GROUP)).await?;
            let Some(last) = read.last() else {
                return Ok((self, found));
            };
            let end = last.number;
            for change in read {
                self.since = change.number;
                if self.wants(&change) {
                    found.push(ChangeBody::from(change));
                }
                if found.len() == self.limit {
                    return Ok((self, found));
                }
            }
            self.since = end;
        }
    }

    fn wants(&self, change: &PageChange) -> bool {
        let of_site = self
            .site
            .as_deref()
            .is_none_or(|site| is_of_site(&change.url, site));
        of_site && self.change.is_none_or(|kind| kind == change.change.into())
    }

    /// Waits until there is a change, or until a moment. Returns `None` if the server shuts down or
    /// the log cannot be read.
    async fn wait(
        mut self,
        app: &Arc<App>,
        until: Option<Instant>,
    ) -> Option<(Self, Vec<ChangeBody>)> {
        let mut closing = app.closing.subscribe();
        loop {
            let (next, found) = self.read(app).await.ok()?;
            let is_over = until.is_some_and(|until| Instant::now() >= until);
            if !found.is_empty() || is_over {
                return Some((next, found));
            }
            self = next;
            tokio::select! {
                () = tokio::time::sleep(LOOK_EVERY) => {}
                _ = closing.wait_for(|closing| *closing) => return None,
            }
        }
    }
}

fn json_lines(changes: Vec<ChangeBody>) -> Response {
    let lines = changes
        .iter()
        .filter_map(|change| serde_json::to_string(change).ok());
    let text: String = lines.map(|line| line + "\n").collect();
    ([(header::CONTENT_TYPE, "application/x-ndjson")], text).into_response()
}

fn event(change: ChangeBody) -> Result<Event, Infallible> {
    let name = match change.change {
        PageChangeKind::New => "new",
        PageChangeKind::Changed => "changed",
        PageChangeKind::Gone => "gone",
    };
    let text = serde_json::to_string(&change).unwrap_or_default();
    Ok(Event::default()
        .id(change.number.to_string())
        .event(name)
        .data(text))
}
