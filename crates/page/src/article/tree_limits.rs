//! The limits on markup from which a tree is built.
//!
//! **Invariant:** a tree is built only from markup that is small and shallow and has no tag with
//! more attributes than the streaming reader accepts. Other markup can take a tree builder minutes
//! (hostile-web.md, rows 31 to 33). The check streams and builds no tree itself.

use crate::html::ReadLimits;
use crate::html::open_elements::OpenElements;
use crate::html::tag::{self, TextFlow, is_formatting};
use crate::html::tokenizer::{ContentModel, HtmlToken, Tokenizer};

/// Maximum bytes of markup. An average page has 27 KB.
pub(super) const MAX_BYTES: usize = 2 << 20;

/// Maximum depth of nesting, in elements: half of what browsers keep. A test runs the whole
/// extraction close to this depth, unoptimized, on the 2 MB stack of a test thread.
pub(super) const MAX_DEPTH: usize = 256;

/// Returns whether markup is within the limits on bytes, nesting and attributes of a tag.
///
/// The depth of a tree is bounded by the open elements plus the formatting elements that were
/// never closed, because the builder reopens the latter in every later block.
pub(super) fn fits_tree_limits(html: &str) -> bool {
    if html.len() > MAX_BYTES {
        return false;
    }
    let limits = ReadLimits::default();
    let mut tokens = Tokenizer::new(html, limits.attributes, limits.value);
    let mut open = OpenElements::new();
    let mut formatting = 0usize;
    while let Some(token) = tokens.next() {
        match token {
            HtmlToken::Start { tag, name, .. } => {
                let element = tag::element(tag);
                if matches!(element.flow, TextFlow::Void | TextFlow::Break) {
                    continue;
                }
                open.start(tag, name, element.flow);
                formatting += usize::from(is_formatting(tag));
                let model = tag::model(tag, element.role);
                if model != ContentModel::Data {
                    tokens.expect(model, tag);
                }
            }
            HtmlToken::End { tag } => {
                open.end(tag);
                formatting = formatting.saturating_sub(usize::from(is_formatting(tag)));
            }
            HtmlToken::Text { .. } | HtmlToken::Comment(_) | HtmlToken::Doctype => {}
        }
        if open.depth() + formatting > MAX_DEPTH || tokens.attributes_cut > 0 {
            return false;
        }
    }
    true
}
