//! `GET /api/v1/search`

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use jiff::Timestamp;
use page::url::with_fragment;
use repository::index::{Facets, Query, Sort};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::refusal::Refused;
use super::stated::StatedFields;
use super::{Params, Refusal};
use crate::App;
use crate::app::Surface;
use crate::request::languages;
use crate::search::{Finding, Found, SearchRequest};
use node::readable::stated::Stated;

/// The most characters of a query.
const LONGEST: usize = 1000;

/// What to search for.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Asked {
    /// Words, `a OR b`, `"phrases"`, `-exclusions`, `site:example.org`, `title:word`, `url:word`, `author:name`,
    /// `date:2024-05`, `filetype:html`.
    #[param(min_length = 1, max_length = 1000)]
    q: String,
    /// How many results.
    #[param(minimum = 1, maximum = 100, default = 10)]
    limit: Option<u16>,
    /// How many results to pass over.
    #[param(minimum = 0, maximum = 1000, default = 0)]
    offset: Option<u16>,
    /// Only this host and those below it.
    #[param(min_length = 1, max_length = 255)]
    site: Option<String>,
    /// Only this language: `en`, `de`, …
    #[param(min_length = 1, max_length = 8)]
    language: Option<String>,
    /// Only pages of this topic, one that the store was taught: `avocet topic list`.
    #[param(min_length = 1, max_length = 100)]
    topic: Option<String>,
    /// Only copies that were fetched at this time or later.
    #[param(format = DateTime)]
    since: Option<String>,
    /// Only copies that were fetched before this time.
    #[param(format = DateTime)]
    until: Option<String>,
    /// Only pages that say they were published at this time or later.
    #[param(format = DateTime)]
    published_since: Option<String>,
    /// Only pages that say they were published before this time.
    #[param(format = DateTime)]
    published_until: Option<String>,
    /// Only documents of this type: `html`, `text`, …
    #[param(min_length = 1, max_length = 16, pattern = "^[A-Za-z0-9]{1,16}$")]
    r#type: Option<String>,
    /// What comes first.
    #[param(inline)]
    sort: Option<Order>,
    /// Whether to count the pages that match by site, language, type and year.
    #[param(default = false)]
    facets: Option<bool>,
    /// Whether the search is logged, from which the crawl learns what is searched for.
    #[param(default = true)]
    log: Option<bool>,
}

/// What comes first.
#[derive(Debug, Clone, Copy, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// The pages that match best.
    Relevance,
    /// The pages that were published last, as they say, or else fetched last.
    Newest,
}

/// What was found.
#[derive(Debug, Serialize, ToSchema)]
pub struct Answer {
    /// What was searched for.
    query: String,
    /// Pages that match.
    total: usize,
    /// No page has all the words; these have some.
    relaxed: bool,
    /// What was searched for in place of `query`, where no page has some of its words.
    #[schema(required)]
    corrected: Option<String>,
    /// What looks like an operator and is none; it was searched for as words.
    unknown_operators: Vec<String>,
    /// What may have been meant.
    #[schema(required)]
    did_you_mean: Option<String>,
    /// Milliseconds that the search took.
    took_ms: f64,
    /// The best pages, or those after `offset`.
    results: Vec<Match>,
    /// The pages that match, counted; `null` unless asked for, and within a topic.
    #[schema(required)]
    facets: Option<FacetCounts>,
}

/// Pages counted by their properties. The most frequent values come first; of years, the latest.
#[derive(Debug, Serialize, ToSchema)]
struct FacetCounts {
    /// Host names.
    sites: Vec<FacetCount>,
    /// Codes of languages.
    languages: Vec<FacetCount>,
    /// Types of documents.
    types: Vec<FacetCount>,
    /// Years of publication, as pages say.
    years: Vec<FacetCount>,
}

/// How many pages have a value.
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
    /// Its heading. Plain text from a page: escape it wherever it is shown.
    heading: String,
    /// What a URL's fragment names it by, if anything.
    #[schema(required)]
    id: Option<String>,
    /// The URL that leads to it; without an id, that of the page.
    url: String,
}

/// A page that was found.
#[derive(Debug, Serialize, ToSchema)]
pub struct Match {
    /// Its place among all, from 1.
    rank: usize,
    /// Its URL.
    url: String,
    /// Its title; may be empty.
    title: String,
    /// The section that answers best; `null`: the page as a whole.
    #[schema(required)]
    section: Option<SectionLink>,
    /// Where its text mentions the words. Plain text from a page: escape it wherever it is shown.
    snippet: String,
    /// The parts of the snippet that match: first byte, and first byte after.
    highlights: Vec<[usize; 2]>,
    /// What was asked for and the page does not have.
    missing: Vec<String>,
    /// URLs of other pages that match with nearly the same text, which are not among the results.
    duplicates: Vec<String>,
    /// How well it matches; comparable only within one search.
    score: f32,
    /// `html`, `text`, …, if known.
    #[schema(required)]
    r#type: Option<String>,
    /// The code of its language, if known.
    #[schema(required)]
    language: Option<String>,
    /// When this copy was fetched.
    #[schema(format = DateTime)]
    fetched_at: String,
    /// When the copy was last known to be equal to the page; `null`: not known now.
    #[schema(required, format = DateTime)]
    checked_at: Option<String>,
    /// Hours between changes, as estimated from revisits; `null`: not known, or none was seen.
    #[schema(required)]
    changes_every_hours: Option<f64>,
    /// What the page says of itself to machines, which nobody has checked; what it does not say is left out.
    fields: StatedFields,
    /// An address below this server that counts a click and leads to the page.
    #[schema(required)]
    click: Option<String>,
}

/// Search
///
/// Of pages with nearly the same text one is returned, in a language of `Accept-Language` if there is one.
#[utoipa::path(
    get,
    path = "/search",
    params(Asked),
    responses(
        (status = 200, description = "What was found", body = Answer),
        (status = 400, description = "A parameter is missing or wrong", body = Refused),
        (status = 404, description = "The store knows no topic of this name", body = Refused),
        (status = 429, description = "Too many requests from this address; Retry-After says when to come again", body = Refused),
        (status = 503, description = "Too many searches at once", body = Refused),
    )
)]
pub async fn search(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Params(asked): Params<Asked>,
) -> Result<Json<Answer>, Refusal> {
    let wish = asked.wish(languages::preferred(&headers))?;
    let query = wish.text.clone();
    let found = crate::search::search(&app, wish, Surface::Api).await?;
    Ok(Json(Answer::of(query, found)))
}

impl Asked {
    fn wish(self, readers: Vec<String>) -> Result<SearchRequest, Refusal> {
        checked_query(&self.q)?;
        let limit = within("limit", self.limit, 1, Query::LIMIT, 10)?;
        let offset = within("offset", self.offset, 0, Query::OFFSET, 0)?;
        for (name, value, most) in [
            ("site", &self.site, 255),
            ("language", &self.language, 8),
            ("topic", &self.topic, 100),
        ] {
            let letters = value.as_ref().map(|value| value.chars().count());
            if letters.is_some_and(|letters| letters == 0 || letters > most) {
                let wrong =
                    format!("{name} must have 1 to {most} characters; leave it out for any");
                return Err(Refusal::parameter(&wrong));
            }
        }
        let letters = |kind: &String| kind.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let is_type = |kind: &String| (1..=16).contains(&kind.len()) && letters(kind);
        if self.r#type.as_ref().is_some_and(|kind| !is_type(kind)) {
            let wrong = "type must be 1 to 16 letters and digits; leave it out for any";
            return Err(Refusal::parameter(wrong));
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
                Some(Order::Newest) => Sort::Newest,
                Some(Order::Relevance) | None => Sort::Relevance,
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
pub(super) fn checked_query(text: &str) -> Result<(), Refusal> {
    let letters = text.chars().count();
    if letters == 0 || letters > LONGEST {
        return Err(Refusal::parameter(&format!(
            "q must have 1 to {LONGEST} characters, and has {letters}"
        )));
    }
    Ok(())
}

pub(super) fn within(
    name: &str,
    value: Option<u16>,
    least: usize,
    most: usize,
    usual: usize,
) -> Result<usize, Refusal> {
    let value = value.map_or(usual, usize::from);
    if !(least..=most).contains(&value) {
        let wrong = format!("{name} must be {least} to {most}, and is {value}");
        return Err(Refusal::parameter(&wrong));
    }
    Ok(value)
}

fn time(name: &str, text: Option<String>) -> Result<Option<Timestamp>, Refusal> {
    let read = text.map(|text| text.parse());
    read.transpose().map_err(|_| {
        Refusal::parameter(&format!(
            "{name} is not a time: write it like 2026-11-16T11:10:00Z"
        ))
    })
}

impl Answer {
    pub(crate) fn of(query: String, found: Found) -> Self {
        Self {
            query,
            total: found.total,
            relaxed: found.relaxed,
            corrected: found.corrected,
            unknown_operators: found.unknown,
            did_you_mean: found.meant,
            took_ms: found.took.as_secs_f64() * 1000.0,
            results: found.results.into_iter().map(Match::of).collect(),
            facets: found.facets.map(FacetCounts::of),
        }
    }
}

impl FacetCounts {
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
    /// The best section of a result.
    pub(crate) fn of(found: &Finding) -> Option<Self> {
        let (hit, section) = (&found.hit, found.hit.section.as_ref()?);
        Some(Self {
            heading: section.heading.clone(),
            id: section.id.clone(),
            url: with_fragment(&hit.url, section.id.as_deref()),
        })
    }
}

impl Match {
    pub(super) fn of(found: Finding) -> Self {
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
