//! The outline of a page: its sections, and the parts of its text that are navigation.
//!
//! **Invariant:** every range lies on character boundaries of its text. Ranges of one kind are
//! in order and do not overlap, and their number is bounded.
//!
//! No DOM tree is built. A start tag marks a part as navigation by its element (`nav`, `aside`,
//! `footer`), its role, or a word of its class or id. A class or id is only a guess: it is
//! dropped if the part contains an `h1` or more than half of the text.

use std::ops::Range;

use super::attribute::{CLASS, ID, NAME, ROLE, attribute};
use super::tag::{self, NameKey, TextFlow, element};
use super::tokenizer::Attribute;
use crate::scan::{ends_with, starts_with};

/// Maximum number of sections of a page. The longest manual page of Debian 12 has about 1,500
/// entries.
const SECTIONS: usize = 4_000;

/// Maximum number of navigation ranges of a page.
const ASIDES: usize = 1_000;

/// Maximum bytes of a heading. A longer one is dropped, because its element was probably not
/// closed.
const HEADING: usize = 400;

/// Maximum bytes of an id that is used as a fragment.
const LONGEST_ID: usize = 200;

/// The level of an entry of a definition list, one below `h6`.
const ENTRY: u8 = 7;

/// A part of a page with a heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PageSection {
    /// The heading, as a byte range of the page's text. The section ends where the next one starts.
    pub heading: Range<u32>,
    /// 1 to 6 for `h1` to `h6`; 7 for an entry of a definition list that has an id.
    pub level: u8,
    /// The id that a URL's fragment can refer to.
    pub id: Option<Box<str>>,
}

/// Collects the outline.
#[derive(Default)]
pub(super) struct Outline<'a> {
    sections: Vec<PageSection>,
    asides: Vec<(Range<u32>, bool)>,
    heading: Option<OpenHeading<'a>>,
    /// The last id and its position in the text. It becomes the id of a heading at the same
    /// position.
    id: Option<(&'a str, u32)>,
    aside: Option<Aside>,
}

struct OpenHeading<'a> {
    level: u8,
    start: u32,
    id: Option<&'a str>,
}

/// Navigation that is open.
struct Aside {
    /// Number of open elements, itself included.
    depth: usize,
    start: u32,
    /// Whether only a class or id marks it as navigation.
    guessed: bool,
}

impl<'a> Outline<'a> {
    /// Handles a start tag before its element is opened. `at` is the length of the text so far.
    #[inline]
    pub(super) fn start(&mut self, tag: NameKey, attributes: &[Attribute<'a>], at: u32) {
        let id = match attribute(attributes, ID) {
            None if tag == tag::A => attribute(attributes, NAME),
            id => id,
        };
        let id = id.map(|id| id.raw).filter(|id| is_fragment(id));
        let level = level(tag);
        if level.is_some() || tag == tag::DD {
            self.close_heading(at);
        }
        if let Some(level) = level {
            let before = self.id.filter(|&(_, place)| place == at).map(|(id, _)| id);
            self.heading = Some(OpenHeading {
                level,
                start: at,
                id: id.or(before),
            });
            if level == 1 && self.aside.as_ref().is_some_and(|aside| aside.guessed) {
                self.aside = None;
            }
        } else if let Some(id) = id {
            match &mut self.heading {
                Some(heading) if heading.id.is_none() => heading.id = Some(id),
                _ if self.aside.is_none() => self.id = Some((id, at)),
                _ => {}
            }
        }
    }

    /// Handles an element that was just opened. `depth` elements are now open.
    #[inline]
    pub(super) fn opened(
        &mut self,
        tag: NameKey,
        flow: TextFlow,
        attributes: &[Attribute<'a>],
        at: u32,
        depth: usize,
    ) {
        // An end tag was omitted: the new element is outside of the navigation.
        if self
            .aside
            .as_ref()
            .is_some_and(|aside| depth <= aside.depth)
        {
            self.close_aside(at);
        }
        if self.aside.is_none()
            && flow != TextFlow::Inline
            && let Some(guessed) = is_navigation(tag, attributes)
        {
            self.aside = Some(Aside {
                depth,
                start: at,
                guessed,
            });
        }
    }

    /// Handles an end tag; `depth` elements are open after it.
    #[inline]
    pub(super) fn end(&mut self, tag: NameKey, at: u32, depth: usize) {
        if level(tag).is_some() {
            self.close_heading(at);
        }
        if self.aside.as_ref().is_some_and(|aside| depth < aside.depth) {
            self.close_aside(at);
        }
    }

    /// Returns whether the current position is in navigation.
    pub(super) fn is_aside(&self) -> bool {
        self.aside.is_some()
    }

    /// Returns the sections and the navigation of a text.
    pub(super) fn finish(mut self, text: &str) -> (Vec<PageSection>, Vec<Range<u32>>) {
        let end = text.len() as u32;
        self.close_heading(end);
        self.close_aside(end);
        let begins = |at: u32| at + u32::from(starts_with_gap(text, at));
        for section in &mut self.sections {
            section.heading.start = begins(section.heading.start).min(section.heading.end);
        }
        self.sections.retain(|section| !section.heading.is_empty());
        let asides = self.asides.into_iter().filter_map(|(aside, guessed)| {
            let aside = begins(aside.start).min(aside.end)..aside.end;
            // Navigation is never most of a page, so the class belonged to the layout.
            let wrong = guessed && aside.len() * 2 > text.len();
            (!aside.is_empty() && !wrong).then_some(aside)
        });
        (self.sections, asides.collect())
    }

    fn close_heading(&mut self, at: u32) {
        let Some(heading) = self.heading.take() else {
            return;
        };
        let named = heading.level < ENTRY || heading.id.is_some();
        let length = (at - heading.start) as usize;
        if named && (1..=HEADING).contains(&length) && self.sections.len() < SECTIONS {
            self.sections.push(PageSection {
                heading: heading.start..at,
                level: heading.level,
                id: heading.id.map(Into::into),
            });
        }
    }

    fn close_aside(&mut self, at: u32) {
        let Some(aside) = self.aside.take() else {
            return;
        };
        // An id directly before the navigation of a chapter belongs to the heading after the
        // navigation.
        if let Some((_, place)) = &mut self.id
            && *place == aside.start
        {
            *place = at;
        }
        if aside.start < at && self.asides.len() < ASIDES {
            self.asides.push((aside.start..at, aside.guessed));
        }
    }
}

/// Returns whether the text has a line break or a space at this position; the next word starts
/// after it.
fn starts_with_gap(text: &str, at: u32) -> bool {
    matches!(text.as_bytes().get(at as usize), Some(b'\n' | b' '))
}

/// Returns the level of a heading; `None` if the element is not a heading.
#[inline]
fn level(tag: NameKey) -> Option<u8> {
    match tag {
        tag::H1 => Some(1),
        tag::H2 => Some(2),
        tag::H3 => Some(3),
        tag::H4 => Some(4),
        tag::H5 => Some(5),
        tag::H6 => Some(6),
        tag::DT => Some(ENTRY),
        _ => None,
    }
}

/// Returns whether an id may be used as a fragment: it is not too long, and has no white space, no
/// control characters and none of `&`, `"`, `<`, `>`.
fn is_fragment(id: &str) -> bool {
    (1..=LONGEST_ID).contains(&id.len())
        && !id.contains(|c: char| {
            c.is_whitespace() || c.is_control() || matches!(c, '&' | '"' | '<' | '>')
        })
}

/// Returns `Some` if an element is navigation: `Some(true)` if only its class or id says so.
#[inline]
fn is_navigation(tag: NameKey, attributes: &[Attribute<'_>]) -> Option<bool> {
    if matches!(tag, tag::NAV | tag::ASIDE | tag::FOOTER) {
        return Some(false);
    }
    if attributes.is_empty() || matches!(tag, tag::HTML | tag::BODY | tag::MAIN | tag::ARTICLE) {
        return None;
    }
    if let Some(role) = attribute(attributes, ROLE) {
        let roles = [
            "navigation",
            "banner",
            "contentinfo",
            "search",
            "complementary",
        ];
        if roles
            .iter()
            .any(|other| role.raw.eq_ignore_ascii_case(other))
        {
            return Some(false);
        }
    }
    if level(tag).is_some() || element(tag).flow == TextFlow::Inline {
        return None;
    }
    let says = |name| attribute(attributes, name).is_some_and(|names| names_navigation(names.raw));
    (says(CLASS) || says(ID)).then_some(true)
}

/// Returns whether a class or id contains a word that authors use for navigation.
fn names_navigation(names: &str) -> bool {
    let words = names.split(|c: char| !c.is_ascii_alphanumeric());
    words.into_iter().any(|word| {
        let is = |other: &str| word.eq_ignore_ascii_case(other);
        starts_with(word, "nav")
            || starts_with(word, "breadcrumb")
            || starts_with(word, "toctree")
            || starts_with(word, "pagination")
            || ends_with(word, "sidebar")
            || is("footer")
            || is("header")
            || is("toc")
            || is("menu")
            || is("related")
            || is("leftnav")
            || is("topnav")
            || is("copyright")
    })
}

#[cfg(test)]
mod tests {
    use crate::url::PageUrl;
    use crate::{PageReading, ReadLimits, read};

    fn reading(html: &str) -> PageReading {
        read(
            html,
            &PageUrl::parse("http://a.example/").unwrap(),
            &ReadLimits::default(),
        )
    }

    /// Returns headings with their levels and ids.
    fn sections(html: &str) -> Vec<String> {
        let reading = reading(html);
        let shown = reading.sections.iter().map(|section| {
            let heading =
                &reading.text[section.heading.start as usize..section.heading.end as usize];
            format!(
                "{} {heading} #{}",
                section.level,
                section.id.as_deref().unwrap_or("-")
            )
        });
        shown.collect()
    }

    /// Returns the navigation, and the bytes of anchor text outside of it.
    fn asides(html: &str) -> (Vec<String>, u32) {
        let reading = reading(html);
        let asides = reading
            .asides
            .iter()
            .map(|aside| reading.text[aside.start as usize..aside.end as usize].replace('\n', "/"));
        (asides.collect(), reading.linked)
    }

    #[test]
    fn headings_have_ids() {
        let check = |html: &str, expected: &str| {
            assert_eq!(sections(html).join("; "), expected, "{html}");
        };
        check("<h1>One</h1>x<h2 id=two>Two</h2>", "1 One #-; 2 Two #two");
        check("text<section id=s><h2>In it</h2></section>", "2 In it #s");
        check("<a name=n></a><h3>Named</h3>", "3 Named #n");
        check("<a name=n></a>text<h3>Not named</h3>", "3 Not named #-");
        check(
            "<div id=c><div class=header><a id=up>Up</a></div><hr><h2>Chapter</h2></div>",
            "2 Chapter #c",
        );
        check(
            "<h2><a id=i></a>Inside<a href=#i>¶</a></h2>",
            "2 Inside¶ #i",
        );
        check(
            "<dl><dt id=a>Entry<dd>text<dt>No id<dd>text<dt><code id=b>b()</code></dt></dl>",
            "7 Entry #a; 7 b() #b",
        );
        check("<h2>Never closed <p>text", "2 Never closed\ntext #-");
        check(
            "<h2 id='a b'>Not for a URL</h2><h2></h2>",
            "2 Not for a URL #-",
        );
        check(&format!("<h2>{}</h2>", "long ".repeat(200)), "");
    }

    #[test]
    fn navigation_is_separated_from_text() {
        let check = |html: &str, expected: &str, linked: u32| {
            let (asides, found) = asides(html);
            assert_eq!(
                (asides.join(";").as_str(), found),
                (expected, linked),
                "{html}"
            );
        };
        check("<p>text<p>more", "", 0);
        check(
            "<nav><a href=/a>Home</a></nav><p>See <a href=/b>it</a>",
            "Home",
            2,
        );
        check("<p>some text<div role=navigation>Up</div><p>on", "Up", 0);
        check(
            "<p>some text<div class='a nav-bar'>Up<div>Down</div></div><p>on",
            "Up/Down",
            0,
        );
        check(
            "<p>some text<ul id=breadcrumbs><li>A<li>B</ul><p>on",
            "A/B",
            0,
        );
        check("<p>some text<footer>Imprint</footer>", "Imprint", 0);
        check(
            "<table><tr><td class=sidebar>Menu<td>text that goes on</table>",
            "Menu",
            0,
        );
        check(
            "<div class=header><h1>A heading is no menu</h1></div>text",
            "",
            0,
        );
        check("<div class=with-sidebar><p>All of the text</div>x", "", 0);
        check("<body class=nav><p>text", "", 0);
        check("<p>unavailable <span class=nav>inline</span>", "", 0);
    }

    #[test]
    fn lines_of_code_stay_lines() {
        assert_eq!(
            reading("<p>a\nb<pre>if x:\n    y\n</pre>c\nd").text,
            "a b\nif x:\ny\nc d"
        );
    }

    #[test]
    fn hostile_outlines_are_bounded() {
        let page = "<h1 id=x>x</h1><nav>y</nav>".repeat(20_000);
        let reading = reading(&page);
        assert_eq!(reading.sections.len(), super::SECTIONS);
        assert_eq!(reading.asides.len(), super::ASIDES);
        let deep = format!("{}x", "<div class=nav>".repeat(2_000));
        assert!(asides(&deep).0.is_empty(), "a page is not all menu");
    }
}
