//! The limits on markup that a tree is built of.
//!
//! **Invariant:** a tree is built only of markup that is small, shallow and without the tags that take
//! a tree builder minutes (hostile list, rows 31 to 33). The check streams and builds no tree.

use crate::html::Limits;
use crate::html::open::Open;
use crate::html::tag::{self, Flow, is_formatting};
use crate::html::tokenizer::{Model, Token, Tokenizer};

/// Bytes of markup a tree is built of: a choice, well above the 27 KB of the pages of issue 2.
pub(super) const MAX_BYTES: usize = 2 << 20;

/// Nesting a tree is built of: half of what browsers keep. A test takes trees of this depth through
/// the whole extraction on the 2 MB stack of a thread, unoptimised.
pub(super) const MAX_DEPTH: usize = 256;

/// Whether a tree of this markup is small and shallow.
///
/// The depth of a tree is bounded by the open elements and the formatting elements never closed: the
/// builder opens the latter again in every later block.
pub(super) fn is_tame(html: &str) -> bool {
    if html.len() > MAX_BYTES {
        return false;
    }
    let limits = Limits::default();
    let mut tokens = Tokenizer::new(html, limits.attributes, limits.value);
    let mut open = Open::new();
    let mut formatting = 0usize;
    while let Some(token) = tokens.next() {
        match token {
            Token::Start { tag, name, .. } => {
                let element = tag::element(tag);
                if matches!(element.flow, Flow::Void | Flow::Break) {
                    continue;
                }
                open.start(tag, name, element.flow);
                formatting += usize::from(is_formatting(tag));
                let model = tag::model(tag, element.role);
                if model != Model::Data {
                    tokens.expect(model, tag);
                }
            }
            Token::End { tag } => {
                open.end(tag);
                formatting = formatting.saturating_sub(usize::from(is_formatting(tag)));
            }
            Token::Text { .. } | Token::Comment(_) | Token::Doctype => {}
        }
        if open.depth() + formatting > MAX_DEPTH || tokens.attributes_cut > 0 {
            return false;
        }
    }
    true
}
