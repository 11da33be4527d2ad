//! `GET /api/v1/page`

use std::sync::Arc;

use anyhow::Result as Done;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use jiff::Timestamp;
use page::PageUrl;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::refusal::Refused;
use super::sections::{SectionedPage, with_sections};
use super::{Params, Refusal};
use crate::App;
use node::readable::Readable;

/// Which page.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Asked {
    /// Its URL.
    #[param(min_length = 1, max_length = 2048, example = "https://example.org/")]
    url: String,
    /// Only the section that a URL's fragment names by this id. `sections` has those that there are.
    #[param(min_length = 1, max_length = 1000)]
    section: Option<String>,
}

/// A page that is kept. All text is as the page gave it: escape it wherever it is shown.
#[derive(Debug, Serialize, ToSchema)]
pub struct Page {
    /// Its URL in normal form.
    pub url: String,
    /// Its title; may be empty.
    pub title: String,
    /// The code of its language, if known.
    #[schema(required)]
    pub language: Option<String>,
    /// When this copy was fetched.
    #[schema(required, format = DateTime)]
    pub fetched_at: Option<String>,
    /// When the copy was last known to be equal to the page; `null`: not known now.
    #[schema(required, format = DateTime)]
    pub checked_at: Option<String>,
    /// Hours between changes, as estimated from revisits; `null`: not known, or none was seen.
    #[schema(required)]
    pub changes_every_hours: Option<f64>,
    /// Its text.
    pub text: String,
    /// Its main text as Markdown; `null`: another process has the archive's ledger now, or it keeps no copy.
    #[schema(required)]
    pub markdown: Option<String>,
    /// How the main text was found: `article`: a part of the page, told from the rest; `whole`: the page has no such
    /// part; `fallback`: the extraction failed, and this is all of the page's text; `null`: as for `markdown`.
    #[schema(required, example = "article")]
    pub extraction: Option<&'static str>,
    /// Why the extraction failed, if it did: `small_share`: the part that the page calls its main one holds hardly any
    /// of its text; `hostile`: the markup is too large or too deep to be read as a tree.
    #[schema(required)]
    pub extraction_reason: Option<&'static str>,
}

/// A page that is kept, with its text
#[utoipa::path(
    get,
    path = "/page",
    params(Asked),
    responses(
        (status = 200, description = "The page", body = SectionedPage),
        (status = 400, description = "A parameter is missing or wrong", body = Refused),
        (status = 404, description = "No such page is kept, it has no such section, or the URL is none of a page", body = Refused),
        (status = 429, description = "Too many requests from this address; Retry-After says when to come again", body = Refused),
        (status = 503, description = "Too many requests at once", body = Refused),
    )
)]
pub async fn page(
    State(app): State<Arc<App>>,
    Params(asked): Params<Asked>,
) -> Result<Json<SectionedPage>, Refusal> {
    let missing = |why| Err(Refusal::new(StatusCode::NOT_FOUND, "not_found", why));
    let Ok(url) = PageUrl::parse(&asked.url) else {
        return missing("this is no URL of a page: write it like https://example.org/");
    };
    let Some(page) = kept(&app, url.clone()).await? else {
        return missing("no such page is kept");
    };
    match with_sections(&app, url, page, asked.section).await? {
        Some(page) => Ok(Json(page)),
        None => missing("the page has no section of this id; `sections` has those that there are"),
    }
}

/// What is kept of a page. `None`: nothing to read.
pub async fn kept(app: &Arc<App>, url: PageUrl) -> Done<Option<Page>> {
    let reader = app.clone();
    app.readers.read(move || look_up(&reader, &url)).await
}

fn look_up(app: &App, url: &PageUrl) -> Done<Option<Page>> {
    let freshness = app.node.freshness(url.as_str());
    let checked_at = freshness.and_then(|known| known.checked.map(|at| at.to_string()));
    let changes_every_hours = freshness.and_then(|known| known.pace.hours());
    if let Some(page) = app.node.readable(url)? {
        let Readable {
            url,
            title,
            language,
            fetched_at,
            extraction,
            extraction_reason,
            text,
            markdown,
            headings: _,
            fields: _,
        } = page;
        return Ok(Some(Page {
            url,
            title,
            language,
            fetched_at,
            checked_at,
            changes_every_hours,
            text,
            markdown: Some(markdown),
            extraction: Some(extraction),
            extraction_reason,
        }));
    }
    let kept = app.index.kept(url.id())?;
    Ok(kept.map(|kept| Page {
        url: kept.url,
        title: kept.title,
        language: kept.language,
        fetched_at: Timestamp::from_second(kept.fetched_at)
            .ok()
            .map(|at| at.to_string()),
        checked_at,
        changes_every_hours,
        text: kept.text,
        markdown: None,
        extraction: None,
        extraction_reason: None,
    }))
}
