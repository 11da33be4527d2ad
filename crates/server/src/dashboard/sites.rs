//! The page of the dashboard that lists the sites: what each has, and controls for it. A new site
//! is shown before it is added: what its robots.txt, its answer and its links say.

use std::sync::Arc;

use askama::Template;
use axum::Form;
use axum::extract::{Query, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use node::settings::seed_url;
use page::PageUrl;
use serde::Deserialize;

use super::figures::{amount, percent, when};
use crate::control::access::{OperatorAccess, ViewAccess};
use crate::{App, assets, control, pages};
use crawl::scope::{Blocked, ScopeRules};
use node::dry_run::PageCheck;
use node::number::counted;
use node::sites::SiteSummary;

/// Sites on one page.
const SHOWN: usize = 100;

/// Parameters of the page.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct SitesQuery {
    /// Part of a host name.
    name: String,
    /// The page, from 0.
    page: usize,
}

/// The fields of the form that shows a new site.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct PreviewForm {
    /// The CSRF token.
    form: String,
    /// The URL of the site.
    url: String,
}

#[derive(Template)]
#[template(path = "sites.html")]
struct SitesPage {
    name: String,
    rows: Vec<SiteRow>,
    total: usize,
    /// The first and the last row, counted from 1.
    shown: [usize; 2],
    /// The page before and the page after.
    before: Option<usize>,
    after: Option<usize>,
    /// Why there are no sites.
    wrong: Option<String>,
    /// CSRF token for the forms of an operator.
    form: Option<String>,
    notice: Option<String>,
    preview: Option<SitePreview>,
    in_cluster: bool,
}

/// A row of the table.
struct SiteRow {
    host: String,
    pages: String,
    searchable: String,
    waiting: String,
    errors: String,
    gone: String,
    freshness: String,
    last_change: String,
    last_request: String,
    /// Whether the operator has paused it: its host is blocked.
    is_paused: bool,
    /// The seeds on it.
    seeds: Vec<String>,
}

/// What a crawl would do with a new site.
struct SitePreview {
    url: String,
    /// Lines of a name and a text.
    lines: Vec<(&'static str, String)>,
    /// Whether a crawl would get the page.
    is_good: bool,
}

impl SiteRow {
    fn of(site: &SiteSummary, scope: &ScopeRules, now: Timestamp) -> Self {
        let ago = |time: &Option<String>| time.as_ref().map_or(String::new(), |at| when(at, now));
        let mut blocked = scope.block.iter();
        let seeds = scope.seeds.iter().filter(|seed| host_of(seed) == site.host);
        Self {
            host: site.host.clone(),
            pages: amount(site.pages),
            searchable: amount(site.searchable),
            waiting: amount(site.waiting),
            errors: amount(site.errors),
            gone: amount(site.gone),
            freshness: site.freshness.map_or(String::new(), percent),
            last_change: ago(&site.last_change),
            last_request: ago(&site.last_request),
            is_paused: blocked.any(|block| is_blocked_by(block, &site.host)),
            seeds: seeds.cloned().collect(),
        }
    }
}

fn host_of(url: &str) -> String {
    let Ok(url) = PageUrl::parse(url) else {
        return String::new();
    };
    let port = url.other_port().map(|port| format!(":{port}"));
    url.host_name().to_owned() + &port.unwrap_or_default()
}

fn is_blocked_by(block: &str, host: &str) -> bool {
    let url = PageUrl::parse(&format!("http://{host}/"));
    match (Blocked::parse(block), url) {
        (Ok(blocked), Ok(url)) => blocked.holds(&url),
        _ => false,
    }
}

impl SitePreview {
    fn of(check: PageCheck) -> Self {
        let mut lines = Vec::new();
        if let Some(robots) = &check.robots {
            let allowed = if robots.allowed { "allows" } else { "forbids" };
            let mut text = match robots.file {
                "missing" => "there is none, so every page is allowed".to_owned(),
                "unavailable" => "it cannot be read, so no page is allowed".to_owned(),
                _ => format!("it {allowed} this page"),
            };
            if let Some(delay) = robots.crawl_delay {
                text += &format!(", with {delay} s between two requests");
            }
            lines.push(("robots.txt", text));
        }
        if let Some(status) = check.status {
            let kind = check.content_type.as_deref().unwrap_or("no type stated");
            lines.push(("answer", format!("status {status}, {kind}")));
        }
        let why = check.why.clone().or(check.error.clone());
        lines.extend(why.map(|why| ("error", why)));
        if let Some(text) = &check.text {
            let language = text.language.as_deref().unwrap_or("unknown language");
            let size = counted(text.main_characters, "character");
            lines.push((
                "text",
                format!("{}: {size} of main text, {language}", text.title),
            ));
        }
        if let Some(links) = &check.links {
            let inside = counted(links.in_scope, "link");
            lines.push((
                "links",
                format!("{inside} in scope, {} out of it", links.outside),
            ));
        }
        Self {
            is_good: check.has_page() && check.in_scope,
            url: check.url,
            lines,
        }
    }
}

/// Shows the page.
pub async fn page(
    State(app): State<Arc<App>>,
    access: ViewAccess,
    Query(query): Query<SitesQuery>,
) -> Response {
    let form = (access.operator).map(|operator| app.token.form(operator.session.as_deref()));
    show(&app, query, form, None).await
}

/// Shows the page with a new site.
pub async fn preview(
    State(app): State<Arc<App>>,
    operator: OperatorAccess,
    Form(fields): Form<PreviewForm>,
) -> Response {
    let session = operator.session.as_deref();
    if !app.token.is_form(&fields.form, session) {
        return pages::message(
            StatusCode::FORBIDDEN,
            "Not done",
            "This form is out of date or not from this server: open the page again.",
        );
    }
    let form = Some(app.token.form(session));
    let preview = match seed_url(fields.url.trim()) {
        Ok(url) => app.node.preview(&url).await.map(SitePreview::of),
        Err(error) => Err(anyhow::anyhow!("{:?}: {error}", fields.url)),
    };
    let preview = preview.unwrap_or_else(|error| SitePreview {
        url: fields.url.clone(),
        lines: vec![("error", format!("{error:#}"))],
        is_good: false,
    });
    show(&app, SitesQuery::default(), form, Some(preview)).await
}

async fn show(
    app: &Arc<App>,
    query: SitesQuery,
    form: Option<String>,
    preview: Option<SitePreview>,
) -> Response {
    let scope = control::scope(app).await.unwrap_or_default();
    let found = app.read(|app| app.node.sites()).await;
    let (sites, wrong) = match found {
        Ok(sites) => (sites, None),
        Err(error) => (Arc::default(), Some(format!("{error:#}"))),
    };
    let name = query.name.trim().to_lowercase();
    let named: Vec<&SiteSummary> = (sites.iter())
        .filter(|site| site.host.contains(&name))
        .collect();
    let first = query.page.saturating_mul(SHOWN).min(named.len());
    let last = (first + SHOWN).min(named.len());
    let now = Timestamp::now();
    let page = SitesPage {
        rows: named[first..last]
            .iter()
            .map(|site| SiteRow::of(site, &scope, now))
            .collect(),
        name,
        total: named.len(),
        shown: [first + 1, last],
        before: query.page.checked_sub(1),
        after: (last < named.len()).then_some(query.page + 1),
        wrong,
        form,
        notice: app.take_notice(),
        preview,
        in_cluster: app.node.whole_crawl().is_some(),
    };
    let kept = [(header::CACHE_CONTROL, "no-store")];
    (kept, pages::show(&page)).into_response()
}
