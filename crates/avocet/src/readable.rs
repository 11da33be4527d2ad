//! What does a kept page say, to those who read it: its main text, plain and as Markdown?

use std::path::Path;

use anyhow::{Context, Result};
use frontier::Visited;
use page::media::{self, Media};
use page::{PageUrl, article, charset, language};
use repository::archive;
use serde::Serialize;

use crate::answer::Answer;
use crate::engine::{plan::TOKEN, timestamp};
use crate::place::location;
use crate::stated::Stated;

/// The main text of a page.
#[derive(Debug, Clone, Serialize)]
pub struct Readable {
    /// Its URL.
    pub url: String,
    /// Its title; may be empty.
    pub title: String,
    /// The code of its language, if known.
    pub language: Option<String>,
    /// When it was fetched.
    pub fetched_at: Option<String>,
    /// Its main text.
    pub text: String,
    /// The same with headings, lists and links.
    pub markdown: String,
    /// What it says of itself to machines.
    pub fields: Stated,
}

/// Reads the copy of a page in an archive. `None`: there is none, or it is no text.
pub fn read(archive: &Path, url: &str, visited: &Visited) -> Result<Option<Readable>> {
    let Some((url, answer)) = kept(archive, url, visited)? else {
        return Ok(None);
    };
    let declared = answer.content_type.as_deref();
    let (text, _) = charset::decode(&answer.content, declared);
    let (fields, title, text, markdown) = match media::kind(declared, &answer.content) {
        Media::Html => {
            let article = article::article(&text, &url);
            let fields = page::read(&text, &url, &page::Limits::default()).fields;
            (fields, article.title, article.text, article.markdown)
        }
        Media::Text => {
            let fields = page::Fields::default();
            (fields, String::new(), text.to_string(), text.into_owned())
        }
        _ => return Ok(None),
    };
    let copy = visited.copy.as_ref();
    Ok(Some(Readable {
        url: url.as_str().to_owned(),
        title,
        language: language::detect(&text, None),
        fetched_at: copy.map(|copy| timestamp(copy.at).to_string()),
        text,
        markdown,
        fields: fields.into(),
    }))
}

/// The archived answer of a page, if there is one.
pub fn kept(archive: &Path, url: &str, visited: &Visited) -> Result<Option<(PageUrl, Answer)>> {
    let Some(place) = visited.copy.as_ref().and_then(|copy| copy.place) else {
        return Ok(None);
    };
    let url = PageUrl::parse(url)?;
    let record =
        archive::read(archive, &location(place)).with_context(|| format!("the copy of {url}"))?;
    let answer = Answer::kept(&record, &url, TOKEN)?;
    Ok(Some((url, answer)))
}
