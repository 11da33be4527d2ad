//! `GET /api/v1/page`: returns a page of the store with its text and its sections.

use std::sync::Arc;

use anyhow::Result as Done;
use axum::Json;
use axum::extract::State;
use page::PageUrl;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::refusal::RefusalBody;
use super::sections::SectionedPage;
use super::{ApiRefusal, Params};
use crate::App;
use node::page_text::PageText;

/// Parameters of `GET /api/v1/page`.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct PageParams {
    /// The URL of the page.
    #[param(min_length = 1, max_length = 2048, example = "https://example.org/")]
    url: String,
    /// Return only the section with this id. `sections` lists the ids.
    #[param(min_length = 1, max_length = 1000)]
    section: Option<String>,
}

/// A page with its text.
///
/// Texts are as the page has them: escape them wherever they are shown.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Page)]
pub struct PageBody {
    /// The normalized URL.
    pub url: String,
    /// The title; may be empty.
    pub title: String,
    /// The code of the language, if known.
    #[schema(required)]
    pub language: Option<String>,
    /// When this copy was fetched.
    #[schema(required, format = DateTime)]
    pub fetched_at: Option<String>,
    /// When a visit last found the copy current; `null` if unknown, for example while another
    /// process uses the store.
    #[schema(required, format = DateTime)]
    pub checked_at: Option<String>,
    /// Mean hours between changes, estimated from revisits; `null` if unknown or no change was
    /// seen.
    #[schema(required)]
    pub changes_every_hours: Option<f64>,
    /// The main text as plain text; if `markdown` is `null`, the text in the index, which has no
    /// navigation and no lines of the template of the host.
    pub text: String,
    /// The main text as Markdown. `null` if another process uses the store, or the archive has no
    /// copy.
    #[schema(required)]
    pub markdown: Option<String>,
    /// How the main text was found. `article`: a part of the page was recognized as its main text;
    /// `whole`: the page has no such part, and this is all text without navigation; `fallback`: the
    /// extraction failed, and this is all text without navigation, or all text if the reason is
    /// `hostile`. `null` where `markdown` is `null`.
    #[schema(required, example = "article")]
    pub extraction: Option<String>,
    /// Why the extraction failed; `null` if it did not. `small_share`: the part marked as main
    /// holds less than a quarter of the text or less than 90 % of the code, or the chosen part has
    /// no text; `hostile`: the page has no body, or its markup is too large or too deep to be
    /// parsed as a tree.
    #[schema(required)]
    pub extraction_reason: Option<String>,
}

/// Read a page of the store, with its text
#[utoipa::path(
    get,
    path = "/page",
    params(PageParams),
    responses(
        (status = 200, description = "The page", body = SectionedPage),
        (status = 400, description = "A parameter is missing or wrong", body = RefusalBody),
        (status = 404, description = "The page is not in the store, it has no such section, or the URL is not that of a page", body = RefusalBody),
        (status = 429, description = "Too many requests from this address; Retry-After says when to try again", body = RefusalBody),
        (status = 503, description = "Too many requests at once", body = RefusalBody),
    )
)]
pub async fn page(
    State(app): State<Arc<App>>,
    Params(params): Params<PageParams>,
) -> Result<Json<SectionedPage>, ApiRefusal> {
    let missing = |why| Err(ApiRefusal::not_found(why));
    let Ok(url) = PageUrl::parse(&params.url) else {
        return missing("this is not the URL of a page: write it like https://example.org/");
    };
    let Some(page) = kept(&app, url).await? else {
        return missing("this page is not in the store");
    };
    match SectionedPage::of(page, params.section) {
        Some(page) => Ok(Json(page)),
        None => missing("the page has no section of this id; `sections` lists the ids"),
    }
}

/// Reads a page from the archive. Reads it from the index if the archive has no copy of it, or
/// another process uses the store. In a cluster, another node may have it.
///
/// Returns `None` if none has it.
pub async fn kept(app: &Arc<App>, url: PageUrl) -> Done<Option<PageText>> {
    app.read(move |app| app.node.page_text(&url)).await
}

impl From<PageText> for PageBody {
    fn from(page: PageText) -> Self {
        Self {
            url: page.url,
            title: page.title,
            language: page.language,
            fetched_at: page.fetched_at,
            checked_at: page.checked_at,
            changes_every_hours: page.changes_every_hours,
            text: page.text,
            markdown: page.markdown,
            extraction: page.extraction,
            extraction_reason: page.extraction_reason,
        }
    }
}
