//! `GET /api/v1/search`: searches the store.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use jiff::Timestamp;
use repository::index::{Facets, SearchQuery, Sort};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::refusal::RefusalBody;
use super::stated::StatedFields;
use super::{ApiRefusal, Params};
use crate::App;
use crate::app::Surface;
use crate::request::languages;
use crate::search::{SearchRequest, SearchResult, SearchResults};
use node::readable::stated::Stated;

/// The maximum number of characters in a query.
const LONGEST: usize = 1000;

/// Parameters of `GET /api/v1/search`.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct SearchParams {
    /// Words, `a OR b`, `"phrases"`, `-exclusions`, `site:example.org`, `title:word`, `url:word`,
    /// `author:name`, `date:2024-05`, `filetype:html`.
    #[param(min_length = 1, max_length = 1000)]
    q: String,
    /// The maximum number of results to return, 1 to 100; 10 by default.
    #[param(minimum = 1, maximum = 100, default = 10)]
    limit: Option<u16>,
    /// The number of results to skip, 0 to 1000.
    #[param(minimum = 0, maximum = 1000, default = 0)]
    offset: Option<u16>,
    /// Only this host and its subdomains.
    #[param(min_length = 1, max_length = 255)]
    site: Option<String>,
    /// Only this language: `en`, `de`, …
    #[param(min_length = 1, max_length = 8)]
    language: Option<String>,
    /// Only pages of this topic of the store, among the 1,100 best matches; `avocet topic list`
    /// prints the names of all topics.
    #[param(min_length = 1, max_length = 100)]
    topic: Option<String>,
    /// Only copies that were fetched at this time (RFC 3339) or later.
    #[param(format = DateTime)]
    since: Option<String>,
    /// Only copies that were fetched before this time.
    #[param(format = DateTime)]
    until: Option<String>,
    /// Only pages that state a publication date at this time or later.
    #[param(format = DateTime)]
    published_since: Option<String>,
    /// Only pages that state a publication date before this time.
    #[param(format = DateTime)]
    published_until: Option<String>,
    /// Only documents of this type: `html`, `text`, …
    #[param(min_length = 1, max_length = 16, pattern = "^[A-Za-z0-9]{1,16}$")]
    r#type: Option<String>,
    /// The order of results: `relevance` (the default) or `newest`.
    #[param(inline)]
    sort: Option<ResultOrder>,
    /// Whether to count the pages that match by site, language, type and year.
    #[param(default = false)]
    facets: Option<bool>,
    /// Whether to log the search; `true` by default. The crawl learns from the log what people
    /// search for.
    #[param(default = true)]
    log: Option<bool>,
}

/// The order of results.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = Order)]
pub enum ResultOrder {
    /// The best matches first.
    Relevance,
    /// The newest first, by the publication date that a page states, or else by the fetch.
    Newest,
}

/// The results of a search.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Answer)]
pub struct SearchBody {
    /// The query.
    query: String,
    /// The number of pages that have all words; if no page has all, the number of pages that have
    /// some.
    total: usize,
    /// Whether no page has all words, so that pages with some of them are returned.
    relaxed: bool,
    /// The query used instead of `query`, if no page has one of its words.
    #[schema(required)]
    corrected: Option<String>,
    /// Operators that were not understood. An unknown operator is searched for as words; an invalid
    /// date, and `-` before `author:`, `date:` or `filetype:`, are ignored.
    unknown_operators: Vec<String>,
    /// Another spelling of the query that may have been meant: over 100 times as many pages have
    /// its words.
    #[schema(required)]
    did_you_mean: Option<String>,
    /// In a cluster: the number of nodes whose pages are missing from the results, because they did
    /// not answer in time.
    silent_nodes: usize,
    /// In a cluster: the number of nodes that have taken pages over from others and have not
    /// indexed all of them yet, so that some pages are missing from the results.
    indexing_nodes: usize,
    /// The duration of the search, in milliseconds.
    took_ms: f64,
    /// The results from `offset` on.
    results: Vec<Match>,
    /// Counts of the pages that match; `null` if they were not requested, or `topic` is given.
    #[schema(required)]
    facets: Option<FacetBody>,
}

/// Pages counted by their properties. The most frequent values come first; of years, the latest.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = FacetCounts)]
struct FacetBody {
    /// Host names.
    sites: Vec<FacetCount>,
    /// Codes of languages.
    languages: Vec<FacetCount>,
    /// Types of documents.
    types: Vec<FacetCount>,
    /// Years of publication, as pages state them.
    years: Vec<FacetCount>,
}

/// The number of pages with a value.
#[derive(Debug, Serialize, ToSchema)]
struct FacetCount {
    /// The value.
    value: String,
    /// The number of pages.
    pages: u64,
}

/// A section of a page.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct SectionLink {
    /// The heading. Plain text from a page: escape it wherever it is shown.
    heading: String,
    /// The id, which a URL names in its fragment; `null` if the section has none.
    #[schema(required)]
    id: Option<String>,
    /// The URL of the section, or of the page if the section has no id.
    url: String,
}

/// One result of a search.
#[derive(Debug, Serialize, ToSchema)]
pub struct Match {
    /// The position among all results, from 1.
    rank: usize,
    /// The URL of the page.
    url: String,
    /// The title of the page; may be empty.
    title: String,
    /// The section that matches best; `null` for the page as a whole.
    #[schema(required)]
    section: Option<SectionLink>,
    /// An excerpt with the words. Plain text from a page: escape it wherever it is shown.
    snippet: String,
    /// The parts of the snippet that match, each as the offset of its first byte and of the first
    /// byte after it (UTF-8).
    highlights: Vec<[usize; 2]>,
    /// Words of the query that the page does not have.
    missing: Vec<String>,
    /// URLs of near-duplicates that also match; they are not among the results.
    duplicates: Vec<String>,
    /// How well the page matches, without a unit; comparable only within one search.
    score: f32,
    /// The type of the document, `html`, `text`, …, if known.
    #[schema(required)]
    r#type: Option<String>,
    /// The code of the language, if known.
    #[schema(required)]
    language: Option<String>,
    /// When this copy was fetched.
    #[schema(format = DateTime)]
    fetched_at: String,
    /// When a visit last found the copy current; `null` if unknown, for example while another
    /// process uses the store.
    #[schema(required, format = DateTime)]
    checked_at: Option<String>,
    /// Mean hours between changes, estimated from revisits; `null` if unknown or no change was
    /// seen.
    #[schema(required)]
    changes_every_hours: Option<f64>,
    /// Metadata that the page states about itself, unchecked; fields it does not state are left
    /// out.
    fields: StatedFields,
    /// A path on this server that counts a click and redirects to the page; `null` if the URL is
    /// not `http` or `https`.
    #[schema(required)]
    click: Option<String>,
}

/// Search the store
///
/// Of near-duplicates one is returned, in a language of `Accept-Language` if there is one.
#[utoipa::path(
    get,
    path = "/search",
    params(SearchParams),
    responses(
        (status = 200, description = "The results", body = SearchBody),
        (status = 400, description = "A parameter is missing or wrong", body = RefusalBody),
        (status = 404, description = "The store has no topic of this name", body = RefusalBody),
        (status = 429, description = "Too many requests from this address; Retry-After says when to try again", body = RefusalBody),
        (status = 503, description = "Too many searches at once", body = RefusalBody),
    )
)]
pub async fn search(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Params(params): Params<SearchParams>,
) -> Result<Json<SearchBody>, ApiRefusal> {
    let request = params.request(languages::preferred(&headers))?;
    let query = request.text.clone();
    let found = crate::search::search(&app, request, Surface::Api).await?;
    Ok(Json(SearchBody::of(query, found)))
}

impl SearchParams {
    fn request(self, readers: Vec<String>) -> Result<SearchRequest, ApiRefusal> {
        checked_query(&self.q)?;
        let limit = within("limit", self.limit, 1, SearchQuery::LIMIT, 10)?;
        let offset = within("offset", self.offset, 0, SearchQuery::OFFSET, 0)?;
        for (name, value, most) in [
            ("site", &self.site, 255),
            ("language", &self.language, 8),
            ("topic", &self.topic, 100),
        ] {
            let letters = value.as_ref().map(|value| value.chars().count());
            if letters.is_some_and(|letters| letters == 0 || letters > most) {
                let wrong =
                    format!("{name} must have 1 to {most} characters; leave it out for no filter");
                return Err(ApiRefusal::parameter(&wrong));
            }
        }
        let letters = |kind: &String| kind.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let is_type = |kind: &String| (1..=16).contains(&kind.len()) && letters(kind);
        if self.r#type.as_ref().is_some_and(|kind| !is_type(kind)) {
            let wrong = "type must be 1 to 16 letters and digits; leave it out for no filter";
            return Err(ApiRefusal::parameter(wrong));
        }
        Ok(SearchRequest {
            text: self.q,
            site: self.site,
            language: self.language,
            topic: self.topic,
            since: time("since", self.since)?,
            until: time("until", self.until)?,
            published_since: time("published_since", self.published_since)?,
            published_until: time("published_until", self.published_until)?,
            kind: self.r#type,
            sort: match self.sort {
                Some(ResultOrder::Newest) => Sort::Newest,
                Some(ResultOrder::Relevance) | None => Sort::Relevance,
            },
            readers,
            facets: self.facets == Some(true),
            prefix: false,
            limit,
            offset,
            unlogged: self.log == Some(false),
        })
    }
}

/// Refuses a query that is empty or too long.
pub(super) fn checked_query(text: &str) -> Result<(), ApiRefusal> {
    let letters = text.chars().count();
    if letters == 0 || letters > LONGEST {
        return Err(ApiRefusal::parameter(&format!(
            "q must have 1 to {LONGEST} characters, but has {letters}"
        )));
    }
    Ok(())
}

/// Returns a number or its default, and refuses one outside the range.
pub(super) fn within(
    name: &str,
    value: Option<u16>,
    least: usize,
    most: usize,
    usual: usize,
) -> Result<usize, ApiRefusal> {
    let value = value.map_or(usual, usize::from);
    if !(least..=most).contains(&value) {
        let wrong = format!("{name} must be {least} to {most}, but is {value}");
        return Err(ApiRefusal::parameter(&wrong));
    }
    Ok(value)
}

fn time(name: &str, text: Option<String>) -> Result<Option<Timestamp>, ApiRefusal> {
    let read = text.map(|text| text.parse());
    read.transpose().map_err(|_| {
        ApiRefusal::parameter(&format!(
            "{name} is not a time: write it like 2026-11-16T11:10:00Z"
        ))
    })
}

impl SearchBody {
    pub(crate) fn of(query: String, found: SearchResults) -> Self {
        Self {
            query,
            total: found.total,
            relaxed: found.relaxed,
            corrected: found.corrected,
            unknown_operators: found.unknown,
            did_you_mean: found.meant,
            silent_nodes: found.silent_nodes,
            indexing_nodes: found.indexing_nodes,
            took_ms: found.took.as_secs_f64() * 1000.0,
            results: found.results.into_iter().map(Match::of).collect(),
            facets: found.facets.map(FacetBody::of),
        }
    }
}

impl FacetBody {
    fn of(facets: Facets) -> Self {
        let counts = |values: Vec<(String, u64)>| {
            let counts = values.into_iter();
            counts
                .map(|(value, pages)| FacetCount { value, pages })
                .collect()
        };
        Self {
            sites: counts(facets.sites),
            languages: counts(facets.languages),
            types: counts(facets.kinds),
            years: counts(facets.years),
        }
    }
}

impl SectionLink {
    /// Returns the best section of a result, if it has one.
    pub(crate) fn of(found: &SearchResult) -> Option<Self> {
        let (hit, section) = (&found.hit, found.hit.section.as_ref()?);
        Some(Self {
            heading: section.heading.clone(),
            id: section.id.clone(),
            url: hit.address(),
        })
    }
}

impl Match {
    pub(super) fn of(found: SearchResult) -> Self {
        let section = SectionLink::of(&found);
        let (hit, freshness) = (found.hit, found.freshness);
        let fetched_at = Timestamp::from_second(hit.fetched_at).unwrap_or_default();
        let highlights = hit.snippet.highlights.iter();
        Self {
            rank: found.rank,
            url: hit.url,
            title: hit.title,
            section,
            highlights: highlights.map(|range| [range.start, range.end]).collect(),
            snippet: hit.snippet.text,
            missing: hit.missing,
            duplicates: hit.duplicates,
            score: hit.score,
            r#type: hit.kind,
            language: hit.language,
            fetched_at: fetched_at.to_string(),
            checked_at: freshness.and_then(|known| known.checked.map(|at| at.to_string())),
            changes_every_hours: freshness.and_then(|known| known.pace.hours()),
            fields: Stated::from(hit.stated).into(),
            click: found.click,
        }
    }
}
