//! The search page, and its results alone for the script that updates them during typing.

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
use crate::app::{Brand, Busy, Surface};
use crate::request::languages;
use crate::{App, wording};
pub(super) use answer::ResultLine;
use answer::ShownAnswer;
pub(super) use form::SearchForm;
use form::{AGES, LiveUpdate};
use node::number::counted;
use node::topics::NoSuchTopic;

/// Results per page.
const SHOWN: usize = 10;

#[derive(Template)]
#[template(path = "search.html")]
struct SearchPage<'a> {
    brand: &'a Brand,
    form: SearchForm,
    languages: Vec<SelectOption>,
    topics: Vec<SelectOption>,
    ages: Vec<SelectOption>,
    answer: Option<ShownAnswer>,
    /// The number of pages in the index, with its noun.
    pages: String,
}

impl SearchPage<'_> {
    /// Formats a day for a date field.
    fn day(&self, day: &Option<jiff::civil::Date>) -> String {
        day.map(|day| day.to_string()).unwrap_or_default()
    }
}

/// The results without the rest of the page.
#[derive(Template)]
#[template(path = "results.html")]
struct ResultsPart {
    answer: ShownAnswer,
}

/// An option of a select field.
struct SelectOption {
    value: String,
    name: String,
    chosen: bool,
}

pub async fn page(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    RawQuery(raw): RawQuery,
) -> Response {
    let form = SearchForm::read(raw.as_deref().unwrap_or_default());
    let now = Timestamp::now();
    let answer = if form.text.trim().is_empty() {
        None
    } else {
        let surface = match form.live {
            Some(LiveUpdate::Typing) => Surface::Typing,
            _ => Surface::Page,
        };
        let request = form.request(SHOWN, languages::preferred(&headers), now);
        match crate::search::search(&app, request, surface).await {
            Ok(found) => Some(ShownAnswer::of(&form, found, now)),
            Err(error) => return failed(&app, &error),
        }
    };
    if form.live.is_some() {
        let kept = [(header::CACHE_CONTROL, "no-store")];
        return match answer {
            Some(answer) => (kept, show(&ResultsPart { answer })).into_response(),
            None => (StatusCode::NO_CONTENT, kept).into_response(),
        };
    }
    let choices = app.read(|app| Ok((app.index.languages()?, app.node.topics().names()?)));
    let (languages, topics) = choices.await.unwrap_or_default();
    let languages = languages.into_keys().map(|code| SelectOption {
        chosen: form.language.as_deref() == Some(&code),
        name: wording::language(&code).to_owned(),
        value: code,
    });
    let mut languages: Vec<SelectOption> = languages.collect();
    languages.sort_by(|one, other| one.name.cmp(&other.name));
    let chosen = form.topic.clone();
    let topics = topics.into_iter().map(|name| SelectOption {
        chosen: chosen.as_deref() == Some(&name),
        name: name.clone(),
        value: name,
    });
    let ages = AGES.map(|(value, name, _)| SelectOption {
        value: value.to_owned(),
        name: name.to_owned(),
        chosen: form.age.as_deref() == Some(value),
    });
    let page = SearchPage {
        brand: &app.brand,
        form,
        languages,
        topics: topics.collect(),
        ages: ages.into(),
        answer,
        pages: counted(app.index.count(), "page"),
    };
    show(&page).into_response()
}

/// Answers a search that failed, with the reason.
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
            "There are too many searches at once. Try again in a moment.",
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
