//! The results of a search as an Atom feed, so that a feed reader announces new ones.
//!
//! The parameters are those of the search page. The feed has the newest results first. Its requests
//! are not logged as searches: a feed reader repeats them whether or not someone reads the results.

use std::sync::Arc;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use repository::index::Sort;

use super::search::{SearchForm, failed};
use super::{message_of, public_url};
use crate::App;
use crate::app::{Brand, Surface};
use crate::request::languages;
use crate::search::{SearchRequest, SearchResult};
use node::readable::stated::Stated;

/// Entries of a feed.
const ENTRIES: usize = 50;

#[derive(Template)]
#[template(path = "atom.xml")]
struct AtomFeed<'a> {
    brand: &'a Brand,
    /// The URL of this server, as the reader sees it.
    base: String,
    query: String,
    parameters: String,
    updated: String,
    entries: Vec<AtomEntry>,
}

/// An entry of a feed.
struct AtomEntry {
    url: String,
    title: String,
    updated: String,
    published: Option<String>,
    summary: String,
}

impl AtomEntry {
    fn of(found: SearchResult) -> Self {
        let hit = found.hit;
        let fetched = Timestamp::from_second(hit.fetched_at).unwrap_or_default();
        let title = match hit.title.is_empty() {
            true => hit.url.clone(),
            false => hit.title,
        };
        Self {
            title: printable(&title),
            summary: printable(&hit.snippet.text),
            updated: fetched.to_string(),
            published: Stated::from(hit.stated).published,
            url: hit.url,
        }
    }
}

pub async fn feed(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    RawQuery(raw): RawQuery,
) -> Response {
    let form = SearchForm::read(raw.as_deref().unwrap_or_default());
    if form.text.trim().is_empty() {
        let why = "Write the search into the address: /atom?q=words.";
        return message_of(&app, StatusCode::BAD_REQUEST, "No search", why);
    }
    let Some(base) = public_url(&app, &headers) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let request = form.request(ENTRIES, languages::preferred(&headers), Timestamp::now());
    let request = SearchRequest {
        sort: Sort::Newest,
        unlogged: true,
        offset: 0,
        facets: false,
        ..request
    };
    let found = match crate::search::search(&app, request, Surface::Feed).await {
        Ok(found) => found,
        Err(error) => return failed(&app, &error),
    };
    let entries: Vec<AtomEntry> = found.results.into_iter().map(AtomEntry::of).collect();
    let newest = entries.iter().map(|entry| entry.updated.clone()).max();
    let feed = AtomFeed {
        brand: &app.brand,
        base,
        query: printable(&form.text),
        parameters: form.parameters(),
        updated: newest.unwrap_or_else(|| Timestamp::UNIX_EPOCH.to_string()),
        entries,
    };
    match feed.render() {
        Ok(xml) => {
            let kind = "application/atom+xml; charset=utf-8";
            ([(header::CONTENT_TYPE, kind)], xml).into_response()
        }
        Err(_) => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    }
}

/// Replaces characters that XML 1.0 does not allow (section 2.2).
fn printable(text: &str) -> String {
    let allowed = |letter: char| matches!(letter, '\t' | '\n' | '\r' | ' '..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..);
    text.chars()
        .map(|letter| if allowed(letter) { letter } else { ' ' })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_xml_forbids_become_spaces() {
        assert_eq!(
            printable("a\u{0}b\u{1b}c\u{fffe}d\té\u{1f600}"),
            "a b c d\té\u{1f600}"
        );
    }
}
