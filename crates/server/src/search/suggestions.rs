//! Suggestions while a searcher types: titles of pages and headings of sections, with their URLs.
//!
//! **Invariant:** suggestions cost one search for [`PAGES`] pages and a read of each, and are never
//! logged as a search.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use jiff::Timestamp;
use page::url::with_fragment;
use policy::words::{lower, words};
use repository::index::{Hit, IndexedPage, SearchQuery};
use serde::Serialize;
use utoipa::ToSchema;

use crate::app::{Surface, is_web};
use crate::{App, wording};

/// The default number of suggestions. They are shown above the results and must leave these in
/// view.
pub const SUGGESTIONS: usize = 6;

/// Number of pages that suggestions are made from: the best matches of one search.
const PAGES: usize = 10;

/// The maximum number of headings that are suggested of one page.
const HEADINGS: usize = 2;

/// A page or a section that a searcher may want.
///
/// Texts are as the page has them: escape them wherever they are shown.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Suggestion {
    /// The title of the page, or its URL if it has none.
    pub title: String,
    /// The heading of the section; `null` for the page as a whole.
    #[schema(required)]
    pub heading: Option<String>,
    /// The URL, with a fragment for a section.
    pub url: String,
    /// A path on this server that counts a click and redirects to the page.
    #[schema(required)]
    pub click: Option<String>,
}

/// Suggests pages and sections for a text whose last word may be incomplete.
pub async fn suggest(
    app: &Arc<App>,
    text: String,
    limit: usize,
    readers: Vec<String>,
) -> Result<Vec<Suggestion>> {
    let began = Instant::now();
    let found = app.read(move |app| suggest_now(app, &text, limit, &readers));
    let found = found.await;
    app.metrics
        .searched(Surface::Suggest, began.elapsed(), found.is_ok());
    found
}

fn suggest_now(app: &App, text: &str, limit: usize, readers: &[String]) -> Result<Vec<Suggestion>> {
    let readers: Vec<&str> = readers.iter().map(String::as_str).collect();
    let found = app.index.search(&SearchQuery {
        text,
        limit: PAGES,
        prefix: true,
        readers: &readers,
        ..SearchQuery::default()
    })?;
    let typed = beginnings(found.corrected.as_deref().unwrap_or(text));
    let now = Timestamp::now();
    // A click on a suggestion counts for the text typed so far.
    app.clicks.searched(now, text);
    let mut ranked: Vec<(SuggestionFit, Suggestion)> = Vec::new();
    for (rank, hit) in (1..).zip(&found.hits) {
        if !is_web(&hit.url) {
            continue;
        }
        let click = app.links.click(hit, rank, now);
        let suggestion = |heading: Option<String>, id: Option<&str>| Suggestion {
            title: title(hit),
            heading,
            url: with_fragment(&hit.url, id),
            click: click.clone(),
        };
        let fit = match fit(&title(hit), &typed) {
            Some(true) => SuggestionFit::TitleBegins,
            Some(false) => SuggestionFit::TitleHas,
            None => SuggestionFit::Text,
        };
        ranked.push((fit, suggestion(None, None)));
        let Some(kept) = app.index.kept(hit.id)? else {
            continue;
        };
        for (fit, heading, id) in headings(&kept, &typed) {
            ranked.push((fit, suggestion(Some(heading), Some(&id))));
        }
    }
    // The sort is stable: suggestions of equal fit keep the order of the search.
    ranked.sort_by_key(|(fit, _)| *fit);
    let suggestions = ranked.into_iter().map(|(_, suggestion)| suggestion);
    Ok(suggestions.take(limit).collect())
}

/// How a suggestion matches the typed text, the best match first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SuggestionFit {
    TitleBegins,
    HeadingBegins,
    TitleHas,
    HeadingHas,
    /// Only the text of the page matches.
    Text,
}

fn title(hit: &Hit) -> String {
    match hit.title.trim() {
        "" => hit.url.clone(),
        title => title.to_owned(),
    }
}

/// Returns the headings of a page that match all words, with their ids, the best first.
///
/// Leaves out headings that repeat the title.
fn headings(kept: &IndexedPage, typed: &[String]) -> Vec<(SuggestionFit, String, String)> {
    let named = kept.sections.iter().filter_map(|section| {
        let heading = section.title(&kept.text);
        let id = section.id.clone()?;
        let fit = match fit(heading, typed)? {
            true => SuggestionFit::HeadingBegins,
            false => SuggestionFit::HeadingHas,
        };
        let is_title = wording::repeats(heading, &kept.title);
        (!is_title).then(|| (fit, heading.to_owned(), id))
    });
    let mut named: Vec<_> = named.collect();
    named.sort_by_key(|(fit, ..)| *fit);
    named.truncate(HEADINGS);
    named
}

/// Returns the words of a query in lower case, without operators and exclusions.
fn beginnings(text: &str) -> Vec<String> {
    let is_word = |piece: &&str| !piece.starts_with('-') && !piece.contains(':') && *piece != "OR";
    let pieces = text.split_whitespace().filter(is_word);
    pieces.flat_map(lower_words).collect()
}

fn lower_words(text: &str) -> impl Iterator<Item = String> {
    words(text).map(|word| lower(word).collect())
}

/// Returns `None` unless each typed word is a prefix of a word of the text.
///
/// Otherwise tells whether the text itself begins with the first typed word. A chapter number at
/// the beginning is skipped.
fn fit(text: &str, typed: &[String]) -> Option<bool> {
    let words: Vec<String> = lower_words(text).collect();
    let begins = |start: &String| words.iter().any(|word| word.starts_with(start.as_str()));
    let first = typed.first()?;
    if !typed.iter().all(begins) {
        return None;
    }
    let is_number = |word: &&String| word.chars().all(char::is_numeric);
    let named = words.iter().find(|word| !is_number(word));
    Some(named.is_some_and(|word| word.starts_with(first.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_typed_word_must_begin_a_word() {
        for (text, typed, expected) in [
            ("The pied avocet", "avo", Some(false)),
            ("The pied avocet", "pied avoc", Some(false)),
            ("The pied avocet", "the AVOCET", Some(true)),
            ("The pied avocet", "cet", None),
            ("The pied avocet", "pied stilt", None),
            ("The pied avocet", "pied -stilt site:e.org", Some(false)),
            ("Säbelschnäbler", "säbel", Some(true)),
            ("zsh-common", "\"common", Some(false)),
            ("20.3 Completion", "compl", Some(true)),
            ("Anything", "", None),
            ("Anything", "site:e.org", None),
        ] {
            assert_eq!(fit(text, &beginnings(typed)), expected, "{text}: {typed}");
        }
    }

    #[test]
    fn headings_need_an_id_and_say_more_than_the_title() {
        let lines = [
            ("Waders", Some("w")),
            ("Avocets here", Some("a")),
            ("Avocets there", None),
            ("Of avocets", Some("c")),
            ("Avocets again", Some("d")),
            ("All avocets", Some("e")),
        ];
        let mut kept = IndexedPage {
            title: "avocets HERE".into(),
            ..IndexedPage::default()
        };
        for (line, id) in lines {
            let start = kept.text.len() as u32;
            kept.sections.push(repository::index::IndexedSection {
                heading: start..start + line.len() as u32,
                level: 2,
                id: id.map(str::to_owned),
            });
            kept.text += &format!("{line}\n");
        }
        let found: Vec<(String, String)> = headings(&kept, &beginnings("avoc"))
            .into_iter()
            .map(|(_, heading, id)| (heading, id))
            .collect();
        let expected = [("Avocets again", "d"), ("Of avocets", "c")];
        assert_eq!(
            found,
            expected.map(|(heading, id)| (heading.to_owned(), id.to_owned()))
        );
    }
}
