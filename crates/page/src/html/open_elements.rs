//! The stack of open elements, and the tag path of the current position.
//!
//! **Invariant:** at most [`OpenElements::LIMIT`] elements are kept, and each tag costs a
//! bounded number of steps, whatever the nesting is. For usual markup the open elements are those
//! of a tree builder. Misnested elements and tags that close a distant element may differ.

use super::tag::{NameKey, TextFlow, ends, is_scope};

/// The open elements, outermost first.
pub(crate) struct OpenElements<'a> {
    elements: Vec<OpenElement<'a>>,
    /// Number of elements opened beyond the limit.
    beyond: usize,
}

struct OpenElement<'a> {
    tag: NameKey,
    name: &'a str,
    path: u64,
}

/// How many open elements are searched for one that a start tag closes implicitly. Between two
/// `li` or `td` there are at most a few unclosed inline elements.
const IMPLIED_REACH: usize = 16;

/// How many open elements are searched for the one that an end tag closes.
const END_REACH: usize = 64;

/// Maximum number of levels of a path. The outermost ones distinguish the parts of a page.
const PATH_LEVELS: usize = 48;

/// Maximum bytes of a name in a path. The longest standard name has 13; custom elements may have
/// any length.
const PATH_NAME: usize = 24;

impl<'a> OpenElements<'a> {
    /// Maximum number of open elements that are kept (hostile-web.md, row 31).
    pub(crate) const LIMIT: usize = 512;

    pub(crate) fn new() -> Self {
        Self {
            elements: Vec::with_capacity(32),
            beyond: 0,
        }
    }

    /// Returns how many elements are open, including those beyond the limit.
    pub(crate) fn depth(&self) -> usize {
        self.elements.len() + self.beyond
    }

    /// Opens an element, after closing those whose end tag its start implies.
    #[inline]
    pub(crate) fn start(&mut self, tag: NameKey, name: &'a str, flow: TextFlow) {
        // Inline elements are the most frequent and never close another implicitly.
        if flow != TextFlow::Inline {
            self.imply_ends(tag, flow);
        }
        if self.elements.len() >= Self::LIMIT {
            self.beyond += 1;
            return;
        }
        let path = self.path_below(tag);
        self.elements.push(OpenElement { tag, name, path });
    }

    /// Closes the innermost element of that name and everything in it. An end tag without an open
    /// element among the innermost [`END_REACH`] is ignored.
    ///
    /// While elements beyond the limit are open, any end tag closes one of them.
    #[inline]
    pub(crate) fn end(&mut self, tag: NameKey) {
        if self.beyond > 0 {
            self.beyond -= 1;
            return;
        }
        let found = self
            .elements
            .iter()
            .rev()
            .take(END_REACH)
            .position(|element| element.tag == tag);
        if let Some(up) = found {
            self.elements.truncate(self.elements.len() - 1 - up);
        }
    }

    /// Returns a hash of the path of an element `tag` at this position.
    #[inline]
    pub(crate) fn path_below(&self, tag: NameKey) -> u64 {
        let above = self.elements.last().map_or(0, |element| element.path);
        if self.elements.len() >= PATH_LEVELS {
            return above;
        }
        (above.rotate_left(7) ^ tag.0).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }

    /// Returns the path of an element `name` at this position, such as `html/body/ul/li/a`.
    pub(crate) fn path_text(&self, name: &str) -> String {
        let names = self
            .elements
            .iter()
            .map(|element| element.name)
            .chain([name]);
        let mut path = String::with_capacity(64);
        for name in names.take(PATH_LEVELS) {
            if !path.is_empty() {
                path.push('/');
            }
            path.extend(name.chars().take(PATH_NAME).map(|c| c.to_ascii_lowercase()));
        }
        path
    }

    #[inline]
    fn imply_ends(&mut self, starting: NameKey, flow: TextFlow) {
        if self.beyond > 0 {
            return;
        }
        let mut keep = self.elements.len();
        for (index, element) in self.elements.iter().enumerate().rev().take(IMPLIED_REACH) {
            if ends(starting, flow, element.tag) {
                keep = index;
            } else if is_scope(element.tag) {
                break;
            }
        }
        self.elements.truncate(keep);
    }
}

#[cfg(test)]
mod tests {
    use super::super::tag::element;
    use super::*;

    fn open_one<'a>(open: &mut OpenElements<'a>, name: &'a str) {
        let tag = NameKey::of(name.as_bytes());
        open.start(tag, name, element(tag).flow);
    }

    #[test]
    fn paths_follow_the_elements_that_a_browser_would_have_open() {
        let check = |markup: &str, path: &str| {
            let mut open = OpenElements::new();
            for name in markup.split_whitespace() {
                match name.strip_prefix('/') {
                    Some(name) => open.end(NameKey::of(name.as_bytes())),
                    None => open_one(&mut open, name),
                }
            }
            assert_eq!(open.path_text("a"), path, "{markup}");
        };
        check("", "a");
        check("html body nav", "html/body/nav/a");
        check("UL LI LI", "ul/li/a"); // An item closes the item before it.
        check("ul li ul li", "ul/li/ul/li/a"); // An inner item does not close an outer one.
        check("p p div", "div/a"); // A block closes a paragraph.
        check("table tr td b tr td", "table/tr/td/a"); // An unclosed b does not keep a cell open.
        check("table tr td table tr td", "table/tr/td/table/tr/td/a");
        check("dl dt dd", "dl/dd/a");
        check("div b /div", "a");
        check("div /span", "div/a"); // An end tag without a start tag is ignored.
    }

    #[test]
    fn equal_paths_have_equal_hashes_and_others_do_not() {
        let number = |names: &[&str]| {
            let mut open = OpenElements::new();
            names.iter().for_each(|name| open_one(&mut open, name));
            open.path_below(NameKey::of(b"a"))
        };
        assert_eq!(number(&["body", "ul", "li"]), number(&["BODY", "UL", "LI"]));
        assert_ne!(number(&["body", "ul", "li"]), number(&["body", "li", "ul"]));
        assert_ne!(number(&["ul"]), number(&["ul", "ul"]));
    }

    #[test]
    fn depth_beyond_the_limit_is_counted_and_not_held() {
        let mut open = OpenElements::new();
        (0..64_000).for_each(|_| open_one(&mut open, "div"));
        assert_eq!(
            (open.depth(), open.elements.len()),
            (64_000, OpenElements::LIMIT)
        );
        (0..64_000).for_each(|_| open.end(NameKey::of(b"div")));
        assert_eq!(open.depth(), 0);
        assert!(open.path_text("a").len() < PATH_LEVELS * PATH_NAME);
    }
}
