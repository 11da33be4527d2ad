//! Reads a page in one pass.
//!
//! The reader takes the place of tree construction in a browser, but builds no tree. It tells the
//! tokenizer how to read the content of elements such as `script`, tracks which elements are
//! open, and passes text and links to their collectors.
//!
//! **Invariant:** the steps for a token are bounded by a constant times its length.

use super::attribute::{ALT, HREF, REL, SRC, attribute, has_word};
use super::fields::Collector;
use super::head::{HeadCollector, relation};
use super::links::{LinkCollector, LinkPlace};
use super::open_elements::OpenElements;
use super::outline::Outline;
use super::paths::Paths;
use super::reading::{Cuts, LinkKind, PageReading, ReadLimits};
use super::tag::{self, NameKey, Role, TextFlow, element};
use super::text::VisibleText;
use super::tokenizer::{Attribute, ContentModel, HtmlToken, Tokenizer};
use crate::fingerprint::TextDigest;
use crate::url::PageUrl;

/// Reads the page `html` that was found at `base`.
pub fn read(html: &str, base: &PageUrl, limits: &ReadLimits) -> PageReading {
    let mut tokens = Tokenizer::new(html, limits.attributes, limits.value);
    let mut reader = PageReader::new(html, base, limits);
    while let Some(token) = tokens.next() {
        match token {
            HtmlToken::Text { raw, references } => reader.text(raw, references),
            HtmlToken::Start {
                tag,
                name,
                self_closing,
            } => {
                let model = reader.start(tag, name, self_closing, tokens.attributes());
                if model != ContentModel::Data {
                    tokens.expect(model, tag);
                }
            }
            HtmlToken::End { tag } => reader.end(tag),
            HtmlToken::Comment(_) | HtmlToken::Doctype => {}
        }
    }
    reader.finish(&tokens)
}

struct PageReader<'a, 'l> {
    limits: &'l ReadLimits,
    page: &'l PageUrl,
    /// The open elements, which outline and paths need; `None` if neither is read.
    open: Option<OpenElements<'a>>,
    hidden: Option<Hidden>,
    /// The element whose raw text is being read.
    raw: Option<NameKey>,
    /// The link whose anchor text is being read.
    link: Option<u32>,
    text: VisibleText,
    title: VisibleText,
    /// Whether the title is complete. A second one is ignored.
    titled: bool,
    links: LinkCollector,
    /// Bytes of anchor text outside of navigation.
    linked: u32,
    paths: Paths,
    head: HeadCollector,
    fields: Option<Collector>,
    outline: Option<Outline<'a>>,
}

/// An element whose content is not shown.
struct Hidden {
    tag: NameKey,
    depth: u32,
    /// Number of open `foreignObject` elements, inside which HTML may occur in SVG.
    foreign: u32,
}

impl<'a, 'l> PageReader<'a, 'l> {
    fn new(html: &str, page: &'l PageUrl, limits: &'l ReadLimits) -> Self {
        let parts = limits.parts;
        Self {
            limits,
            page,
            open: (parts.outline || parts.paths).then(OpenElements::new),
            hidden: None,
            raw: None,
            link: None,
            text: VisibleText::new(limits.text, html.len() / 2),
            title: VisibleText::new(limits.title, 64),
            titled: false,
            links: LinkCollector::new(page),
            linked: 0,
            paths: Paths::default(),
            head: HeadCollector::default(),
            fields: parts.fields.then(|| Collector::new(html)),
            outline: parts.outline.then(Outline::default),
        }
    }

    fn finish(mut self, tokens: &Tokenizer<'_>) -> PageReading {
        self.close_link();
        let cut = Cuts {
            links: self.links.dropped,
            attributes: tokens.attributes_cut,
            values: tokens.values_cut,
            text: self.text.is_cut,
        };
        let text = self.text.finish();
        let outline = self.outline.map(|outline| outline.finish(&text));
        let (sections, asides) = outline.unwrap_or_default();
        PageReading {
            title: self.title.finish(),
            digest: TextDigest::of(&text),
            text,
            sections,
            asides,
            linked: self.linked,
            links: self.links.links,
            paths: self.paths.paths,
            canonical: self.head.canonical,
            refresh: self.head.refresh,
            robots: self.head.robots,
            language: self.head.language,
            fields: self.fields.map(Collector::finish).unwrap_or_default(),
            not_links: self.links.not_links,
            malformed: self.links.malformed,
            cut,
        }
    }

    fn text(&mut self, raw: &str, references: bool) {
        if self.hidden.is_some() {
            return;
        }
        let into = match self.raw {
            None | Some(tag::XMP | tag::PLAINTEXT) => &mut self.text,
            Some(tag::TITLE) if !self.titled => &mut self.title,
            Some(tag::SCRIPT) => {
                if let Some(fields) = &mut self.fields {
                    fields.script_text(raw);
                }
                return;
            }
            Some(_) => return,
        };
        if references {
            into.push(&htmlize::unescape(raw));
        } else {
            into.push(raw);
        }
    }

    /// Handles a start tag. Returns how the content is to be tokenized.
    #[inline]
    fn start(
        &mut self,
        tag: NameKey,
        name: &'a str,
        self_closing: bool,
        attributes: &[Attribute<'a>],
    ) -> ContentModel {
        if self.hidden.is_some() && !self.start_hidden(tag, name, self_closing, attributes) {
            let in_svg = self
                .hidden
                .as_ref()
                .is_some_and(|hidden| hidden.tag == tag::SVG);
            return if in_svg {
                ContentModel::Data
            } else {
                tag::model(tag, element(tag).role)
            };
        }
        if let Some(fields) = &mut self.fields {
            fields.start(tag, attributes, self.text.len());
        }
        if let Some(outline) = &mut self.outline {
            outline.start(tag, attributes, self.text.len());
        }
        let element = element(tag);
        match element.flow {
            TextFlow::Inline | TextFlow::Void => {}
            TextFlow::Block | TextFlow::Break => self.text.line(),
            TextFlow::Cell => self.text.space(),
        }
        if tag == tag::PRE {
            self.text.open_lines();
        }
        match element.role {
            Role::Plain => {}
            Role::Raw => {
                if let Some(fields) = self.fields.as_mut().filter(|_| tag == tag::SCRIPT) {
                    fields.script(attributes);
                }
            }
            Role::Anchor => self.anchor(tag, name, attributes),
            Role::Document => self.document(tag, name, attributes),
            Role::Image => self.image(attributes),
            Role::Relation => self.relation(tag, name, attributes),
            Role::Meta => {
                self.head.meta(attributes, &self.links, self.page);
                if let Some(fields) = &mut self.fields {
                    fields.meta(attributes);
                }
            }
            Role::Base => {
                if let Some(href) = attribute(attributes, HREF) {
                    self.links.set_base(&href.value());
                }
            }
            Role::Html => self.head.html(attributes),
            Role::Svg if self_closing => return ContentModel::Data,
            Role::Hidden | Role::Svg => {
                self.hidden = Some(Hidden {
                    tag,
                    depth: 1,
                    foreign: 0,
                })
            }
        }
        if matches!(element.flow, TextFlow::Void | TextFlow::Break) {
            return ContentModel::Data;
        }
        if let Some(open) = &mut self.open {
            open.start(tag, name, element.flow);
            if let Some(outline) = &mut self.outline {
                let (at, depth) = (self.text.len(), open.depth());
                outline.opened(tag, element.flow, attributes, at, depth);
            }
        }
        let model = tag::model(tag, element.role);
        if model != ContentModel::Data {
            self.raw = Some(tag);
        }
        model
    }

    /// Handles a start tag inside a hidden element. Returns whether it ended that element and
    /// must be handled normally.
    fn start_hidden(
        &mut self,
        tag: NameKey,
        name: &'a str,
        self_closing: bool,
        attributes: &[Attribute<'a>],
    ) -> bool {
        let Some(hidden) = &mut self.hidden else {
            return true;
        };
        if tag == hidden.tag {
            hidden.depth += u32::from(!(self_closing && tag == tag::SVG));
            return false;
        }
        match hidden.tag {
            tag::SVG if tag == tag::FOREIGN_OBJECT => hidden.foreign += 1,
            tag::SVG if hidden.foreign == 0 && tag::leaves_svg(tag) => {
                self.hidden = None;
                if let Some(open) = &mut self.open {
                    open.end(tag::SVG);
                }
                return true;
            }
            // Links inside `noscript` are collected; their text ("turn it on") is not.
            tag::NOSCRIPT if tag == tag::A => {
                self.anchor(tag, name, attributes);
                self.close_link();
            }
            _ => {}
        }
        false
    }

    #[inline]
    fn end(&mut self, tag: NameKey) {
        if let Some(hidden) = &mut self.hidden {
            if tag == tag::FOREIGN_OBJECT {
                hidden.foreign = hidden.foreign.saturating_sub(1);
            }
            if tag != hidden.tag {
                return;
            }
            hidden.depth -= 1;
            if hidden.depth > 0 {
                return;
            }
            self.hidden = None;
        }
        if let Some(fields) = &mut self.fields {
            fields.end(tag, self.text.as_str());
        }
        self.titled |= self.raw.take() == Some(tag::TITLE);
        match element(tag).flow {
            TextFlow::Block | TextFlow::Break => self.text.line(),
            TextFlow::Cell => self.text.space(),
            TextFlow::Inline if tag == tag::A => self.close_link(),
            TextFlow::Inline | TextFlow::Void => {}
        }
        if tag == tag::PRE {
            self.text.close_lines();
        }
        if let Some(open) = &mut self.open {
            open.end(tag);
            if let Some(outline) = &mut self.outline {
                outline.end(tag, self.text.len(), open.depth());
            }
        }
    }

    fn anchor(&mut self, tag: NameKey, name: &str, attributes: &[Attribute<'a>]) {
        self.close_link(); // Links do not nest.
        let Some(href) = attribute(attributes, HREF) else {
            return;
        };
        let nofollow = has_word(attributes, REL, "nofollow");
        self.link = self.add(href, tag, name, LinkKind::Anchor, nofollow);
        if self.link.is_some() {
            self.text.open_anchor();
        }
    }

    /// Adds a link without anchor text.
    fn document(&mut self, tag: NameKey, name: &str, attributes: &[Attribute<'a>]) {
        let (kind, target) = match tag {
            tag::AREA => (LinkKind::Area, HREF),
            _ => (LinkKind::Frame, SRC),
        };
        let nofollow = has_word(attributes, REL, "nofollow");
        if let Some(target) = attribute(attributes, target) {
            self.add(target, tag, name, kind, nofollow);
        }
    }

    /// Adds the `alt` text of an image inside a link to the anchor text.
    fn image(&mut self, attributes: &[Attribute<'a>]) {
        if self.link.is_some()
            && let Some(words) = attribute(attributes, ALT)
        {
            self.text.space();
            self.text.push(&words.value());
            self.text.space();
        }
    }

    /// Reads a `link` element, which may also be a link to follow.
    fn relation(&mut self, tag: NameKey, name: &str, attributes: &[Attribute<'a>]) {
        self.head.link(attributes, &self.links, self.page);
        if let Some(kind) = relation(attributes)
            && let Some(href) = attribute(attributes, HREF)
        {
            self.add(href, tag, name, kind, has_word(attributes, REL, "nofollow"));
        }
    }

    fn add(
        &mut self,
        target: &Attribute<'a>,
        tag: NameKey,
        name: &str,
        kind: LinkKind,
        nofollow: bool,
    ) -> Option<u32> {
        let limits = self.limits;
        let open = self.open.as_ref().filter(|_| limits.parts.paths);
        let place = || LinkPlace {
            kind,
            path: open.map_or(0, |open| self.paths.of(open, tag, name, limits.paths)),
            at: self.text.len(),
        };
        self.links
            .add(&target.value(), nofollow, limits.links, place)
    }

    fn close_link(&mut self) {
        if let Some(link) = self.link.take() {
            let anchor = self.text.close_anchor(self.limits.anchor);
            let aside = self.outline.as_ref().is_some_and(Outline::is_aside);
            if self.outline.is_some() && !aside {
                self.linked += anchor.end - anchor.start;
            }
            self.links.set_anchor(link, anchor, aside);
        }
    }
}
