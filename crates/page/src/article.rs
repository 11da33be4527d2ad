//! Extracts the main text of a page, as plain text and as Markdown.
//!
//! Exports, the API, agents and the inspector use this module. A crawl does not, because building
//! a tree takes about 2.6 ms a page. The steps are: check the [limits](tree_limits) of the markup,
//! build a tree, remove [navigation and other boilerplate](boilerplate), [choose](main_part) the
//! part that holds the main text, and [write](markdown) that part.
//!
//! **Invariant:** a tree is built only from markup within these limits. For any other markup the
//! result is the plain text of the streaming reader.

mod boilerplate;
pub mod chunks;
mod language_class;
mod main_part;
mod markdown;
mod template;
#[cfg(test)]
mod tests;
mod text;
mod text_count;
mod tree;
mod tree_limits;

use dom_query::{Document, NodeRef};

use crate::html::{ReadLimits, read};
use crate::url::PageUrl;
use main_part::MainPartChoice;
pub use markdown::Heading;
pub use template::Template;
use tree::collapsed;
use tree_limits::fits_tree_limits;

/// The main text of a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Article {
    /// The title. If it contains the highest heading of the main text, it is that heading alone,
    /// without the site name around it.
    pub title: String,
    /// The main text, one line per block. Code and texts with line breaks have several lines.
    pub text: String,
    /// The main text as Markdown.
    pub markdown: String,
    /// The headings of the Markdown, in order.
    pub headings: Vec<Heading>,
    /// How the main text was found.
    pub extraction: Extraction,
}

/// How the main text of a page was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Extraction {
    /// A part of the page was recognized as its main text.
    Article,
    /// The page has no such part. The result is all of its text without navigation.
    Whole,
    /// The extraction failed. The result is all or nearly all of the page's text without
    /// navigation; for [`ExtractionFailure::Hostile`], all of its text.
    Fallback(ExtractionFailure),
}

/// Why an extraction failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExtractionFailure {
    /// The element marked as main holds too little of the page's text or code, and no other marked
    /// part holds enough; or the chosen part has no text.
    SmallShare,
    /// Other pages of the host gave the same main text, although their whole texts differ.
    Repeated,
    /// The markup is too large or too deep for a tree, a tag has too many attributes, or the page
    /// has no body.
    Hostile,
}

impl Extraction {
    /// Returns the name used in JSON: `article`, `whole` or `fallback`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Article => "article",
            Self::Whole => "whole",
            Self::Fallback(_) => "fallback",
        }
    }

    /// Returns why the extraction failed: `small_share`, `repeated` or `hostile`. Returns `None`
    /// if it did not fail.
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::Fallback(ExtractionFailure::SmallShare) => Some("small_share"),
            Self::Fallback(ExtractionFailure::Repeated) => Some("repeated"),
            Self::Fallback(ExtractionFailure::Hostile) => Some("hostile"),
            _ => None,
        }
    }
}

/// Budget for URLs in the Markdown, in bytes per byte of the page. Every page gets 64 KiB more, so
/// that a short page with a long base URL keeps its links.
const LINK_BYTES_FACTOR: usize = 4;

/// Returns the main text of a page found at `url`.
pub fn article(html: &str, url: &PageUrl) -> Article {
    if !fits_tree_limits(html) {
        return streamed(html, url);
    }
    let document = Document::from(html);
    let found = document.body().map(|body| main_part::find(&body));
    let Some((root, choice)) = found else {
        return streamed(html, url);
    };
    let extraction = match choice {
        MainPartChoice::Part => Extraction::Article,
        MainPartChoice::Whole => Extraction::Whole,
        MainPartChoice::SmallShare => Extraction::Fallback(ExtractionFailure::SmallShare),
    };
    let article = written(&document, &root, html, url, extraction);
    if !article.text.is_empty() {
        return article;
    }
    let all = whole(html, url, ExtractionFailure::SmallShare);
    if all.text.is_empty() {
        return Article {
            extraction: Extraction::Whole,
            ..all
        };
    }
    all
}

/// Returns all text of a page except navigation, for a page whose main text could not be
/// recognized.
///
/// Navigation is included if the markup exceeds the [limits](tree_limits), or if the page has no
/// other text.
pub fn whole(html: &str, url: &PageUrl, failure: ExtractionFailure) -> Article {
    if !fits_tree_limits(html) {
        return streamed(html, url);
    }
    let document = Document::from(html);
    let Some(body) = document.body() else {
        return streamed(html, url);
    };
    main_part::whole(&body);
    let article = written(&document, &body, html, url, Extraction::Fallback(failure));
    if article.text.is_empty() {
        return Article {
            extraction: Extraction::Fallback(failure),
            ..streamed(html, url)
        };
    }
    article
}

/// Returns the text of the streaming reader.
fn streamed(html: &str, url: &PageUrl) -> Article {
    let reading = read(html, url, &ReadLimits::default());
    Article {
        title: reading.title,
        markdown: markdown::guarded(&reading.text),
        text: reading.text,
        headings: Vec::new(),
        extraction: Extraction::Fallback(ExtractionFailure::Hostile),
    }
}

fn written(
    document: &Document,
    root: &NodeRef<'_>,
    html: &str,
    url: &PageUrl,
    extraction: Extraction,
) -> Article {
    let base = document.base_uri();
    let own = url.to_url();
    let base = base.and_then(|base| own.join(&base).ok());
    let budget = LINK_BYTES_FACTOR * html.len() + (64 << 10);
    let (markdown, headings) = markdown::write(root, base.as_ref().unwrap_or(&own), budget);
    Article {
        title: title(document, root),
        text: text::plain(root),
        markdown,
        headings,
        extraction,
    }
}

/// Returns the highest heading of the main text, without its number, if the title contains it; else
/// the title.
///
/// Titles often have the name of the site in front or behind; the heading does not. The heading
/// is also used if the title is empty or ends in a separator.
fn title(document: &Document, root: &NodeRef<'_>) -> String {
    let head = document.head();
    let title = head.and_then(|head| head.find(&["title"]).into_iter().next());
    let title = title
        .map(|title| collapsed(&title.text()))
        .unwrap_or_default();
    let levels = ["h1", "h2", "h3", "h4", "h5", "h6"];
    let headings = levels
        .iter()
        .flat_map(|level| root.find(&[level]).into_iter().take(8));
    let heading = headings
        .filter(|heading| !main_part::is_site_name(heading))
        .find_map(|heading| {
            let text = collapsed(&heading.text());
            let bare = text.trim_start_matches(|letter: char| {
                letter.is_ascii_digit() || ". ".contains(letter)
            });
            (!bare.is_empty()).then(|| bare.to_owned())
        });
    let half = title.ends_with(['-', '|', ':', '–', '—']);
    match heading {
        Some(heading) if title.is_empty() || half || title.contains(&heading) => heading,
        _ => title,
    }
}
