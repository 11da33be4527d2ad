//! Suggestions while a searcher types: titles of pages and headings of sections, with their addresses.
//!
//! **Invariant:** the work is that of one search for a few pages, and nothing of it is logged.

use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;
use jiff::Timestamp;
use repository::index::{Hit, Kept, Query};
use serde::Serialize;
use utoipa::ToSchema;

use super::App;
use super::metrics::Surface;
use super::seal::is_web;
use super::target;
use super::telling;

/// Suggestions that are made unless more are asked for. They are shown above results and must leave these in view.
pub const SUGGESTIONS: usize = 6;

/// Pages whose headings are looked at.
const PAGES: usize = 10;

/// Headings of one page that are suggested.
const HEADINGS: usize = 2;

/// A page or a section that a searcher may want. All text is as pages gave it: escape it wherever it is shown.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub struct Suggestion {
    /// The title of the page, or its URL if it has none.
    pub title: String,
    /// The heading of the section; `null`: the page as a whole.
    #[schema(required)]
    pub heading: Option<String>,
    /// The URL, with a fragment for a section.
    pub url: String,
    /// An address below this server that counts a click and leads to the page.
    #[schema(required)]
    pub click: Option<String>,
}

impl App {
    /// Suggests pages and sections for a text whose last word may not be finished.
    pub async fn suggest(
        self: &Arc<Self>,
        text: String,
        limit: usize,
        readers: Vec<String>,
    ) -> Result<Vec<Suggestion>> {
        let app = self.clone();
        let asked = Instant::now();
        let work = move || app.suggest_now(&text, limit, &readers);
        let found = self.readers.read(work).await;
        self.metrics
            .searched(Surface::Suggest, asked.elapsed(), found.is_ok());
        found
    }

    fn suggest_now(&self, text: &str, limit: usize, readers: &[String]) -> Result<Vec<Suggestion>> {
        let readers: Vec<&str> = readers.iter().map(String::as_str).collect();
        let found = self.index.search(&Query {
            text,
            limit: PAGES,
            prefix: true,
            readers: &readers,
            ..Query::default()
        })?;
        let typed = beginnings(found.corrected.as_deref().unwrap_or(text));
        let now = Timestamp::now();
        // Someone who takes a suggestion means what was typed so far.
        self.clicks.searched(now, text);
        let (mut named, mut others) = (Vec::new(), Vec::new());
        for (rank, hit) in (1..).zip(&found.hits) {
            if !is_web(&hit.url) {
                continue;
            }
            let click = self.seal.click(hit, rank, now);
            let page = Suggestion {
                title: title(hit),
                heading: None,
                url: target::with_fragment(&hit.url, None),
                click: click.clone(),
            };
            match begins(&page.title, &typed) {
                true => named.push(page),
                false => others.push(page),
            }
            let Some(kept) = self.index.kept(hit.id)? else {
                continue;
            };
            named.extend(
                headings(&kept, &typed)
                    .into_iter()
                    .map(|(heading, id)| Suggestion {
                        title: title(hit),
                        heading: Some(heading),
                        url: target::with_fragment(&hit.url, Some(&id)),
                        click: click.clone(),
                    }),
            );
        }
        named.extend(others);
        named.truncate(limit);
        Ok(named)
    }
}

fn title(hit: &Hit) -> String {
    match hit.title.trim() {
        "" => hit.url.clone(),
        title => title.to_owned(),
    }
}

/// The headings of a page that have all words, with their ids. A heading that says the title again is left out.
fn headings(kept: &Kept, typed: &[String]) -> Vec<(String, String)> {
    let named = kept.sections.iter().filter_map(|section| {
        let heading = section.title(&kept.text).trim();
        let id = section.id.clone()?;
        let is_title = telling::repeats(heading, &kept.title);
        (!is_title && begins(heading, typed)).then(|| (heading.to_owned(), id))
    });
    named.take(HEADINGS).collect()
}

/// The words of a query in lower case; operators and exclusions are left out.
fn beginnings(text: &str) -> Vec<String> {
    let is_word = |piece: &&str| !piece.starts_with('-') && !piece.contains(':') && *piece != "OR";
    let pieces = text.split_whitespace().filter(is_word);
    pieces.flat_map(words).collect()
}

fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_lowercase)
}

/// Whether each of these begins a word of a text.
fn begins(text: &str, typed: &[String]) -> bool {
    let words: Vec<String> = words(text).collect();
    let begins = |start: &String| words.iter().any(|word| word.starts_with(start.as_str()));
    !typed.is_empty() && typed.iter().all(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_begin_with_what_was_typed() {
        for (text, typed, expected) in [
            ("The pied avocet", "avo", true),
            ("The pied avocet", "pied avoc", true),
            ("The pied avocet", "AVOCET", true),
            ("The pied avocet", "cet", false),
            ("The pied avocet", "pied stilt", false),
            ("The pied avocet", "pied -stilt site:e.org", true),
            ("Säbelschnäbler", "säbel", true),
            ("zsh-common", "\"common", true),
            ("Anything", "", false),
            ("Anything", "site:e.org", false),
        ] {
            assert_eq!(
                begins(text, &beginnings(typed)),
                expected,
                "{text}: {typed}"
            );
        }
    }

    #[test]
    fn headings_need_an_id_and_say_more_than_the_title() {
        let text = "Waders\nAvocets here\nAvocets there\nAvocets again\n".to_owned();
        let section = |start: u32, end: u32, id: Option<&str>| repository::index::Section {
            heading: start..end,
            level: 2,
            id: id.map(str::to_owned),
        };
        let kept = Kept {
            title: "avocets HERE".into(),
            sections: vec![
                section(0, 6, Some("w")),
                section(7, 19, Some("a")),
                section(20, 33, None),
                section(34, 47, Some("c")),
            ],
            text,
            ..Kept::default()
        };
        let found = headings(&kept, &beginnings("avoc"));
        assert_eq!(found, [("Avocets again".to_owned(), "c".to_owned())]);
    }
}
