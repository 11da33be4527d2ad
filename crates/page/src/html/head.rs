//! Reads the canonical URL, refresh, robots directives and language of a page.
//!
//! **Invariant:** the first valid statement of each kind counts; prohibitions accumulate.

use super::attribute::{
    CONTENT, HREF, HREFLANG, HTTP_EQUIV, LANG, NAME, REL, TYPE, XML_LANG, attribute, has_word,
};
use super::links::LinkCollector;
use super::reading::LinkKind;
use super::refresh::refresh_target;
use super::tokenizer::Attribute;
use crate::directives::Directives;
use crate::url::PageUrl;

/// Collects statements about the page from its `html`, `link` and `meta` elements.
#[derive(Default)]
pub(super) struct HeadCollector {
    pub(super) canonical: Option<PageUrl>,
    pub(super) refresh: Option<PageUrl>,
    pub(super) robots: Directives,
    pub(super) language: Option<String>,
}

impl HeadCollector {
    /// Reads the canonical URL from a `link` element. It must have the registrable domain of the
    /// page.
    pub(super) fn link(
        &mut self,
        attributes: &[Attribute<'_>],
        links: &LinkCollector,
        page: &PageUrl,
    ) {
        if self.canonical.is_some() || !has_word(attributes, REL, "canonical") {
            return;
        }
        if let Some(href) = attribute(attributes, HREF) {
            let canonical = links.resolve(&href.value());
            self.canonical =
                canonical.filter(|url| url.registrable_domain() == page.registrable_domain());
        }
    }

    /// Reads robots directives and a refresh from a `meta` element.
    pub(super) fn meta(
        &mut self,
        attributes: &[Attribute<'_>],
        links: &LinkCollector,
        page: &PageUrl,
    ) {
        let Some(content) = attribute(attributes, CONTENT) else {
            return;
        };
        let is = |name, value: &str| {
            let found = attribute(attributes, name);
            found.is_some_and(|found| found.raw.trim().eq_ignore_ascii_case(value))
        };
        if is(NAME, "robots") || is(NAME, "avocet") {
            self.robots = self.robots | Directives::of_meta(&content.value());
        }
        if self.refresh.is_none() && is(HTTP_EQUIV, "refresh") {
            let content = content.value();
            let target = refresh_target(&content).and_then(|target| links.resolve(target));
            self.refresh = target.filter(|target| target != page);
        }
    }

    /// Reads the language from the `html` element.
    pub(super) fn html(&mut self, attributes: &[Attribute<'_>]) {
        let claimed = attribute(attributes, LANG).or_else(|| attribute(attributes, XML_LANG));
        let claimed = claimed.map(|lang| lang.raw.trim());
        if self.language.is_none() && claimed.is_some_and(is_language_tag) {
            self.language = claimed.map(str::to_ascii_lowercase);
        }
    }
}

/// Returns the kind of link that a `link` element makes, if it leads to a document.
pub(super) fn relation(attributes: &[Attribute<'_>]) -> Option<LinkKind> {
    let is = |word| has_word(attributes, REL, word);
    if is("next") {
        return Some(LinkKind::Next);
    }
    if is("prev") || is("previous") {
        return Some(LinkKind::Previous);
    }
    if !is("alternate") || is("stylesheet") {
        return None;
    }
    if is_feed(attributes) {
        return Some(LinkKind::Feed);
    }
    attribute(attributes, HREFLANG).map(|_| LinkKind::Alternate)
}

const FEEDS: [&str; 4] = [
    "application/rss+xml",
    "application/atom+xml",
    "application/feed+json",
    "application/rdf+xml",
];

fn is_feed(attributes: &[Attribute<'_>]) -> bool {
    attribute(attributes, TYPE).is_some_and(|kind| {
        let kind = kind.raw.split(';').next().unwrap_or_default().trim();
        FEEDS.iter().any(|feed| kind.eq_ignore_ascii_case(feed))
    })
}

/// Returns whether a text can be a language tag: 2 to 35 letters, digits and hyphens. RFC 5646,
/// 4.4.1, requires support for 35 characters.
fn is_language_tag(tag: &str) -> bool {
    let is_subtag = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    (2..=35).contains(&tag.len()) && tag.bytes().all(is_subtag)
}
