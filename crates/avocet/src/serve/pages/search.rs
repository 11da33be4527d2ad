//! The search page.

mod asked;

use std::sync::Arc;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use repository::index::{Query, Snippet};

use super::{assets, message, show};
use crate::serve::App;
use crate::serve::metrics::Surface;
use crate::serve::reading::Busy;
use crate::serve::search::{Finding, Found};
use crate::serve::telling;
use crate::serve::topics::NoSuchTopic;
use asked::{AGES, Asked, LONGEST};

/// Results on a page.
const SHOWN: usize = 10;

#[derive(Template)]
#[template(path = "search.html")]
struct Page {
    asked: Asked,
    languages: Vec<Choice>,
    topics: Vec<Choice>,
    ages: Vec<Choice>,
    answer: Option<Answer>,
    /// Pages that can be found.
    pages: u64,
}

/// A line of a list to choose from.
struct Choice {
    value: String,
    name: String,
    chosen: bool,
}

struct Answer {
    total: usize,
    relaxed: bool,
    /// What was meant, and its address.
    meant: Option<(String, String)>,
    hint: Option<String>,
    results: Vec<Line>,
    milliseconds: u128,
    before: Option<String>,
    after: Option<String>,
    page: usize,
    last: usize,
}

/// A result, in words.
struct Line {
    rank: usize,
    title: String,
    url: String,
    href: Option<String>,
    snippet: Vec<Piece>,
    checked: bool,
    time: String,
    ago: String,
    pace: Option<String>,
    /// Who wrote it, and on which day, as the page itself says.
    author: Option<String>,
    day: Option<String>,
    language: Option<String>,
}

/// A part of a snippet.
struct Piece {
    text: String,
    marked: bool,
}

pub async fn page(State(app): State<Arc<App>>, RawQuery(raw): RawQuery) -> Response {
    let asked = Asked::read(raw.as_deref().unwrap_or_default());
    let now = Timestamp::now();
    let reader = app.clone();
    let choices = move || Ok((reader.index.languages()?, reader.topics.names()?));
    let (languages, topics) = app.readers.read(choices).await.unwrap_or_default();
    let languages = languages.into_keys().map(|code| Choice {
        chosen: asked.language.as_deref() == Some(&code),
        name: telling::language(&code).to_owned(),
        value: code,
    });
    let mut languages: Vec<Choice> = languages.collect();
    languages.sort_by(|one, other| one.name.cmp(&other.name));
    let chosen = asked.topic.clone();
    let topics = topics.into_iter().map(|name| Choice {
        chosen: chosen.as_deref() == Some(&name),
        name: name.clone(),
        value: name,
    });
    let ages = AGES.map(|(value, name, _)| Choice {
        value: value.to_owned(),
        name: name.to_owned(),
        chosen: asked.age.as_deref() == Some(value),
    });
    let answer = if asked.text.trim().is_empty() {
        None
    } else {
        match app.search(asked.wish(SHOWN, now), Surface::Page).await {
            Ok(found) => Some(Answer::of(&asked, found, now)),
            Err(error) => return failed(&error),
        }
    };
    let page = Page {
        asked,
        languages,
        topics: topics.collect(),
        ages: ages.into(),
        answer,
        pages: app.index.count(),
    };
    show(&page).into_response()
}

fn failed(error: &anyhow::Error) -> Response {
    if let Some(missing) = error.downcast_ref::<NoSuchTopic>() {
        let missing = format!("{missing}.");
        return message(StatusCode::NOT_FOUND, "No such topic", &missing);
    }
    if error.is::<Busy>() {
        return message(
            StatusCode::SERVICE_UNAVAILABLE,
            "One moment",
            "Many people search at once. Try again in a moment.",
        );
    }
    tracing::error!("a search failed: {error:#}");
    message(
        StatusCode::INTERNAL_SERVER_ERROR,
        "The search failed",
        "The index could not be read. Whoever runs this server finds the reason in its log.",
    )
}

impl Answer {
    fn of(asked: &Asked, found: Found, now: Timestamp) -> Self {
        let last = found.total.div_ceil(SHOWN);
        let last = last.clamp(1, Query::OFFSET / SHOWN + 1);
        let page = asked.page;
        Self {
            total: found.total,
            relaxed: found.relaxed,
            meant: found.meant.map(|text| {
                let address = asked.address(&text, 1);
                (text, address)
            }),
            hint: hint(asked, found.total),
            milliseconds: found.took.as_millis(),
            before: (page > 1).then(|| asked.address(&asked.text, page.min(last + 1) - 1)),
            after: (page < last).then(|| asked.address(&asked.text, page + 1)),
            results: found
                .results
                .into_iter()
                .map(|found| Line::of(found, now))
                .collect(),
            page,
            last,
        }
    }
}

/// What to do about a search that found nothing, or was not read as typed.
fn hint(asked: &Asked, total: usize) -> Option<String> {
    if asked.cut {
        return Some(format!(
            "Only the first {LONGEST} characters were searched for."
        ));
    }
    if total > 0 {
        return None;
    }
    let hint = if !asked.text.chars().any(char::is_alphanumeric) {
        "There is no word in this search. Write one or more, such as: pied avocet"
    } else if asked.is_filtered() {
        "No page matches with these filters. Take some away."
    } else if asked.text.contains('"') {
        "No page has these words in this order. Take the quotation marks away."
    } else {
        "No page has these words. Try others, or fewer."
    };
    Some(hint.to_owned())
}

impl Line {
    fn of(found: Finding, now: Timestamp) -> Self {
        let hit = found.hit;
        let fetched = Timestamp::from_second(hit.fetched_at).unwrap_or_default();
        let checked = found.facts.and_then(|facts| facts.checked);
        let time = checked.unwrap_or(fetched);
        Self {
            rank: found.rank,
            title: if hit.title.trim().is_empty() {
                hit.url.clone()
            } else {
                hit.title
            },
            url: hit.url,
            href: found.click,
            snippet: pieces(&hit.snippet),
            checked: checked.is_some(),
            time: time.to_string(),
            ago: telling::ago(time, now),
            pace: found.facts.and_then(|facts| telling::pace(facts.pace)),
            author: telling::authors(&hit.stated.authors),
            day: hit.stated.date().and_then(telling::day),
            language: hit.language,
        }
    }
}

/// A snippet, with dots where it begins or ends within a sentence.
fn pieces(snippet: &Snippet) -> Vec<Piece> {
    let text = snippet.text.trim_end();
    let mut pieces = Vec::new();
    let dots = |text: &str| Piece {
        text: text.to_owned(),
        marked: false,
    };
    pieces.extend(text.starts_with(char::is_lowercase).then(|| dots("… ")));
    let mut last = 0;
    for range in &snippet.highlights {
        pieces.extend(Piece::of(text, last..range.start, false));
        pieces.extend(Piece::of(text, range.clone(), true));
        last = range.end;
    }
    pieces.extend(Piece::of(text, last..text.len(), false));
    let whole = text.is_empty() || text.ends_with(['.', '!', '?', '。', '…', '"', '”', ')']);
    pieces.extend((!whole).then(|| dots(" …")));
    pieces
}

impl Piece {
    fn of(text: &str, range: std::ops::Range<usize>, marked: bool) -> Option<Self> {
        let text = text.get(range).filter(|text| !text.is_empty())?.to_owned();
        Some(Self { text, marked })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snippets_are_marked_and_dotted() {
        let check = |text: &str, marked: Option<std::ops::Range<usize>>, expected: &str| {
            let snippet = Snippet {
                text: text.into(),
                highlights: marked.into_iter().collect(),
            };
            let shown: String = pieces(&snippet)
                .iter()
                .map(|piece| match piece.marked {
                    true => format!("[{}]", piece.text),
                    false => piece.text.clone(),
                })
                .collect();
            assert_eq!(shown, expected);
        };
        check("", None, "");
        check("The avocet wades.", Some(4..10), "The [avocet] wades.");
        check("of avocets and", Some(3..10), "… of [avocets] and …");
        check("avocet", Some(0..6), "… [avocet] …");
    }
}
