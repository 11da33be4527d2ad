//! The main text of an archived page, as plain text and as Markdown.

pub mod stated;

use std::path::Path;

use anyhow::{Context, Result};
use frontier::Visited;
use page::article::{Article, Extraction, ExtractionFailure, Heading, Template};
use page::{PageUrl, article, language};
use repository::archive;
use serde::Serialize;

use crate::answer;
use crate::clock::written;
use crawl::{Answer, AnswerText, TOKEN};
use stated::Stated;

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
    /// How the main text was found: `article` (extracted), `whole` (all text is main text) or
    /// `fallback` (extraction failed, so this is nearly all text).
    pub extraction: &'static str,
    /// Why the extraction failed, if it did: `small_share`, `repeated` or `hostile`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub extraction_reason: Option<&'static str>,
    /// Its main text as plain text.
    pub text: String,
    /// Its main text as Markdown, with headings, lists and links.
    pub markdown: String,
    /// The headings of the Markdown.
    #[serde(skip)]
    pub headings: Vec<Heading>,
    /// Its metadata: authors, dates and others.
    pub fields: Stated,
}

/// Reads the copy of a page from an archive; `None` if there is none, or it is neither HTML,
/// plain text nor a document.
pub fn read(archive: &Path, url: &str, visited: &Visited) -> Result<Option<Readable>> {
    read_by(archive, url, visited, article::article)
}

/// Reads all text of a page without the template of its host.
///
/// This is for a page whose extracted main text is repeated on other pages of the host.
pub fn read_repeated(
    archive: &Path,
    url: &str,
    visited: &Visited,
    template: &Template,
) -> Result<Option<Readable>> {
    read_by(archive, url, visited, |html, url| {
        let mut article = article::whole(html, url, ExtractionFailure::Repeated);
        template.remove_from(&mut article);
        article
    })
}

/// Returns all text of a page, to learn a template from; `None` if there is no copy or it is not
/// HTML.
pub fn whole(archive: &Path, url: &str, visited: &Visited) -> Result<Option<Article>> {
    let page = html(archive, url, visited)?;
    Ok(page.map(|(url, html)| article::whole(&html, &url, ExtractionFailure::Repeated)))
}

/// Returns the archived text of an HTML page, or of a document as one; `None` if there is no copy
/// or it is neither.
pub fn html(archive: &Path, url: &str, visited: &Visited) -> Result<Option<(PageUrl, String)>> {
    let Some((url, answer)) = kept(archive, url, visited)? else {
        return Ok(None);
    };
    Ok(match answer.text() {
        Some(AnswerText::Html(html)) => Some((url, html.into_owned())),
        _ => None,
    })
}

fn read_by(
    archive: &Path,
    url: &str,
    visited: &Visited,
    extract: impl FnOnce(&str, &PageUrl) -> Article,
) -> Result<Option<Readable>> {
    let Some((url, answer)) = kept(archive, url, visited)? else {
        return Ok(None);
    };
    let (fields, article) = match answer.text() {
        Some(AnswerText::Html(text)) => {
            let fields = page::read(&text, &url, &page::ReadLimits::default()).fields;
            (fields, extract(&text, &url))
        }
        Some(AnswerText::Plain(text)) => {
            let article = Article {
                title: String::new(),
                markdown: text.to_string(),
                text: text.into_owned(),
                headings: Vec::new(),
                extraction: Extraction::Whole,
            };
            (page::Fields::default(), article)
        }
        None => return Ok(None),
    };
    let copy = visited.copy.as_ref();
    Ok(Some(Readable {
        url: url.as_str().to_owned(),
        title: article.title,
        language: language::detect(&article.text, None),
        fetched_at: copy.map(|copy| written(copy.at)),
        extraction: article.extraction.name(),
        extraction_reason: article.extraction.reason(),
        text: article.text,
        markdown: article.markdown,
        headings: article.headings,
        fields: fields.into(),
    }))
}

/// Reads the archived answer that is the copy of a page, if there is one.
pub fn kept(archive: &Path, url: &str, visited: &Visited) -> Result<Option<(PageUrl, Answer)>> {
    let Some(place) = visited.copy.as_ref().and_then(|copy| copy.place) else {
        return Ok(None);
    };
    let url = PageUrl::parse(url)?;
    let record = archive::read(archive, &place).with_context(|| format!("the copy of {url}"))?;
    let answer = answer::kept(&record, &url, TOKEN)?;
    Ok(Some((url, answer)))
}
