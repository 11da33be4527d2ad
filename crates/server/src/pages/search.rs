//! The search page, and its results alone for the script that updates them while someone types.

mod answer;
mod facets;
mod form;

use std::sync::Arc;

use askama::Template;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;

use super::{assets, message_of, show};
use crate::App;
use crate::app::Brand;
use crate::app::Busy;
use crate::app::Surface;
use crate::request::languages;
use crate::wording;
use answer::Answer;
pub(super) use answer::Line;
use form::{AGES, Asked, Live};
use node::topics::NoSuchTopic;

/// Results on a page.
const SHOWN: usize = 10;

#[derive(Template)]
#[template(path = "search.html")]
struct Page<'a> {
    brand: &'a Brand,
    asked: Asked,
    languages: Vec<Choice>,
    topics: Vec<Choice>,
    ages: Vec<Choice>,
    answer: Option<Answer>,
    /// Pages that can be found.
    pages: u64,
}

impl Page<'_> {
    /// A day as the form has it.
    fn day(&self, day: &Option<jiff::civil::Date>) -> String {
        day.map(|day| day.to_string()).unwrap_or_default()
    }
}

/// The results alone.
#[derive(Template)]
#[template(path = "results.html")]
struct ResultsPart {
    answer: Answer,
}

/// A line of a list to choose from.
struct Choice {
    value: String,
    name: String,
    chosen: bool,
}

pub async fn page(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    RawQuery(raw): RawQuery,
) -> Response {
    let asked = Asked::read(raw.as_deref().unwrap_or_default());
    let now = Timestamp::now();
    let answer = if asked.text.trim().is_empty() {
        None
    } else {
        let surface = match asked.live {
            Some(Live::Typing) => Surface::Typing,
            _ => Surface::Page,
        };
        let wish = asked.wish(SHOWN, languages::preferred(&headers), now);
        match crate::search::search(&app, wish, surface).await {
            Ok(found) => Some(Answer::of(&asked, found, now)),
            Err(error) => return failed(&app, &error),
        }
    };
    if asked.live.is_some() {
        let kept = [(header::CACHE_CONTROL, "no-store")];
        return match answer {
            Some(answer) => (kept, show(&ResultsPart { answer })).into_response(),
            None => (StatusCode::NO_CONTENT, kept).into_response(),
        };
    }
    let reader = app.clone();
    let choices = move || Ok((reader.index.languages()?, reader.node.topics().names()?));
    let (languages, topics) = app.readers.read(choices).await.unwrap_or_default();
    let languages = languages.into_keys().map(|code| Choice {
        chosen: asked.language.as_deref() == Some(&code),
        name: wording::language(&code).to_owned(),
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
    let page = Page {
        brand: &app.brand,
        asked,
        languages,
        topics: topics.collect(),
        ages: ages.into(),
        answer,
        pages: app.index.count(),
    };
    show(&page).into_response()
}

/// Says why there are no results.
pub(super) fn failed(app: &App, error: &anyhow::Error) -> Response {
    if let Some(missing) = error.downcast_ref::<NoSuchTopic>() {
        let missing = format!("{missing}.");
        return message_of(app, StatusCode::NOT_FOUND, "No such topic", &missing);
    }
    if error.is::<Busy>() {
        return message_of(
            app,
            StatusCode::SERVICE_UNAVAILABLE,
            "One moment",
            "Many people search at once. Try again in a moment.",
        );
    }
    tracing::error!("a search failed: {error:#}");
    message_of(
        app,
        StatusCode::INTERNAL_SERVER_ERROR,
        "The search failed",
        "The index could not be read. The log of the server has the reason.",
    )
}
